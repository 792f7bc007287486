"""`notewell mcp`: serve a memory to MCP clients, and install it in their configuration."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from notewell.cli import INTERRUPTED, STOPPED
from notewell.cli.output import tell
from notewell.cli.place import add_pins, add_place, apply_pins, memory_of, refuse_place
from notewell.errors import BadSetting, MemoryOff, NotewellError, WorkspaceNotSet

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from notewell.mcp_server import Greeting
    from notewell.memory import Memory


TOKEN_VARIABLE = "NOTEWELL_MCP_TOKEN"  # noqa: S105 - the name of a variable, not a token
MAX_TOKEN_BYTES = 4096
DEFAULT_PORT = 7373
NO_SDK = (
    "the server needs the extra `mcp`: in a checkout, `uv tool install --force '.[mcp]'`, "
    "`pipx install --force '.[mcp]'` or `pip install '.[mcp]'`, as you installed Notewell"
)
_OPTIONS = ("agent", "session key", "state dir")
"""Options whose mistakes end the command."""


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(
        title="actions", description="", metavar="ACTION", required=True
    )
    serve = actions.add_parser("serve", help="serve an MCP client (standard input and output)")
    serve.set_defaults(action="serve")
    add_place(serve, json=False)
    add_pins(serve)
    _add_serve_options(serve)
    install = actions.add_parser("install", help="add this memory to a client's configuration")
    install.set_defaults(action="install")
    add_place(install)
    _add_install_options(install)

    uninstall = actions.add_parser("uninstall", help="take the entry out again")
    uninstall.set_defaults(action="uninstall")
    uninstall.add_argument("--json", action="store_true", help="print JSON")
    refuse_place(uninstall)
    _add_file_options(uninstall)


def _add_serve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--citations",
        choices=("auto", "on", "off"),
        help="show the sources of hits (default: the setting, else auto: in private chats only)",
    )
    conversation = parser.add_mutually_exclusive_group()
    conversation.add_argument(
        "--session-key",
        metavar="KEY",
        help="the conversation of the client: agent:<id>:<channel>:<context>",
    )
    conversation.add_argument(
        "--session-key-per-call",
        action="store_true",
        help="the client serves many conversations and names one in each call: "
        "_meta.notewell/sessionKey; a call without it counts as a group",
    )
    http = parser.add_argument_group("over HTTP")
    http.add_argument("--http", action="store_true", help="serve streamable HTTP instead")
    http.add_argument("--host", default="127.0.0.1", help="address (default: 127.0.0.1)")
    http.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"port (default: {DEFAULT_PORT}; 0: any)"
    )
    http.add_argument(
        "--token-file",
        metavar="FILE",
        help=f"file with the token of clients (default: ${TOKEN_VARIABLE}, else a new token)",
    )
    http.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a host name that clients may use, as in the Host header (repeatable)",
    )


def _add_install_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--print", action="store_true", help="print the entry and change nothing")
    _add_file_options(parser)


def _add_file_options(parser: argparse.ArgumentParser) -> None:
    from notewell.hosts import MCP_FILES

    parser.add_argument("client", choices=tuple(MCP_FILES))
    parser.add_argument(
        "--project", metavar="DIR", help="edit the file of this project (default: the user's file)"
    )
    parser.add_argument(
        "--name", default="notewell", help="the server's name in the client (default: notewell)"
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "serve":
        return _serve(arguments)
    if arguments.action == "uninstall":
        from notewell.cli.clients import run_mcp_uninstall

        return run_mcp_uninstall(arguments)
    if not arguments.print:
        require_sdk()  # Without it, the client would start a server that exits at once.
    from notewell.cli.clients import run_mcp_install

    return run_mcp_install(arguments)


# -- serve ---------------------------------------------------------------------------------------


def _serve(arguments: argparse.Namespace) -> int:
    try:
        require_sdk()
    except BadSetting as error:
        # Over HTTP, or at a terminal, a person reads the message.
        if arguments.http or (sys.stdin and sys.stdin.isatty()):
            raise
        return _serve_without_sdk(error)
    _log_to_stderr()
    apply_pins(arguments)
    try:
        _serve_memory(arguments)
    except KeyboardInterrupt:
        _end_at_once()
    return 0


def _serve_memory(arguments: argparse.Namespace) -> None:
    with ExitStack() as opened:

        def open_() -> tuple[Greeting, Callable[[], Any]]:
            # One memory for the whole process: its index and its model stay open between requests.
            return _server_of(opened.enter_context(memory_of(arguments, by_host=True)), arguments)

        try:
            greeting, create = open_()
        # Not an exit: some hosts refuse to start without the server, others drop it in silence.
        except NotewellError as error:
            greeting, create = _server_without(error, arguments, open_)
        _run_server(greeting, create, arguments)


def _end_at_once() -> NoReturn:
    """Without the end of the interpreter, which waits for threads: one that is inside a library
    or waits for the client would keep the process. The memory is closed by now."""
    sys.stderr.write(STOPPED)
    sys.stderr.flush()
    os._exit(INTERRUPTED)


def _serve_without_sdk(error: BadSetting) -> int:
    """Not an exit: see `_serve`. The first answers need no SDK."""
    from notewell.mcp_server import serve_failure
    from notewell.tools import Failure

    tell(f"notewell: {error}")
    action = f"tell the user: {NO_SDK}, then start a new session"
    serve_failure(Failure("Notewell is installed without its MCP server", action))
    return error.exit_code


def _server_of(
    memory: Memory, arguments: argparse.Namespace
) -> tuple[Greeting, Callable[[], Any]]:
    """What the server says of itself, and what creates it."""
    from notewell.mcp_server import greeting_of
    from notewell.tools import CallContext

    citations = arguments.citations or memory.settings.citations
    context = CallContext(session_key=arguments.session_key, citations=citations, origin="mcp")
    keyed = arguments.session_key_per_call

    def create() -> Any:
        from notewell.mcp_server import create_server

        return create_server(memory, context, entries=memory.entries, key_per_call=keyed)

    has_entries = memory.settings.entries is not None
    greeting = greeting_of(memory, context, has_entries=has_entries, key_per_call=keyed)
    return greeting, create


def _server_without(
    error: NotewellError,
    arguments: argparse.Namespace,
    open_: Callable[[], tuple[Greeting, Callable[[], Any]]],
) -> tuple[Greeting, Callable[[], Any]]:
    """A server that says why it has no memory. Raises if the command itself is wrong."""
    if isinstance(error, MemoryOff) or (arguments.http and isinstance(error, WorkspaceNotSet)):
        return _empty_server(error)
    # Over HTTP a person has started it, and reads the message.
    if arguments.http or _is_of_command(error):
        raise error
    tell(f"notewell: {error}")
    from notewell.mcp_server import waiting_greeting

    greeting = waiting_greeting(error)

    def create() -> Any:
        from notewell.mcp_server import OpenedServer, create_recovering_server

        def reopen() -> OpenedServer:
            found, create_found = open_()
            return OpenedServer(found, create_found())

        return create_recovering_server(greeting, reopen)

    return greeting, create


def _is_of_command(error: NotewellError) -> bool:
    """Whether an option is wrong: no later call can mend that."""
    return isinstance(error, BadSetting) and error.setting in _OPTIONS


def _empty_server(error: NotewellError) -> tuple[Greeting, Callable[[], Any]]:
    from notewell.mcp_server import empty_greeting
    from notewell.tools import failure_of

    failure = failure_of(error)

    def create() -> Any:
        from notewell.mcp_server import create_empty_server

        return create_empty_server(failure)

    return empty_greeting(failure), create


def _run_server(
    greeting: Greeting, create: Callable[[], Any], arguments: argparse.Namespace
) -> None:
    """`create` imports the SDK, which takes a second: over stdio the client gets its first answers
    before that."""
    if arguments.http:
        _serve_http(create(), arguments)
        return
    from notewell.mcp_server import serve_stdio

    serve_stdio(greeting, create)


def _serve_http(server: Any, arguments: argparse.Namespace) -> None:
    from notewell.mcp_server import PATH, http_app, listen, serve_http

    token = find_token(arguments.token_file, os.environ)
    # Listen before the address is printed: with port 0 the system chooses it.
    listener = listen(arguments.host, arguments.port, arguments.allow_host)
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    tell(f"serving http://{shown}:{port}{PATH}")
    if token is None:
        import secrets

        token = secrets.token_urlsafe(32)
        tell(f"token, for this run: {token}")
    serve_http(http_app(server, token, port, arguments.allow_host), listener)


def find_token(file: str | None, environ: Mapping[str, str]) -> str | None:
    """Never an option: every user of the machine can read the command line of a process."""
    if file is None:
        return environ.get(TOKEN_VARIABLE) or None
    try:
        with Path(file).open("rb") as opened:
            token = opened.read(MAX_TOKEN_BYTES + 1).decode("ascii").strip()
    except (OSError, ValueError) as error:
        raise BadSetting("--token-file", f"cannot read {file!r}: {error}") from error
    if not token or len(token) > MAX_TOKEN_BYTES or len(token.split()) != 1:
        raise BadSetting("--token-file", f"{file!r} must contain one word, the token")
    return token


def require_sdk() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise BadSetting("mcp", NO_SDK)


def _log_to_stderr() -> None:
    import logging

    # Standard output belongs to the protocol; one line of log there would break it.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="notewell: %(message)s")
