"""The ways an index comes to harm, each a function that does it to a `DamagedMemory`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

from tests.hardening.damage.damaged_memory import DamagedMemory

from notewell.index.sqlite import open_writer
from notewell.index.sqlite.connect import PAGE_BYTES

Damage: TypeAlias = Callable[[DamagedMemory], None]


def overwrite(path: Path, data: bytes) -> None:
    """Other bytes in the same place, and no log beside them: as after a crash or a restore."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(data)


def flipped(at: int, bit: int, suffix: str = "") -> Damage:
    """One bit of the index, or of its log."""

    def damage(damaged: DamagedMemory) -> None:
        path = damaged.index.with_name(damaged.index.name + suffix)
        data = bytearray(path.read_bytes())
        data[at] ^= 1 << bit
        path.write_bytes(data)

    return damage


def replaced(change: Callable[[bytes], bytes]) -> Damage:
    return lambda damaged: overwrite(damaged.index, change(damaged.index.read_bytes()))


def cut(left: int) -> Damage:
    return replaced(lambda data: data[:left])


def zeroed_page(page: int) -> Damage:
    """`page` is counted from 0."""
    at = page * PAGE_BYTES
    return replaced(lambda data: data[:at] + bytes(PAGE_BYTES) + data[at + PAGE_BYTES :])


def copied_page(source: int, target: int) -> Damage:
    """What a disk does that writes a page to the wrong place. Its checksum is right."""

    def change(data: bytes) -> bytes:
        page = data[source * PAGE_BYTES : (source + 1) * PAGE_BYTES]
        return data[: target * PAGE_BYTES] + page + data[(target + 1) * PAGE_BYTES :]

    return replaced(change)


def stamped(pragma: str, number: int) -> Damage:
    """A well-formed file with another number in its header."""

    def damage(damaged: DamagedMemory) -> None:
        with closing(open_writer(damaged.index)) as db:
            db.pragma(pragma, number)

    return damage


# -- things in the place of files ----------------------------------------------------------------


def index_is_folder(damaged: DamagedMemory) -> None:
    path = damaged.index
    path.unlink()
    path.mkdir()
    (path / "somebody's").write_text("file", encoding="utf-8")


def index_is_link_to_its_copy(damaged: DamagedMemory) -> None:
    elsewhere = damaged.root / "elsewhere.sqlite"
    elsewhere.write_bytes(damaged.index.read_bytes())
    _linked(damaged.index, elsewhere)


def index_is_link_to_a_text(damaged: DamagedMemory) -> None:
    _linked(damaged.index, damaged.workspace / "MEMORY.md")


def index_is_link_to_nothing(damaged: DamagedMemory) -> None:
    _linked(damaged.index, damaged.root / "nothing")


def index_is_link_to_itself(damaged: DamagedMemory) -> None:
    _linked(damaged.index, damaged.index)


def index_is_gone(damaged: DamagedMemory) -> None:
    for suffix in ("-wal", "-shm", ""):
        damaged.index.with_name(damaged.index.name + suffix).unlink(missing_ok=True)


def pointer(data: bytes) -> Damage:
    """CURRENT says something else."""

    def damage(damaged: DamagedMemory) -> None:
        (damaged.folder / "CURRENT").write_bytes(data)

    return damage


def folder_called(name: str) -> Damage:
    """A folder, not empty, where a file of ours should be."""

    def damage(damaged: DamagedMemory) -> None:
        path = damaged.folder / name
        path.unlink(missing_ok=True)
        path.mkdir()
        (path / "somebody's").write_text("file", encoding="utf-8")

    return damage


def pointer_is_link(target: str) -> Damage:
    return lambda damaged: _linked(damaged.folder / "CURRENT", Path(target))


def garbage_in(name: str) -> Damage:
    def damage(damaged: DamagedMemory) -> None:
        (damaged.folder / name).write_bytes(b'\xff\x00{"pid": [[[' * 200)

    return damage


def _linked(path: Path, target: Path) -> None:
    path.unlink()
    path.symlink_to(target)
