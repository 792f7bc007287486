"""`notewell serve`: the memories of this machine's agents over HTTP, MCP included, and a page."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.output import flush, print_json, say
from notewell.cli.place import add_place, meant
from notewell.errors import BadSetting, NotewellError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from notewell.http_service import Agents, Place, TokenBook

DEFAULT_PORT = 7374
PACKAGES = ("fastapi", "uvicorn", "mcp", "prometheus_client")
RUNNING = "serve.json"
"""Where a running server says how it is reached, for `notewell token link`."""


def add_options(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address (default: 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"port (default: {DEFAULT_PORT}; 0: any)"
    )
    parser.add_argument(
        "--public",
        action="store_true",
        help="let other machines in; needs --allow-host and a token that you made",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name clients may call this server by, as in their Host header (may be repeated)",
    )
    parser.add_argument(
        "--requests-a-minute",
        type=int,
        default=120,
        metavar="N",
        help="so many for each token, with some at once (default: 120)",
    )


def run(arguments: argparse.Namespace) -> int:
    _require_packages()
    import anyio

    from notewell.http_service import Agents, Limits, Names, create_app, logs, serve, tokens
    from notewell.mcp_server import listen

    state = state_dir_of(arguments)
    book = tokens.TokenBook(state / tokens.NAME)
    check_exposure(arguments, book)
    places = places_of(arguments)
    if len(places) == 1:  # Of several, one that is missing does not keep the others away.
        _require_folder(*places.values())
    listener = listen(arguments.host, arguments.port, arguments.allow_host)
    port = listener.getsockname()[1]
    limits = Limits(requests_a_minute=max(1, arguments.requests_a_minute))
    logs.set_up()
    owner = first_token(book, state, tuple(places))
    agents, closing = Agents(places, state), anyio.Event()
    names = Names.of(port, arguments.allow_host)
    app = create_app(agents, book, names=names, limits=limits, closing=closing)
    with _known_as(state, _address(arguments, port)) as address:
        threading.Thread(target=_open_all, args=(agents,), daemon=True).start()
        ready = partial(_tell_start, arguments, state, address, tuple(places), owner)
        serve(app, listener, closing, limits, ready)
    return 0


def _require_packages() -> None:
    from importlib.util import find_spec

    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise BadSetting(
            "serve",
            f"{', '.join(missing)} is not installed: the server needs the extra `serve`, "
            "`pip install '.[serve]'` in a checkout",
        )


def state_dir_of(arguments: argparse.Namespace) -> Path:
    from notewell.config import default_state_dir

    if arguments.state_dir:
        return Path(arguments.state_dir).expanduser().absolute()
    return default_state_dir(os.environ).absolute()


def check_exposure(arguments: argparse.Namespace, book: TokenBook) -> None:
    """Before a socket is opened: other machines are let in only by somebody who meant to."""
    from notewell.http_service import OWNER
    from notewell.mcp_server import is_loopback

    book.check()
    if is_loopback(arguments.host):
        return
    problem = None
    if not arguments.public:
        problem = "add --public if that is meant"
    elif not arguments.allow_host:
        problem = "say under which name with --allow-host"
    elif not any(one.kind == "bearer" and one.name != OWNER for one in book.tokens()):
        problem = "make a token for it first: `notewell token create`"
    if problem:
        raise BadSetting(
            "--host", f"{arguments.host!r} can be reached from other machines: {problem}"
        )


# -- whose memories ------------------------------------------------------------------------------


def places_of(arguments: argparse.Namespace) -> dict[str, Place]:
    """The one that the options name, else every agent to whom the settings give a folder."""
    from notewell.core import normal_agent_id
    from notewell.http_service import Place

    named = arguments.workspace or arguments.agent or arguments.openclaw
    found = {} if named else _configured()
    if found:
        return found
    agent, workspace, settings = meant(arguments)
    id_ = agent.lower()
    if normal_agent_id(id_) != id_:
        raise BadSetting("agent", f"{agent!r} is no id of an agent")
    return {id_: Place(str(Path(workspace).absolute()), settings)}


def _require_folder(place: Place) -> None:
    from notewell.notes import Workspace

    Workspace.open(Path(place.workspace))


def _configured() -> dict[str, Place]:
    from notewell.config import load_configuration
    from notewell.http_service import Place

    every = load_configuration()
    default = every.default_agent
    ids = sorted(every.agents, key=lambda id_: id_ != default)  # The default one first.
    return {
        id_: Place(str(every.agents[id_].workspace)) for id_ in ids if every.agents[id_].workspace
    }


# -- the start -----------------------------------------------------------------------------------


def first_token(book: TokenBook, state: Path, agents: Sequence[str]) -> Path | None:
    """Where the owner's token is, if there was none at all and one was made now."""
    from notewell.files import write_state
    from notewell.http_service import OWNER, OWNER_FILE, Wish

    if any(one.kind == "bearer" for one in book.tokens()):
        return None
    _, secret = book.create(Wish(OWNER, tuple(agents), ("admin",)))
    file = state / OWNER_FILE
    write_state(file, f"{secret}\n".encode())
    return file


def _address(arguments: argparse.Namespace, port: int) -> str:
    outside = [name for name in arguments.allow_host if name.partition(":")[0] != "localhost"]
    if outside:  # There is a proxy with TLS. A container may be called by a local name only.
        return f"https://{outside[0]}"
    host = "127.0.0.1" if arguments.host in ("localhost", "0.0.0.0", "::") else arguments.host  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def _known_as(state: Path, address: str) -> Iterator[str]:
    from notewell.files import read_json, write_json

    told: Mapping[str, Any] = {"pid": os.getpid(), "url": address}
    if running_at(state) is None:  # Links are for any of several servers: the first is named.
        write_json(state / RUNNING, told)
    try:
        yield address
    finally:
        with suppress(OSError, NotewellError):
            if read_json(state / RUNNING) == told:  # Another one may have started since.
                (state / RUNNING).unlink()


def running_at(state: Path) -> str | None:
    """The address of a server that runs on this state folder."""
    from notewell.files import read_json

    told = read_json(state / RUNNING)
    url, pid = told.get("url"), told.get("pid")
    if not isinstance(url, str) or not isinstance(pid, int):
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None  # It was killed.
    except OSError:
        pass  # Of another user.
    return url


def _open_all(agents: Agents) -> None:
    """From the start, so that the first question finds an index."""
    for agent in agents.ids:
        with suppress(NotewellError):  # Who asks is told.
            agents.memory(agent)


def _tell_start(
    arguments: argparse.Namespace,
    state: Path,
    address: str,
    agents: tuple[str, ...],
    owner: Path | None,
) -> None:
    """On standard output, where data goes; the log has standard error to itself."""
    if arguments.json:
        file = str(owner) if owner else None
        link = new_link(state, address)
        print_json({"url": address, "agents": list(agents), "ownerTokenFile": file, "page": link})
    else:
        say(f"serving {address} for {', '.join(agents)}")
        if owner:
            say(f"a token for programs is in {owner}")
        if sys.stdout.isatty():
            say(f"the page, good once and for ten minutes: {new_link(state, address)}")
        else:  # What is not a terminal is a log that somebody keeps, and a link lets everybody in.
            say("the page: `notewell token link` makes a link that opens it")
    flush()


def new_link(state: Path, address: str) -> str:
    from notewell.http_service import Links
    from notewell.http_service.login_links import NAME

    return f"{address}/open?code={Links(state / NAME).make()}"
