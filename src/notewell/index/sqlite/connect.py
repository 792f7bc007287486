"""Opening SQLite files in the one way we trust, and turning SQLite's errors into ours.

Every page has a checksum (SQLite's cksumvfs, part of the apsw wheel): of 300 random bit flips it
detected 300 on reading, where `integrity_check` missed most. It needs 8 reserved bytes a page
before the first table is created, and every writer must have it loaded.
"""

from __future__ import annotations

import contextlib
import os
from functools import cache
from typing import TYPE_CHECKING, Any

import apsw

from notewell.errors import (
    IndexBusy,
    IndexTooNew,
    IndexUnreadable,
    NotewellError,
    StateNotWritable,
)
from notewell.files import give_to_owner, has_locks
from notewell.index.sqlite.schema import APPLICATION_ID, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

CHECKSUM_BYTES = 8
PAGE_BYTES = 8192  # Five vectors of 384 dimensions fit, where 4096 bytes hold two and a gap.
BUSY_MS = 5_000  # A reader never waits long: transactions of a writer are short.
OLDEST_SOUND_SQLITE = (3, 51, 3)  # Before it a WAL reset could lose a commit.
_NO_SHARED_MEMORY = (apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_SHMOPEN)


def extensions_dir() -> Path:
    """Where the apsw wheel keeps its loadable extensions."""
    from pathlib import Path

    return Path(apsw.__file__).parent / "sqlite_extra_binaries"


@cache
def _load_checksums() -> None:
    """Once in a process: cksumvfs then replaces the default VFS of every new connection."""
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < OLDEST_SOUND_SQLITE:
        raise NotewellError(
            f"SQLite {apsw.sqlite_lib_version()} can lose commits in WAL mode: upgrade apsw"
        )
    carrier = apsw.Connection(":memory:")
    try:
        carrier.enable_load_extension(True)  # noqa: FBT003 - apsw takes it by position only
        carrier.load_extension(str(extensions_dir() / "cksumvfs"))
    finally:
        carrier.close()


def open_new(path: Path) -> apsw.Connection:
    """A new, empty file with checksums, which only its owner can read."""
    create_empty(path)
    with not_damage(path):
        db = _open(str(path), apsw.SQLITE_OPEN_READWRITE)
        # Both settings apply to an empty file only: after the first table they need a VACUUM.
        db.reserve_bytes("main", CHECKSUM_BYTES)
        db.pragma("page_size", PAGE_BYTES)
        _prepare_writer(db)
    return db


def create_empty(path: Path) -> None:
    try:
        # SQLite would create it with mode 0644. O_EXCL: a file that is already there is not ours.
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            give_to_owner(fd, path.parent.stat())
        finally:
            os.close(fd)
    except OSError as error:
        raise StateNotWritable(str(path.parent), error.strerror or str(error)) from error


def open_writer(path: Path) -> apsw.Connection:
    with not_damage(path):
        db = _open(str(path), apsw.SQLITE_OPEN_READWRITE)
        _prepare_writer(db)
    return db


@contextlib.contextmanager
def not_damage(path: Path) -> Iterator[None]:
    """A writer that cannot open a file or its log has not met damage: nothing is set aside."""
    try:
        yield
    except apsw.CantOpenError as error:
        raise cannot_open(path.parent, str(error)) from error


def cannot_open(folder: Path, why: str) -> StateNotWritable:
    reasons = "no permission, no room for another file, or too many are open"
    return StateNotWritable(str(folder), f"{why} ({reasons})")


def is_damage(error: IndexUnreadable) -> bool:
    """False if opening failed. SQLite opens logs and shared memory late, so in the middle of
    reading a sound file it may run out of file descriptors or inodes."""
    return not isinstance(error.__cause__, (apsw.CantOpenError, OSError))


