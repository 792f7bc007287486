"""Transcripts that hosts already have are kept, too, as if hooks had run from the beginning.

Each goes through the same code as in a hook, under the same lock, and is on disk before the next
one is read. So an import that is killed is repeated, and finds what it has done; a hook that runs
meanwhile keeps its messages, and each message is there once.

The newest come first: what the size that the settings allow has no place for is the oldest, which
would be removed at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.capture.hook_state import SessionEnd
from notewell.capture.keeping import (
    Kept,
    KeptPreview,
    complete_part,
    keep_messages,
    preview_import,
)
from notewell.capture.keeping_turns import keep_exported, preview_exported
from notewell.capture.kept_folder import kept_sizes
from notewell.errors import NoteUnreadable, NotewellError, StateBusy
from notewell.hosts import HOSTS
from notewell.records import dataclass, field
from notewell.sessions import read_facts
from notewell.types import Ignored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from pathlib import Path

    from notewell.capture.settings import KeepSettings
    from notewell.sessions import FoundTranscript, SaidMessage

REASON = "import"


@dataclass(frozen=True, slots=True)
class ImportedTranscript:
    """A transcript, and what its beginning says."""

    found: FoundTranscript
    ended: SessionEnd
    exported: tuple[SaidMessage, ...] | None = None
    """Its messages, if it is from a data export: then there is no file of it alone."""


@dataclass(slots=True)
class KeptImport:
    """What an import has done."""

    conversations: int = 0
    """With a message that was not kept yet."""
    messages: int = 0
    unchanged: int = 0
    no_place: int = 0
    """Left out, because the settings allow no more megabytes."""
    failed: list[Ignored] = field(default_factory=list)
    has_begun: bool = False
    """Whether a conversation is kept of which nothing was kept before."""
    trouble: NotewellError | None = None
    """Why it has stopped early."""

    def add(self, messages: int) -> None:
        self.messages += messages
        self.conversations += messages > 0
        self.unchanged += not messages


def described(found: FoundTranscript, host: str | None = None) -> ImportedTranscript:
    """The transcript with its facts. The host is the one whose format it has, wherever it lies.
    Raises `NoteUnreadable`."""
    facts = read_facts(found.path)
    by_format = facts.format and _hosts().get(facts.format)
    session = facts.session or found.path.stem
    id_ = by_format or host or REASON
    return ImportedTranscript(found, SessionEnd(found.path, session, id_, facts.cwd, REASON))


def import_transcripts(
    folder: Path,
    transcripts: Iterable[ImportedTranscript],
    redact: Callable[[str], str],
    *,
    settings: KeepSettings,
    now: datetime,
    on_progress: Callable[[], None] = lambda: None,
    on_begun: Callable[[Path], None] = lambda _: None,
    is_dry_run: bool = False,
) -> KeptImport:
    """Keep transcripts in the folder of `kept_dir`. It stops at a folder that cannot be written;
    what is done then is on disk. `on_begun` is called with each new file. `is_dry_run`: count what
    would be done, and write nothing."""
    counts, sizes = KeptImport(), _Sizes(folder, settings)
    newest_first = sorted(transcripts, key=lambda one: one.found.mtime_ns, reverse=True)
    for number, transcript in enumerate(newest_first):
        if not sizes.have_place(transcript.found.mtime_ns / 1e9):
            counts.no_place = len(newest_first) - number
            break
        try:
            if is_dry_run:
                preview = _preview(folder, transcript, redact, settings, now)
                counts.add(preview.messages)
                sizes.set(preview.file, transcript.found.mtime_ns / 1e9, preview.size)
            else:
                kept = _import(folder, transcript, redact, settings, now)
                counts.add(kept.messages)
                sizes.update(kept.file)
                if kept.file is not None and kept.is_first:
                    counts.has_begun = True
                    on_begun(kept.file)
        except (NoteUnreadable, StateBusy) as error:
            counts.failed.append(Ignored(str(transcript.found.path), _why(error)))
        except NotewellError as error:
            counts.trouble = error
            break
        on_progress()
    return counts


def _preview(
    folder: Path,
    transcript: ImportedTranscript,
    redact: Callable[[str], str],
    settings: KeepSettings,
    now: datetime,
) -> KeptPreview:
    ended, exported = transcript.ended, transcript.exported
    if exported is None:
        return preview_import(folder, ended, redact, settings=settings, now=now)
    return preview_exported(folder, ended, exported, redact, settings=settings, now=now)


def _import(
    folder: Path,
    transcript: ImportedTranscript,
    redact: Callable[[str], str],
    settings: KeepSettings,
    now: datetime,
) -> Kept:
    ended, exported = transcript.ended, transcript.exported
    if exported is not None:
        return keep_exported(folder, ended, exported, redact, settings=settings, now=now)
    begun = complete_part(folder, ended, redact, settings=settings, now=now)
    file, messages, is_complete, is_first = begun.file, begun.messages, False, False
    while not is_complete:
        rest = keep_messages(folder, ended, redact, settings=settings, now=now, is_import=True)
        file, messages, is_complete = rest.file or file, messages + rest.messages, rest.is_complete
        is_first = is_first or rest.is_first
    return Kept(file, messages, is_first=is_first)


def _why(error: NotewellError) -> str:
    return error.why if isinstance(error, NoteUnreadable) else str(error)


class _Sizes:
    """Whether one more conversation would be removed at once, because newer ones take the size."""

    def __init__(self, folder: Path, settings: KeepSettings) -> None:
        self._limit = settings.megabytes * 1_000_000 if settings.megabytes else None
        self._files = kept_sizes(folder) if self._limit else {}

    def have_place(self, at_s: float) -> bool:
        newer = (size for written_s, size in self._files.values() if written_s > at_s)
        return self._limit is None or sum(newer) < self._limit

    def update(self, file: Path | None) -> None:
        if file is not None and self._limit is not None:
            status = file.stat()
            self.set(file, status.st_mtime, status.st_size)

    def set(self, file: Path, written_s: float, size: int) -> None:
        self._files[file] = (written_s, size)


def _hosts() -> dict[str, str]:
    """The ids of hosts by the names of their formats."""
    hosts: dict[str, str] = {}
    for host in HOSTS.values():
        formats = (
            host.transcripts,
            host.earlier_transcripts,
            host.database and host.database.format,
        )
        hosts |= {format_.name: host.id for format_ in formats if format_}
    return hosts
