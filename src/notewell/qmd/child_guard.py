"""Kills QMD when we end. `process.py` starts this file as a program and never imports it.

    we ── pipe ── child_guard ── qmd (a launcher) ── node
                  └───────── one process group ────────┘

The pipe is the standard input of this process. It closes when we close it and also when we die,
however we die; then the guard kills the whole process group, itself included. If QMD ends first,
the guard exits with QMD's exit code. Killing `qmd` alone is not enough: the launcher dies, and the
node process and its server stay.

It uses a small part of the standard library only, because it starts with every call.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys

CANNOT_START = 126
"""The exit code of shells for a program that exists but cannot be executed."""


def main() -> None:
    if sys.platform == "win32":  # `process.py` refuses before.
        sys.exit(CANNOT_START)
    os.umask(0o077)  # QMD copies the text of notes into files that it makes world-readable.
    try:
        child = os.posix_spawn(
            sys.argv[1],
            sys.argv[1:],
            os.environ,
            # Not our stdin: that is the guard's pipe, and QMD could read from it too.
            file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)],
        )
    except OSError as error:
        sys.stderr.write(f"Error: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(CANNOT_START)
    _thread.start_new_thread(_exit_with, (child,))
    os.read(0, 1)
    # `start_new_session` made us the group leader; for any other group this call fails.
    os.killpg(os.getpid(), signal.SIGKILL)


def _exit_with(child: int) -> None:
    """Exit as the child did; death by signal N becomes 128 + N, as in shells."""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
