"""Asks a program that the user has configured: a text in, a text out, within a few seconds.

    conversation ──standard input──▶ program ──first line of its output──▶ name of a session note

No shell is involved. The program runs in the user's home folder and not in the folder of the
conversation, which may be a stranger's: `python -m` there would import a stranger's files.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.errors import NotewellError
from notewell.files import describe_os_error
from notewell.hosts import HOOK_GUARD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SLUG_TIMEOUT_S = 6.0
"""A hook has ten seconds in all (`hosts.HOOK_TIMEOUT_S`), and the note must still be saved. If
several notes are to be named, the later ones get what is left."""
MAX_OUTPUT_BYTES = 64 * 1024
"""A program that prints without end must not fill the memory."""


class CommandFailed(NotewellError):
    """The program gave no usable answer; the message names it and says why."""


def slug_namer(
    command: Sequence[str], timeout_s: float = SLUG_TIMEOUT_S
) -> Callable[[str], str] | None:
    """The function that asks the program for a name; None if no program is configured."""
    return partial(_name, tuple(command), timeout_s) if command else None


def _name(command: tuple[str, ...], timeout_s: float, conversation: str) -> str:
    lines = ask_program(command, conversation, timeout_s=timeout_s).splitlines()
    return next((line.strip() for line in lines if line.strip()), "")


def ask_program(command: Sequence[str], text: str, *, timeout_s: float) -> str:
    """What the program prints. Raises `CommandFailed`."""
    if timeout_s <= 0:
        raise CommandFailed(f"no time was left to ask {command[0]!r}")
    deadline = time.monotonic() + timeout_s
    process = _started(command, text)
    try:
        return _output(process, command[0], deadline).decode("utf-8", "replace")
    finally:
        _end(process)


def _started(command: Sequence[str], text: str) -> subprocess.Popen[bytes]:
    # A file and not a pipe: a program that does not read its input would block us.
    with tempfile.TemporaryFile() as file:
        file.write(text.encode("utf-8", "replace"))
        file.seek(0)
        try:
            return subprocess.Popen(  # noqa: S603 - the user's own program
                command,
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=Path.home(),
                # The program may be an agent with hooks of its own.
                env={**os.environ, HOOK_GUARD: "1"},
                start_new_session=True,
            )
        except OSError as error:
            why = describe_os_error(error)
            raise CommandFailed(f"{command[0]!r} cannot be started: {why}") from error


def _output(process: subprocess.Popen[bytes], name: str, deadline: float) -> bytes:
    output: list[bytes] = []
    stdout = process.stdout
    assert stdout is not None  # noqa: S101 - it is a pipe, see above

    def read() -> None:
        output.append(stdout.read(MAX_OUTPUT_BYTES))

    # A thread, because not every system can read a pipe with a time limit.
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(max(0.0, deadline - time.monotonic()))
    if reader.is_alive():
        raise CommandFailed(f"{name!r} took too long")
    if len(output[0]) == MAX_OUTPUT_BYTES:
        raise CommandFailed(f"{name!r} printed more than {MAX_OUTPUT_BYTES // 1024} KiB")
    try:
        code = process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise CommandFailed(f"{name!r} took too long") from None
    if code != 0:
        raise CommandFailed(f"{name!r} ended with exit code {code}")
    return output[0]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and whatever it has started."""
    if sys.platform == "win32":  # It has no groups.
        process.kill()
    else:
        try:
            # Its own group, see `start_new_session`: a child may outlive the program.
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
