"""A conversation as a note: `memory/2026-11-15-<slug>.md`, on `/new`, `/reset` or at its end."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.capture.flush_decision import Skip
from notewell.capture.writer import CreatedNote, encode_note
from notewell.errors import NotewellError
from notewell.notes import user_day

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime, tzinfo

    from notewell.capture.writer import NoteWriter

MESSAGES = 15
"""How many of the last messages, as upstream has it: what was being talked about at the end."""

MAX_SLUG_CHARS = 48
MAX_SLUG_BYTES = 120
"""A file's name may have 255 bytes; the date, a number and a sync tool's additions fit too."""

MAX_LINE_CHARS = 4000
"""Of one message, some 1000 tokens: what somebody pasted is not what was said."""

_NOT_SLUG = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is to be saved: redacted, without what we put into it ourselves."""

    lines: Sequence[str]
    """`User: …` and `Assistant: …`, a line a message, as transcripts are read."""
    session: str | None = None
    host: str | None = None
    cwd: str | None = None
    reason: str = ""
    """What closed it: `/new`, `/reset`, `pre-compact`, `session-end`."""


@dataclass(frozen=True, slots=True)
class Page:
    """A note that is ready to be written."""

    stem: str
    text: str
    messages: int

    @property
    def digest(self) -> str:
        return hashlib.sha256(encode_note(self.text)).hexdigest()


@dataclass(frozen=True, slots=True)
class Saved:
    path: str
    messages: int


def save_session(
    place: NoteWriter,
    talk: Conversation,
    *,
    now: datetime,
    zone: tzinfo,
    messages: int = MESSAGES,
    name_it: Callable[[str], str | None] | None = None,
    origin: str = "session",
) -> Saved | Skip:
    """Save the last messages as a new note; `name_it` makes a slug, else it is the time."""
    page = page_of(talk, now=now, zone=zone, messages=messages, name_it=name_it)
    if isinstance(page, Skip):
        return page
    path = place.create(page.stem, page.text)
    with suppress(NotewellError):  # It is on disk: that it cannot be undone by us is no failure.
        record_page(place, path, page, origin=origin, now=now)
    return Saved(path, page.messages)


def record_page(place: NoteWriter, path: str, page: Page, *, origin: str, now: datetime) -> None:
    note = CreatedNote(path, page.digest, len(encode_note(page.text)))
    place.record_note(note, origin=origin, now=now)


def page_of(
    talk: Conversation,
    *,
    now: datetime,
    zone: tzinfo,
    messages: int = MESSAGES,
    name_it: Callable[[str], str | None] | None = None,
) -> Page | Skip:
    """What would be written, and under which name."""
    lines = [line for line in talk.lines if line.strip()][-messages:]
    if not any(line.startswith("User: ") for line in lines):
        return Skip("the user has said nothing that is not saved already")
    # The moment is asked for once: a name that takes long to find is still of this day.
    day, clock = user_day(now, zone), now.astimezone(zone).strftime("%H%M")
    slug = _slug("\n".join(lines), name_it) or clock
    text = _page(talk, lines, now.astimezone(zone))
    return Page(f"{day.isoformat()}-{slug}", text, len(lines))


def clean_slug(told: str) -> str:
    """Letters, digits and dashes of any script, short enough for a file's name; may be empty."""
    folded = unicodedata.normalize("NFC", told[:1000]).strip().lower()
    slug = _NOT_SLUG.sub("-", folded).strip("-")[:MAX_SLUG_CHARS]
    while len(slug.encode("utf-8", "replace")) > MAX_SLUG_BYTES:
        slug = slug[:-1]
    return slug.strip("-")


def _slug(text: str, name_it: Callable[[str], str | None] | None) -> str:
    if name_it is None:
        return ""
    try:
        told = name_it(text)
    except Exception:  # noqa: BLE001 - the host's model may raise anything; the note matters more
        return ""
    return clean_slug(told) if isinstance(told, str) else ""


def _page(talk: Conversation, lines: Sequence[str], at: datetime) -> str:
    head = [f"# Session {at:%Y-%m-%d %H:%M}", ""]
    facts = (
        ("session", talk.session),
        ("host", talk.host),
        ("folder", talk.cwd),
        ("closed by", talk.reason),
    )
    head += [f"- {name}: `{_shown(value)}`" for name, value in facts if value]
    body = [part for line in lines for part in ("", _cut(line))]
    return "\n".join((*head, "", "## Conversation", *body, ""))


def _shown(value: str) -> str:
    """On one line, unable to end the code span around it."""
    return " ".join(value.replace("`", "'").split())[:200]


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]} …"
