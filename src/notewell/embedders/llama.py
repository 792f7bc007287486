"""The parent's side of llama.cpp, which runs in a child process (`llama_worker.py`).

Some broken files and some bugs make llama.cpp abort, and an agent's session would die with it. It
also writes to the terminal and opens a port. A child process isolates us from all of that; when
the child dies, the next text starts another one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.errors import EmbedderFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

PROVIDER = "local"

LOAD_TIMEOUT_S = 300.0
"""For some gigabytes from a slow disk."""

WORKER = Path(__file__).with_name("llama_worker.py")

STDERR_TAIL_BYTES = 4096
"""How much of the end of its output is searched for the reason of a crash."""


class TimeLimit(NamedTuple):
    """How long a reply may take, and the setting that says so, if there is one."""

    seconds: float
    setting: str = ""


class Row(NamedTuple):
    """The result for one text: a vector as base64, or the reason why there is none."""

    vector: str | None
    why: str = ""


class Llama:
    """One running model. Not thread-safe: `LocalEmbedder` holds the lock."""

    def __init__(self, path: Path, *, context: int, pooled: bool, threads: int | None) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        # Otherwise it starts a debugger when it aborts.
        environment = {**os.environ, "GGML_NO_BACKTRACE": "1"}
        self._child = subprocess.Popen(  # noqa: S603 - our own file, no shell
            [sys.executable, "-P", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )
        self._end = weakref.finalize(self, _end, self._child, self._errors)
        settings = {"path": str(path), "context": context, "pooled": pooled, "threads": threads}
        reply = self._ask(settings, TimeLimit(LOAD_TIMEOUT_S))
        if "error" in reply:
            why = self._last_error() or str(reply["error"])
            self.close()
            raise EmbedderFailed(PROVIDER, f"llama.cpp does not load {str(path)!r}: {why}")

    @property
    def usable(self) -> bool:
        """Whether the child is alive; it may have died since the last text."""
        return self._end.alive and self._child.poll() is None

    def rows(self, texts: Sequence[str], limit: TimeLimit) -> list[Row]:
        """One row for each text, in order; raises `EmbedderFailed` if the child died."""
        reply = self._ask({"texts": list(texts)}, limit)
        rows = [Row(row.get("vector"), row.get("error", "")) for row in reply.get("rows", ())]
        if len(rows) != len(texts):
            raise EmbedderFailed(PROVIDER, f"{len(rows)} replies for {len(texts)} texts")
        return rows

    def close(self) -> None:
        """End the child; the object cannot be used afterwards."""
        self._end()

    def _ask(self, message: dict[str, Any], limit: TimeLimit) -> dict[str, Any]:
        if self._child.stdin is None or self._child.stdout is None:
            raise RuntimeError("the child was started without pipes")
        # Windows has no timeout for a read from a pipe. A timer that kills the child ends the
        # read on every platform.
        timed_out = threading.Event()
        watchdog = threading.Timer(limit.seconds, _kill_late, (timed_out, self._child))
        watchdog.daemon = True
        watchdog.start()
        try:
            self._child.stdin.write(json.dumps(message).encode() + b"\n")
            self._child.stdin.flush()
            line = self._child.stdout.readline()
        except (OSError, ValueError):  # A broken pipe, or one that we closed ourselves.
            line = b""
        except BaseException:  # Interrupted: the next text would get the reply to this one.
            self.close()
            raise
        finally:
            watchdog.cancel()
        if not line.endswith(b"\n"):
            why = self._why_ended(limit if timed_out.is_set() else None)
            raise EmbedderFailed(PROVIDER, why)
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _why_ended(self, limit: TimeLimit | None) -> str:
        if limit is not None:
            self.close()
            why = f"llama.cpp did not reply within {limit.seconds:g} s and was ended"
            return f"{why}; {limit.setting} sets this time" if limit.setting else why
        reason = self._last_error()
        self.close()
        status = _exit_status(self._child.returncode)
        return f"llama.cpp died ({status}){': ' + reason if reason else ''}"

    def _last_error(self) -> str:
        if self._errors.closed:
            return ""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - STDERR_TAIL_BYTES))
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        errors = [line for line in lines if "ASSERT" in line or " E " in line]
        # The first error is the cause; the later ones follow from it.
        return (errors or lines or [""])[0].strip()[:300]


def _kill_late(timed_out: threading.Event, child: subprocess.Popen[bytes]) -> None:
    timed_out.set()
    child.kill()


def _exit_status(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


def _end(child: subprocess.Popen[bytes], errors: Any) -> None:
    """Kill it: it has no state that must be saved."""
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout, errors):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:  # Bytes that we wrote and the child never read.
                continue
