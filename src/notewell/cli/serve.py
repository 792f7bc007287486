"""`notewell serve`: an HTTP API, MCP and a web UI for the memories of this machine's agents."""

from __future__ import annotations

import logging
import os
import sys
import threading
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.output import flush, print_json, say
from notewell.cli.place import IN_DATABASE, add_place
from notewell.cli.served_agents import agents_of
from notewell.errors import BadSetting, NotewellError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from notewell.http_service import (
        AgentDirectory,
        Agents,
        Links,
        ServedAgent,
        ServiceState,
        Tokens,
    )
    from notewell.http_service.sync_worker import WorkDone

DEFAULT_PORT = 7374
PACKAGES = ("fastapi", "uvicorn", "mcp", "prometheus_client")
FILES_AT_LEAST = 1024
"""The most connections, and what else the process opens."""
FILES_PER_AGENT = 8
"""The index with its log and shared memory, the vector cache with its own, and notes."""
NAMED = 16
"""So many agents are named at the start; of more, the number."""
M_ARENA_MAX = -8
"""From <malloc.h>."""
ARENAS = 2
"""Threads that hold Python's lock allocate one after another; a few more run the model."""
RUNNING = "serve.json"
"""A running server writes its address to this file, for `notewell token link`."""


def add_options(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.epilog = (
        "Many replicas: `notewell serve -w postgres:` serves every agent of the tenant in the "
        "database that NOTEWELL_DATABASE_URL or store.url names, with tokens and history there, "
        "too. `notewell agents` adds and removes agents, `notewell worker` indexes for all."
    )
    parser.add_argument("--host", default="127.0.0.1", help="address (default: 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"port (default: {DEFAULT_PORT}; 0: any)"
    )
    parser.add_argument(
        "--public",
        action="store_true",
        help="allow access from other machines; needs --allow-host and a token that you made",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a host name of this server, as in the Host header of clients (may be repeated)",
    )
    parser.add_argument(
        "--requests-a-minute",
        type=int,
        default=120,
        metavar="N",
        help="rate limit of each token (default: 120)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="processes that search; 1: the service itself (default: 1)",
    )


def run(arguments: argparse.Namespace) -> int:
    _require_packages()
    import anyio

    from notewell.http_service import (
        Agents,
        AllowedHosts,
        SearchWorkers,
        ServiceLimits,
        configure_logging,
        create_app,
        serve,
    )
    from notewell.mcp_server import listen

    check_workers(arguments.workers)
    state = state_dir_of(arguments)
    kept = kept_state(arguments)
    check_exposure(arguments, kept.tokens)
    roster, directory = agents_of(arguments, kept.registry)
    # If there are several agents, a missing folder of one must not stop the others.
    if len(roster.agents) == 1 and kept.registry is None:
        _require_folder(*roster.agents.values())
    listener = listen(arguments.host, arguments.port, arguments.allow_host)
    # With --port 0 the system chooses one.
    port = listener.getsockname()[1]
    # Zero would refuse every request.
    limits = ServiceLimits(requests_a_minute=max(1, arguments.requests_a_minute))
    configure_logging()
    allow_files(len(roster.agents))
    limit_arenas()
    owner_file = create_owner_token(kept.tokens, state)
    workers = SearchWorkers(arguments.workers) if arguments.workers > 1 else None
    agents = Agents(
        roster.agents,
        state,
        route=roster.route,
        workers=workers,
        may_be_empty=kept.registry is not None,
    )
    closing = anyio.Event()
    hosts = AllowedHosts.of(port, arguments.allow_host)
    app = create_app(agents, kept, allowed_hosts=hosts, limits=limits, closing=closing)
    with (
        _published_address(state, _address(arguments, port)) as address,
        _followed(directory, agents),
        _working(agents, in_database=kept.registry is not None),
    ):
        if workers is not None:
            workers.start()
        threading.Thread(target=agents.open_all, daemon=True).start()
        ready = partial(_print_start, arguments, kept.login_links, address, agents.ids, owner_file)
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


def kept_state(arguments: argparse.Namespace) -> ServiceState:
    """What the service keeps: in its state folder, or in the database for all replicas."""
    if arguments.workspace == IN_DATABASE:
        from notewell.databases import tenant_database
        from notewell.http_service.postgres import shared_state

        return shared_state(*tenant_database())
    from notewell.http_service import TOKENS_FILE, TokenStore, local_state

    state = state_dir_of(arguments)
    return local_state(state, TokenStore(state / TOKENS_FILE))


def check_workers(count: int) -> None:
    from notewell.http_service import MAX_WORKERS

    if not 1 <= count <= MAX_WORKERS:
        raise BadSetting("--workers", f"expected 1 to {MAX_WORKERS} processes, not {count}")


def check_exposure(arguments: argparse.Namespace, tokens: Tokens) -> None:
    """Runs before a socket is opened: access from other machines must be intended."""
    from notewell.http_service import OWNER_NAME
    from notewell.mcp_server import is_loopback

    tokens.check()
    if is_loopback(arguments.host):
        return
    problem = None
    if not arguments.public:
        problem = "add --public if that is intended"
    elif not arguments.allow_host:
        problem = "give its host name with --allow-host"
    # The owner's token is an admin's and lies in a file: other machines need one of their own.
    elif not any(token.kind == "bearer" and token.name != OWNER_NAME for token in tokens.tokens()):
        problem = "make a token for it first: `notewell token create`"
    if problem:
        raise BadSetting(
            "--host", f"{arguments.host!r} can be reached from other machines: {problem}"
        )


def _require_folder(served: ServedAgent) -> None:
    from notewell.notes import open_notes

    open_notes(served.workspace)


# -- limits of the process ----------------------------------------------------------------------


def allow_files(agents: int) -> None:
    """Raises the process's own limit of open files to what this number of agents needs. Many
    systems start with 1024, which is used up by about 200 agents."""
    if sys.platform == "win32":  # It has no such limit.
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = FILES_AT_LEAST + FILES_PER_AGENT * agents
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < needed:
        logging.getLogger(__name__).warning(
            "%d agents may need %d open files, and the limit is %d: raise it (`ulimit -Hn`)",
            agents,
            needed,
            hard,
        )


def limit_arenas() -> None:
    """Keeps glibc from giving each thread a heap of its own: what a search has freed in one is of
    no use to a search in another thread. Measured: 45 MB less after a minute of load."""
    if "MALLOC_ARENA_MAX" in os.environ:  # The user has decided; glibc has read it.
        return
    import ctypes

    # Another C library has no such function, or ignores it.
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)


