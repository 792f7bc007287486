"""Opening SQLite the one way we trust, and turning its errors into ours.

Every page carries a checksum (SQLite's cksumvfs, part of the apsw wheel): of 300 random bit flips
300 were noticed on reading, where `integrity_check` missed most. It wants 8 reserved bytes a page
before the first table is made, and every writer must have it loaded.
"""

from __future__ import annotations

import contextlib
import os
from functools import cache
from typing import TYPE_CHECKING, Any

import apsw

from recollect.core.errors import IndexBusy, IndexUnreadable, RecollectError, StateNotWritable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

CHECKSUM_BYTES = 8
BUSY_MS = 5_000  # Readers never wait for long: a writer's transactions are short.
OLDEST_SOUND_SQLITE = (3, 51, 3)  # Before it a WAL reset could lose a commit.


@cache
def _load_checksums() -> None:
    """Once a process: afterwards cksumvfs stands in front of the default file system."""
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < OLDEST_SOUND_SQLITE:
        raise RecollectError(
            f"SQLite {apsw.sqlite_lib_version()} can lose commits in WAL mode: upgrade apsw"
        )
    folder = os.path.join(os.path.dirname(apsw.__file__), "sqlite_extra_binaries")  # noqa: PTH118, PTH120
    carrier = apsw.Connection(":memory:")
    try:
        carrier.enable_load_extension(True)  # noqa: FBT003 - apsw takes it by position only
        carrier.load_extension(os.path.join(folder, "cksumvfs"))  # noqa: PTH118
    finally:
        carrier.close()


def open_new(path: Path) -> apsw.Connection:
    """A new, empty file with checksums, readable by its owner alone."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    db = _open(str(path), apsw.SQLITE_OPEN_READWRITE)
    db.reserve_bytes("main", CHECKSUM_BYTES)
    _prepare_writer(db)
    return db


def open_writer(path: Path) -> apsw.Connection:
    db = _open(str(path), apsw.SQLITE_OPEN_READWRITE)
    _prepare_writer(db)
    return db


def open_reader(path: Path) -> apsw.Connection:
    """Read-only. Where the folder cannot be written, not even the shared-memory file of WAL, the
    file is read as it was last checkpointed."""
    try:
        db = _open(str(path), apsw.SQLITE_OPEN_READONLY)
        db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        if not path.exists():
            raise
        from urllib.parse import quote

        uri = f"file:{quote(str(path))}?immutable=1"
        db = _open(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    return db


def _open(name: str, flags: int) -> apsw.Connection:
    _load_checksums()
    db = apsw.Connection(name, flags=flags)
    db.set_busy_timeout(BUSY_MS)
    return db


def _prepare_writer(db: apsw.Connection) -> None:
    db.pragma("journal_mode", "wal")
    # FULL: what we report as done is on disk, not on its way there.
    db.pragma("synchronous", "full")
    db.pragma("temp_store", "memory")


def select(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    return db.execute(sql, values).fetchall()


@contextlib.contextmanager
def our_errors(path: Path) -> Iterator[None]:
    """SQLite's errors about the file at `path`, in our words."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError, apsw.FormatError) as error:
        raise IndexUnreadable(str(path), str(error)) from error
    except apsw.FullError as error:
        raise StateNotWritable(str(path.parent), "the disk is full") from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise StateNotWritable(str(path.parent), str(error)) from error
    except apsw.BusyError as error:
        raise IndexBusy(str(path.parent), "it kept the file locked", BUSY_MS / 1000) from error
    except apsw.IOError as error:
        if getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_DATA:
            raise IndexUnreadable(str(path), "a page does not match its checksum") from error
        raise StateNotWritable(str(path.parent), f"input/output error ({error})") from error
    except apsw.CantOpenError as error:
        raise IndexUnreadable(str(path), str(error)) from error
    except apsw.SQLError as error:
        # A table or column we count on is not there: the file is not what it claims to be.
        raise IndexUnreadable(str(path), str(error)) from error
