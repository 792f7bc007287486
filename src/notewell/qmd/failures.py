"""What can go wrong with QMD, by kind, each with the next step.

    binary-missing     there is no such program
    spawn-failed       the program is there and cannot be started
    timeout            no answer within the time the settings give; everything it started was ended
    exit               it ended, or answered, with an error
    bad-json           an answer, but not the one that was asked for
    output-too-large   more than anybody would read
    no-vectors         a search by meaning before `qmd embed` has ever run
    no-models          a search or embedding for which a model is not downloaded
    not-writable       no permission or no room where its home is
    no-index           a search before `qmd update` has ever run
    busy               another process is at work on this index

Only these make another engine answer. An empty list of hits is an answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.errors import BackendFailed

if TYPE_CHECKING:
    from pathlib import Path

Kind: TypeAlias = Literal[
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
"""Of what QMD says, this much reaches the user: a line, not a page."""

_LOOK = "`notewell index --force` makes QMD's index anew"
_ACTIONS: dict[Kind, str] = {
    "binary-missing": "install it (npm install -g @tobilu/qmd) or set memory.qmd.command",
    "spawn-failed": "see that it runs in a terminal: it needs node 22 or bun on the PATH",
    "timeout": "raise the timeout in memory.qmd.limits or memory.qmd.update, or use "
    "searchMode: search",
    "exit": _LOOK,
    "bad-json": f"use a qmd of version 2.8 or later; {_LOOK}",
    "output-too-large": "ask for fewer results",
    "no-vectors": "run `notewell index`, or use searchMode: search",
    "no-models": "download it once with `qmd pull`, or use searchMode: search",
    "not-writable": "mend that, or choose another place with --state-dir",
    "no-index": "run `notewell index`",
    "busy": "try again when it is done",
}

_BUSY = re.compile(r"SQLITE_BUSY|database is (?:locked|busy)|SQLITE_CONSTRAINT_PRIMARYKEY", re.I)
"""The last is what a second update of an empty index dies of."""
_DAMAGED = re.compile(r"SQLITE_(?:CORRUPT|NOTADB)|is malformed|is not a database", re.I)
_ERROR = re.compile(r"^\s*(?:\w*Error\b.*|.*\bError:.*)$", re.M)
_NOISE = re.compile(
    r"^\s*(?:QMD Warning|Warning:|Cannot find package|at |Node\.js v|If qmd still|$)"
)
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class QmdFailed(BackendFailed):
    """QMD was asked and did not give what it was asked for."""

    kind: Kind

    def __init__(self, kind: Kind, why: str, *, code: int | None = None) -> None:
        super().__init__(BACKEND, kind, why, _ACTIONS[kind])
        self.code = code
        """What it exited with, where that is known."""

    @property
    def is_damage(self) -> bool:
        """Its index cannot be read: nothing helps but a new one."""
        return bool(_DAMAGED.search(self.why))


def not_writable(path: Path, error: OSError) -> QmdFailed:
    return QmdFailed("not-writable", f"cannot write to {str(path)!r}: {in_words(error)}")


def in_words(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def failed_exit(command: str, code: int, stderr: str) -> QmdFailed:
    """An exit code and what was printed beside it, as one of ours."""
    said = error_line(stderr)
    told = f": {said}" if said else ""
    if code in (126, 127):  # What `env` and every shell say of a program that cannot be run.
        return QmdFailed("spawn-failed", f"`qmd {command}` did not start{told}", code=code)
    if _BUSY.search(stderr):
        why = f"`qmd {command}` met another process at work on this index{told}"
        return QmdFailed("busy", why, code=code)
    return QmdFailed("exit", f"`qmd {command}` ended with {how_it_ended(code)}{told}", code=code)


def how_it_ended(code: int) -> str:
    """A signal is a negative code to Python, and 128 more to those who pass it on."""
    if code < 0 or code > 128:
        return f"signal {-code if code < 0 else code - 128}"
    return f"exit code {code}"


def error_line(stderr: str) -> str:
    """The line that says what went wrong; warnings and traces stand around it."""
    plain = _ESCAPE.sub("", stderr)
    lines = [line.strip() for line in plain.splitlines() if not _NOISE.match(line)]
    found = next(filter(_ERROR.match, lines), None) or (lines[-1] if lines else "")
    return "".join(filter(str.isprintable, found))[:LINE_CHARS]
