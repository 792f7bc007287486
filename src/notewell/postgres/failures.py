"""Turns the errors of psycopg into ours.

Our messages are our own words, chosen by the SQLSTATE: what a server or libpq says may quote a
connection string, a password or a value of a row. Appendix A of the PostgreSQL manual lists the
codes.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from psycopg import Error, InterfaceError, OperationalError
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from notewell.errors import (
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseForbidden,
    DatabaseLocked,
    DatabaseNotReady,
    DatabaseTrouble,
    DatabaseUnavailable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from notewell.postgres.address import Address

_Outcome: TypeAlias = "tuple[type[DatabaseTrouble], str, str]"
"""The class of the error, what happened, and the next step."""

_WAIT = "try again in a moment"
_ASK_OPERATOR = "ask whoever runs the server"
_MIGRATE = "run `notewell db migrate`"

# A code of five characters is looked up first, then its class: the first two.
_OUTCOMES: Mapping[str, _Outcome] = {
    "08": (DatabaseUnavailable, "has no connection", _WAIT),
    "28": (
        DatabaseNotReady,
        "refuses the user or the password",
        "check the connection string, and `pg_hba.conf` of the server",
    ),
    "3D": (DatabaseNotReady, "does not exist", "create it, then run `notewell db init`"),
    "3F": (DatabaseNotReady, "has no tables of Notewell", "run `notewell db init`"),
    "40": (DatabaseUnavailable, "gave way to another transaction", _WAIT),
    "42501": (
        DatabaseForbidden,
        "does not let this user do that",
        "run `notewell db init` as the owner, and grant the role notewell_app to this user",
    ),
    "42883": (DatabaseNotReady, "has no extension pgvector in reach", "run `notewell db status`"),
    "42704": (DatabaseNotReady, "lacks a role or a type of Notewell", "run `notewell db init`"),
    "42P01": (DatabaseNotReady, "lacks a table of Notewell", _MIGRATE),
    "42703": (DatabaseNotReady, "lacks a column of Notewell", _MIGRATE),
    "22023": (DatabaseNotReady, "lacks a role of Notewell", "run `notewell db init`"),
    "25006": (DatabaseUnavailable, "is read-only: a standby answered", _WAIT),
    "53100": (DatabaseUnavailable, "has no room on its disk", _ASK_OPERATOR),
    "53300": (DatabaseUnavailable, "has no connection left", _WAIT),
    "53": (DatabaseUnavailable, "has no memory or other resource left", _ASK_OPERATOR),
    "55P03": (DatabaseLocked, "waited too long for a lock", _WAIT),
    "57014": (DatabaseUnavailable, "took too long to answer", _WAIT),
    "57P03": (DatabaseUnavailable, "is starting or recovering", _WAIT),
    "57": (DatabaseUnavailable, "ended the connection", _WAIT),
    "58": (DatabaseUnavailable, "reports an error of its system", _ASK_OPERATOR),
    "XX001": (DatabaseDamaged, "reports damaged data", _ASK_OPERATOR),
    "XX002": (DatabaseDamaged, "reports a damaged index", _ASK_OPERATOR),
}

# libpq has no code for a connection that was never made; its words are looked through in this
# order. What stands for a code here has the outcome of that code.
_NO_CONNECTION: Mapping[str, str] = {
    "refused": "refuses the connection",
    "timeout": "does not answer in time",
    "timed out": "does not answer in time",
    "translate host name": "has a host name that is not known",
    "No such file": "has no socket there: the server does not run",
    "does not exist": "3D",
    "password": "28",
    "no pg_hba.conf entry": "28",
    "too many clients": "53300",
    "remaining connection slots": "53300",
    "starting up": "57P03",
    "shutting down": "is shutting down",
    "recovery": "57P03",
    "session is read-only": "25006",
    "SSL": "does not agree on TLS",
    "certificate": "does not agree on TLS",
}


@contextmanager
def our_errors(address: Address) -> Iterator[None]:
    """Raises `DatabaseTrouble` for every error of psycopg inside it."""
    try:
        yield
    except Error as error:
        # The cause stays out of the chain: a traceback would print the words of the server.
        raise trouble_of(error, address) from None


def trouble_of(error: Error, address: Address) -> DatabaseTrouble:
    """Our error for one of psycopg."""
    if isinstance(error, PoolTimeout | TooManyRequests):
        return DatabaseBusy(str(address), "has no connection free for us", _WAIT)
    if isinstance(error, PoolClosed):
        return DatabaseUnavailable(str(address), "was closed by this process", "open it again")
    state = error.sqlstate or ""
    kind, why, action = _OUTCOMES.get(state) or _OUTCOMES.get(state[:2]) or _unlisted(error)
    return kind(str(address), why, action)


def _unlisted(error: Error) -> _Outcome:
    if error.sqlstate is None and isinstance(error, OperationalError | InterfaceError):
        text = str(error)
        why = next((why for said, why in _NO_CONNECTION.items() if said in text), "08")
        return _OUTCOMES.get(why) or (DatabaseUnavailable, why, _WAIT)
    named = f"SQLSTATE {error.sqlstate}" if error.sqlstate else type(error).__name__
    return DatabaseTrouble, f"refused a statement ({named})", "this is a bug: please report it"