# -- start ---------------------------------------------------------------------------------------


def create_owner_token(tokens: Tokens, state: Path) -> Path | None:
    """If there is no token yet, makes one for the owner and returns the file that holds it. It is
    for all agents, also for those that are added later."""
    from notewell.files import write_state
    from notewell.http_service import ALL_AGENTS, OWNER_FILE, OWNER_NAME, TokenRequest

    if any(token.kind == "bearer" for token in tokens.tokens()):
        return None
    _, secret = tokens.create(TokenRequest(OWNER_NAME, (ALL_AGENTS,), ("admin",)))
    file = state / OWNER_FILE
    write_state(file, f"{secret}\n".encode())
    return file


@contextmanager
def _followed(directory: AgentDirectory | None, agents: Agents) -> Iterator[None]:
    """Agents come and go as the settings say."""
    from notewell.http_service import DirectoryFollower

    if directory is None:
        yield
        return
    follower = DirectoryFollower(
        directory, agents, before_update=lambda roster: allow_files(len(roster.agents))
    )
    agents.look_again = follower.look
    follower.start()
    try:
        yield
    finally:
        follower.stop()


@contextmanager
def _working(agents: Agents, *, in_database: bool) -> Iterator[None]:
    """Each replica takes work from the queue, and hears of what the others change."""
    if not in_database:
        yield
        return
    from notewell.databases import tenant_database
    from notewell.http_service.agents import SyncFinished
    from notewell.http_service.postgres.events import SharedEvents
    from notewell.http_service.sync_worker import SyncWorker
    from notewell.postgres import Hints, SyncQueue, unknown_parts

    tenant, stop = tenant_database(), threading.Event()
    if parts := unknown_parts(*tenant):
        logging.getLogger(__name__).warning(
            "a newer version has added to the database what this one does not use: %s; "
            "upgrade this replica, too",
            ", ".join(parts),
        )

    def report(done: WorkDone) -> None:
        if done.report is not None:
            agents.publish(done.agent, SyncFinished(done.report, done.took_s))

    worker = SyncWorker(SyncQueue(*tenant), agents.using, on_done=report)
    # A daemon: what it does when the process ends is done again by another one.
    threading.Thread(target=worker.run, args=(stop,), name="notewell-queue", daemon=True).start()
    try:
        with SharedEvents(agents, Hints(*tenant)).running():
            yield
    finally:
        stop.set()


def _address(arguments: argparse.Namespace, port: int) -> str:
    # A public name means that there is a TLS proxy. In a container, the only allowed name may be
    # `localhost` with another port.
    public = [name for name in arguments.allow_host if name.partition(":")[0] != "localhost"]
    if public:
        return f"https://{public[0]}"
    host = "127.0.0.1" if arguments.host in ("localhost", "0.0.0.0", "::") else arguments.host  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def _published_address(state: Path, address: str) -> Iterator[str]:
    from notewell.files import read_json, write_json

    record: Mapping[str, Any] = {"pid": os.getpid(), "url": address}
    # Several servers can share the state folder and its links: the first one is published.
    if running_at(state) is None:
        write_json(state / RUNNING, record)
    try:
        yield address
    finally:
        with suppress(OSError, NotewellError):
            # Another server may have replaced the file since.
            if read_json(state / RUNNING) == record:
                (state / RUNNING).unlink()


def running_at(state: Path) -> str | None:
    """The address of a running server that uses this state folder."""
    from notewell.files import is_alive, read_json

    record = read_json(state / RUNNING)
    url, pid = record.get("url"), record.get("pid")
    if not isinstance(url, str) or not isinstance(pid, int):
        return None
    # A server that was killed could not remove the file. If we cannot know, we believe the file.
    return None if is_alive(pid) is False else url


def _print_start(
    arguments: argparse.Namespace,
    links: Links,
    address: str,
    agents: tuple[str, ...],
    owner_file: Path | None,
) -> None:
    """On standard output; the log goes to standard error."""
    if arguments.json:
        file = str(owner_file) if owner_file else None
        link = new_link(links, address)
        print_json({"url": address, "agents": list(agents), "ownerTokenFile": file, "page": link})
    else:
        named = ", ".join(agents) if len(agents) <= NAMED else f"{len(agents)} agents"
        say(f"serving {address} for {named or 'nobody yet'}")
        if owner_file:
            say(f"the token for programs is in {owner_file}")
        if sys.stdout.isatty():
            say(f"web UI (valid once, for ten minutes): {new_link(links, address)}")
        else:
            # Output that is not a terminal may be stored in a log, and a link logs anybody in.
            where = f" -w {IN_DATABASE}" if arguments.workspace == IN_DATABASE else ""
            say(f"web UI: `notewell token link{where}` makes a login link")
    flush()


def new_link(links: Links, address: str) -> str:
    return f"{address}/open?code={links.make()}"
