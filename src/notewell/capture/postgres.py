"""The journal of one agent whose notes are in PostgreSQL: a row for each line of a log.

Lines are kept as text with ASCII escapes, because the JSON types of the server refuse what Python
accepts: half a surrogate pair, and NUL.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from notewell.errors import DatabaseTrouble, StateNotWritable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from notewell.capture.logs import Line
    from notewell.postgres import Database, Scope, Transaction

LINE_BYTES = 512
"""What a line of a log has on average; a limit in bytes is kept as one in lines."""
TRIM_EVERY = 256
"""Lines: the oldest are looked for this often, not with each line."""

_OWN = "WHERE tenant = %s AND agent = %s AND log = %s"


class PostgresLogs:
    """See `Logs`. Threads may share it; it holds no connection between calls."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self._database = database
        self._scope = scope

    def append(
        self, name: str, *lines: Mapping[str, Any], max_bytes: int, durable: bool = True
    ) -> None:
        key = (*self._scope, name)
        with self._writing() as transaction:
            if not durable:
                transaction.execute("SET LOCAL synchronous_commit = off")
            numbers = [
                number
                for line in lines
                for (number,) in transaction.rows(
                    "INSERT INTO notewell.journal (tenant, agent, log, number, line) "
                    "VALUES (%s, %s, %s, nextval('notewell.journal_numbers'), %s) "
                    "RETURNING number",
                    (*key, json.dumps(line)),
                )
            ]
            if any(number % TRIM_EVERY == 0 for number in numbers):
                transaction.execute(
                    f"DELETE FROM notewell.journal {_OWN} AND number <= (SELECT number "  # noqa: S608
                    f"FROM notewell.journal {_OWN} ORDER BY number DESC OFFSET %s LIMIT 1)",
                    (*key, *key, max_bytes // LINE_BYTES),
                )

    def lines(self, name: str) -> list[Line]:
        return [line for _, line in self._numbered(name)]

    def _numbered(self, name: str) -> list[tuple[int, Line]]:
        with self._database.reading(self._scope) as transaction:
            rows = transaction.rows(
                f"SELECT number, line FROM notewell.journal {_OWN} ORDER BY number",  # noqa: S608
                (*self._scope, name),
            )
        return [(number, json.loads(line)) for number, line in rows]

    def mentions(self, name: str, word: str) -> bool:
        with self._database.reading(self._scope) as transaction:
            rows = transaction.rows(
                f"SELECT 1 FROM notewell.journal {_OWN} AND strpos(line, %s) > 0 LIMIT 1",  # noqa: S608
                (*self._scope, name, word),
            )
        return bool(rows)

    def remove(self, name: str, is_about: Callable[[Line], bool]) -> None:
        numbers = [number for number, line in self._numbered(name) if is_about(line)]
        if numbers:
            self._delete(name, " AND number = ANY(%s)", numbers)

    def clear(self, name: str) -> None:
        self._delete(name)

    def _delete(self, name: str, condition: str = "", *values: object) -> None:
        with self._writing() as transaction:
            transaction.execute(
                f"DELETE FROM notewell.journal {_OWN}{condition}",  # noqa: S608
                (*self._scope, name, *values),
            )

    def change_mark(self, name: str) -> tuple[int, ...]:
        with self._database.reading(self._scope) as transaction:
            rows = transaction.rows(
                f"SELECT count(*), coalesce(max(number), 0) FROM notewell.journal {_OWN}",  # noqa: S608
                (*self._scope, name),
            )
        return rows[0]

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        try:
            with self._database.writing(self._scope) as transaction:
                yield transaction
        except DatabaseTrouble as trouble:
            raise StateNotWritable(trouble.place, trouble.why) from trouble
