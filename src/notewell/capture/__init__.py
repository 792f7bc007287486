"""What writes new notes: a flush before compaction, a session saved as a note, what you accept.

place.py           START HERE: where a capture writes, and the one way it appends
flush_decision.py  run or skip, decided from values alone
flush_prompts.py   what the agent is told in that turn
flush_turn.py      the silent turn itself, with the host's model
injected.py        what we put into a conversation is taken out before it is captured
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

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.capture.ended import Ended
    from notewell.capture.flush_decision import FlushFacts, FlushSettings, Run, Skip, decide
    from notewell.capture.flush_turn import FlushReport, Message, Reply, ToolCall, flush
    from notewell.capture.heartbeat import beat, pulse
    from notewell.capture.history import Recorded, writes
    from notewell.capture.incremental import save_new_messages
    from notewell.capture.injected import without_injected
    from notewell.capture.journal import Journal
    from notewell.capture.pending import earlier, forget, remember
    from notewell.capture.recall_log import note_recall, recall_days
    from notewell.capture.review import Proposal, accept, decline, preview, propose
    from notewell.capture.search_log import (
        Asked,
        PlaceShown,
        asked_before,
        forget_asked,
        moment,
        note_asked,
        paths_shown,
    )
    from notewell.capture.session_note import MESSAGES, Conversation, Saved, save_session
    from notewell.capture.settings import CaptureSettings
    from notewell.capture.undo import CannotUndo, Cut, NoCut, decide_cut, undo_write
    from notewell.capture.writer import NoteWriter, capture_dir, record_append
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "ended": "Ended",
            "flush_decision": "FlushFacts FlushSettings Run Skip decide",
            "flush_turn": "FlushReport Message Reply ToolCall flush",
            "heartbeat": "beat pulse",
            "history": "Recorded writes",
            "incremental": "save_new_messages",
            "injected": "without_injected",
            "journal": "Journal",
            "pending": "earlier forget remember",
            "recall_log": "note_recall recall_days",
            "review": "Proposal accept decline preview propose",
            "search_log": (
                "Asked PlaceShown asked_before forget_asked moment note_asked paths_shown"
            ),
            "session_note": "Conversation MESSAGES Saved save_session",
            "settings": "CaptureSettings",
            "undo": "CannotUndo Cut NoCut decide_cut undo_write",
            "writer": "NoteWriter capture_dir record_append",
        },
    )
