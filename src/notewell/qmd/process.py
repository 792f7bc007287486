"""QMD as a child process: no shell, a deadline for everything, and nothing left behind.

    run     one command: its output, or a failure with the reason
    start   a process that stays; `child_guard.py` kills it when we end

Whatever ends the wait (output, the deadline, too much output, an exception in our thread), the
whole process group is dead when `run` returns.
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
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from notewell.qmd.failures import QmdFailed, failed_exit
from notewell.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STDOUT_BYTES = 800_000
"""OpenClaw stops at 200 000 characters, which is up to four times as many bytes."""
STDERR_BYTES = 64 * 1024
"""Only the beginning: the error comes before the stack trace. The rest is discarded."""
READ_BYTES = 64 * 1024
REAP_S = 5.0
"""A killed process disappears at once, unless it waits for a disk that does not answer."""

CHILD_GUARD = Path(__file__).with_name("child_guard.py")


class ChildProcesses:
    """The commands that are running, so that another thread can stop them."""

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
        """Close the guards' pipes: each kills its group, and `run` sees its command die."""
        with self._lock:
            for child in self._children:
                if child.stdin is not None:
                    child.stdin.close()


@dataclass(frozen=True, slots=True)
class Program:
    """How to start QMD."""

    command: str
    folder: Path
    environment: Mapping[str, str]
    children: ChildProcesses = field(default_factory=ChildProcesses, compare=False)

    def executable(self) -> str:
        """The absolute path of the file to run; raises `binary-missing`."""
        name = os.path.expanduser(self.command)  # noqa: PTH111 - a name without `/` stays one
        path = shutil.which(name, path=self.environment.get("PATH"))
        if path is None:
            raise QmdFailed("binary-missing", f"there is no program {self.command!r}")
        # A relative path is meant from our working directory; QMD is started in its home.
        return str(Path(path).absolute())


class Output(NamedTuple):
    stdout: bytes
    stderr: str
    code: int


def start(
    program: Program, arguments: Sequence[str], *, stdout: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """A process that lives until it exits, `end` is called or our process ends."""
    if sys.platform == "win32":
        raise QmdFailed("spawn-failed", "QMD cannot be driven on Windows; it can inside WSL 2")
    command = [sys.executable, "-I", "-S", str(CHILD_GUARD), program.executable(), *arguments]
    try:
        return subprocess.Popen(  # noqa: S603 - a list of arguments, no shell
            command,
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=subprocess.PIPE,
            cwd=program.folder,
            env=dict(program.environment),  # Not ours: see `QmdHome.environment`.
            start_new_session=True,  # A group of its own, which can be killed as a whole.
        )
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        why = f"{program.command!r} cannot be started: {error}"
        raise QmdFailed("spawn-failed", why) from error


def end(child: subprocess.Popen[bytes]) -> None:
    """Kill the child's process group. SIGTERM would take QMD seconds and save nothing."""
    # While nobody has waited for the child, the kernel cannot give its number to another process.
    if sys.platform != "win32" and child.returncode is None:
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
    """The output of one command; raises `QmdFailed` unless the exit code is 0."""
    name = _command_name(arguments)
    until = time.monotonic() + timeout_s
    child = start(program, arguments)
    program.children.add(child)
    # From here on the child is killed whatever happens, also on KeyboardInterrupt.
    try:
        stdout, stderr, is_whole = _read_both(child, until, stdout_bytes)
        # Cut JSON cannot be parsed, so a too large answer is a failure and not a shorter answer.
        if len(stdout) > stdout_bytes:
            why = f"`qmd {name}` printed more than {stdout_bytes} bytes"
            raise QmdFailed("output-too-large", why)
        if not is_whole:
            raise _timeout(name, timeout_s)
        try:
            code = child.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise _timeout(name, timeout_s) from None
    finally:
        program.children.remove(child)
        end(child)
    if code:
        raise failed_exit(name, code, stderr)
    return Output(bytes(stdout), stderr, code)


def _timeout(name: str, timeout_s: float) -> QmdFailed:
    return QmdFailed("timeout", f"`qmd {name}` gave no answer within {timeout_s:.1f} s")


def _command_name(arguments: Sequence[str]) -> str:
    """The subcommand: the first word after `--index NAME`."""
    words = list(arguments)
    if words[:1] == ["--index"]:
        words = words[2:]
    return words[0] if words else ""


def _read_both(
    child: subprocess.Popen[bytes], until: float, stdout_bytes: int
) -> tuple[bytearray, str, bool]:
    """stdout, stderr, and whether both were read to the end before the deadline.

    Both are read at the same time: a full pipe would block the child.
    """
    taken = {child.stdout: bytearray(), child.stderr: bytearray()}
    caps = {child.stdout: stdout_bytes + 1, child.stderr: STDERR_BYTES}
    with selectors.DefaultSelector() as selector:
        for pipe in (child.stdout, child.stderr):
            if pipe is not None:
                selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map() and len(taken[child.stdout]) <= stdout_bytes:
            left = until - time.monotonic()
            if left <= 0:
                break
            for key, _ in selector.select(left):
                data = os.read(key.fd, READ_BYTES)
                if not data:
                    selector.unregister(key.fileobj)
                pipe = child.stdout if key.fileobj is child.stdout else child.stderr
                taken[pipe] += data[: max(0, caps[pipe] - len(taken[pipe]))]
        is_whole = not selector.get_map()
    return taken[child.stdout], taken[child.stderr].decode("utf-8", "replace"), is_whole
