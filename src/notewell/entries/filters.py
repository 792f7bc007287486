"""Conditions on the rows of a table, and LanceDB itself, which is imported here only.

They are built from columns and values (`lancedb.expr`), never from strings: text of a user cannot
become part of a condition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.entries.entry import LanceMissing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lancedb.expr import Expr


def owned_by(owner: str) -> Expr:
    lancedb_module()
    from lancedb.expr import col, lit

    return col("owner") == lit(owner)


def equals(column: str, value: str | bool) -> Expr:
    lancedb_module()
    from lancedb.expr import col, lit

    return col(column) == lit(value)


def contains(column: str, value: str) -> Expr:
    """Ignoring case."""
    lancedb_module()
    from lancedb.expr import col, lit

    return col(column).lower().contains(lit(value.lower()))


def is_in(column: str, values: Sequence[str] | Sequence[int]) -> Expr:
    lancedb_module()
    from lancedb.expr import col

    return col(column).isin(list(values))


def lancedb_module() -> Any:
    # Imported here: it takes a second and 350 MB, which only a use of entries should cost.
    try:
        import lancedb
    except ModuleNotFoundError as error:
        raise LanceMissing from error
    return lancedb
