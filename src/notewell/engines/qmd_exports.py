"""The transcripts of an agent as pages for QMD, read again only where they have changed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.errors import NoteUnreadable
from notewell.qmd import Exported, SessionText, export_name, export_sessions

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.sessions import Transcripts
    from notewell.types import FoundNote, NoteStat


class Exports:
    """Remembers which files it has seen, so that an update does not read them all again."""

    def __init__(self, transcripts: Transcripts, folder: Path) -> None:
        self._transcripts = transcripts
        self._folder = folder
        self._seen: dict[str, tuple[NoteStat, SessionText]] = {}

    def run(self, now: datetime, retention_days: int | None) -> Exported:
        """A transcript that cannot be read now keeps the page it has."""
        scan = self._transcripts.scan()
        sessions = [self._session(found) for found in scan.notes.values()]
        self._seen = {key: seen for key, seen in self._seen.items() if key in scan.notes}
        return export_sessions(
            self._folder,
            [one for one in sessions if one is not None],
            now=now,
            retention_days=retention_days,
            are_all=None not in sessions and not scan.unreadable,
        )

    def _session(self, found: FoundNote) -> SessionText | None:
        seen = self._seen.get(found.path)
        if seen and seen[0] == found.stat and (self._folder / export_name(found.path)).exists():
            return seen[1]
        try:
            transcript = self._transcripts.open(found.path)
        except NoteUnreadable:
            return None
        stem = found.path.rsplit("/", 1)[-1].rpartition(".")[0]
        changed_at = datetime.fromtimestamp(found.stat.mtime_ns / 1e9, UTC)
        session = SessionText(
            key=found.path,
            id=transcript.session.id or stem,
            text=transcript.text,
            last_at=transcript.session.last_at or changed_at,
        )
        # What was said is on its page now; it is not held in memory as well.
        self._seen[found.path] = (found.stat, session._replace(text=None))
        return session
