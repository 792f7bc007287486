"""A command on a pseudo-terminal: what it shows, and a person who answers when asked."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from typing import TYPE_CHECKING, NoReturn

import pytest

pty = pytest.importorskip("pty", reason="a terminal to answer on is POSIX's")

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

READ_BYTES = 1 << 16
LIMIT_S = 120.0
"""For one answer; a machine that is busy is slow, and a command that hangs must fail."""
PRESSES = 12
END_OF_INPUT = "\x04"
INTERRUPT = "\x03"

# The terminal must be the process's own, or Ctrl-C on it would reach nobody.
_ON_ITS_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "notewell", *sys.argv[1:]])
"""


class Terminal:
    """One run of `notewell`. Everything is on the terminal: input, output and errors."""

    def __init__(self, words: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        self.shown = ""
        """All that was shown up to now, as lines end in files."""
        self._read_to = 0
        self._typed = ""
        self._process = subprocess.Popen(
            [sys.executable, "-c", _ON_ITS_TERMINAL, *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=cwd,
            env=dict(environment),
        )
        os.close(theirs)

    def until(self, text: str) -> str:
        """Read on until this is shown; what was shown since the last answer."""
        while text not in self.shown[self._read_to :]:
            if not self._read():
                self._fail(f"it ended before {text!r}")
        return self.shown[self._read_to :]

    def answer(self, question: str, typed: str) -> str:
        """Wait for a question, and type. The rest of what was shown before is returned."""
        before = self.until(question)
        self._read_to = len(self.shown)
        self._typed = typed
        os.write(self._ours, typed.encode())
        return before

    def end(self) -> int:
        """Its exit code; all its output is in `shown`."""
        while self._read():
            pass
        code = self._process.wait(timeout=LIMIT_S)
        os.close(self._ours)
        return code

    def _read(self) -> bool:
        for _ in range(PRESSES):
            if select.select([self._ours], [], [], LIMIT_S / PRESSES)[0]:
                break
            # Python does not see a Ctrl-C between writing a question and waiting for its answer.
            # A person presses it again.
            if self._typed == INTERRUPT:
                os.write(self._ours, INTERRUPT.encode())
        else:
            self._fail("it neither ended nor asked")
        try:
            data = os.read(self._ours, READ_BYTES)
        except OSError:  # Linux: the other side is closed.
            return False
        self.shown += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)

    def _fail(self, why: str) -> NoReturn:
        # A process that is left over would fail a later test with a warning about it.
        self._process.kill()
        self._process.wait()
        os.close(self._ours)
        pytest.fail(f"{why}:\n{self.shown}")
