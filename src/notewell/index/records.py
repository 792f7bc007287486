"""The values that cross the storage seam: what a store holds, and how it describes itself.

No value here knows how or where it is stored. A store is free to keep rows, files or pages; it
returns these records.
"""

from __future__ import annotations

from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell import core
from notewell.core.speakers import user_speaks
from notewell.records import NamedTuple, dataclass, field, field_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.core import TextKind
    from notewell.core.windows import WindowPlaces
    from notewell.errors import IndexUnreadable
    from notewell.ports import CosineScale
    from notewell.types import NoteStat, Source, Span

WAITING, EMBEDDED, UNREAD = 0, 1, 2
"""The state of a chunk's vector: still to be computed; stored; not wanted, because the model
cannot read the script of the text."""


EVERYWHERE = "segments"
"""The vector driver that needs no library, so that every process can read what it has stored."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What an index was built with. If it differs from what is wanted, the index is rebuilt."""

    provider: str
    model: str
    dims: int
    chunk_tokens: int
    chunk_overlap: int
    sources: tuple[str, ...]
    words_version: int
    vector_driver: str
    """The vector driver that the settings name."""
    redaction: str = ""
    """The version of the rules that masked secrets; empty if no secrets were masked."""
    # Not compared: a proxy or a renamed host in front of the same model is no reason to rebuild.
    endpoint_key: str = field(default="", compare=False)
    """The address of the model. A new address alone is no reason to rebuild; but a rebuild takes
    over no vectors from another address."""
    stored_by: str = ""
    """The vector driver that stores the vectors: another one, if the library of the first could
    not be loaded. Empty: the one that the settings name."""

    @property
    def driver(self) -> str:
        return self.stored_by or self.vector_driver

    def is_readable_with(self, driver: str) -> bool:
        """Whether a process that uses this vector driver can read the vectors."""
        return self.driver in (EVERYWHERE, driver)

    def difference(self, wanted: Identity) -> str | None:
        """The first field that differs, in words; None if no field does."""
        if self == wanted:  # Fields that do not count are not compared.
            return None
        for name, have in field_values(self).items():
            want = getattr(wanted, name)
            if have != want:
                return f"{name.replace('_', ' ')} changed from {have!r} to {want!r}"
        return None


# -- notes and chunks ----------------------------------------------------------------------------


class IndexedNote(NamedTuple):
    """A note as it was when it was indexed."""

    stat: NoteStat
    digest: str


class _ChunkFields(NamedTuple):
    """A chunk as it is stored."""

    id: int
    path: str
    source: Source
    span: Span
    digest: str
    heading: str
    text: str
    piece: bool
    """Whether this is a part of one line that was too long for a chunk."""
    said_at: str = ""
    """When its first line was said, in a conversation."""
    offset: int = 0
    """Where a piece begins in its line, in characters."""


class ChunkFacts(NamedTuple):
    """What a chunk is ranked by. It is small, so that a reader keeps it for more chunks than it
    could keep texts."""

    id: int
    source: Source
    place: tuple[str, Span]
    """The note and the lines."""
    order: tuple[tuple[str, Span], str]
    """Chunks with equal scores are sorted by this: the order of indexing must not matter."""
    day: date | None
    """When it was said, or the day in the name of its note."""
    is_timed: bool
    """The day is that of its lines."""
    kind: TextKind
    has_user: bool
    """The user speaks in it: it is a part of a conversation."""


class StoredChunk(_ChunkFields):
    """A chunk as it is stored. What a search computes of it alone is kept with it: the next search
    finds many of the same chunks. (A class without slots, so that there is room for it.)"""

    @cached_property
    def facts(self) -> ChunkFacts:
        place, said_at = (self.path, self.span), self.said_at
        return ChunkFacts(
            self.id,
            self.source,
            place,
            (place, self.digest),
            date.fromisoformat(said_at[:10]) if said_at else core.note_date(self.path),
            bool(said_at),
            core.kind_of(self.text),
            user_speaks(self.text),
        )

    @cached_property
    def lines(self) -> dict[int, str]:
        """By number."""
        return core.numbered_lines(self.span, self.text)

    @cached_property
    def window_places(self) -> WindowPlaces:
        """If an index has another number of windows, which only damage explains,
        `notewell verify` reports it."""
        return core.window_places(self.text, self.span.start_line, self.offset)


