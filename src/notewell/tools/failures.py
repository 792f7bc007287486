"""Our errors as an agent may see them: what happened, and what to do next.

The messages of `core.errors` are for the user, who knows the machine. An agent may be far away, so
where a message names folders of this machine it gets another one here.

    disabled      the configuration gives this agent no memory: do not ask again
    unavailable   the memory cannot answer just now: go on without, or try later
    neither       the call was wrong: change it
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from notewell.errors import (
    BadRequest,
    BadSetting,
    EmbedderTrouble,
    IndexBusy,
    IndexTooNew,
    IndexTrouble,
    IndexUnreadable,
    MemoryOff,
    NotANote,
    NoteNotWritable,
    NoteUnreadable,
    NotewellError,
    NotForThisTalk,
    StateNotWritable,
    WorkspaceMissing,
)
from notewell.tools.fence import escaped


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer, and why."""

    error: str
    action: str
    """The next step, for the agent or to be told to the user."""
    disabled: bool = False
    unavailable: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "results": [],
            "disabled": self.disabled,
            "unavailable": self.unavailable,
            "error": escaped(self.error),
            "action": self.action,
        }

    def to_text(self) -> str:
        return f"{escaped(self.error)}\nNext step: {self.action}"


DISABLED = Failure(
    "this agent has no memory: its configuration switches it off",
    "go on without it; the user can set memorySearch.enabled",
    disabled=True,
)
UNEXPECTED = Failure(
    "the memory ran into something it was not made for",
    "go on without it, and tell the user that the server's log has the details",
    unavailable=True,
)

_SEARCH_PATHS = "use a path that memory_search gave, MEMORY.md, or memory/YYYY-MM-DD.md"

# For what an agent can do nothing about, and whose own words name places on this machine.
_TOLD: dict[type[NotewellError], tuple[str, str]] = {
    WorkspaceMissing: (
        "the folder with the notes cannot be opened",
        "tell the user: it was moved or closed since this started",
    ),
    IndexBusy: ("another process is writing the index", "ask again in a few seconds"),
    IndexUnreadable: (
        "the index is damaged; the notes are untouched",
        "tell the user to run `notewell index`, which rebuilds it",
    ),
    IndexTooNew: (
        "the index was written by a newer Notewell",
        "tell the user to upgrade, or to run `notewell index --force`",
    ),
    StateNotWritable: (
        "the folder that holds the index cannot be written",
        "tell the user to run `notewell status`, which names it",
    ),
    BadSetting: (
        "a setting of this memory cannot be used",
        "tell the user to run `notewell config check`",
    ),
    IndexTrouble: ("the index cannot be used just now", "tell the user to run `notewell status`"),
}


# A path of this machine, not the rest of an address: `/a/b`, but not what follows `https:`.
_PLACE = re.compile(r"""(?<![\w:/.])/[^\s'"/]+/[^\s'"]*""")


def without_places(text: str) -> str:
    """Words meant for the user, with the folders they name left out."""
    return _PLACE.sub("…", text)


def failure_of(error: NotewellError) -> Failure:
    """The most particular line of the table, else the error's own words."""
    for kind, (told, action) in _TOLD.items():
        if isinstance(error, kind):
            return Failure(told, action, unavailable=True)
    match error:
        case MemoryOff():
            return DISABLED
        case NotANote():
            return Failure("this is not a note of this memory", _SEARCH_PATHS)
        case NotForThisTalk():
            return Failure(
                str(error), "go on without it; the user can ask in private", unavailable=True
            )
        case BadRequest():
            return Failure(str(error), "mend the call and make it again")
        case NoteUnreadable():
            return Failure(
                f"the note cannot be read: {error.why}",
                "it may have been moved or removed: search again",
            )
        case NoteNotWritable():
            return Failure(
                f"nothing was saved in {error.path!r}: {error.why}", error.action, unavailable=True
            )
        case EmbedderTrouble():
            action = "go on; the words of the notes can still be searched"
            return Failure(without_places(str(error)), action, unavailable=True)
    return Failure(without_places(str(error)), "tell the user", unavailable=True)
