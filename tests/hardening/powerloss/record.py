"""A process is watched while it works: what it did to the disk, in order, with the data.

The shim (`disk_log.c`) writes the log, here it is read. The folder is copied before the process
begins, so that log and copy together tell what was there at every moment.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
_HEAD = struct.Struct("<BQQqI")
CHILD_TIMEOUT_S = 120.0


class Kind(IntEnum):
    """As the shim numbers them."""

    CREATE = 1
    MKDIR = 2
    WRITE = 3
    TRUNCATE = 4
    RENAME = 5
    UNLINK = 6
    LINK = 7
    SYNC = 8
    MARK = 9
    UNNAMED = 10


@dataclass(frozen=True, slots=True)
class Op:
    """One thing that happened to the disk."""

    kind: Kind
    first: int
    """The inode of the file, or of the folder for whatever changes names."""
    second: int
    offset: int
    """Or the new size."""
    data: bytes
    """What was written, or a name; of a rename both, with a slash between."""


@dataclass(frozen=True, slots=True)
class Thing:
    """A file or folder as it was before the log begins."""

    path: str
    """Relative to the watched folder, which is the empty path."""
    inode: int
    data: bytes | None
    """None for a folder."""


@dataclass(frozen=True, slots=True)
class Log:
    before: tuple[Thing, ...]
    ops: tuple[Op, ...]

    @property
    def marks(self) -> list[tuple[int, str]]:
        """What the process was told is done, and how many operations had been by then."""
        return [
            (number, op.data.decode())
            for number, op in enumerate(self.ops)
            if op.kind is Kind.MARK
        ]

    def acknowledged(self, cut: int) -> list[str]:
        """In the order in which it was told."""
        return [what for number, what in self.marks if number < cut]


def build_shim(folder: Path) -> Path:
    library = folder / "disk_log.so"
    source = Path(__file__).with_name("disk_log.c")
    options = ["-O2", "-shared", "-fPIC", "-ldl", "-lpthread"]
    subprocess.run(["gcc", "-o", library, source, *options], check=True, capture_output=True)
    return library


def can_build_shim() -> bool:
    """Linux alone preloads like this; without a compiler there is nothing to preload."""
    return sys.platform == "linux" and shutil.which("gcc") is not None


def record(shim: Path, root: Path, log: Path, *act: str) -> Log:
    """The file operations of `powerloss.act` below `root` (an absolute path without links)."""
    before = tuple(_things(root))
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "src")]),
        "PYTHONHASHSEED": "0",
        "LD_PRELOAD": str(shim),
        "DISK_LOG": str(log),
        "DISK_LOG_BELOW": str(root),
    }
    command = [sys.executable, "-m", "tests.hardening.powerloss.act", str(root), *act]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, encoding="utf-8",
        timeout=CHILD_TIMEOUT_S, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{act} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return Log(before, tuple(_read(log.read_bytes())))


def _things(root: Path) -> list[Thing]:
    found = [Thing("", root.stat().st_ino, None)]
    for path in sorted(root.rglob("*")):
        data = path.read_bytes() if path.is_file() else None
        found.append(Thing(str(path.relative_to(root)), path.stat().st_ino, data))
    return found


def _read(data: bytes) -> list[Op]:
    ops, at = [], 0
    while at < len(data):
        kind, first, second, offset, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        ops.append(Op(Kind(kind), first, second, offset, data[at : at + length]))
        at += length
    return ops
