"""The command line: data goes to standard output, everything else to standard error.

Exit codes: 0 done · 1 error · 2 wrong usage · 3 nothing found · 5 degraded: done, but with less
than was requested · 75 busy: another process is writing, try again · 130 interrupted.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from notewell.cli.output import flush, print_json, tell
from notewell.cli.parser import build_parser
from notewell.errors import NotewellError, OutputFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130  # 128 + SIGINT, as shells have it.


def main(argv: Sequence[str] | None = None) -> int:
    # A command runs for a moment: garbage collection while it starts would only cost time.
    gc.set_threshold(100_000)
    if sys.stdout is None:  # Started with standard output closed.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            errors="backslashreplace"
        )  # A pipe may not be UTF-8, but notes are.
    words = sys.argv[1:] if argv is None else argv
    arguments = build_parser(words[0] if words else None).parse_args(words)
    try:
        # Only the module of the command is imported: a search does not pay for the others.
        module = import_module(f"notewell.cli.{arguments.module}")
        code: int = getattr(module, arguments.function)(arguments)
        flush()
    except KeyboardInterrupt:
        sys.stderr.write(
            "\nstopped; your notes and the last index are as they were, go on any time\n"
        )
        return INTERRUPTED
    except BrokenPipeError:
        _give_up_output()  # The reader, `head` for example, has seen enough.
        return 0
    except NotewellError as error:
        return _report(error, as_json=arguments.json)
    return code


def _report(error: NotewellError, *, as_json: bool) -> int:
    if isinstance(error, OutputFailed):
        _give_up_output()
    elif as_json:
        print_json({"error": {"kind": type(error).__name__, "message": str(error)}})
    tell(f"notewell: {error}")
    return error.exit_code


def _give_up_output() -> None:
    """Otherwise Python reports the unwritten rest once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
