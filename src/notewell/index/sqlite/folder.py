"""The folder of one agent's index, and how a new index takes the place of the old one.

    CURRENT            names the generation that answers, e.g. `index-7.sqlite`
    index-7.sqlite     that generation (with -wal and -shm beside it while in use)
    index-7.sqlite-map optional: data derived from it, removed together with it
    index-8.sqlite     optional: one being built; nobody reads it before CURRENT names it
    cache.sqlite       computed vectors; outlives every generation
    writer.lock        the lease on writing, held for a moment
    embedder.lock      the lease on embedding, held as long as that takes
    cache.lock         the lease on creating or replacing the cache
    SUSPECT            optional: names a generation in which a reader met damage
    LOOKED             optional: when the notes were compared with the index; see `sync.look`

A generation is complete and on disk before one atomic rename lets CURRENT name it. So at every
moment, kill -9 and power loss included, CURRENT names a complete index. Readers read CURRENT
before each answer. Renaming three SQLite files one by one would not guarantee that.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from notewell.errors import IndexUnreadable, OldTextLeft, StateNotWritable
from notewell.files import make_private, replace_file, sync_directory, sync_file

if TYPE_CHECKING:
    from pathlib import Path

CURRENT = "CURRENT"
SUSPECT = "SUSPECT"
SUSPECTED = "a reader met a damaged page"
_GENERATION = re.compile(r"index-(\d{1,18})\.sqlite")
GENERATION_FILE = re.compile(r"(index-\d{1,18}\.sqlite)(?:-wal|-shm|-journal|-map|-map\.tmp)?")
_MAP = "-map"
_SIDE_FILES = ("", "-wal", "-shm", "-journal", _MAP, f"{_MAP}.tmp")


class IndexFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.pointer = path / CURRENT
        # What CURRENT named when it was read last, and which file that was: a search asks twice.
        self._named: tuple[object, Path | None] = (None, None)

    @property
    def cache(self) -> Path:
        return self.path / "cache.sqlite"

    @property
    def writer_lock(self) -> Path:
        return self.path / "writer.lock"

    @property
    def embedder_lock(self) -> Path:
        return self.path / "embedder.lock"

    def map_of(self, generation: Path) -> Path:
        """A file for data derived from a generation; see `IndexStore.derived_file`."""
        return generation.with_name(generation.name + _MAP)

    def create(self) -> None:
        """Create the folder; only its owner may read it, because notes are private."""
        try:
            make_private(self.path)
        except OSError as error:
            raise StateNotWritable(str(self.path), error.strerror or str(error)) from error

    def current(self) -> Path | None:
        """The generation that answers; None if nothing was published yet."""
        try:
            stat = os.stat(self.pointer)  # noqa: PTH116 - each search asks
            # It is replaced and never changed, so that the same file names the same generation.
            mark = (stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size)
            known, generation = self._named
            if mark != known:
                name = self.pointer.read_bytes().decode("ascii", "replace").strip()
                # Only the name of a generation in this folder is valid: CURRENT must not lead
                # elsewhere.
                is_valid = _GENERATION.fullmatch(name) is not None
                generation = self.path / name if is_valid else None
                self._named = (mark, generation)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise IndexUnreadable(str(self.path), error.strerror or str(error)) from error
        return generation

    def next_generation(self) -> Path:
        """A name that no reader can have open: numbers only grow."""
        taken = [_number(path.name) for path in self._generations()]
        current = self.current()
        if current:
            taken.append(_number(current.name))
        return self.path / f"index-{max(taken, default=0) + 1}.sqlite"

    def newer_than(self, current: Path) -> Path | None:
        """A generation that is being built, or that a crash left."""
        number = _number(current.name)
        newer = [path for path in self._generations() if _number(path.name) > number]
        return max(newer, key=lambda path: _number(path.name)) if newer else None

    def publish(self, generation: Path) -> None:
        """Make `generation`, which is checkpointed and closed, the one that answers."""
        try:
            _sync_file(generation)
            # The file first, then its name, then the folder: each step durable before the next
            # begins. The writer's lease is held, so one name for the temporary file is enough.
            temporary = self.path / f"{CURRENT}.tmp"
            replace_file(self.pointer, _line(generation), durable=True, temporary=temporary)
        except OSError as error:
            raise StateNotWritable(str(self.path), error.strerror or str(error)) from error

    def mark_suspect(self, generation: Path) -> None:
        """Tell the next writer, which would otherwise not read the damaged page."""
        # Only a hint for the next writer: a full disk must not turn a search into an error.
        with suppress(OSError):
            replace_file(self.path / SUSPECT, _line(generation), durable=True)

    def is_suspect(self, generation: Path) -> bool:
        try:
            return (self.path / SUSPECT).read_text(encoding="ascii").strip() == generation.name
        except (OSError, UnicodeDecodeError):
            return False

    def set_aside(self, generation: Path) -> Path | None:
        """Rename a damaged generation, so that nobody reads it and people can examine it."""
        kept = self._keep(generation)
        if kept:
            self.remove(generation)
        return kept

    def set_aside_pointer(self) -> str | None:
        """If CURRENT is not a file it can be neither read nor replaced: rename it. Returns why."""
        pointer = self.path / CURRENT
        if pointer.is_file() or not os.path.lexists(pointer):
            return None
        kept = self._keep(pointer)
        return f"{CURRENT} was not a file" + (f" and is kept as {kept.name}" if kept else "")

    def _keep(self, damaged: Path) -> Path | None:
        for older in self.path.glob("*.damaged"):  # One is enough to examine.
            with suppress(FileNotFoundError, IsADirectoryError):
                older.unlink()  # We create no folders here, so a folder is not ours to remove.
        kept = damaged.with_name(f"{damaged.name}.damaged")
        try:
            damaged.replace(kept)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StateNotWritable(str(damaged), error.strerror or str(error)) from error
        return kept

    def remove_others(self) -> None:
        """Leave no file with text but the published generation. Raises `OldTextLeft`."""
        self.sweep()
        current = self.current()
        old = [one for one in self._generations() if one != current]
        files = [one.with_name(one.name + suffix) for one in old for suffix in _SIDE_FILES]
        left: dict[str, OSError] = {}
        # Again: `sweep` does not say what it could not remove.
        for file in (*files, *self.path.glob("*.damaged")):
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                if not file.is_dir():  # We create no folders here, so a folder is not ours.
                    left[str(file)] = error
        if left:
            first = next(iter(left.values()))
            raise OldTextLeft(tuple(left), first.strerror or str(first)) from first

    def discard(self) -> None:
        """Leave no generation at all. Raises `OldTextLeft` and `StateNotWritable`."""
        try:
            # First: a reader takes a missing CURRENT for an index that is not built yet.
            self.pointer.unlink(missing_ok=True)
            sync_directory(self.path)
        except OSError as error:
            raise StateNotWritable(str(self.pointer), error.strerror or str(error)) from error
        self.remove_others()

    def remove(self, generation: Path) -> None:
        for suffix in _SIDE_FILES:
            # Windows does not remove a file that a reader has open. A file that stays is harmless,
            # and the next sync tries again.
            with suppress(OSError):
                generation.with_name(generation.name + suffix).unlink()

    def sweep(self) -> None:
        """Remove old generations, and those that a crash left incomplete."""
        current = self.current()
        for generation in self._generations():
            if generation != current:
                self.remove(generation)
        for name in (f"{CURRENT}.tmp", SUSPECT):
            with suppress(OSError):
                (self.path / name).unlink()

    def size(self) -> int:
        """Bytes on disk, everything included."""
        total = 0
        with suppress(OSError), os.scandir(self.path) as entries:
            for entry in entries:
                with suppress(OSError):
                    total += entry.stat().st_size
        return total

    def _generations(self) -> list[Path]:
        try:
            names = os.listdir(self.path)  # noqa: PTH208 - only names are wanted
        except FileNotFoundError:
            return []
        except OSError as error:
            raise IndexUnreadable(str(self.path), error.strerror or str(error)) from error
        # By side files, too: an interrupted removal may leave a log without its database file.
        stems = {name.removesuffix(suffix) for name in names for suffix in _SIDE_FILES}
        return sorted(self.path / name for name in stems if _GENERATION.fullmatch(name))


def _number(name: str) -> int:
    match = _GENERATION.fullmatch(name)
    return int(match.group(1)) if match else 0


def _line(generation: Path) -> bytes:
    return f"{generation.name}\n".encode("ascii")


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        sync_file(descriptor)
    finally:
        os.close(descriptor)