def open_reader(path: Path) -> apsw.Connection:
    """Read-only. If the shared memory of WAL cannot be created (a read-only folder, a full disk),
    or if the file system has no locks, a file that is completely checkpointed is read without
    them, as immutable."""
    db = _open(str(path), apsw.SQLITE_OPEN_READONLY)
    try:
        _read_first(db, path)
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError, StateNotWritable) as error:
        db.close()
        if not (_lacks_shared_memory(error) and _is_checkpointed(path)):
            raise
        from urllib.parse import quote

        uri = f"file:{quote(str(path))}?immutable=1"
        db = _open(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    return db


def _read_first(db: apsw.Connection, path: Path) -> None:
    """SQLite opens files lazily: only the first statement shows whether this one can be read."""
    first = "SELECT 1 FROM sqlite_schema LIMIT 1"
    try:
        db.set_busy_timeout(0)
        db.execute(first).fetchall()
    except apsw.BusyError as error:
        # SQLite takes "no locks available" for a busy file, and would wait for nobody.
        if not has_locks(path.parent):
            raise StateNotWritable(str(path.parent), "its file system has no locks") from error
        db.set_busy_timeout(BUSY_MS)
        db.execute(first).fetchall()
    finally:
        db.set_busy_timeout(BUSY_MS)


def without_spare_pages(db: apsw.Connection) -> None:
    """Let a connection take its page cache page by page.

    SQLite takes room for twenty pages at once (165 KB), unless the cache may have only two when it
    takes the first one. A small index has seven: a service for 256 agents needs 30 MB less.
    """
    usual = int(db.pragma("cache_size"))
    db.pragma("cache_size", 2)
    db.pragma("shrink_memory")
    db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    db.pragma("cache_size", usual)


def is_immutable(db: apsw.Connection) -> bool:
    """Whether `open_reader` had to work without locks; then later changes go unnoticed."""
    return bool(db.open_flags & apsw.SQLITE_OPEN_URI)


def _lacks_shared_memory(error: Exception) -> bool:
    result = getattr(error, "extendedresult", None)
    return not isinstance(error, apsw.IOError) or result in _NO_SHARED_MEMORY


def _is_checkpointed(path: Path) -> bool:
    """A log with content may be partly copied into the file; the file is incomplete without it."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size == 0
    except FileNotFoundError:
        return path.exists()


def _open(name: str, flags: int) -> apsw.Connection:
    _load_checksums()
    db = apsw.Connection(name, flags=flags)
    db.set_busy_timeout(BUSY_MS)
    return db


def _prepare_writer(db: apsw.Connection) -> None:
    db.pragma("journal_mode", "wal")
    # FULL: a commit that we report is on disk, not in a write cache.
    db.pragma("synchronous", "full")
    # Only macOS has this call, and there it is needed: see `files.sync_file`.
    db.pragma("fullfsync", "on")
    db.pragma("temp_store", "memory")


def require_checksums(db: apsw.Connection, path: Path) -> None:
    """Closes two gaps of cksumvfs: one flipped bit in the header turns it off, and it does not
    check a last page that is cut off by the end of the file."""
    if not int(db.pragma("checksum_verification")):
        raise IndexUnreadable(str(path), "its pages carry no checksums")
    # Checked twice: while there is a log, a writer may be copying it into the file.
    if _is_checkpointed(path) and _is_cut(db, path) and _is_checkpointed(path):
        raise IndexUnreadable(str(path), "its end is missing")


def stamp(db: apsw.Connection) -> None:
    db.pragma("application_id", APPLICATION_ID)
    db.pragma("user_version", SCHEMA)


def found_schema(db: apsw.Connection, path: Path) -> int:
    """The schema number of a file that is ours. The caller rebuilds an older one."""
    if db.pragma("application_id") != APPLICATION_ID:
        raise IndexUnreadable(str(path), "it was not written by Notewell")
    require_checksums(db, path)
    found = int(db.pragma("user_version"))
    if found > SCHEMA:
        raise IndexTooNew(str(path), found, SCHEMA)
    return found


def _is_cut(db: apsw.Connection, path: Path) -> bool:
    return bool(path.stat().st_size % int(db.pragma("page_size")))


@contextlib.contextmanager
def transaction(db: apsw.Connection) -> Iterator[apsw.Connection]:
    """All of it or none of it.

    After a failed write SQLite has rolled back by itself. `with db:` would roll back again, fail,
    and so report a full disk as an error about transactions.
    """
    # IMMEDIATE takes the write lock now. A read transaction that upgrades later fails as busy if
    # another process has written meanwhile.
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


@contextlib.contextmanager
def reading(db: apsw.Connection) -> Iterator[None]:
    """One snapshot for several queries; a transaction that is open already is one."""
    if db.in_transaction:
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def select(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    return db.execute(sql, values).fetchall()


@contextlib.contextmanager
def doubted(db: apsw.Connection, path: Path) -> Iterator[None]:
    """A page that was written in the place of another has a correct checksum, and then anything
    may go wrong. So an unexpected error counts as damage if the integrity check fails."""
    try:
        yield
    except (NotewellError, apsw.Error):
        raise
    except Exception as error:
        from notewell.index.sqlite.integrity import integrity

        lines = integrity(db)
        if not lines:
            raise
        raise IndexUnreadable(str(path), f"its parts do not fit together: {lines[0]}") from error


@contextlib.contextmanager
def our_errors(path: Path) -> Iterator[None]:
    """Turns SQLite's errors about the file at `path` into ours."""
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
        # cksumvfs reports a wrong checksum as this kind of I/O error.
        if getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_DATA:
            raise IndexUnreadable(str(path), "a page does not match its checksum") from error
        raise StateNotWritable(str(path.parent), f"input/output error ({error})") from error
    except apsw.CantOpenError as error:
        raise IndexUnreadable(str(path), str(error)) from error
    except apsw.SQLError as error:
        # A table or column is missing: the file is not what its header claims.
        raise IndexUnreadable(str(path), str(error)) from error
