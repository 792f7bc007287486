"""The frozen records that packages exchange.

Small values that are made by the thousand are named tuples: a seventh of the cost of a dataclass
to define, a third to create, and both are part of the start-up time of `notewell search`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from notewell.records import NamedTuple, dataclass, replace

if TYPE_CHECKING:
    from datetime import date

Source: TypeAlias = Literal["memory", "sessions"]
Mode: TypeAlias = Literal["hybrid", "partial", "keyword", "vector"]
"""What took part: words and vectors, vectors of some chunks only, or one of both."""


class Span(NamedTuple):
    """Consecutive lines, numbered from 1 as `sed -n` does, both ends included."""

    start_line: int
    end_line: int

    def __str__(self) -> str:
        return f"L{self.start_line}-L{self.end_line}"


class NoteStat(NamedTuple):
    """The metadata of a file; while it stays the same, the file is not read again."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class FoundNote(NamedTuple):
    """A note on disk, not yet read."""

    path: str
    """The key of the note: relative to the workspace with `/`, else absolute."""
    stat: NoteStat


class Ignored(NamedTuple):
    """A file that looks like a note but is left out, with the reason for the user."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What one scan of the disk found."""

    notes: dict[str, FoundNote]
    ignored: tuple[Ignored, ...] = ()
    unreadable: tuple[Ignored, ...] = ()
    """Folders that could not be listed: indexed notes below them must not count as deleted."""


class SessionFacts(NamedTuple):
    """What a transcript says of its conversation; of a note, nothing."""

    day: date | None = None
    """The day on which it began."""
    folder: str | None = None
    """The folder in which the host ran."""
    host: str | None = None


NO_SESSION = SessionFacts()


@dataclass(frozen=True, slots=True)
class Note:
    """A file as text: valid UTF-8, no NUL, no BOM, lines end in `\\n`."""

    path: str
    text: str
    digest: str
    stat: NoteStat
    repairs: tuple[str, ...] = ()
    """What had to be cleaned, for the user to see; the file itself is never touched."""
    session: SessionFacts = NO_SESSION
    said_at: tuple[str, ...] = ()
    """For each line of a transcript, when it was said: `2026-11-02T14:05Z`, or empty."""
    left_out: str | None = None
    """Why nothing of the file is searchable, though it could be read."""


class Chunk(NamedTuple):
    """A part of a note small enough to be found and read by itself."""

    span: Span
    text: str
    """The lines of the span as they are, or one piece of a line that is too long."""
    heading: str
    """The headings above the first line: `# Decisions › ## Storage`; empty before any."""
    digest: str
    """sha256 of heading and text: the same digest needs no second embedding."""
    piece: bool = False
    """One of several pieces of a line that is too long for a chunk."""
    said_at: str = ""
    """When the first line was said, in a conversation: `2026-11-02T14:05Z`."""
    offset: int = 0
    """Where a piece begins in its line, in characters."""


class WindowScore(NamedTuple):
    """The part of a chunk that is nearest to the question."""

    span: Span
    vector: float
    """Its vector score."""


class ScoreParts(NamedTuple):
    """Why a hit has its rank."""

    vector: float | None
    text: float | None
    vector_rank: int | None
    text_rank: int | None
    decay: float
    """The factor of the age; 1 for notes without a date."""
    recency: float
    """The factor for a note of the time in the question; 1 if the question names none."""
    rerank: float | None = None
    """The score of the reranker, which decides the order; None without one."""
    echo: float = 1.0
    """The factor for lines in which the user asked the same question; 1 for others."""
    speaker: float = 1.0
    """The factor of who speaks in a conversation; 1 unless the question is about the user."""
    window: WindowScore | None = None
    """The best window of the chunk, which is a part of its vector score; None without windows."""


SPEAKERS = ("User", "Assistant")
"""As lines of transcripts begin."""


class Utterance(NamedTuple):
    """Who said the lines of a hit in a conversation, when and where."""

    speaker: str | None
    """`User` or `Assistant`: of the first line that is shown."""
    at: str
    """`2026-11-02T14:05Z`; empty if the host wrote no time."""
    host: str | None
    folder: str | None

    @property
    def folder_name(self) -> str | None:
        """The last part of the folder: it tells the project, and nothing of the machine."""
        parts = self.folder.replace("\\", "/").rstrip("/") if self.folder else ""
        return parts.rpartition("/")[2] or None

    def label(self, *, whole_folder: bool = False) -> str:
        """`2026-11-02 14:05Z Assistant, claude, shop`."""
        when = self.at.replace("T", " ")
        who = " ".join(filter(None, (when, self.speaker)))
        folder = self.folder if whole_folder else self.folder_name
        return ", ".join(filter(None, (who, self.host, folder)))


class ScoredLines(NamedTuple):
    """Lines of a hit that are read together, and how well they fit the question."""

    span: Span
    text: str
    score: float
    joint: str | None = "\n"
    """What is between the group before it and this one; None if that is a text that is not
    scored."""
    starts_inside: bool = False
    """It begins inside of a long line."""
    ends_inside: bool = False
    """The last line goes on."""


