"""What a disk may hold when the power goes after a given operation.

The rules, each the strictest that file systems in use keep:

* A file's bytes are safe once the file was synced. Of what was written since, any part may be
  there: all, none, a beginning, some writes without the earlier ones, a write torn at sectors of
  512 or blocks of 4096 bytes. Where a later write is there and an earlier one is not, zeros stand.
* A name (create, rename, unlink, link, mkdir) is safe once the folder it stands in was synced.
  Syncing the file does not help, though ext4, XFS and Btrfs would keep the name of a new file:
  fsync(2) promises nothing of the kind.
* The names of one folder change in order: what is there is what a beginning of the changes made.
  Folders do not wait for each other, though a journal that is written in one piece, as ext4's is,
  would make them.
* A sector is written whole or not at all, and a rename within a folder is one change.

What is lost with its folder is lost: a synced file in a folder whose own name is not safe is gone.
"""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.hardening.powerloss.record import Kind, Log, Op

SECTOR, BLOCK = 512, 4096


@dataclass(slots=True)
class File:
    safe: bytearray = field(default_factory=bytearray)
    unsafe: list[Op] = field(default_factory=list)
    """Writes and truncations since the last sync, in order."""

    def sync(self) -> None:
        for op in self.unsafe:
            apply(self.safe, op)
        self.unsafe.clear()


@dataclass(slots=True)
class Folder:
    safe: dict[str, int] = field(default_factory=dict)
    """From names to things, by their number."""
    unsafe: list[dict[str, int]] = field(default_factory=list)
    """What the folder held after each change since the last sync."""

    @property
    def now(self) -> dict[str, int]:
        return self.unsafe[-1] if self.unsafe else self.safe

    def change(self, *, gone: str | None = None, come: tuple[str, int] | None = None) -> None:
        names = dict(self.now)
        if gone is not None:
            del names[gone]
        if come is not None:
            names[come[0]] = come[1]
        self.unsafe.append(names)

    def sync(self) -> None:
        self.safe = self.now
        self.unsafe.clear()


def apply(data: bytearray, op: Op) -> None:
    if op.kind is Kind.TRUNCATE:
        del data[op.offset :]
        data.extend(bytes(op.offset - len(data)))
    else:
        put(data, op.offset, op.data)


def put(data: bytearray, offset: int, piece: bytes) -> None:
    data.extend(bytes(max(0, offset - len(data))))
    data[offset : offset + len(piece)] = piece


class Disk:
    """Plays a log, one operation after another; `image` tells what a power cut may leave now."""

    def __init__(self, log: Log) -> None:
        self._things: list[File | Folder] = []
        self._numbers: dict[int, int] = {}
        for thing in log.before:
            new = Folder() if thing.data is None else File(bytearray(thing.data))
            number = self._add(thing.inode, new)
            if thing.path:
                above, _, name = thing.path.rpartition("/")
                self._folder_at(above).safe[name] = number

    def _add(self, inode: int, thing: File | Folder) -> int:
        self._things.append(thing)
        self._numbers[inode] = len(self._things) - 1
        return self._numbers[inode]

    def _folder_at(self, path: str) -> Folder:
        number = 0
        for name in path.split("/") if path else ():
            number = self._folder(number).safe[name]
        return self._folder(number)

    def _folder(self, number: int) -> Folder:
        thing = self._things[number]
        assert isinstance(thing, Folder)
        return thing

    def play(self, op: Op) -> None:
        if op.kind is Kind.MARK:
            return
        if op.kind is Kind.UNNAMED:
            self._add(op.second, File())
            return
        number = self._numbers[op.first]
        thing = self._things[number]
        if op.kind is Kind.SYNC:
            thing.sync()
        elif isinstance(thing, File):
            thing.unsafe.append(op)
        else:
            self._change_names(thing, op)

    def _change_names(self, folder: Folder, op: Op) -> None:
        name = op.data.decode(errors="surrogateescape")
        match op.kind:
            case Kind.CREATE:
                folder.change(come=(name, self._add(op.second, File())))
            case Kind.MKDIR:
                folder.change(come=(name, self._add(op.second, Folder())))
            case Kind.LINK:
                folder.change(come=(name, self._numbers[op.second]))
            case Kind.UNLINK:
                folder.change(gone=name)
            case Kind.RENAME:
                source, target = name.split("/")
                thing = folder.now[source]
                if op.first == op.second:
                    folder.change(gone=source, come=(target, thing))
                else:  # Two folders, each with a moment of its own: in both, or in neither.
                    folder.change(gone=source)
                    self._folder(self._numbers[op.second]).change(come=(target, thing))
            case _:
                raise AssertionError(op)

    def image(self, dice: random.Random) -> Image:
        """One of the many. A quarter of them keep nothing that is unsafe, an eighth all of it."""
        keep = dice.choices([_Nothing(), _Everything(), _Some(dice)], [2, 1, 5])[0]
        return Image(dict(self._walk(0, "", keep)))

    def all_of_it(self) -> Image:
        """As if the power had stayed."""
        return Image(dict(self._walk(0, "", _Everything())))

    def _walk(self, number: int, path: str, keep: _Nothing) -> Iterator[tuple[str, bytes | None]]:
        thing = self._things[number]
        if isinstance(thing, File):
            yield path, keep.data(thing)
            return
        if path:
            yield path, None
        for name, below in sorted(keep.names(thing).items()):
            yield from self._walk(below, f"{path}/{name}" if path else name, keep)


