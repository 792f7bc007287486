"""What shows that a page stands in the place of another one.

Such a page is sound: its checksum is right, and often its tree is, too. But its rows are those of
another table. SQLite keeps any value in any column, so nothing else notices, and whoever reads the
rows takes a number for a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.index.sqlite.connect import select
from notewell.types import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

_STORED_AS = {"TEXT": "text", "INTEGER": "integer", "REAL": "real", "BLOB": "blob"}
_ONE_ROW = frozenset({"vec_state"})
_COLUMNS = """
SELECT tables.name, columns.name, columns.type, columns."notnull" OR columns.pk
FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
WHERE tables.type = 'table' AND tables.sql NOT LIKE 'CREATE VIRTUAL%'
ORDER BY tables.name, columns.cid
"""


def misplaced(db: apsw.Connection) -> Iterator[str]:
    """A line for each table or column that has what cannot be in it."""
    columns = select(db, _COLUMNS)
    for table in sorted(_ONE_ROW & {name for name, *_ in columns}):
        ((rows,),) = select(db, f"SELECT count(*) FROM {table}")  # noqa: S608
        if rows != 1:
            yield f"{table} has {counted(rows, 'row')}, not 1"
    for table, column, declared, is_required in columns:
        if declared not in _STORED_AS:
            continue  # FTS5 declares no types for some columns of its own tables.
        types = (_STORED_AS[declared], _STORED_AS[declared] if is_required else "null")
        strange = f'SELECT count(*) FROM "{table}" WHERE typeof("{column}") NOT IN (?, ?)'  # noqa: S608
        ((values,),) = select(db, strange, types)
        if values:
            yield f"{table}.{column} has {counted(values, 'value')} of another type"