class ChunkRun(tuple[StoredChunk, ...]):
    """Chunks of one note, in order. It can be a key: its hash is computed once."""

    @cached_property
    def chars(self) -> int:
        return sum([len(chunk.text) for chunk in self])

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()


class ListedNote(NamedTuple):
    """A note or transcript, as it was when it was indexed."""

    path: str
    source: Source
    size: int
    mtime_ns: int
    day: str | None
    """The day of a transcript. The day of a note is in its name."""
    chunks: int
    last_line: int
    """The last line that holds any text; for a transcript, the number of messages."""


class OutlinedChunk(NamedTuple):
    """Where a chunk of a note begins and ends."""

    span: Span
    heading: str
    is_embedded: bool


class PlacedChunk(NamedTuple):
    """A chunk that has a vector."""

    id: int
    path: str
    source: Source
    start_line: int


@dataclass(frozen=True, slots=True)
class Counts:
    """How many files, chunks and vectors an index holds."""

    files: int
    chunks: int
    embedded: int
    """Chunks with a vector."""
    waiting: int
    """Chunks that will get a vector. The model cannot read the remaining ones."""
    by_source: Mapping[str, tuple[int, int]]
    """Files and chunks of each source."""


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What a search has to know about an index before it opens its view."""

    generation: str
    identity: Identity
    waiting: int
    """Chunks without a vector."""
    has_vectors: bool
    is_readable: bool
    """Whether this process can read its vectors."""
    scale: CosineScale | None = None
    """As it was measured; None if it was not."""
    outdated: str | None = None
    """Why it must be rebuilt, if an older version wrote it."""


# -- the store itself ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What `status`, `doctor` and the health page tell about a store."""

    place: str
    """Where the store is: a folder, or an address without its password."""
    generation: str | None = None
    """The generation that answers; None before the first is published, and if it is unreadable."""
    size_bytes: int = 0
    """All generations, caches and logs together."""
    written_at_s: float | None = None
    """Unix time of the last write to the generation that answers."""
    holder: str | None = None
    """Who holds a lease on the store at this moment."""
    generation_bytes: int = 0
    """The size of the generation that answers."""
    notes_built: int | None = None
    """How many notes and transcripts are in the generation that a process is building now; None
    if none is being built."""
    suspect: IndexUnreadable | None = None
    """Set if a reader met damage in the generation that answers; the next writer rebuilds it."""
    cache_limit: int | None = None
    """How many vectors the cache keeps at most; 0: there is no cache, None: no limit."""
    vector_load_error: str | None = None
    """Why the vector driver cannot be used on this machine."""


# -- is the published index usable? ---------------------------------------------------------------

RebuildKind: TypeAlias = Literal[
    "first", "requested", "identity", "schema", "newer", "damaged", "pointer"
]
"""first: nothing was published yet · requested: the user forced it · identity: it was built with
other settings · schema, newer: another version of Notewell wrote it · damaged: it cannot be read ·
pointer: the record of which generation answers cannot be read."""

_DEFAULT_DETAILS: dict[RebuildKind, str] = {
    "first": "there was none",
    "requested": "it was asked for",
    "newer": "it was written by a newer version",
}


@dataclass(frozen=True, slots=True)
class UpToDate:
    """The published index is open and fits; it only needs the changes."""


@dataclass(frozen=True, slots=True)
class MustRebuild:
    """A new index must be built. Decide by `kind`; show `str()`."""

    kind: RebuildKind
    detail: str = ""
    """What exactly is wrong, for people."""

    def __str__(self) -> str:
        return self.detail or _DEFAULT_DETAILS.get(self.kind, self.kind)
