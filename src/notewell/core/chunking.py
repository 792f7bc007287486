"""A note's text becomes chunks: consecutive lines, none lost, none too long.

A Markdown parser says where headings, paragraphs, list entries and fences begin and end.
Those units are packed in order into chunks:

    unit    unit   unit │ unit        unit │ unit
    # Title para   list │ para        fence│ # Next
    └──── chunk 1 ──────┘└─── chunk 2 ─────┘└─ chunk 3
                     └overlap┘

* A heading starts a new chunk unless the current one is still small, so an edit in one section
  does not change the chunks of the others, nor their vectors.
* A unit that does not fit goes to the next chunk as a whole. Only a unit that is larger than a
  chunk is split, at lines; only a line that is larger than a chunk is cut, between graphemes.
* Headings alone above a line that is cut are no chunk: the pieces have them, and a title without
  its text answers nothing.
* Overlap repeats the last lines of the previous chunk, never across a heading. Without room there
  is no overlap: no chunk is ever heavier than the limit.
* In a conversation, a message of the user and what follows it up to the next one are a unit, an
  exchange. It begins a chunk if the current one is two thirds full and has no room for it. The
  question is not repeated in the chunks of a long answer: they would come before what the user
  said (see docs/ranking.md).
"""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import accumulate, pairwise, zip_longest
from typing import TYPE_CHECKING

from notewell.core.cutting import LinePart, pieces, token_weight
from notewell.core.words import ASKED, without_markers
from notewell.limits import CHARS_PER_TOKEN, CHUNK_OVERLAP_TOKENS, CHUNK_TOKENS
from notewell.records import dataclass
from notewell.types import Chunk, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

