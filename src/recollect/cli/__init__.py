"""The command line: data goes to standard output, everything else to standard error.

Exit codes: 0 done · 1 error · 2 wrong usage · 3 nothing found · 5 done, but not as well as it
should be · 75 somebody else is writing, try again.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from recollect.cli.parser import build_parser

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130  # 128 + SIGINT, as shells have it.


def main(argv: Sequence[str] | None = None) -> int:
    # A command lives for a moment: looking for garbage while it starts is time spent for nothing.
    gc.set_threshold(100_000)
    words = sys.argv[1:] if argv is None else argv
    arguments = build_parser(words[0] if words else None).parse_args(words)
    try:
        # Each command is its own module, so that a search does not pay for the others' imports.
        code: int = import_module(f"recollect.cli.{arguments.module}").run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped; what was done is kept, the same command goes on from there\n")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read us has seen enough. Python would complain once more while shutting down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the last door before the user
        return _report(error, as_json=arguments.json)
    return code


def _report(error: Exception, *, as_json: bool) -> int:
    from recollect.cli.output import print_json, tell
    from recollect.core.errors import RecollectError

    if not isinstance(error, RecollectError):
        raise error
    if as_json:
        print_json({"error": {"kind": type(error).__name__, "message": str(error)}})
    tell(f"recollect: {error}")
    return error.exit_code
