"""An error as an agent sees it: a `Failure`, with what happened and what to do next.

The messages of `errors` are for the user at this machine. An agent may be remote, so it gets the
`public_text()` of an error, which names no folders.

    disabled      the configuration gives this agent no memory: do not ask again
    unavailable   the memory cannot answer just now: go on without, or try later
    neither       the call was wrong: change it
"""

from __future__ import annotations

from typing import Any

from notewell.errors import (
    BadRequest,
    BadSetting,
    ConversationDenied,
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
    StateNotWritable,
    WorkspaceMissing,
    WorkspaceNotSet,
)
from notewell.records import dataclass
from notewell.tools.fence import escaped


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer, and why."""

    error: str
    action: str
    """The next step, for the agent or for the user."""
    disabled: bool = False
    unavailable: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            # A client that only reads `results` must not break on a failure.
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
    "go on without it; `notewell config show` tells the user which setting does that",
    disabled=True,
)
# The exception itself is only logged: its message may quote anything.
UNEXPECTED = Failure(
    "the memory ran into something it was not made for",
    "go on without it, and tell the user that the server's log has the details",
    unavailable=True,
)

_SEARCH_PATHS = "use a path that memory_search gave, MEMORY.md, or memory/YYYY-MM-DD.md"

# What an agent can do about errors that it did not cause; the first matching type counts.
_ACTIONS: dict[type[NotewellError], str] = {
    WorkspaceMissing: "tell the user: it does not exist, or was moved or closed",
    WorkspaceNotSet: (
        "tell the user to set one: in the options of the plugin, if the host has such, else write "
        '{"agents": {"defaults": {"workspace": "~/notes"}}} into config.json of Notewell (Linux: '
        "~/.config/notewell, macOS: ~/Library/Application Support/notewell, Windows: "
        "%APPDATA%\\notewell)"
    ),
    IndexBusy: "ask again in a few seconds",
    IndexUnreadable: "tell the user to run `notewell index`, which rebuilds it",
    IndexTooNew: "tell the user to upgrade, or to run `notewell index --force`",
    StateNotWritable: "tell the user to run `notewell status`, which names it",
    BadSetting: "tell the user to run `notewell config check`",
    IndexTrouble: "tell the user to run `notewell status`",
}


def failure_of(error: NotewellError) -> Failure:
    """An error as an agent may see it."""
    text = error.public_text()
    for kind, action in _ACTIONS.items():
        if isinstance(error, kind):
            return Failure(text, action, unavailable=True)
    match error:
        case MemoryOff():
            return DISABLED  # Not `because`: it names the user's settings file.
        case NotANote():
            # Not `unavailable`: the memory works, and another path will be answered.
            return Failure(text, _SEARCH_PATHS)
        case ConversationDenied():
            action = "go on without it; the user can ask in private"
            return Failure(text, action, unavailable=True)
        case BadRequest():
            return Failure(text, "mend the call and make it again")
        case NoteUnreadable():
            # A note that vanished between search and get is normal while its owner edits.
            return Failure(text, "it may have been moved or removed: search again")
        case NoteNotWritable():
            return Failure(text, error.action, unavailable=True)
        case EmbedderTrouble():
            action = "go on; the words of the notes can still be searched"
            return Failure(text, action, unavailable=True)
    return Failure(text, "tell the user", unavailable=True)
