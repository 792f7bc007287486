"""`notewell mcp`: serve a memory to agents, and tell their programs where to find it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.output import print_json, say, tell
from notewell.cli.place import MAIN, add_place, meant, memory_of
from notewell.errors import BadSetting

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping


TOKEN_VARIABLE = "NOTEWELL_MCP_TOKEN"  # noqa: S105 - the name of a variable, not a token
MAX_TOKEN_BYTES = 4096
DEFAULT_PORT = 7373


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    serve = actions.add_parser("serve", help="answer an MCP client (standard input and output)")
    serve.set_defaults(action="serve")
    add_place(serve, json=False)
    _add_serve_options(serve)
    install = actions.add_parser("install", help="tell a client about this memory")
    install.set_defaults(action="install")
    add_place(install)
    _add_install_options(install)


def _add_serve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--citations",
        choices=("auto", "on", "off"),
        help="show sources of hits (default: what the settings say, else auto: in private)",
    )
    parser.add_argument(
        "--session-key",
        metavar="KEY",
        help="the conversation served: agent:<id>:<channel>:<context>",
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
        help=f"holds the token clients must show (default: ${TOKEN_VARIABLE}, else a new one)",
    )
    http.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name clients may call this server by, as in their Host header (may be repeated)",
    )


def _add_install_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("client", choices=("claude", "codex", "cursor", "vscode"))
    parser.add_argument("--print", action="store_true", help="print the entry, change nothing")
    parser.add_argument(
        "--project", metavar="DIR", help="into this project's file (default: the user's)"
    )
    parser.add_argument(
        "--name", default="notewell", help="what the client calls it (default: notewell)"
    )


def run(arguments: argparse.Namespace) -> int:
    return _serve(arguments) if arguments.action == "serve" else _install(arguments)


# -- serve ---------------------------------------------------------------------------------------


def _serve(arguments: argparse.Namespace) -> int:
    _require_sdk()
    _log_to_stderr()
    from notewell.cli.entries import entries_of
    from notewell.mcp_server import create_server
    from notewell.tools import CallContext

    with memory_of(arguments) as memory:
        citations = arguments.citations or memory.settings.citations
        talk = CallContext(session_key=arguments.session_key, citations=citations, origin="mcp")
        with entries_of(arguments, memory.settings) as entries:
            server = create_server(memory, talk, entries=entries)
            if arguments.http:
                _serve_http(server, arguments)
            else:
                from notewell.mcp_server import serve_stdio

                serve_stdio(server)
    return 0


def _serve_http(server: Any, arguments: argparse.Namespace) -> None:
    from notewell.mcp_server import PATH, http_app, listen, serve_http

    token = find_token(arguments.token_file, os.environ)
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
    """Never from the command line, where every user of the machine can read it."""
    if file is None:
        return environ.get(TOKEN_VARIABLE) or None
    try:
        with Path(file).open("rb") as opened:
            token = opened.read(MAX_TOKEN_BYTES + 1).decode("ascii").strip()
    except (OSError, ValueError) as error:
        raise BadSetting("--token-file", f"cannot read {file!r}: {error}") from error
    if not token or len(token) > MAX_TOKEN_BYTES or len(token.split()) != 1:
        raise BadSetting("--token-file", f"{file!r} must hold one word, the token")
    return token


def _require_sdk() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise BadSetting(
            "mcp", "the server needs the extra `mcp`: `pip install '.[mcp]'` in a checkout"
        )


def _log_to_stderr() -> None:
    import logging

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="notewell: %(message)s")


# -- install -------------------------------------------------------------------------------------


def _install(arguments: argparse.Namespace) -> int:
    from notewell.clients import CLIENTS, Machine, entry_text
    from notewell.clients.install import install

    client = CLIENTS[arguments.client]
    machine = Machine(Path.home(), os.environ, sys.platform)
    project = Path(arguments.project).absolute() if arguments.project is not None else None
    file = client.file(machine, project)
    entry = client.entry(serve_command(arguments))
    if not arguments.print:
        _require_sdk()  # Else the client would start a server that ends at once.
        if project is not None and not project.is_dir():
            raise BadSetting("--project", f"there is no folder {str(project)!r}")
    if arguments.print:
        if arguments.json:
            print_json({"file": str(file), "name": arguments.name, "entry": entry})
        else:
            tell(f"for {file}:")
            say(entry_text(client, arguments.name, entry).rstrip("\n"))
        return 0
    done = install(client, file, arguments.name, entry)
    if arguments.json:
        backup = str(done.backup) if done.backup else None
        print_json({"file": str(done.file), "changed": done.changed, "backup": backup})
    else:
        say(f"{client.title} {'now knows' if done.changed else 'knows already'} this memory")
        tell(f"in {done.file}" + (f"; as it was: {done.backup}" if done.backup else ""))
    return 0


def serve_command(arguments: argparse.Namespace) -> list[str]:
    """What starts the server from anywhere: with this Python, for this workspace."""
    from notewell.notes import Workspace

    agent, place, _ = meant(arguments)
    workspace = Path(place).absolute()
    Workspace.open(workspace)  # Refused now, not in the client's log.
    command = [*_program(), "mcp", "serve", "--workspace", str(workspace)]
    if arguments.openclaw:
        command.append("--openclaw")
    if agent != MAIN:
        command += ["--agent", agent]
    if arguments.state_dir is not None:
        command += ["--state-dir", str(Path(arguments.state_dir).expanduser().absolute())]
    return command


def _program() -> list[str]:
    script = Path(sys.executable).with_name("notewell")
    if script.is_file():
        return [str(script)]
    # -P: a file named notewell.py in the client's folder must not be taken for us.
    return [sys.executable, "-P", "-m", "notewell"]
