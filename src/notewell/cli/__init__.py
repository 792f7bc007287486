"""The command line: data goes to standard output, everything else to standard error.

Exit codes: 0 done · 1 error · 2 wrong usage · 3 nothing found · 4 not confirmed: a question was
answered with no, or could not be asked · 5 degraded: done, but with less than was requested ·
75 busy: another process is writing, try again · 130 interrupted.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from notewell import __version__
from notewell.cli.output import flush, give_up_output, print_json, say, tell
from notewell.errors import NotewellError, OutputFailed

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import NoReturn

INTERRUPTED = 130  # 128 + SIGINT, as shells have it.
STOPPED = "\nstopped; your notes and the last index are as they were, go on any time\n"


def command() -> NoReturn:
    """The program `notewell`: nothing of this process comes after it."""
    exit_code: int | None = None

    def leave() -> None:
        # A wrong usage ends in the usual way, and so does a process that somebody observes.
        if exit_code is None or _is_observed():
            return
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):  # Python's own end reports it.
            return
        os._exit(exit_code)

    # Python frees every object and module at its end, a twentieth of the time of a search. What
    # is registered after this runs before it: threads have ended, the journal is written.
    atexit.register(leave)
    exit_code = main()
    sys.exit(exit_code)


def _is_observed() -> bool:
    """By a debugger, a profiler or a tool for coverage, which have work to do at the end."""
    monitoring = getattr(sys, "monitoring", None)  # Python 3.12; there are six numbers for tools.
    tools = [monitoring.get_tool(number) for number in range(6)] if monitoring else []
    return any((sys.gettrace(), sys.getprofile(), *tools))


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Without `argv` this process is ours alone, from its start to its end."""
    if argv is None:
        return _own_process()
    return _main(argv)


def _own_process() -> int:
    # Before numpy is imported. The threads of OpenBLAS spin while they wait, beginning with the
    # import: 60 ms of CPU time, and they are as costly in each search. Our products are small.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        return _main(sys.argv[1:])
    finally:
        # Python collects garbage several times at its end, a tenth of the time of a search. All
        # that is left then goes back to the system with the process.
        gc.freeze()


def _main(words: Sequence[str]) -> int:
    # A command runs for a moment: garbage collection while it starts would only cost time.
    gc.set_threshold(100_000)
    if sys.stdout is None:  # Started with standard output closed.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            errors="backslashreplace"
        )  # A pipe may not be UTF-8, but notes are.
    # Before the parser of all commands is made, which takes longer than the rest.
    if list(words) == ["--version"]:
        return _guarded(_print_version, as_json=False)
    if not words:
        return _guarded(_print_overview, as_json=False)
    from notewell.cli.parser import build_parser

    arguments = build_parser(words[0]).parse_args(words)
    return _guarded(lambda: _run(arguments), as_json=arguments.json)


def _print_version() -> int:
    say(f"notewell {__version__}")
    return 0


def _print_overview() -> int:
    from notewell.cli import overview

    return overview.run()


def _run(arguments: argparse.Namespace) -> int:
    # Only the module of the command is imported: a search does not pay for the others.
    module = import_module(f"notewell.cli.{arguments.module}")
    code: int = getattr(module, arguments.function)(arguments)
    return code


def _guarded(command: Callable[[], int], *, as_json: bool) -> int:
    """Run a command; turn what it raises into a message and an exit code."""
    try:
        code = command()
        flush()
    except KeyboardInterrupt:
        sys.stderr.write(STOPPED)
        return INTERRUPTED
    except BrokenPipeError:
        give_up_output()  # The reader, `head` for example, has seen enough.
        return 0
    except NotewellError as error:
        return _report(error, as_json=as_json)
    return code


def _report(error: NotewellError, *, as_json: bool) -> int:
    if isinstance(error, OutputFailed):
        give_up_output()
    elif as_json:
        print_json({"error": {"kind": type(error).__name__, "message": str(error)}})
    tell(f"notewell: {error}")
    return error.exit_code
