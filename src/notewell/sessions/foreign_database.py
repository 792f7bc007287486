"""A SQLite database that belongs to another program, which may be writing.

It is opened read-only for one query at a time, so that the program never waits for us.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from notewell.errors import NoteUnreadable

if TYPE_CHECKING:
    from pathlib import Path

BUSY_MS = 200
"""A program that does not use a write-ahead log locks readers out while it commits."""


def database_rows(
    key: str, file: Path, query: str, values: dict[str, str] | None = None
) -> list[tuple[Any, ...]]:
    """All rows of a query. Raises `NoteUnreadable`; `key` names the database in it."""
    from urllib.parse import quote

    import apsw

    # Where nobody is writing, SQLite would still create files beside the program's database.
    options = "mode=ro" if _is_in_use(file) else "mode=ro&immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        connection = apsw.Connection(f"file:{quote(str(file))}?{options}", flags=flags)
        try:
            connection.set_busy_timeout(BUSY_MS)
            return list(connection.execute(query, values or {}))
        finally:
            connection.close()
    except apsw.Error as error:
        # Damaged, locked, or of a version with other tables.
        raise NoteUnreadable(key, f"its database cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        # SQLite stores any bytes as a text.
        raise NoteUnreadable(key, "its database has a text that is not UTF-8") from error


def _is_in_use(file: Path) -> bool:
    """Whether a program has the database open, or left changes in the log. Programs share an index
    of the log, `-shm`; an empty log without it is from a program that has ended."""
    try:
        has_changes = os.lstat(f"{file}-wal").st_size > 0
    except OSError:
        return False
    return has_changes or os.path.lexists(f"{file}-shm")