class QuotedLines(NamedTuple):
    """Lines of a hit that are shown."""

    span: Span
    text: str
    score: float
    """Of the best lines among them: why they are shown and others are not."""
    is_cut: bool = False
    """The budget ended inside the last line."""


def gap_mark(line: int) -> str:
    """Stands where lines are left out, before the line with this number."""
    return f"… L{line}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers, with what a reader needs to judge and cite it."""

    deferred_fields: ClassVar = ("id", "snippet", "parts", "said", "lines", "shown")

    id: str
    """The same for the same text in the same place under the same model."""
    path: str
    span: Span
    score: float
    snippet: str
    source: Source
    heading: str
    parts: ScoreParts
    chars: int
    """The number of characters of these lines: what an agent reads."""
    said: Utterance | None = None
    """Of a conversation; None for a note."""
    lines: tuple[ScoredLines, ...] = ()
    """All lines of the hit in groups, for `core.pack_hits`; none from an engine that scores no
    lines."""
    shown: tuple[QuotedLines, ...] = ()
    """The best of these lines: all hits of an answer share its budget."""

    @property
    def citation(self) -> str:
        return f"{self.path}#{self.span}"

    @property
    def shown_text(self) -> str:
        """The lines that are shown, with a mark for each gap; the snippet, if there are none."""
        texts, expected = list[str](), self.span.start_line
        for lines in self.shown:
            # In the line before: the text itself has a mark.
            if lines.span.start_line not in (expected, expected - 1):
                texts.append(gap_mark(lines.span.start_line))
            texts.append(lines.text)
            expected = lines.span.end_line + 1
        return "\n".join(texts) if texts else self.snippet


class Notice(NamedTuple):
    """A remark about an answer in two texts, as errors have `str()` and `public_text()`."""

    text: str
    """For the user at this machine; may name folders."""
    public: str
    """For remote readers; names no folder."""

    @classmethod
    def same(cls, text: str) -> Notice:
        """Our own words, which quote nothing: every reader may see them."""
        return cls(text, text)

    def after(self, text: str) -> Notice:
        """The same remark as the reason for `text`, which quotes nothing."""
        return Notice(f"{text}: {self.text}", f"{text}: {self.public}")


class Fallback(NamedTuple):
    """A second choice is in use: another engine, or another embedder."""

    part: Literal["engine", "embedder"]
    wanted: str
    used: str
    reason: str | None
    since: str | None
    """An ISO time; None if it is not known."""
    public_reason: str | None

    @property
    def notice(self) -> Notice:
        """What the user should know, in a sentence."""
        return Notice(
            f"{self.wanted} is not used, {self.used} is: {self.reason}",
            f"{self.wanted} could not be used; {self.used} is",
        )


class Nearness(NamedTuple):
    """How near the memory is to a question, 0 to 1; see `core.ranking.nearness`."""

    value: float
    limit: float | None = None
    """With less nothing is near, and nothing is shown. None: what the minimum score lets through
    is shown, because the caller set one, or because a chunk without a vector may be nearer."""

    @property
    def is_far(self) -> bool:
        return self.limit is not None and self.value < self.limit


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first, and how they were found."""

    hits: tuple[Hit, ...]
    mode: Mode
    provider: str
    model: str
    reason: str | None = None
    """Why there are no hits."""
    notice: str | None = None
    """Why the mode is less than hybrid, or why a reranker or an engine was skipped."""
    degraded: bool = False
    """The mode is less than what was requested, or a change of the last moment is not in it."""
    public_notice: str | None = None
    """The notice for remote readers."""
    fallback: Fallback | None = None
    """The second choice that answered; None if the first one did."""
    indexed_words: bool = False
    """Notes were indexed for this answer, by their words: their vectors should follow."""
    has_index: bool = True
    """False if nothing was indexed yet when the search ran."""
    nearness: Nearness | None = None
    """None if no chunk was compared, or if the engine cannot say."""

    def with_notice(self, notice: Notice) -> Answer:
        """The same answer with one more notice."""
        return replace(
            self,
            notice=f"{self.notice}; {notice.text}" if self.notice else notice.text,
            public_notice=(
                f"{self.public_notice}; {notice.public}" if self.public_notice else notice.public
            ),
        )

    def without_index(self, why: str | None, details: str) -> Answer:
        """The same, if nobody can build the index: advice to run `notewell index` would be wrong.

        `why` may be seen by every reader, `details` only by the user at this machine."""
        reason = f"the index cannot be written: {why or 'no permission, or no room'}"
        notice = Notice(details, "`notewell status` names the folder")
        return replace(self, reason=reason).with_notice(notice)


def being_built(notes: int) -> str:
    """What a process is doing now, that has so many notes in its new index."""
    return f"a new one is being built and has {counted(notes, 'note')}"


def counted(number: int, noun: str) -> str:
    """A number with its noun in a message: `1 note`, `2 notes`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
