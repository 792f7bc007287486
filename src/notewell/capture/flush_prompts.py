"""What the agent is told in the silent turn. Whatever the user sets, `NO_REPLY` is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import date

NO_REPLY: Final = "NO_REPLY"
"""An answer with this word and nothing else is shown to nobody."""

TOOL: Final = "memory_append"

_DAY = "YYYY-MM-DD"
_SILENT = f"When nothing is left to store, reply with {NO_REPLY} and nothing else."

_SYSTEM = (
    "This conversation is about to be compacted: what is not written down now may be lost. "
    f"The user does not see this turn. {_SILENT}"
)
_PROMPT = (
    "Write what should outlast this conversation to {path} with {tool}: decisions and their "
    "reasons, facts about the user, open tasks, dates. One call an entry, each understandable by "
    "itself. Do not repeat what notes hold already. " + _SILENT
)


def system_prompt_for(told: str | None, day: date) -> str:
    return _with_silence(told or _SYSTEM, day)


def prompt_for(told: str | None, day: date, path: str) -> str:
    return _with_silence(told or _PROMPT.format(path=path, tool=TOOL), day)


def is_silent(text: str) -> bool:
    """Whether an answer is meant for nobody; models put a full stop or a code span around it."""
    bare = text.strip().strip("`*_.\"' \n").upper()
    return not bare or bare == NO_REPLY or bare.strip("[]()") == NO_REPLY


def _with_silence(text: str, day: date) -> str:
    text = text.replace(_DAY, day.isoformat())
    return text if NO_REPLY in text else f"{text.rstrip()}\n{_SILENT}"
