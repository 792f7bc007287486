"""The failures of QMD by kind, each with the next step for the user; and the backoff after them.

`_REASONS` says what each kind means. After a timeout all processes of QMD have been killed.

Only these make the fallback engine answer. An empty list of hits is a valid answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.errors import BackendFailed

if TYPE_CHECKING:
    from pathlib import Path

FailureKind: TypeAlias = Literal[
    "binary-missing",
    "spawn-failed",
    "timeout",
    "exit",
    "bad-json",
    "output-too-large",
    "no-vectors",
    "no-models",
    "not-writable",
    "no-index",
    "busy",
]

BACKEND = "qmd"
LINE_CHARS = 300
"""How much of QMD's own error message the user sees."""
FIRST_BACKOFF_S, MAX_BACKOFF_S = 60.0, 3600.0

_REBUILD = "`notewell index --force` rebuilds QMD's index"
_ACTIONS: dict[FailureKind, str] = {
    "binary-missing": "install it (npm install -g @tobilu/qmd) or set memory.qmd.command",
    "spawn-failed": "check that it runs in a terminal: it needs node 22 or bun on the PATH",
    "timeout": "raise the timeout in memory.qmd.limits or memory.qmd.update, or use "
    "searchMode: search",
    "exit": _REBUILD,
    "bad-json": f"use a qmd of version 2.8 or later; {_REBUILD}",
    "output-too-large": "ask for fewer results",
    "no-vectors": "run `notewell index`, or use searchMode: search",
    "no-models": "download it once with `qmd pull`, or use searchMode: search",
    "not-writable": "fix that, or choose another folder with --state-dir",
    "no-index": "run `notewell index`",
    "busy": "try again when it is done",
}

_REASONS: dict[FailureKind, str] = {
    "binary-missing": "there is no such program",
    "spawn-failed": "the program cannot be started",
    "timeout": "no answer within the configured time",
    "exit": "it ended, or its server answered, with an error",
    "bad-json": "an answer in an unexpected form",
    "output-too-large": "an answer above the size limit",
    "no-vectors": "the index has no vectors yet",
    "no-models": "a model is not downloaded",
    "not-writable": "no permission or no disk space in its folder",
    "no-index": "nothing is indexed yet",
    "busy": "another process is using this index",
}
"""For remote readers: the reason itself may quote a path or what QMD printed."""

_BUSY = re.compile(r"SQLITE_BUSY|database is (?:locked|busy)|SQLITE_CONSTRAINT_PRIMARYKEY", re.I)
"""The last one comes from two updates of an empty index at the same time."""
_DAMAGED = re.compile(r"SQLITE_(?:CORRUPT|NOTADB)|is malformed|is not a database", re.I)
_ERROR = re.compile(r"^\s*(?:\w*Error\b.*|.*\bError:.*)$", re.M)
_NOISE = re.compile(
    r"^\s*(?:QMD Warning|Warning:|Cannot find package|at |Node\.js v|If qmd still|$)"
)
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class QmdFailed(BackendFailed):
    """QMD gave no usable answer."""

    kind: FailureKind

    def __init__(
        self,
        kind: FailureKind,
        why: str,
        *,
        code: int | None = None,
        is_index_damaged: bool = False,
    ) -> None:
        super().__init__(BACKEND, kind, why, _ACTIONS[kind])
        self.code = code
        """The exit code, if a process ended."""
        self.is_index_damaged = is_index_damaged
        """QMD cannot read its index: only a rebuild helps."""

    def public_text(self) -> str:
        reason = _REASONS[self.kind]
        return f"{BACKEND} did not answer ({self.kind}): {reason}; {self.action}"


def not_writable(path: Path, error: OSError) -> QmdFailed:
    reason = (error.strerror or type(error).__name__).lower()
    return QmdFailed("not-writable", f"cannot write to {str(path)!r}: {reason}")


def failed_exit(command: str, code: int, stderr: str) -> QmdFailed:
    """The failure of a command that exited with `code` and printed `stderr`."""
    message = error_line(stderr)
    detail = f": {message}" if message else ""
    # `env` and every shell exit with these if a program cannot be executed.
    if code in (126, 127):
        return QmdFailed("spawn-failed", f"`qmd {command}` did not start{detail}", code=code)
    if _BUSY.search(stderr):
        why = f"`qmd {command}` found the index in use by another process{detail}"
        return QmdFailed("busy", why, code=code)
    why = f"`qmd {command}` ended with {_exit_reason(code)}{detail}"
    # QMD has no exit code for it, so its message is all there is to go by.
    return QmdFailed("exit", why, code=code, is_index_damaged=bool(_DAMAGED.search(message)))


def backoff_s(failures: int) -> float:
    """The pause after so many failures in a row: 60 s, 120 s, … up to an hour."""
    if failures <= 0:
        return 0.0
    # The exponent is capped because 2.0 ** 1024 would overflow.
    return min(MAX_BACKOFF_S, FIRST_BACKOFF_S * 2.0 ** min(failures - 1, 10))


def _exit_reason(code: int) -> str:
    # Python reports death by signal N as -N, shells and `child_guard.py` as 128 + N.
    if code < 0 or code > 128:
        return f"signal {-code if code < 0 else code - 128}"
    return f"exit code {code}"


def error_line(stderr: str) -> str:
    """The line with the error; node prints warnings before it and a stack trace after it."""
    plain = _ESCAPE.sub("", stderr)
    lines = [line.strip() for line in plain.splitlines() if not _NOISE.match(line)]
    line = next(filter(_ERROR.match, lines), None) or (lines[-1] if lines else "")
    return "".join(filter(str.isprintable, line))[:LINE_CHARS]
