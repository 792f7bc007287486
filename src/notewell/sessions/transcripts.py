"""START HERE: an agent's transcripts, in the shapes that notes have, so that a sync takes both."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from notewell.errors import NotANote, NoteUnreadable
from notewell.sessions.folders import (
    find_transcripts,
    in_words,
    open_transcript,
    read_blocks,
    transcript_stat,
)
from notewell.sessions.lines import split_lines
from notewell.sessions.transcript import as_text
from notewell.types import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from notewell.sessions.folders import TranscriptFolder
    from notewell.sessions.transcript import Transcript
    from notewell.types import FoundNote, NoteStat, Scan


COMPACTION_SIGNS = (
    b'"compaction"',  # OpenClaw
    b'"compacted"',  # Codex
    b"compact_boundary",  # Claude Code
    b"isCompactSummary",
)


class Transcripts:
    """Holds no descriptor between calls, so there is nothing to close."""

    def __init__(self, folders: Sequence[TranscriptFolder], redact: Callable[[str], str]) -> None:
        """`redact` sees every message before anybody else does."""
        # Names first: `sessions/claude/x.jsonl` is of the folder so called, not the agent's own.
        self._folders = tuple(sorted(folders, key=lambda one: one.name, reverse=True))
        self._redact = redact

    @property
    def places(self) -> tuple[Path, ...]:
        return tuple(folder.path for folder in self._folders)

    def scan(self) -> Scan:
        """Which transcripts are there now."""
        return find_transcripts(self._folders)

    def read(self, path: str) -> Note:
        """A transcript as a note: its text, redacted, a line a message.

        Raises `NotANote` for a path that is none of these transcripts, and `NoteUnreadable`.
        """
        stat, transcript = self._open(path)
        digest = hashlib.sha256(transcript.text.encode()).hexdigest()
        return Note(
            path, transcript.text, digest, stat, transcript.repairs, transcript.session.day()
        )

    def open(self, path: str) -> Transcript:
        """The same with its line map and what is known of the session."""
        return self._open(path)[1]

    def new_messages(self, found: FoundNote, size: int) -> int:
        """The lines that were added behind `size` bytes; 0 if it cannot be read now."""
        try:
            fd = self._descriptor(found.path)
        except OSError:
            return 0  # The sync that wants to read it will say why it cannot.
        try:
            return sum(block.count(b"\n") for block in read_blocks(fd, size, found.stat.size))
        finally:
            os.close(fd)

    def compacted_since(self, found: FoundNote, size: int) -> bool:
        """Whether the host has compacted the conversation behind `size` bytes, by the look of it.

        A message that speaks of such a thing looks the same; it is then taken in a little early.
        """
        try:
            fd = self._descriptor(found.path)
        except OSError:
            return False
        try:
            added = b"".join(read_blocks(fd, size, found.stat.size))
        finally:
            os.close(fd)
        return any(sign in added for sign in COMPACTION_SIGNS)

    def _open(self, path: str) -> tuple[NoteStat, Transcript]:
        try:
            fd = self._descriptor(path)
        except OSError as error:
            raise NoteUnreadable(path, in_words(error)) from error
        try:
            # The stat from before the read: what is written meanwhile makes the next scan differ.
            stat = transcript_stat(os.fstat(fd))
            return stat, as_text(split_lines(read_blocks(fd)), self._redact)
        except OSError as error:
            raise NoteUnreadable(path, in_words(error)) from error
        finally:
            os.close(fd)

    def _descriptor(self, path: str) -> int:
        for folder in self._folders:
            names = folder.locate(path)
            if names is not None:
                return open_transcript(folder, names)
        raise NotANote(path)
