"""The arguments of all commands. Apart from the commands themselves, so that it loads fast."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from notewell import __version__
from notewell.cli.output import say
from notewell.cli.place import add_place

if TYPE_CHECKING:
    from collections.abc import Callable

_EPILOG = """\
exit codes: 0 success, 1 error, 2 wrong usage, 3 nothing found, 4 not confirmed, 5 degraded,
            75 busy, 130 stopped
"""
DEFAULT_COLUMNS = 80

# For each of its words argparse searches the folders of the system for a translation, and loads
# `locale` to do so. There is none: argparse comes with English words alone, as we do.
vars(argparse)["_"] = str


class _Parser(argparse.ArgumentParser):
    """Parsers of commands are of the same class, so they get the same formatter."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": _formatter, **options})


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, width=_columns() - 2)


def _columns() -> int:
    """The width of the terminal. Not by `shutil`, which argparse would import for each command: it
    loads every compression format of Python."""
    with suppress(KeyError, ValueError):
        if (columns := int(os.environ["COLUMNS"])) > 0:
            return columns
    with suppress(AttributeError, ValueError, OSError):
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or DEFAULT_COLUMNS  # type: ignore[union-attr]
    return DEFAULT_COLUMNS


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The whole parser; if `only` names a command, just what that command needs."""
    parser = _Parser(
        prog="notewell",
        description="A memory for AI agents: search the Markdown notes of a workspace.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"notewell {__version__}")
    # Without a description, argparse prints "None" below the title.
    commands = parser.add_subparsers(
        title="commands", description="", metavar="COMMAND", required=True
    )
    for name, (summary, add_options) in _COMMANDS.items():
        # Every parser costs time at start-up, so a known command gets only its own. For an unknown
        # one argparse lists them all.
        if only == name or only not in _COMMANDS:
            command = commands.add_parser(name, help=summary, description=summary)
            # An option function may name another module or function.
            command.set_defaults(module=name, function="run", json=False)
            add_options(command)
    return parser


def _init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", metavar="DIR", type=os.path.expanduser, help="the same as -w DIR"
    )
    add_place(parser)
    parser.add_argument(
        "--extra",
        action="append",
        default=[],
        metavar="PATH",
        help="take in the Markdown below this path too (may be given again)",
    )
    parser.add_argument(
        "-y", "--yes", action="store_true", help="do not ask: only make the folder a workspace"
    )


def _index(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("--force", action="store_true", help="build a new index")
    parser.add_argument(
        "--text-only", action="store_true", help="do not compute vectors; keyword search works"
    )
    parser.add_argument(
        "--wait",
        type=float,
        # `assembly.LEASE_WAIT_S`; importing it here would load the whole library for --help.
        default=10.0,
        metavar="S",
        help="how long to wait for another process that writes (default: 10 seconds)",
    )


def _search(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    # Several words without quotes are one question; `run` joins them.
    parser.add_argument(
        "question", nargs="*", help="what to look for; tag:x path:x after:2026 before:7d narrow it"
    )
    parser.set_defaults(refuse=parser.error)
    for name, value, help_text in (
        ("tag", "TAG", "only notes with this tag, or one below it (may be given again)"),
        ("path", "TEXT", "only notes with this text in their path (may be given again)"),
        ("after", "DAY", "only what is from this day or later: 2026-03-04, 2026-03, 2026 or 7d"),
        ("before", "DAY", "only what is earlier than this day"),
    ):
        parser.add_argument(
            f"--{name}", action="append", default=[], metavar=value, help=help_text
        )
    parser.add_argument(
        "-n", "--max-results", type=int, metavar="N", help="at most this many hits (default: 6)"
    )
    parser.add_argument(
        "--min-score",
        type=float,
        metavar="X",
        help="hide hits below this score (default: about 0.35); 0 shows the nearest, however far",
    )
    parser.add_argument(
        "--mode",
        choices=("hybrid", "keyword"),
        default="hybrid",
        help="words and meaning, or words alone (faster to start)",
    )
    parser.add_argument(
        "--folder",
        metavar="DIR",
        help="of the conversations, only those in this folder: a path, a name, or . for this one",
    )
    parser.add_argument("--explain", action="store_true", help="show the parts of each score")
    parser.add_argument(
        "--why", metavar="PATH", help="instead of hits, say why this note is not among them"
    )


def _status(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("--deep", action="store_true", help="also ask the embedder for a vector")
    parser.add_argument(
        "--index",
        action="store_true",
        help="bring the index up to date first, and see that the embedder answers",
    )


def _append(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("text", nargs="+", help="what to remember; `-` reads standard input")
    parser.add_argument(
        "--section",
        metavar="HEADING",
        help="under this heading of MEMORY.md (default: the note of today)",
    )


def _get(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("path", help="as search shows it; `path#L5-L9` picks these lines")
    # `from` is a keyword of Python, so the attribute needs another name.
    parser.add_argument("--from", dest="from_line", type=int, metavar="LINE", help="first line")
    parser.add_argument("--lines", type=int, metavar="N", help="how many (default: 120)")
    parser.set_defaults(module="search", function="get")


def _verify(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.set_defaults(module="doctor", function="verify")


def _watch(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument(
        "--every",
        type=float,
        metavar="MINUTES",
        help="also sync every MINUTES, without a file event (default: about once a minute)",
    )
    parser.add_argument(
        "--debounce",
        type=float,
        metavar="S",
        help="sync when no file has changed for S seconds (default: 1.5)",
    )
    parser.add_argument(
        "--scan",
        action="store_true",
        help="scan every 5 seconds instead of using file events: for network drives",
    )


def _undo(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("id", help="as `notewell history` shows it; its beginning is enough")
    # Both commands read the same journal, so they share a module.
    parser.set_defaults(module="history", function="undo")


def _import(parser: argparse.ArgumentParser) -> None:
    # `import` is a keyword of Python, so the module has another name.
    _own("imports")(parser)
    parser.set_defaults(module="imports")


def _model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=("pull", "list"), help="download and verify one · show what is here"
    )
    parser.add_argument(
        "name",
        nargs="?",
        help="with pull: use-multilingual-v3, local, or hf:owner/repo/file.gguf "
        "(default: the embedded model, where the install lacks it)",
    )
    # Not `add_place`: models belong to the machine, not to an agent or a workspace.
    parser.add_argument("--state-dir", metavar="DIR", help="where to put them")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _eval(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sets", nargs="*", metavar="SET", help="a folder of questions and notes")
    parser.add_argument(
        "--system",
        metavar="NAMES",
        help="comma-separated systems: hybrid, keyword, vector, qmd, and the baseline fts5 "
        "(default: fts5,hybrid)",
    )
    parser.add_argument(
        "--backend", metavar="NAMES", help="comma-separated engines instead: builtin, qmd"
    )
    parser.add_argument(
        "--k", type=int, metavar="N", help="evaluate the first N hits (default: 6)"
    )
    parser.add_argument(
        "--by-category", action="store_true", help="also print one row per category"
    )
    parser.add_argument(
        "--limit", type=int, metavar="N", help="ask a sample of N questions of each workspace"
    )
    parser.add_argument(
        "--strangers",
        action="store_true",
        help="ask each workspace also the questions of the others, and nonsense: how many get "
        "no hit, and what that costs",
    )
    parser.add_argument(
        "--replay",
        action="store_true",
        help="replay the conversations of the sets through the hooks of Claude Code into an "
        "empty memory, then ask the questions",
    )
    parser.add_argument(
        "--notes-only",
        action="store_true",
        help="with --replay: the hooks that `notewell install --notes-only` installs",
    )
    parser.add_argument("--out", metavar="FILE", help="save questions and results here, as JSON")
    parser.add_argument(
        "--compare",
        nargs=2,
        metavar=("OLD", "NEW"),
        help="ask nothing; list what NEW wins and loses against OLD, two saved runs",
    )
    parser.add_argument(
        "--measure",
        choices=("any", "all", "ndcg", "mrr", "any-seen", "all-seen"),
        help=(
            "what to compare by (default: ndcg; any and all for replays); seen: what a model "
            "reads in 4000 characters"
        ),
    )
    parser.add_argument(
        "--state-dir",
        metavar="DIR",
        help="keep indexes and vectors here for the next run (default: a temporary folder)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _own(command: str) -> Callable[[argparse.ArgumentParser], None]:
    """Options that the command's own module defines."""

    def add(parser: argparse.ArgumentParser) -> None:
        from importlib import import_module

        # Large sets of options stay beside the code that reads them, and load with it.
        import_module(f"notewell.cli.{command}").add_options(parser)

    return add


