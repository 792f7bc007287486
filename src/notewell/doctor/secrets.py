"""`notewell doctor --secrets`: where notes hold secrets. It tells, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from notewell.errors import NoteUnreadable
from notewell.redaction import locate_secrets
from notewell.sync import Progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.notes import NoteStore


class NoteSecret(NamedTuple):
    """One secret in a note; never its value."""

    path: str
    line: int
    kind: str

    @property
    def citation(self) -> str:
        return f"{self.path}#L{self.line}"


class SecretsReport(NamedTuple):
    notes: int
    secrets: tuple[NoteSecret, ...]
    unread: tuple[str, ...]
    """Why a note was not read, in words that name it."""


def find_note_secrets(
    notes: NoteStore, on_progress: Callable[[Progress], None] = lambda _: None
) -> SecretsReport:
    scan = notes.scan()
    secrets: list[NoteSecret] = []
    unread = [f"{folder.path}: {folder.why}" for folder in scan.unreadable]
    for done, path in enumerate(sorted(scan.notes), 1):
        try:
            text = notes.read(path).text
        except NoteUnreadable as error:
            unread.append(str(error))
            continue
        secrets += (NoteSecret(path, *located) for located in locate_secrets(text))
        on_progress(Progress(done, len(scan.notes), "notes"))
    return SecretsReport(len(scan.notes), tuple(secrets), tuple(unread))
