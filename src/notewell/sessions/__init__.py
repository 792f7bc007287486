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

from notewell.sessions.deltas import DeltaLimits, hold_back, why_take
from notewell.sessions.folders import TranscriptFolder
from notewell.sessions.transcript import Transcript
from notewell.sessions.transcripts import Transcripts
from notewell.sessions.turns import Session

__all__ = [
    "DeltaLimits",
    "Session",
    "Transcript",
    "TranscriptFolder",
    "Transcripts",
    "hold_back",
    "why_take",
]
