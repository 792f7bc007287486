"""What writes new notes: a flush before compaction, a session saved as a note, what you accept.

state.py           small files of ours: read whole, replaced whole, one writer at a time
place.py           START HERE: where a capture writes, and the one way it appends
flush_decision.py  run or skip, decided from values alone
flush_prompts.py   what the agent is told in that turn
flush_turn.py      the silent turn itself, with the host's model
injected.py        what we put into a conversation is taken out before it is captured
new_note.py        a note that was not there before; none is ever overwritten
session_note.py    a conversation as a note
ended.py           what a hook tells about a conversation
captured.py        the same for a growing transcript: every message once
pending.py         conversations whose host never said that they are over
heartbeat.py       when hooks last ran, and when anything was last captured
history.py         every write of ours
undo.py            one of them taken back, byte for byte
recall_log.py      which lines were found on which days
asked_log.py       what agents asked, what they got, how long it took
statements.py      what daily notes say, one thing after another
review.py          what of it could go to MEMORY.md

A room of writers, so the rule is: nothing that is there is changed, nothing goes to MEMORY.md
unless the user has accepted it, and every write can be taken back.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notewell.capture.flush_decision import FlushFacts, FlushSettings, Run, Skip, decide
    from notewell.capture.flush_turn import FlushReport, Message, Reply, ToolCall, flush
    from notewell.capture.place import Place, capture_dir
    from notewell.capture.session_note import Conversation, Saved, save_session

_HOMES = {
    "Conversation": "session_note",
    "FlushFacts": "flush_decision",
    "FlushReport": "flush_turn",
    "FlushSettings": "flush_decision",
    "Message": "flush_turn",
    "Place": "place",
    "Reply": "flush_turn",
    "Run": "flush_decision",
    "Saved": "session_note",
    "Skip": "flush_decision",
    "ToolCall": "flush_turn",
    "capture_dir": "place",
    "decide": "flush_decision",
    "flush": "flush_turn",
    "save_session": "session_note",
}

__all__ = [
    "Conversation",
    "FlushFacts",
    "FlushReport",
    "FlushSettings",
    "Message",
    "Place",
    "Reply",
    "Run",
    "Saved",
    "Skip",
    "ToolCall",
    "capture_dir",
    "decide",
    "flush",
    "save_session",
]


def __getattr__(name: str) -> Any:
    """Each is imported when it is asked for: a hook that only leaves a mark is over in a blink."""
    if name not in _HOMES:
        raise AttributeError(f"module 'notewell.capture' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"notewell.capture.{_HOMES[name]}"), name)
