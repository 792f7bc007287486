"""Holds QMD on a leash: started by `process.py` as a file of its own, never imported by it.

    we ── pipe ── leash ── qmd (a launcher) ── node
                  └──────── one process group ───┘

The pipe is this process's standard input. It ends when we close it, and also when we die, however
we die; then the whole group is killed, this process included. When QMD ends first, this process
ends with its code. `qmd` alone would go on: killing it leaves the node it started, and a server
that nobody asks any more.

Nothing but the standard library, and little of it: it starts with every call.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys

CANNOT_START = 126
"""What shells say of a program that is there and does not run."""


def main() -> None:
    os.umask(0o077)  # QMD writes down what the notes say, and makes its files readable by all.
    try:
        child = os.posix_spawn(
            sys.argv[1],
            sys.argv[1:],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)],
        )
    except OSError as error:
        sys.stderr.write(f"Error: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(CANNOT_START)
    _thread.start_new_thread(_follow, (child,))
    os.read(0, 1)
    os.killpg(os.getpid(), signal.SIGKILL)  # We lead the group, or there is none of this number.


def _follow(child: int) -> None:
    """A signal is told as shells tell it: 128 more."""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