HEADING_SEPARATOR = " › "
HEADING_CHARS = 200  # A heading is a title; a longer one is a paragraph after a `#`.
FRONT_MATTER_LINES = 200  # Front matter that is not closed by then is not front matter.
PARSED_CHARS = 1_000_000
"""A longer note is split at lines: for two megabytes of list the parser takes a gigabyte."""
SMALL = 4  # A chunk below a quarter of the limit is small: a heading does not close it.
FILLED = 2 / 3
"""A chunk of a conversation that is less full takes the first messages of the next exchange: in
small chunks, what was said is found less well (see docs/ranking.md)."""
MIN_CHUNK_WEIGHT = 32
"""8 tokens, whatever the settings say: smaller chunks would be single words."""


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """How long a chunk may be, and how much of it the next one repeats, in estimated tokens."""

    tokens: int = CHUNK_TOKENS
    overlap: int = CHUNK_OVERLAP_TOKENS

    @property
    def max_weight(self) -> int:
        return max(MIN_CHUNK_WEIGHT, self.tokens * CHARS_PER_TOKEN)

    @property
    def overlap_weight(self) -> int:
        # With more than half a chunk of overlap, most of the index would be repetition.
        return max(0, min(self.overlap * CHARS_PER_TOKEN, self.max_weight // 2))


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines `start` up to, not including, `end`, counted from 0, that belong together."""

    start: int
    end: int
    heading: str = ""
    """`## Title` if this unit is a heading."""
    level: int = 0


def chunk(text: str, limits: ChunkLimits, *, is_spoken: bool = False) -> list[Chunk]:
    """Split a clean text into chunks, in order; one that `is_spoken` has a line per message, and
    no Markdown."""
    lines = text.split("\n")
    units = _exchanges(lines) if is_spoken else find_units(lines)
    paths = _heading_paths(units, len(lines))
    chunks: dict[tuple[Span, str], Chunk] = {}
    packed = _pack(lines, units, limits, is_spoken=is_spoken)
    for (start, end, piece), following in zip_longest(packed, packed[1:]):
        if piece is None and following and _heads(lines[start:end], following, paths):
            continue
        body = piece.text if piece else "\n".join(lines[start:end])
        new = _make_chunk(Span(start + 1, end), body, paths[start], piece)
        # Equal pieces of one long line are one chunk: they would be the same hit.
        chunks.setdefault((new.span, new.text), new)
    return list(chunks.values())


def _heads(lines: Sequence[str], following: _Range, paths: Sequence[str]) -> bool:
    """Whether lines are nothing but the headings of the first piece of a line, which follows."""
    start, _, piece = following
    headings = HEADING_SEPARATOR.join(" ".join(line.split()) for line in lines if line.strip())
    return piece is not None and paths[start].endswith(headings)


def embedding_text(heading: str, text: str) -> str:
    """The text for the embedder: with its headings, since the lines often omit their subject.

    Whoever changes this text changes `core.words.VERSION`, too: vectors of two texts must not be
    mixed in one index.
    """
    text = without_markers(text)
    above = headings_above(heading, text)
    return f"{above}\n\n{text}" if above else text


def headings_above(heading: str, text: str) -> str:
    """The headings that the text does not have itself: a chunk often begins with the last one."""
    above, _, own = heading.rpartition(HEADING_SEPARATOR)
    first_line = text.lstrip().partition("\n")[0]
    return above if own and _title(first_line) == _title(own) else heading


def _title(line: str) -> str:
    """As `_token_units` writes it: one space between words, no `#`, not too long."""
    return " ".join(line.strip().strip("#").split())[:HEADING_CHARS]


def _make_chunk(span: Span, text: str, heading: str, piece: LinePart | None) -> Chunk:
    # The digest is that of the embedded text: while it is equal, the vector can be reused.
    embedded = embedding_text(heading, text).encode()
    digest = hashlib.sha256(embedded).hexdigest()
    return Chunk(
        span, text, heading, digest, piece is not None, offset=piece.start if piece else 0
    )


# -- units ---------------------------------------------------------------------------------------


def _line_units(lines: Sequence[str]) -> list[Unit]:
    return [Unit(number, number + 1) for number in range(len(lines))]


def _exchanges(lines: Sequence[str]) -> list[Unit]:
    """A message of the user, or several in a row, with what follows; before the first one, what
    the assistant said."""
    starts = [
        number
        for number, line in enumerate(lines)
        if not number or (line.startswith(ASKED) and not lines[number - 1].startswith(ASKED))
    ]
    return [Unit(*bounds) for bounds in pairwise([*starts, len(lines)])]


def find_units(lines: Sequence[str]) -> list[Unit]:
    """The units of a note, in order, covering every line once."""
    chars = sum(map(len, lines)) + len(lines)
    if chars > PARSED_CHARS or _table_cells(lines) > chars:
        return _line_units(lines)
    front = front_matter_end(lines)
    body = "\n".join([""] * front + list(lines[front:]))
    # For the parser a lone carriage return is a line break; its line numbers must be ours.
    body = body.replace("\r", " ")
    units = [Unit(0, front)] if front else []
    units += _token_units(_parser().parse(body))
    return list(_without_gaps(units, len(lines)))


_BELOW_HEADER = frozenset(" \t|-:>+*.)0123456789")


def _table_cells(lines: Sequence[str]) -> int:
    """How many cells the parser would create: it fills every row up to the width of its header.

    A written cell takes two characters. A note with more cells than characters is an attack on
    the memory: 1800 characters can create 65 000 cells, and the next 1800 as many.
    """
    cells = columns = 0
    for line in lines:
        if not line or line.isspace():
            columns = 0
        elif "|" in line and "-" in line and _BELOW_HEADER.issuperset(line):
            columns = line.count("|") + 1
        cells += columns
    return cells


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    # Only the line numbers of blocks are used; inline parsing would be wasted work.
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def front_matter_end(lines: Sequence[str]) -> int:
    """The line after the YAML block at the top, which CommonMark would parse as a heading."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for number in range(1, min(len(lines), FRONT_MATTER_LINES)):
        if lines[number].rstrip() in ("---", "..."):
            return number + 1
    return 0


# A list is split into its items; every other block at the top level is a unit.
_UNIT_LEVEL = {"bullet_list_open": -1, "ordered_list_open": -1, "list_item_open": 1}


def _token_units(tokens: Sequence[Token]) -> Iterator[Unit]:
    for position, token in enumerate(tokens):
        if token.map is None or token.nesting < 0:
            continue
        start, end = token.map
        if token.type == "heading_open" and token.level == 0:
            level = int(token.tag[1:])
            title = " ".join(tokens[position + 1].content.split())[:HEADING_CHARS]
            yield Unit(start, end, f"{'#' * level} {title}", level)
        elif token.level == _UNIT_LEVEL.get(token.type, 0):
            yield Unit(start, end)


def _without_gaps(units: Sequence[Unit], line_count: int) -> Iterator[Unit]:
    """Add lines without a token (blank lines, link definitions) to the unit before them."""
    starts = [unit.start for unit in units] + [line_count]
    if starts[0] > 0:
        yield Unit(0, starts[0])
    for unit, end in zip(units, starts[1:], strict=True):
        yield Unit(unit.start, end, unit.heading, unit.level)


def _heading_paths(units: Sequence[Unit], line_count: int) -> list[str]:
    paths = [""] * line_count
    above: list[Unit] = []
    for unit in units:
        if unit.heading:
            above = [*(heading for heading in above if heading.level < unit.level), unit]
        path = HEADING_SEPARATOR.join(heading.heading for heading in above)
        paths[unit.start : unit.end] = [path] * (unit.end - unit.start)
    return paths


# -- packing -------------------------------------------------------------------------------------

_Range = tuple[int, int, LinePart | None]
"""First line, line after the last, and the piece if it is one of a long line."""


class _Packer:
    """Fills one chunk at a time: lines `begin` to `end`; those before `fresh` are overlap."""

    def __init__(self, lines: Sequence[str], limits: ChunkLimits) -> None:
        self.lines = lines
        self.limit = limits.max_weight
        self.overlap = limits.overlap_weight
        # Prefix sums, so that the weight of any range is one subtraction. Each line has its line
        # break, but the last line of a chunk has none: `weigh` subtracts 1.
        self.before = [0, *accumulate(token_weight(line) + 1 for line in lines)]
        self.begin = self.fresh = self.end = 0
        self.done: list[_Range] = []

    def weigh(self, start: int, end: int) -> int:
        return self.before[end] - self.before[start] - 1

    def fits(self, end: int) -> bool:
        return self.weigh(self.begin, end) <= self.limit

    def has_room(self) -> bool:
        """Whether a chunk of a conversation is too small to be closed before an exchange."""
        return self.weigh(self.begin, self.end) < self.limit * FILLED

    def is_small(self) -> bool:
        return self.weigh(self.begin, self.end) * SMALL < self.limit

    def close(self, at: int, *, overlap: bool) -> None:
        """End the chunk before line `at`; the next one starts there, or earlier by its overlap."""
        self._emit(self.begin, at)
        self.fresh = at
        self.begin = at
        while overlap and self.begin > 0 and self.weigh(self.begin - 1, at) <= self.overlap:
            self.begin -= 1

    def _emit(self, begin: int, end: int) -> None:
        # Overlap and blank lines alone are no chunk: the chunk before has the same text.
        if not any(line.strip() for line in self.lines[self.fresh : end]):
            return
        while not self.lines[begin].strip():
            begin += 1
        while not self.lines[end - 1].strip():
            end -= 1
        self.done.append((begin, end, None))

    def make_room(self, end: int) -> bool:
        """Drop overlap until the lines up to `end` fit; returns whether they do."""
        while self.begin < self.fresh and not self.fits(end):
            self.begin += 1
        return self.fits(end)

    def cut_line(self, number: int) -> None:
        """Split a line that is heavier than a chunk into pieces; each is a chunk."""
        self.close(number, overlap=False)
        self.done += (
            (number, number + 1, piece) for piece in pieces(self.lines[number], self.limit)
        )
        self.begin = self.fresh = self.end = number + 1


def _pack(
    lines: Sequence[str], units: Sequence[Unit], limits: ChunkLimits, *, is_spoken: bool
) -> list[_Range]:
    packer = _Packer(lines, limits)
    headings_from = 0  # From this line on, the current chunk has headings only.
    for unit in units:
        if unit.heading and not packer.is_small():
            packer.close(unit.start, overlap=False)
            headings_from = unit.start
        if not packer.fits(unit.end) and not (is_spoken and packer.has_room()):
            # A heading goes with the text below it, not to the end of the previous chunk.
            packer.close(headings_from, overlap=headings_from == packer.end)
        fits = packer.make_room(unit.end)
        if fits:
            packer.end = unit.end
        else:
            _pour(packer, unit)
        if not (fits and unit.heading):
            headings_from = packer.end
    packer.close(len(lines), overlap=False)
    return packer.done


def _pour(packer: _Packer, unit: Unit) -> None:
    """Add a unit that is larger than a chunk, line by line."""
    for number in range(unit.start, unit.end):
        if packer.weigh(number, number + 1) > packer.limit:
            packer.cut_line(number)
            continue
        if not packer.fits(number + 1):
            packer.close(number, overlap=True)
            packer.make_room(number + 1)
        packer.end = number + 1
