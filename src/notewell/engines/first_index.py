"""Whether notes that are not indexed are indexed for a question, or left to the user.

A search picks up notes that were saved a moment ago. Without an index, though, no question has an
answer. So a search without hits indexes the words of the notes once, if there are not too many,
and searches again. Vectors follow later: computing them takes minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.engines.status import Status

FIRST_INDEX_NOTES = 2000
"""Reading their words takes some seconds; a user with more notes runs `notewell index` first."""


def is_worth_indexing(status: Status) -> bool:
    """Whether a search should index the words of notes that were never indexed."""
    return status.state == "missing" and 0 < status.dirty <= FIRST_INDEX_NOTES


def unsearchable(status: Status) -> str | None:
    """Why a search cannot find anything until the user acts; None if it can."""
    if status.state == "unreadable":
        return f"the index cannot be read: {status.problem}"
    if status.state == "missing" and status.dirty > FIRST_INDEX_NOTES:
        return not_indexed(status.dirty)
    return None


def not_indexed(notes: int) -> str:
    number = "1 note is" if notes == 1 else f"{notes} notes are"
    return f"{number} not indexed yet: run `notewell index`"
