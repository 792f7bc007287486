"""Transcripts: a host's files in, readable text and a line map out.

records.py       bytes to JSON records, also of a damaged or growing file
transcript.py    records to text: one line per message, and the record of each line
folders.py       which files are transcripts; opened without following links
found.py         the transcripts of a host that can be imported
databases.py     conversations that a host keeps in a SQLite database
foreign_database.py  opens the databases of other programs
compressed.py    records in the zstd format
settings.py      what users can set for transcripts
deltas.py        whether enough is new to read a transcript again
tail.py          the new messages of one transcript as text, for session notes
source.py        the new messages of one transcript with their positions, to be kept
forgotten.py     what was forgotten and is not taken from a host's file again
kept.py          the names of kept transcripts; each conversation is indexed once
transcripts.py   START HERE: scan, read, open

The formats come from `notewell.hosts`. Transcripts of hosts are never written. Every message is
redacted before it is indexed, shown or stored.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.sessions.deltas import DeltaLimits, hold_back, why_take
    from notewell.sessions.folders import (
        BLOCK_BYTES,
        MAX_TRANSCRIPT_BYTES,
        TranscriptFolder,
        path_of_session,
        session_of_path,
    )
    from notewell.sessions.foreign_database import database_rows
    from notewell.sessions.forgotten import (
        ForgetRule,
        ForgottenMessages,
        PhraseDigest,
        phrase_digest,
        phrase_words,
        read_forgotten,
    )
    from notewell.sessions.found import FoundTranscript, FoundTranscripts, transcripts_at
    from notewell.sessions.kept import (
        KEPT,
        KeptNames,
        forgotten_file,
        is_kept,
        kept_names,
        session_stem,
        without_twins,
    )
    from notewell.sessions.ports import TranscriptSource
    from notewell.sessions.settings import SessionSettings, kept_dir
    from notewell.sessions.source import (
        NewMessages,
        SaidMessage,
        SourcePosition,
        TranscriptFacts,
        read_all,
        read_facts,
        read_new,
        read_on,
    )
    from notewell.sessions.stored import AddedRecords, StoredConversations, stored_path
    from notewell.sessions.tail import TranscriptTail, read_tail, was_compacted
    from notewell.sessions.transcript import LeavesOut, Session, Transcript
    from notewell.sessions.transcripts import Transcripts
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "deltas": "DeltaLimits hold_back why_take",
            "folders": (
                "BLOCK_BYTES MAX_TRANSCRIPT_BYTES TranscriptFolder path_of_session session_of_path"
            ),
            "foreign_database": "database_rows",
            "forgotten": (
                "ForgetRule ForgottenMessages PhraseDigest phrase_digest phrase_words "
                "read_forgotten"
            ),
            "found": "FoundTranscript FoundTranscripts transcripts_at",
            "kept": (
                "KEPT KeptNames forgotten_file is_kept kept_names session_stem without_twins"
            ),
            "settings": "SessionSettings kept_dir",
            "source": (
                "NewMessages SaidMessage SourcePosition TranscriptFacts read_all read_facts "
                "read_new read_on"
            ),
            "ports": "TranscriptSource",
            "stored": "AddedRecords StoredConversations stored_path",
            "tail": "TranscriptTail read_tail was_compacted",
            "transcript": "LeavesOut Session Transcript",
            "transcripts": "Transcripts",
        },
    )
