"""The near side of the pipe to llama.cpp, which runs in a process of its own.

Some broken files, and some bugs, make llama.cpp abort: the process that asked would die with it,
in the middle of a session. It also writes to the terminal and opens a port. None of that reaches
us from a child process; when the child dies, the next question starts another one.
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
"""Some gigabytes from a slow disk."""

WORKER = Path(__file__).with_name("llama_worker.py")

LAST_WORDS_BYTES = 4096
"""How much of what llama.cpp printed we look through for the reason of its end."""


class Row(NamedTuple):
    """What became of one text: a vector as base64, or the reason why there is none."""

    vector: str | None
    why: str = ""


class Llama:
    """One running model. Not for two threads at once: `LocalEmbedder` holds the lock."""

    def __init__(self, path: Path, *, context: int, pooled: bool, threads: int | None) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        environment = {**os.environ, "GGML_NO_BACKTRACE": "1"}  # else it calls a debugger
        self._child = subprocess.Popen(  # noqa: S603 - our own file, no shell
            [sys.executable, "-P", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )
        self._end = weakref.finalize(self, _end, self._child, self._errors)
        settings = {"path": str(path), "context": context, "pooled": pooled, "threads": threads}
        answer = self._ask(settings, LOAD_TIMEOUT_S)
        if "error" in answer:
            why = self._last_words() or str(answer["error"])
            self.close()
            raise EmbedderFailed(PROVIDER, f"llama.cpp does not load {str(path)!r}: {why}")

    @property
    def usable(self) -> bool:
        """Whether the child is still there; it may have died since it was last asked."""
        return self._end.alive and self._child.poll() is None

    def rows(self, texts: Sequence[str], timeout_s: float) -> list[Row]:
        """One row a text, in order; raises `EmbedderFailed` when the child is gone or too slow."""
        answer = self._ask({"texts": list(texts)}, timeout_s)
        rows = [Row(row.get("vector"), row.get("error", "")) for row in answer.get("rows", ())]
        if len(rows) != len(texts):
            raise EmbedderFailed(PROVIDER, f"{len(rows)} answers for {len(texts)} texts")
        return rows

    def close(self) -> None:
        """End the child; the object is of no use afterwards."""
        self._end()

    def _ask(self, question: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        if self._child.stdin is None or self._child.stdout is None:
            raise RuntimeError("the child was started without pipes")
        late = threading.Event()
        watch = threading.Timer(timeout_s, _end_late, (late, self._child))
        watch.daemon = True
        watch.start()
        try:
            self._child.stdin.write(json.dumps(question).encode() + b"\n")
            self._child.stdin.flush()
            line = self._child.stdout.readline()
        except (OSError, ValueError):  # a broken pipe, or one that we closed ourselves
            line = b""
        except BaseException:  # Interrupted: the next one would get the answer to this question.
            self.close()
            raise
        finally:
            watch.cancel()
        if not line.endswith(b"\n"):
            raise EmbedderFailed(
                PROVIDER, self._how_it_ended(timeout_s if late.is_set() else None)
            )
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _how_it_ended(self, timeout_s: float | None) -> str:
        if timeout_s is not None:
            self.close()
            return f"llama.cpp gave no answer within {timeout_s:.0f} s and was ended"
        words = self._last_words()
        self.close()
        code = self._child.returncode
        return f"llama.cpp died ({_told(code)}){': ' + words if words else ''}"

    def _last_words(self) -> str:
        if self._errors.closed:
            return ""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - LAST_WORDS_BYTES))
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        told = [line for line in lines if "ASSERT" in line or " E " in line]
        return (told or lines or [""])[0].strip()[:300]


def _end_late(late: threading.Event, child: subprocess.Popen[bytes]) -> None:
    late.set()
    child.kill()


def _told(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


def _end(child: subprocess.Popen[bytes], errors: Any) -> None:
    """Without asking: it holds nothing that has to be saved."""
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout, errors):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:  # what was written and never read
                continue
