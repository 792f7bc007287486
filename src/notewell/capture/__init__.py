"""Captures: what writes new notes. A flush before compaction, session notes, reviewed facts.

writer.py          START HERE: NoteWriter, which writes a note and records the write
flush_decision.py  run a flush or skip it, and the prompts: a pure decision
flush_turn.py      the silent turn with the host's model; `flush_due` answers a host that asks
injected.py        removes our own quotations from a conversation before it is captured
session_note.py    a conversation as a note
user_command.py    its name, from a program of the user
incremental.py     the same for a growing transcript: every message once
keeping.py         a conversation kept whole: every message once
keeping_turns.py   the same for messages that a program sends or a data export has
kept_file.py       the file of such a conversation
kept_records.py    the records in it
importing.py       transcripts that hosts already have, kept in the same way
import_record.py   which of them began with an import, so that it can be undone
keep_status.py     what is kept and what is not, in words
forget.py          messages removed from our transcripts and logs, and never kept again
hook_state.py      when hooks last ran; sessions whose end was not reported
history.py         every write of ours
undo.py            one write removed again, byte for byte
logs.py            where the journal is kept: files, or tables (postgres.py)
journal.py         Journal: the captures of one memory by its own settings: `Memory.journal`
search_journal.py  what agents searched, and which lines were shown on which days
settings.py        CaptureSettings, FlushSettings, KeepSettings; the user's time zone
review.py          proposals from daily notes and conversations for MEMORY.md
review_said.py     what the user states for good in a conversation

Invariants: existing text is never changed, nothing is written to MEMORY.md unless the user has
accepted it, and every write can be undone.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.capture.flush_decision import TOOL, FlushFacts, RunFlush, Skip, decide
    from notewell.capture.flush_turn import (
        FlushModel,
        FlushReport,
        Message,
        ModelReply,
        ToolCall,
        flush,
        flush_due,
        flush_failed,
    )
    from notewell.capture.forget import (
        ForgetPlace,
        ForgetRequest,
        FoundMessage,
        count_messages,
        finish_rule,
        found_messages,
        found_searches,
        new_rule,
        remove_from_logs,
        remove_messages,
        said_messages,
        session_ids,
        store_rule,
        unfinished_rules,
    )
    from notewell.capture.history import (
        HISTORY,
        Forgetting,
        Recorded,
        forgettings,
        record_forgetting,
        writes,
    )
    from notewell.capture.hook_state import (
        ENTRIES_DUE,
        SessionEnd,
        capture_health,
        capture_trouble,
        forget_pending,
        is_compacted,
        pending_sessions,
        record_hook_run,
        remember_pending,
    )
    from notewell.capture.import_record import (
        IMPORT,
        RecordedImport,
        import_origin,
        record_begun,
        recorded_imports,
    )
    from notewell.capture.importing import (
        ImportedTranscript,
        KeptImport,
        described,
        import_transcripts,
    )
    from notewell.capture.incremental import save_new_messages
    from notewell.capture.injected import without_injected
    from notewell.capture.journal import Journal
    from notewell.capture.keep_status import KeepStatus, read_keep_status
    from notewell.capture.keeping import Kept, keep_messages
    from notewell.capture.keeping_turns import keep_stored, keep_turn, said_now
    from notewell.capture.kept_folder import (
        KeptFiles,
        drop_expired,
        forgotten_filter,
        kept_files,
    )
    from notewell.capture.logs import FileLogs, Logs
    from notewell.capture.review import (
        Proposal,
        accept,
        acceptable,
        decline,
        preview,
        propose,
    )
    from notewell.capture.search_journal import (
        SEARCHES,
        SearchRecord,
        ShownLines,
        forget_searches,
        parse_moment,
        paths_shown,
        recall_days,
        record_recall,
        record_search,
        recorded_searches,
    )
    from notewell.capture.session_note import (
        MESSAGES,
        SESSION_HEADING,
        Conversation,
        Saved,
        clean_slug,
        save_session,
    )
    from notewell.capture.settings import (
        CaptureSettings,
        FlushSettings,
        KeepSettings,
        user_zone,
    )
    from notewell.capture.undo import (
        NOT_SAID,
        CannotUndo,
        Cut,
        NoCut,
        Undone,
        UndoneImport,
        UnknownWrite,
        decide_cut,
        undo_import,
        undo_write,
    )
    from notewell.capture.user_command import (
        SLUG_TIMEOUT_S,
        CommandFailed,
        ask_program,
        slug_namer,
    )
    from notewell.capture.writer import CreatedNote, NoteWriter, capture_dir, encode_note
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "flush_decision": "FlushFacts RunFlush Skip TOOL decide",
            "flush_turn": (
                "FlushModel FlushReport Message ModelReply ToolCall flush flush_due flush_failed"
            ),
            "forget": (
                "ForgetPlace ForgetRequest FoundMessage count_messages finish_rule found_messages "
                "found_searches new_rule remove_from_logs remove_messages said_messages "
                "session_ids store_rule unfinished_rules"
            ),
            "history": "Forgetting HISTORY Recorded forgettings record_forgetting writes",
            "hook_state": (
                "ENTRIES_DUE SessionEnd capture_health capture_trouble forget_pending "
                "is_compacted pending_sessions record_hook_run remember_pending"
            ),
            "import_record": ("IMPORT RecordedImport import_origin record_begun recorded_imports"),
            "importing": "KeptImport ImportedTranscript described import_transcripts",
            "incremental": "save_new_messages",
            "injected": "without_injected",
            "journal": "Journal",
            "logs": "FileLogs Logs",
            "keep_status": "KeepStatus read_keep_status",
            "keeping": "Kept keep_messages",
            "keeping_turns": "keep_stored keep_turn said_now",
            "kept_folder": "KeptFiles drop_expired forgotten_filter kept_files",
            "review": "Proposal accept acceptable decline preview propose",
            "search_journal": (
                "SEARCHES SearchRecord ShownLines forget_searches parse_moment paths_shown "
                "recall_days record_recall record_search recorded_searches"
            ),
            "session_note": "Conversation MESSAGES SESSION_HEADING Saved clean_slug save_session",
            "settings": "CaptureSettings FlushSettings KeepSettings user_zone",
            "undo": (
                "CannotUndo Cut NOT_SAID NoCut Undone UndoneImport UnknownWrite decide_cut "
                "undo_import undo_write"
            ),
            "user_command": "CommandFailed SLUG_TIMEOUT_S ask_program slug_namer",
            "writer": "CreatedNote NoteWriter capture_dir encode_note",
        },
    )
