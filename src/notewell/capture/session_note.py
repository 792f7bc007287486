"""A conversation saved as a note of its own: `memory/2026-11-15-<slug>.md`.

On `/new` and `/reset`, and when a session ends. `incremental` does the same for a transcript that
grows.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from contextlib import suppress
from typing import TYPE_CHECKING

from notewell.capture.flush_decision import Skip
from notewell.capture.writer import CreatedNote, encode_note
from notewell.errors import NotewellError
from notewell.notes import user_day
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime, tzinfo

    from notewell.capture.writer import NoteWriter

MESSAGES = 15
"""How many of the last messages, as in OpenClaw: what the conversation was about at its end."""

MAX_COMPACTED_MESSAGES = 1000
"""How many at a compaction and after it: what was said is in no other place then. A window of a
million tokens has fewer messages of people."""

MAX_SLUG_CHARS = 48
MAX_SLUG_BYTES = 120
"""A file name may have 255 bytes; the date, a number and the additions of sync tools fit too."""

MAX_LINE_CHARS = 4000
"""Of one message, about 1000 tokens: a pasted file is not part of what was said."""

_NOT_SLUG = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is saved: redacted, and without the notes that we put into it ourselves."""

    lines: Sequence[str]
    """`User: …` and `Assistant: …`, one line per message, as `sessions` reads transcripts."""
    session: str | None = None
    host: str | None = None
    cwd: str | None = None
    reason: str = ""
    """What ended it: `/new`, `/reset`, `pre-compact`, `session-end`."""
    continues: str | None = None
    """The note with its earlier messages, empty if it is not known; None if there is none. After a
    compaction in the middle of a turn, the answer comes without a message of the user."""
    missing: str | None = None
    """What was said since the earlier note and is in none; None: nothing."""


SESSION_HEADING = "# Session "
"""The first line of every session note begins with it."""


@dataclass(frozen=True, slots=True)
class SessionNote:
    """A note that is ready to be written, under the name it should get."""

    stem: str
    text: str
    messages: int
    unnamed_because: str = ""
    """Why the name is the time although a name was asked for."""

    @property
    def digest(self) -> str:
        return hashlib.sha256(encode_note(self.text)).hexdigest()


@dataclass(frozen=True, slots=True)
class Saved:
    """The note that was made, and how many messages it has."""

    path: str
    messages: int
    unnamed_because: str = ""
    """Why the note is named by its time although a name was asked for."""


def save_session(
    writer: NoteWriter,
    conversation: Conversation,
    *,
    now: datetime,
    zone: tzinfo | None,
    messages: int = MESSAGES,
    name_it: Callable[[str], str | None] | None = None,
    origin: str = "session",
) -> Saved | Skip:
    """Save the last messages as a new note; `name_it` returns a slug, otherwise it is the time."""
    note = session_note_of(conversation, now=now, zone=zone, messages=messages, name_it=name_it)
    if isinstance(note, Skip):
        return note
    path = writer.create(note.stem, note.text)
    with suppress(NotewellError):  # The note is on disk; only an undo is not possible.
        record_session_note(writer, path, note, origin=origin, now=now)
    return Saved(path, note.messages, note.unnamed_because)


def record_session_note(
    writer: NoteWriter, path: str, note: SessionNote, *, origin: str, now: datetime
) -> None:
    created = CreatedNote(path, note.digest, len(encode_note(note.text)))
    writer.record_note(created, origin=origin, now=now)


def session_note_of(
    conversation: Conversation,
    *,
    now: datetime,
    zone: tzinfo | None,
    messages: int = MESSAGES,
    name_it: Callable[[str], str | None] | None = None,
) -> SessionNote | Skip:
    """The note to write, or the reason why there is none."""
    said = [line for line in conversation.lines if line.strip()]
    if not said:
        return Skip("nothing was said that is not saved already")
    # A greeting of the assistant is not worth a note.
    if conversation.continues is None and not any(line.startswith("User: ") for line in said):
        return Skip("the user has said nothing")
    lines = said[-messages:]
    # One moment for all: a model that takes long to find a name must not change the day.
    day, clock = user_day(now, zone), now.astimezone(zone).strftime("%H%M")
    slug, trouble = _slug("\n".join(lines[-MESSAGES:]), name_it)
    text = _text(conversation, lines, now.astimezone(zone))
    return SessionNote(f"{day.isoformat()}-{slug or clock}", text, len(lines), trouble)


def clean_slug(name: str) -> str:
    """Letters, digits and dashes of any script, short enough for a file name; may be empty."""
    # Cut first: a model may return pages instead of a name. NFC: the same letters must give
    # the same name on every system.
    folded = unicodedata.normalize("NFC", name[:1000]).strip().lower()
    slug = _NOT_SLUG.sub("-", folded).strip("-")[:MAX_SLUG_CHARS]
    # By characters: a name that is cut within one is not valid UTF-8.
    while len(slug.encode("utf-8", "replace")) > MAX_SLUG_BYTES:
        slug = slug[:-1]
    return slug.strip("-")


def _slug(text: str, name_it: Callable[[str], str | None] | None) -> tuple[str, str]:
    """The slug, and why there is none."""
    if name_it is None:
        return "", ""
    try:
        name = name_it(text)
    except NotewellError as error:
        return "", str(error)
    except Exception as error:  # noqa: BLE001 - the host's model may raise anything
        # Only the type: the message may quote the conversation.
        return "", f"the model raised {type(error).__name__}"
    slug = clean_slug(name) if isinstance(name, str) else ""
    return slug, "" if slug else "the name has no letters or digits"


def _text(conversation: Conversation, lines: Sequence[str], at: datetime) -> str:
    head = [f"{SESSION_HEADING}{at:%Y-%m-%d %H:%M}", ""]
    facts = (
        ("session", conversation.session),
        ("host", conversation.host),
        ("folder", conversation.cwd),
        ("closed by", conversation.reason),
        ("continues", conversation.continues),
        ("missing", conversation.missing),
    )
    head += [f"- {name}: `{_shown(value)}`" for name, value in facts if value]
    body = [part for line in lines for part in ("", _cut(line))]
    return "\n".join((*head, "", "## Conversation", *body, ""))


def _shown(value: str) -> str:
    """On one line, and without a backtick that would end the code span around it."""
    return " ".join(value.replace("`", "'").split())[:200]


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]} …"
