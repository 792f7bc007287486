"""Transcripts for QMD: which are exported as Markdown, and the export itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.errors import NoteUnreadable
from notewell.notes import folder_of
from notewell.qmd import ExportCounts, SessionText, export_name, export_sessions

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.sessions import TranscriptSource
    from notewell.sync import Indexer
    from notewell.types import FoundNote, NoteStat


def exported_transcripts(indexer: Indexer, agent: str, state: Path) -> TranscriptSource:
    """Those that the settings of the built-in index name; if they name none, those of the agent's
    own folders."""
    if indexer.transcripts and "sessions" in indexer.configured_sources:
        return indexer.transcripts
    from notewell.redaction import Redactor, load_mask_key
    from notewell.sessions import KEPT, TranscriptFolder, Transcripts, forgotten_file, kept_dir

    # The built-in index may leave transcripts out while QMD exports them: two separate settings.
    own = TranscriptFolder(state / "agents" / agent / "sessions")
    folder = kept_dir(state, agent, folder_of(indexer.notes))
    kept = TranscriptFolder(folder, KEPT, appears_later=True)
    redactor = Redactor(load_mask_key(state))
    return Transcripts([own, kept], redactor, forgotten=forgotten_file(folder))


class SessionExporter:
    """Exports transcripts as Markdown for QMD; reads a transcript again only if it changed."""

    def __init__(self, transcripts: TranscriptSource, folder: Path) -> None:
        self._transcripts = transcripts
        self._folder = folder
        self._seen: dict[str, tuple[NoteStat, SessionText]] = {}

    def run(self, now: datetime, retention_days: int | None) -> ExportCounts:
        """The exported file of a transcript that cannot be read at the moment stays."""
        scan = self._transcripts.scan()
        sessions = [self._session(transcript) for transcript in scan.notes.values()]
        # Forget transcripts that were removed, or the dictionary would grow for ever in a server.
        self._seen = {key: seen for key, seen in self._seen.items() if key in scan.notes}
        return export_sessions(
            self._folder,
            [session for session in sessions if session is not None],
            now=now,
            retention_days=retention_days,
            # Only a complete list may delete exported files: a missing transcript may just be
            # unreadable now.
            are_all=None not in sessions and not scan.unreadable,
        )

    def names_of(self, stem: str) -> frozenset[str]:
        """The exported files of one conversation, by the name of its transcript."""
        from notewell.sessions import session_stem  # Imported late: only hooks need it.

        keys = (key for key in self._transcripts.scan().notes if session_stem(key) == stem)
        return frozenset(map(export_name, keys))

    def _session(self, file: FoundNote) -> SessionText | None:
        seen = self._seen.get(file.path)
        if seen and seen[0] == file.stat and (self._folder / export_name(file.path)).exists():
            return seen[1]
        try:
            transcript = self._transcripts.open(file.path)
        except NoteUnreadable:
            return None
        stem = file.path.rsplit("/", 1)[-1].rpartition(".")[0]
        changed_at = datetime.fromtimestamp(file.stat.mtime_ns / 1e9, UTC)
        session = SessionText(
            key=file.path,
            id=transcript.session.id or stem,
            text=transcript.text,
            last_at=transcript.session.last_at or changed_at,
        )
        # The exported file has the text now, so it is not kept in memory too.
        self._seen[file.path] = (file.stat, session._replace(text=None))
        return session