def _uninstall(parser: argparse.ArgumentParser) -> None:
    from notewell.cli.install import add_uninstall_options

    add_uninstall_options(parser)
    # The counterpart of `install`, in the same module.
    parser.set_defaults(module="install", function="run_uninstall")


def _pull(parser: argparse.ArgumentParser) -> None:
    from notewell.cli.transfer import add_pull_options

    add_pull_options(parser)


def _completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    parser.set_defaults(module="parser", function="print_completion")


def print_completion(arguments: argparse.Namespace) -> int:
    """`notewell completion`: made from the parser, so that it knows every command and option."""
    import shtab

    say(shtab.complete(build_parser(), shell=arguments.shell))
    return 0


# --help and the completion list the commands in this order: daily use first.
_COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "init": ("make a folder a workspace", _init),
    "index": ("bring the index up to date with the notes", _index),
    "search": ("find the lines that answer a question", _search),
    "watch": ("keep the index up to date while notes change", _watch),
    "get": ("print lines of a note", _get),
    "append": ("add an entry to the note of today", _append),
    "status": ("show the state of the memory", _status),
    "doctor": ("find problems and repair them", _own("doctor")),
    "verify": ("prove that the index matches the notes", _verify),
    "redact": ("mask the secrets in a text: a filter", _own("redact")),
    "entries": ("single statements that agents stored (LanceDB)", _own("entries")),
    "review": (
        "propose statements from daily notes and conversations for MEMORY.md",
        _own("review"),
    ),
    "sessions": ("keep the conversations that hosts already have", _own("sessions")),
    "import": ("take over what another memory program or a chat app has", _import),
    "history": ("list what Notewell wrote to the notes", _own("history")),
    "undo": ("undo one write that `notewell history` lists", _undo),
    "forget": ("remove what was said from the memory", _own("forget")),
    "hook": ("run the hooks of a host, or install them", _own("hook")),
    "eval": ("measure search quality on questions with known answers", _eval),
    "model": ("download a model, or list the models", _model),
    "install": ("put this memory into an agent's program: tools and hooks", _own("install")),
    "uninstall": ("take it out of an agent's program again", _uninstall),
    "mcp": ("serve agents over MCP, or install an entry for a client", _own("mcp")),
    "serve": ("serve agents and a web page over HTTP", _own("serve")),
    "token": ("create, list and revoke tokens for `notewell serve`", _own("token")),
    "agents": ("add, list and remove agents of services on PostgreSQL", _own("agents")),
    "worker": ("index and embed what was written to PostgreSQL", _own("worker")),
    "db": ("create and check the tables in PostgreSQL", _own("db")),
    "push": ("copy the notes of a folder into PostgreSQL", _own("transfer")),
    "pull": ("copy notes from PostgreSQL into a folder", _pull),
    "config": ("show and check the settings", _own("config")),
    "completion": ("print a completion script for a shell", _completion),
}