@dataclass(frozen=True, slots=True)
class Image:
    things: dict[str, bytes | None]
    """Files by their path; folders are None."""

    @property
    def digest(self) -> str:
        whole = hashlib.sha256()
        for path, data in self.things.items():
            told = b"/" if data is None else b"%d " % len(data) + data
            whole.update(path.encode(errors="surrogateescape") + b"\0" + told)
        return whole.hexdigest()

    def lay_out(self, root: Path) -> None:
        """Make `root` be this, and nothing else."""
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        for path, data in self.things.items():
            if data is None:
                (root / path).mkdir()
            else:
                (root / path).write_bytes(data)


class _Nothing:
    def names(self, folder: Folder) -> dict[str, int]:
        return folder.safe

    def data(self, file: File) -> bytes:
        return bytes(file.safe)


class _Everything(_Nothing):
    def names(self, folder: Folder) -> dict[str, int]:
        return folder.now

    def data(self, file: File) -> bytes:
        data = bytearray(file.safe)
        for op in file.unsafe:
            apply(data, op)
        return bytes(data)


class _Some(_Nothing):
    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    def names(self, folder: Folder) -> dict[str, int]:
        return self._dice.choice([folder.safe, *folder.unsafe])

    def data(self, file: File) -> bytes:
        data = bytearray(file.safe)
        for op in self._kept(file.unsafe):
            if op.kind is Kind.WRITE and self._dice.random() < 0.3:
                self._tear(data, op)
            else:
                apply(data, op)
        return bytes(data)

    def _kept(self, unsafe: list[Op]) -> list[Op]:
        match self._dice.choice(["beginning", "holes", "last", "all"]):
            case "beginning":
                return unsafe[: self._dice.randint(0, len(unsafe))]
            case "holes":
                return [op for op in unsafe if self._dice.random() < 0.5]
            case "last":
                return unsafe[-1:]
        return unsafe

    def _tear(self, data: bytearray, op: Op) -> None:
        """Of the sectors that the write touches, some are as it made them."""
        unit = self._dice.choice([SECTOR, BLOCK])
        start, end = op.offset, op.offset + len(op.data)
        while start < end:
            stop = min(end, (start // unit + 1) * unit)
            if self._dice.random() < 0.5:
                put(data, start, op.data[start - op.offset : stop - op.offset])
            start = stop


def images(log: Log, count: int, seed: int) -> Iterator[tuple[int, Image]]:
    """`count` images, each with its cut: all along the log, and often right after something was
    told to be done, where what was told must not depend on what comes later."""
    dice = random.Random(seed)
    disk, played = Disk(log), 0
    for cut in sorted(_cut(log, number, count, dice) for number in range(count)):
        for op in log.ops[played:cut]:
            disk.play(op)
        played = cut
        yield cut, disk.image(dice)


def _cut(log: Log, number: int, count: int, dice: random.Random) -> int:
    total = len(log.ops)
    if number % 5 == 0:
        return min(total, dice.choice(log.marks)[0] + dice.randint(1, 3))
    return int((number + dice.random()) * total / count)
