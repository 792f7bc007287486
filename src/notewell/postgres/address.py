"""A connection string of PostgreSQL, and the part of it that may be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.core import Secret
from notewell.errors import BadSetting, DatabaseNotReady

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "NOTEWELL_DATABASE_URL"
"""The variable of the environment that has the connection string, if no setting has it."""


class Address:
    """Where a database is. Its text has no user, no password and no options."""

    __slots__ = ("_conninfo", "_place")

    def __init__(self, url: Secret) -> None:
        """Raises `BadSetting`, with no part of a bad connection string in it."""
        try:
            from psycopg import ProgrammingError
            from psycopg.conninfo import conninfo_to_dict
        except ImportError as error:
            raise DatabaseNotReady(
                "PostgreSQL", "the package psycopg is missing", "install notewell[postgres]"
            ) from error
        text = url.reveal()
        if not text.startswith(("postgresql://", "postgres://")):
            raise BadSetting("store.url", "it must begin with postgresql://")
        try:
            parts = conninfo_to_dict(text)
        except ProgrammingError:
            # Not `from error`: the reason of libpq quotes the string.
            raise BadSetting("store.url", "it is not a connection string of PostgreSQL") from None
        _require_clear_parts(parts)
        self._conninfo = text
        # Several hosts, for a failover, are separated by commas.
        host = parts.get("host") or parts.get("hostaddr") or "localhost"
        port = f":{parts['port']}" if parts.get("port") else ""
        self._place = f"postgresql://{host}{port}/{parts.get('dbname') or ''}"

    def reveal(self) -> str:
        """The whole connection string, with its password."""
        return self._conninfo

    def __str__(self) -> str:
        return self._place

    def __repr__(self) -> str:
        return f"Address({self._place})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and other._conninfo == self._conninfo

    def __hash__(self) -> int:
        return hash(self._conninfo)


def _require_clear_parts(parts: Mapping[str, Any]) -> None:
    """A password with a bare `@` or `/` would end up in the host or the name of the database,
    which are shown."""
    host, name, port = (str(parts.get(key) or "") for key in ("host", "dbname", "port"))
    is_port = all(one.isdecimal() for one in port.split(",") if one)
    if "@" in host or "@" in name or "=" in name or not is_port:
        raise BadSetting("store.url", "write @ and / of the user and the password as %40 and %2F")


def configured_address(url: Secret | None, environment: Mapping[str, str]) -> Address:
    """The variable wins over the setting: an operator creates the tables as another user."""
    named = environment.get(VARIABLE, "").strip()
    if named:
        return Address(Secret(named))
    if url is None:
        raise BadSetting("store.url", f"no database is named: set it, or {VARIABLE}")
    return Address(url)
