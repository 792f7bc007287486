"""START HERE: an agent's transcripts, in the same types as notes, so that a sync handles both."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from notewell.errors import NotANote, NoteUnreadable, StateNotWritable
from notewell.files import describe_os_error, note_stat
from notewell.hosts import TRANSCRIPT_FORMATS
from notewell.sessions.databases import (
    conversation_records,
    conversation_stat,
    database_of,
    find_conversations,
    has_database,
)
from notewell.sessions.folders import (
    find_transcripts,
    open_transcript,
    read_blocks,
    transcript_suffixes,
)
from notewell.sessions.kept import session_stem, without_twins
from notewell.sessions.transcript import (
    NO_KNOWN_HOST,
    document_formats,
    read_transcript,
    records_as_text,
)
from notewell.types import Note, Scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from notewell.hosts import TranscriptDatabase, TranscriptFormat
    from notewell.sessions.folders import TranscriptFolder
    from notewell.sessions.transcript import LeavesOut, Transcript
    from notewell.types import FoundNote, NoteStat


class Transcripts:
    """Keeps no file open between calls, so it needs no `close`."""

    def __init__(
        self,
        folders: Sequence[TranscriptFolder],
        redact: Callable[[str], str],
        formats: Sequence[TranscriptFormat] = TRANSCRIPT_FORMATS,
        *,
        forgotten: Path | None = None,
    ) -> None:
        """`redact` gets every message first: nothing else sees an unmasked secret. `forgotten` is
        the record of messages that are left out; see `forgotten_file`."""
        # Named folders first: `sessions/claude/x.jsonl` is in the folder of that name, and not in
        # the agent's own, whose key is a prefix of it.
        self._folders = tuple(sorted(folders, key=lambda folder: folder.name, reverse=True))
        self._redact = redact
        self._formats = tuple(formats)
        self._forgotten = forgotten
        self.suffixes = transcript_suffixes(formats)

    @property
    def places(self) -> tuple[Path, ...]:
        return tuple(folder.path for folder in self._folders)

    def scan(self) -> Scan:
        """The transcripts that exist now."""
        with_files = [folder for folder in self._folders if not has_database(folder)]
        files = find_transcripts(with_files, self._formats)
        stored = find_conversations(self._folders)
        return Scan(
            notes=without_twins({**files.notes, **stored.notes}),
            ignored=files.ignored,
            unreadable=files.unreadable + stored.unreadable,
        )

    def read(self, path: str) -> Note:
        """A transcript as a note: its redacted text, one line per message.

        Raises `NotANote` for a path that is not of a transcript, and `NoteUnreadable`.
        """
        stat, transcript = self._read(path)
        # Of the text, not of the file: tool output makes the file grow without a new message.
        digest = hashlib.sha256(transcript.text.encode()).hexdigest()
        return Note(
            path,
            transcript.text,
            digest,
            stat,
            transcript.repairs,
            transcript.session.facts(),
            transcript.said_at,
            # Not an error: folders of hosts also have files for statistics and the like.
            left_out=NO_KNOWN_HOST if transcript.is_foreign else None,
        )

    def open(self, path: str) -> Transcript:
        """The same with its line map and the facts of the session; empty for a file that no known
        host wrote."""
        return self._read(path)[1]

    def has_message(self, path: str, is_wanted: LeavesOut) -> bool:
        """Whether a transcript has such a message, also one that was forgotten before."""
        found: list[bool] = []

        def look(text: str, at: datetime | None) -> bool:
            found.append(is_wanted(text, at))
            return True

        self._read(path, look)
        return any(found)

    def new_messages(self, found: FoundNote, size: int) -> int | None:
        """The number of lines after the first `size` bytes; 0 if the file cannot be read.

        None for a document: its host rewrites it, so the bytes at its end are not what is new.
        None also for a conversation in a database, which has no bytes.
        """
        if document_formats(found.path, self._formats) or self._database(found.path):
            return None
        return sum(block.count(b"\n") for block in self._added(found, size))

    def compacted_since(self, found: FoundNote, size: int) -> bool:
        """Whether the bytes after `size` have a mark that the host compacted the conversation.

        A message that quotes such a mark has the same effect: the transcript is read early.
        """
        added = b"".join(self._added(found, size))
        marks = (mark for format_ in self._formats for mark in format_.compaction_marks)
        return any(mark in added for mark in marks)

    def _added(self, found: FoundNote, size: int) -> Iterator[bytes]:
        try:
            fd = self._descriptor(found.path)
        except NoteUnreadable:
            return  # The sync that reads the transcript reports the error.
        try:
            # Up to the size of the scan: what came later belongs to the next scan.
            yield from read_blocks(fd, size, found.stat.size)
        finally:
            os.close(fd)

    def _read(self, path: str, leaves_out: LeavesOut | None = None) -> tuple[NoteStat, Transcript]:
        leaves_out = leaves_out or self._leaves_out(path)
        if in_database := self._database(path):
            folder, database = in_database
            # The stat first, for the same reason as below.
            stat = conversation_stat(path, folder, database)
            records = conversation_records(path, folder, database)
            return stat, records_as_text(records, self._redact, database.format, leaves_out)
        fd = self._descriptor(path)
        try:
            # The stat from before the read: if the host writes meanwhile, the next scan sees
            # another stat and the transcript is read again.
            stat = note_stat(os.fstat(fd))
            return stat, read_transcript(
                path, read_blocks(fd), self._redact, self._formats, leaves_out
            )
        except OSError as error:
            raise NoteUnreadable(path, describe_os_error(error)) from error
        finally:
            os.close(fd)

    def _leaves_out(self, path: str) -> LeavesOut | None:
        """The filter for what was forgotten of this conversation; None if nothing ever was."""
        # Read each time: another process may have forgotten something meanwhile.
        if self._forgotten is None or not os.path.lexists(self._forgotten):
            return None
        from notewell.sessions.forgotten import read_forgotten

        try:
            return read_forgotten(self._forgotten).of_session(session_stem(path))
        except StateNotWritable as error:
            raise NoteUnreadable(path, f"{self._forgotten.name}: {error.why}") from error

    def _database(self, path: str) -> tuple[TranscriptFolder, TranscriptDatabase] | None:
        folder, names = self._locate(path)
        database = database_of(names) if folder.name else None
        return (folder, database) if database else None

    def _descriptor(self, path: str) -> int:
        return open_transcript(path, *self._locate(path))

    def _locate(self, path: str) -> tuple[TranscriptFolder, tuple[str, ...]]:
        for folder in self._folders:
            names = folder.locate(path, self._formats)
            if names is not None:
                return folder, names
        raise NotANote(path)
