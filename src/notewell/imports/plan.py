"""Which notes an import makes: a pure decision.

    memory/imported/claude-mem/2026-10-02.md           the entries of a day
    memory/imported/server-memory/harbour-project.md   what has no time, by its subject
    memory/imported/basic-memory/main/Search design.md   a whole note, under its own name

Each entry and each note ends with a marker that says where it is from, and by which a later import
knows it: the id in the program, the time there, and a digest of the text.

    <!-- @claude-mem #observation/2/2026-10-02T08:05:00Z/1f0c2ab94d6e -->

An import only makes new notes. What was added or changed in the program since the last one comes
in a note beside the earlier ones (`2026-10-02-2.md`), so nothing that is there is ever touched.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from notewell.capture import clean_slug
from notewell.core import MARKER_NAME, without_markers
from notewell.errors import BadEntry
from notewell.hosts import folded
from notewell.notes import Block, Entry
from notewell.records import dataclass, field
from notewell.types import Ignored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime, tzinfo

    from notewell.imports.records import ImportedEntry, ImportedNote, Reading

FOLDER = "imported"
MAX_BYTES = 1024 * 1024
"""A longer note opens slowly in editors; the rest of a day goes to the next one."""
MAX_KEY_CHARS = 40
"""With the time and the digest, the marker stays within what an entry's id may have."""
MAX_NAME_BYTES = 150
UNDATED = "undated"
_DIGEST_CHARS = 12
_PLAIN_NAME = re.compile(r'[^\0-\x1f\x7f/\\:*?"<>|]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
"""What Windows does not take as a name of a file."""


@dataclass(frozen=True, slots=True)
class KnownImports:
    """What the notes have of a program already."""

    digests: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Of the versions of each text, by its key in the marker."""
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The texts of whole notes, the oldest first."""


@dataclass(frozen=True, slots=True)
class PlannedNote:
    stem: str
    """Below `memory/`, without a number."""
    text: str
    entries: int
    example: str
    """Its first words."""


@dataclass(frozen=True, slots=True)
class ImportPlan:
    notes: tuple[PlannedNote, ...] = ()
    new: int = 0
    changed: int = 0
    """Of these an earlier version was imported, which stays."""
    unchanged: int = 0
    left_out: tuple[Ignored, ...] = ()


class _Text(NamedTuple):
    """A text that is not in the notes yet."""

    stem: str
    title: str
    lines: list[str]
    example: str
    is_changed: bool


def known_imports(program: str, notes: Iterable[tuple[str, str]]) -> KnownImports:
    """From the paths and texts of all notes: the user may have moved some."""
    mark = rf"<!-- @{re.escape(program)} #({MARKER_NAME}) -->[ \t]*$"
    marker = re.compile(mark, re.MULTILINE)
    digests: dict[str, set[str]] = {}
    parts: dict[str, list[tuple[str, int, str, str]]] = {}
    for path, text in notes:
        matches = list(marker.finditer(text))
        for match in matches:
            key, _, digest = match[1].rpartition("/")
            key, _, at = key.rpartition("/")
            digests.setdefault(key, set()).add(digest)
            if len(matches) == 1:
                parts.setdefault(key, []).append((at, len(path), path, text[: match.start()]))
    return KnownImports(
        {key: frozenset(found) for key, found in digests.items()},
        {key: tuple(part[-1] for part in sorted(found)) for key, found in parts.items()},
    )


def plan_import(
    program: str,
    title: str,
    reading: Reading,
    known: KnownImports,
    *,
    redact: Callable[[str], str],
    zone: tzinfo | None,
) -> ImportPlan:
    plan = _Planner(program, title, known, redact, zone)
    texts = [*map(plan.entry, reading.entries), *map(plan.note, reading.notes)]
    new = [text for text in texts if text is not None]
    changed = sum(text.is_changed for text in new)
    return ImportPlan(
        tuple(_packed(new)),
        len(new) - changed,
        changed,
        plan.unchanged,
        (*reading.left_out, *plan.left_out),
    )


class _Planner:
    def __init__(
        self,
        program: str,
        title: str,
        known: KnownImports,
        redact: Callable[[str], str],
        zone: tzinfo | None,
    ) -> None:
        self._program, self._title = program, title
        self._known, self._redact, self._zone = known, redact, zone
        self._seen = set[tuple[str, str]]()
        self.unchanged = 0
        self.left_out: list[Ignored] = []

    def entry(self, entry: ImportedEntry) -> _Text | None:
        text = self._redact(entry.text.replace("\0", "")).encode("utf-8", "replace").decode()
        key, digest = marker_key(entry.key), _digest(text)
        if self._is_known(key, digest):
            return None
        id_ = f"{key}/{_stamp(entry.at)}/{digest}"
        try:
            lines = Block(Entry(text, self._program, id_)).lines
        except BadEntry as error:
            self.left_out.append(Ignored(folded(entry.key), str(error)))
            return None
        stem, title = self._place(entry)
        example = folded(text)
        return _Text(stem, title, lines, example, key in self._known.digests)

    def note(self, note: ImportedNote) -> _Text | None:
        text = without_markers(self._redact(note.text)).encode("utf-8", "replace").decode()
        text = text if text.endswith("\n") else f"{text}\n"
        key, digest = marker_key(note.path), _digest(text)
        if self._is_known(key, digest):
            return None
        # A log that grew: only what is new, as in the program.
        for part in self._known.parts.get(key, ()):
            text = text.removeprefix(part)
        id_ = f"{key}/{_stamp(note.at)}/{digest}"
        stem = "/".join(map(_safe_name, note.path.removesuffix(".md").split("/")))
        lines = [*text.removesuffix("\n").split("\n"), f"<!-- @{self._program} #{id_} -->"]
        is_changed = key in self._known.digests
        return _Text(self._stem(stem), "", lines, folded(text), is_changed)

    def _is_known(self, key: str, digest: str) -> bool:
        """Also within one import: a program may have the same text twice."""
        is_known = digest in self._known.digests.get(key, ()) or (key, digest) in self._seen
        self._seen.add((key, digest))
        self.unchanged += is_known
        return is_known

    def _place(self, entry: ImportedEntry) -> tuple[str, str]:
        """The note of an entry, and its title."""
        if day := self._day(entry.at):
            return self._stem(day), f"{self._title}, {day}"
        subject = folded(self._redact(entry.subject))
        return self._stem(_slug(subject) or UNDATED), subject or self._title

    def _day(self, at: datetime | None) -> str | None:
        try:
            return at.astimezone(self._zone).date().isoformat() if at else None
        except (OverflowError, ValueError):
            return None  # At the ends of the calendar there is no other zone.

    def _stem(self, name: str) -> str:
        return f"{FOLDER}/{self._program}/{name}"


def _packed(texts: Iterable[_Text]) -> Iterator[PlannedNote]:
    """The entries of one note together; a whole note has no title of ours, and stays alone."""
    groups: dict[tuple[str, str, int], list[_Text]] = {}
    for number, text in enumerate(texts):
        groups.setdefault((text.stem, text.title, 0 if text.title else number), []).append(text)
    for (stem, title, _), members in sorted(groups.items(), key=lambda item: item[0][0]):
        part, size = list[_Text](), 0
        for text in members:
            length = len("\n".join(text.lines).encode())
            if part and size + length > MAX_BYTES:
                yield _note(stem, title, part)
                part, size = [], 0
            part.append(text)
            size += length
        yield _note(stem, title, part)


def _note(stem: str, title: str, texts: list[_Text]) -> PlannedNote:
    head = [f"# {title}", ""] if title else []
    lines = [line for text in texts for line in text.lines]
    return PlannedNote(stem, "\n".join([*head, *lines, ""]), len(texts), texts[0].example)


def marker_key(key: str) -> str:
    """The id of the program where it can stand in a marker, else a digest of it."""
    is_short = len(key) <= MAX_KEY_CHARS and "--" not in key
    return key if is_short and re.fullmatch(MARKER_NAME, key) else _digest(key)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]


def _stamp(at: datetime | None) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else UNDATED


def _safe_name(name: str) -> str:
    """The same name, if every file system and every listing can have it."""
    is_plain = name.isprintable() and _PLAIN_NAME.fullmatch(name) and not _RESERVED.fullmatch(name)
    if is_plain and name == name.strip(" .") and len(name.encode()) <= MAX_NAME_BYTES:
        return name
    return _slug(name) or _digest(name)


def _slug(text: str) -> str:
    slug = clean_slug(folded(text))
    return f"{slug}-note" if _RESERVED.fullmatch(slug) else slug
