"""Transcripts: JSON lines in, readable text and a line map out.

turns.py         what was said, by whom and when; the text of a message
lines.py         bytes to lines to JSON values, whatever state the file is in
openclaw.py      the agent's own transcripts
claude_code.py   those of Claude Code
codex.py         those of Codex
transcript.py    records to text: one line a message, and where each line came from
folders.py       which files are transcripts, found and opened without following links
deltas.py        whether enough is new to be worth a look
transcripts.py   START HERE: scan, read, open

A transcript is only ever read. What a message says is redacted before anything else sees it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.sessions.deltas import DeltaLimits, hold_back, why_take
    from notewell.sessions.folders import (
        BLOCK_BYTES,
        MAX_TRANSCRIPT_BYTES,
        PREFIX,
        SUFFIX,
        TranscriptFolder,
        in_words,
        open_transcript,
        read_blocks,
    )
    from notewell.sessions.lines import split_lines
    from notewell.sessions.settings import SessionSettings
    from notewell.sessions.transcript import Transcript, as_text
    from notewell.sessions.transcripts import Transcripts
    from notewell.sessions.turns import Session, moment
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "deltas": "DeltaLimits hold_back why_take",
            "folders": (
                "BLOCK_BYTES MAX_TRANSCRIPT_BYTES PREFIX SUFFIX TranscriptFolder "
                "in_words open_transcript read_blocks"
            ),
            "lines": "split_lines",
            "settings": "SessionSettings",
            "transcript": "Transcript as_text",
            "transcripts": "Transcripts",
            "turns": "Session moment",
        },
    )
