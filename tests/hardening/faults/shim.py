"""The library that brings the faults: how it is built, and how a process that has it is armed."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

Kind: TypeAlias = Literal[
    "list", "kill", "kill after", "torn", "short", "full once", "full", "broken", "stuck"
]
"""In the order of `enum kind` in shim.c.

list        nothing goes wrong; what is counted is listed
kill        the process is killed before the operation
kill after  … and right after it
torn        half of the bytes are written, then the process is killed
short       half of the bytes are written, and the writer is told so: the disk is filling up
full once   no room for this operation, but for later ones
full        no room for this one, nor for any later one that needs room
broken      an input/output error
stuck       this file cannot be removed, nor any later one: a program has it open, as on Windows
"""

KINDS: tuple[Kind, ...] = get_args(Kind)
FAULTS: tuple[Kind, ...] = KINDS[1:]

DEADLY: frozenset[Kind] = frozenset({"kill", "kill after", "torn"})

_SOURCE = Path(__file__).with_name("shim.c")
_WRITES = frozenset({"write"})
_NEEDS_ROOM = frozenset({"write", "create", "mkdir", "link"})
_ELIGIBLE: dict[Kind, frozenset[str]] = {
    "torn": _WRITES,
    "short": _WRITES,
    # Where data waits in memory, a disk turns out to be full as late as in fsync.
    "full once": _NEEDS_ROOM | {"rename", "fsync"},
    "full": _NEEDS_ROOM,
    "stuck": frozenset({"unlink"}),
}


class Fault(NamedTuple):
    kind: Kind
    at: int
    """The number of the operation, from 1."""


class Operation(NamedTuple):
    what: str
    path: str


def suits(kind: Kind, what: str) -> bool:
    """Whether this can happen to such an operation."""
    return kind not in _ELIGIBLE or what in _ELIGIBLE[kind]


def build(folder: Path) -> Path:
    """Compile it; these tests prove nothing without it, so a missing compiler is an error."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise RuntimeError(
            "no C compiler: the fault tests build a small library with gcc; install gcc and the "
            "headers of libc (Debian: apt install gcc libc6-dev)"
        )
    library = folder / "libfault.so"
    command = [compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    done = subprocess.run(
        [*command, "-o", str(library), str(_SOURCE), "-ldl"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{compiler} could not build {_SOURCE.name}:\n{done.stderr}")
    return library


class Shim:
    """The library inside of a process that was started with it."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.fault_count.restype = ctypes.c_long

    def arm(self, root: Path, fault: Fault, log: Path | None) -> None:
        if log is not None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            self._library.fault_log_to(os.open(log, flags, 0o600))
        where, at = os.fsencode(root), ctypes.c_long(fault.at)
        self._library.fault_arm(where, at, KINDS.index(fault.kind))

    def disarm(self) -> int:
        """How many operations there were."""
        self._library.fault_disarm()
        return int(self._library.fault_count())


def read_operations(log: Path) -> list[Operation]:
    lines = log.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return [Operation(*line.split(" ", 1)) for line in lines]
