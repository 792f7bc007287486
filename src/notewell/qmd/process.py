"""QMD as a child process: no shell, a deadline for everything, and nothing left behind.

    run     one command: what it printed, or a failure that says why not
    start   a process that stays, on the same leash (see `child_guard.py`)

Whatever ends the wait (an answer, the deadline, too much output, an exception in our thread), the
whole process group is gone when we return.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from notewell.qmd.failures import QmdFailed, failed_exit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STDOUT_BYTES = 800_000
"""The original stops at 200 000 characters; in bytes that is up to four times as many."""
STDERR_BYTES = 64 * 1024
"""The first of it: the error stands above the trace. The rest is read and thrown away."""
READ_BYTES = 64 * 1024
REAP_S = 5.0
"""A killed process is gone at once, unless the disk it waits for is."""

CHILD_GUARD = Path(__file__).with_name("child_guard.py")


class Running:
    """The commands under way, so that another thread can end them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._children: set[subprocess.Popen[bytes]] = set()

    def add(self, child: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._children.add(child)

    def remove(self, child: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._children.discard(child)

    def end_all(self) -> None:
        """The leash sees its pipe end and does the rest; who waits for the command sees it die."""
        with self._lock:
            for child in self._children:
                if child.stdin is not None:
                    child.stdin.close()


@dataclass(frozen=True, slots=True)
class Program:
    """QMD as it is to be started."""

    command: str
    folder: Path
    environment: Mapping[str, str]
    running: Running = field(default_factory=Running, compare=False)

    def found(self) -> str:
        """The file to run; raises `binary-missing`."""
        asked = os.path.expanduser(self.command)  # noqa: PTH111 - a name without `/` stays one
        found = shutil.which(asked, path=self.environment.get("PATH"))
        if found is None:
            raise QmdFailed("binary-missing", f"there is no program {self.command!r}")
        # Relative to where we are, and not to where QMD is started.
        return str(Path(found).absolute())


class Output(NamedTuple):
    stdout: bytes
    stderr: str
    code: int


def start(
    program: Program, arguments: Sequence[str], *, stdout: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """A process that lives until it ends itself, `end` is called or we are gone."""
    if not hasattr(os, "killpg"):
        raise QmdFailed("spawn-failed", "QMD cannot be driven on Windows; it can inside WSL 2")
    command = [sys.executable, "-I", "-S", str(CHILD_GUARD), program.found(), *arguments]
    try:
        return subprocess.Popen(  # noqa: S603 - a list of arguments, no shell
            command,
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=subprocess.PIPE,
            cwd=program.folder,
            env=dict(program.environment),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        why = f"{program.command!r} cannot be started: {error}"
        raise QmdFailed("spawn-failed", why) from error


def end(child: subprocess.Popen[bytes]) -> None:
    """Kill the child and all it started; asking nicely takes QMD seconds and saves nothing."""
    if child.returncode is None:  # Not waited for yet, so the number is still its own.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            child.wait(REAP_S)
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()


def run(
    program: Program,
    arguments: Sequence[str],
    timeout_s: float,
    *,
    stdout_bytes: int = STDOUT_BYTES,
) -> Output:
    """What one command printed; raises `QmdFailed` for everything but exit code 0."""
    name = _name(arguments)
    until = time.monotonic() + timeout_s
    child = start(program, arguments)
    program.running.add(child)
    try:
        stdout, stderr, is_whole = _read_both(child, until, stdout_bytes)
        if len(stdout) > stdout_bytes:
            why = f"`qmd {name}` printed more than {stdout_bytes} bytes"
            raise QmdFailed("output-too-large", why)
        if not is_whole:
            raise _late(name, timeout_s)
        try:
            code = child.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise _late(name, timeout_s) from None
    finally:
        program.running.remove(child)
        end(child)
    if code:
        raise failed_exit(name, code, stderr)
    return Output(bytes(stdout), stderr, code)


def _late(name: str, timeout_s: float) -> QmdFailed:
    return QmdFailed("timeout", f"`qmd {name}` gave no answer within {timeout_s:.1f} s")


def _name(arguments: Sequence[str]) -> str:
    """The command among the arguments: the first word behind `--index NAME`."""
    words = list(arguments)
    if words[:1] == ["--index"]:
        words = words[2:]
    return words[0] if words else ""


def _read_both(
    child: subprocess.Popen[bytes], until: float, stdout_bytes: int
) -> tuple[bytearray, str, bool]:
    """Both outputs to their ends, side by side, and whether the ends came in time."""
    taken = {child.stdout: bytearray(), child.stderr: bytearray()}
    caps = {child.stdout: stdout_bytes + 1, child.stderr: STDERR_BYTES}
    with selectors.DefaultSelector() as waiting:
        for pipe in (child.stdout, child.stderr):
            if pipe is not None:
                waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map() and len(taken[child.stdout]) <= stdout_bytes:
            left = until - time.monotonic()
            if left <= 0:
                break
            for key, _ in waiting.select(left):
                data = os.read(key.fd, READ_BYTES)
                if not data:
                    waiting.unregister(key.fileobj)
                pipe = child.stdout if key.fileobj is child.stdout else child.stderr
                taken[pipe] += data[: max(0, caps[pipe] - len(taken[pipe]))]
        is_whole = not waiting.get_map()
    return taken[child.stdout], taken[child.stderr].decode("utf-8", "replace"), is_whole
