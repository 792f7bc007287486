"""Turns trouble with the database into errors of the index."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from notewell.errors import (
    DatabaseDamaged,
    DatabaseTrouble,
    IndexUnavailable,
    IndexUnreadable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def index_errors() -> Iterator[None]:
    try:
        yield
    except DatabaseDamaged as damage:
        raise IndexUnreadable(damage.place, damage.why) from damage
    except DatabaseTrouble as trouble:
        raise IndexUnavailable(trouble.place, trouble.why, trouble.action) from trouble
