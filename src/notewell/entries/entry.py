"""What is remembered: one statement of one agent, and what may stand in it.

These are checked where they come in, so that nothing below has to ask again.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

from notewell.errors import BadRequest, BadSetting

Category: TypeAlias = Literal["preference", "fact", "decision", "entity", "other"]
CATEGORIES: Final[tuple[str, ...]] = get_args(Category)

MAX_TEXT_CHARS = 4000
"""An entry is a statement; what is longer belongs into a note, and no model reads it whole."""
IMPORTANCE = 0.7
"""Of what nobody has weighed, as OpenClaw has it."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """One statement, whose it is, and which model its vector is of."""

    id: str
    """A UUID, in its usual spelling."""
    text: str
    importance: float
    """0 to 1. It orders what is equally relevant, and nothing else."""
    category: Category
    created_at_ms: int
    """Milliseconds since 1970."""
    owner: str
    """The agent's id. Nobody else reads, counts or deletes it."""
    model: str = ""
    """`provider/model/dims` of the vector: those of two models are never compared."""


def valid_id(told: str) -> str:
    """An id in its usual spelling; anything else is refused before it reaches a filter."""
    id_ = told.strip().lower()
    if not _ID.fullmatch(id_):
        raise BadRequest(
            f"{told[:60]!r} is no id of an entry: ids look like "
            "1b4e28ba-2fa1-41d2-883f-0016d3cca427, and recall and list show them"
        )
    return id_


def valid_owner(told: str) -> str:
    if not _OWNER.fullmatch(told):
        raise BadSetting(
            "agent", f"{told[:80]!r} is not an id: letters, digits, `-` and `_`, up to 64"
        )
    return told.lower()


def valid_category(told: str) -> Category:
    if told not in CATEGORIES:
        raise BadRequest(f"{told[:40]!r} is no category: choose {', '.join(CATEGORIES)}")
    return cast("Category", told)


def valid_importance(told: float) -> float:
    if not math.isfinite(told) or not 0 <= told <= 1:
        raise BadRequest(f"the importance must be a number from 0 to 1, not {told}")
    return float(told)


def clean_text(told: str) -> str:
    """Without white space around it, NUL, and halves of surrogate pairs, which no UTF-8 holds."""
    text = told.encode(errors="replace").decode().replace("\0", "")
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise BadRequest("there is nothing to remember: the text is empty")
    if len(text) > MAX_TEXT_CHARS:
        raise BadRequest(
            f"an entry may have {MAX_TEXT_CHARS} characters, not {len(text)}: keep the statement, "
            "and put the rest into a note"
        )
    return text
