"""What QMD printed becomes files and lines.

    [{"docid": "#df12ed", "score": 0.64, "file": "qmd://notes-main/2026/a b.md", "line": 11,
      "snippet": "@@ -10,4 @@ (9 before, 80 after)\\n…"}]

The command writes names as they are, the server percent-encoded. `docid` is of the content: two
files that say the same share it, and are two hits. Scores are not comparable (0.00 for a word
that is in most files, 1/rank for several lists), so the rank alone counts.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from notewell.qmd.failures import QmdFailed
from notewell.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from notewell.qmd.collections import Collection

SCHEME = "qmd://"
_HEADER = re.compile(r"@@ -(\d{1,9}),(\d{1,9}) @@[^\n]*\n?")
_NUMBERED = re.compile(r"^\d+: ?", re.MULTILINE)

_INDEXED = re.compile(
    r"Indexed: (\d{1,9}) new, (\d{1,9}) updated, (\d{1,9}) unchanged, (\d{1,9}) removed"
)

RANK_HALF = 10
"""The rank at which about half of the score is left."""


class Found(NamedTuple):
    """A file of a collection and the lines QMD shows of it."""

    collection: Collection
    parts: tuple[str, ...]
    """The way from the collection's root to the file."""
    span: Span
    snippet: str
    title: str
    rank: int
    """From 1."""

    @property
    def score(self) -> float:
        return rank_score(self.rank)


def rank_score(rank: int) -> float:
    """1 for the first, about half for the tenth; it says where a hit stands and no more."""
    return RANK_HALF / (RANK_HALF - 1 + rank)


class Updated(NamedTuple):
    """What an update says of itself, over all collections."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0


def updated(stdout: bytes) -> Updated:
    """`Indexed: 1 new, 0 updated, 4 unchanged, 0 removed`, once a collection. It is for people, so
    a number that cannot be read counts as nothing; but who speaks of no collection is no QMD."""
    told = stdout.decode("utf-8", "replace")
    found = _INDEXED.findall(told)
    if not found and "collection" not in told.lower():
        raise QmdFailed("bad-json", "`qmd update` does not say that it has updated anything")
    return Updated(*(sum(int(row[at]) for row in found) for at in range(4)))


def from_command(stdout: bytes, collections: Iterable[Collection]) -> tuple[Found, ...]:
    rows = _parsed(stdout)
    if not isinstance(rows, list):
        raise QmdFailed("bad-json", "it printed no list of results")
    return tuple(_found(rows, collections, is_encoded=False))


def from_server(content: bytes, collections: Iterable[Collection]) -> tuple[Found, ...]:
    answer = _parsed(content)
    rows = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        raise QmdFailed("bad-json", "its server sent no list of results")
    return tuple(_found(rows, collections, is_encoded=True))


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        shown = data[:60].decode("utf-8", "replace")
        why = f"its answer is no JSON ({type(error).__name__}): it begins with {shown!r}"
        raise QmdFailed("bad-json", why) from error


def _found(
    rows: Iterable[Any], collections: Iterable[Collection], *, is_encoded: bool
) -> Iterator[Found]:
    """Each file once, the best of it; what lies in no collection of ours is left out."""
    by_name = {one.name: one for one in collections}
    seen: set[str] = set()
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("file"), str):
            raise QmdFailed("bad-json", "a result has no file")
        name, _, path = row["file"].removeprefix(SCHEME).partition("/")
        path = unquote(path, errors="surrogateescape") if is_encoded else path
        collection, parts = by_name.get(unquote(name)), tuple(path.split("/"))
        if collection is None or not collection.holds(parts) or (key := f"{name}/{path}") in seen:
            continue
        seen.add(key)
        span, snippet = _lines(row, is_numbered=is_encoded)
        yield Found(collection, parts, span, snippet, str(row.get("title") or ""), len(seen))


def _lines(row: Mapping[str, Any], *, is_numbered: bool) -> tuple[Span, str]:
    """From the header. The server also numbers the lines it shows, counting the header in: those
    numbers are wrong and are taken off."""
    text = row.get("snippet")
    snippet = text if isinstance(text, str) else ""
    if is_numbered:
        snippet = _NUMBERED.sub("", snippet)
    header = _HEADER.match(snippet)
    if header is None:
        line = row.get("line")
        first = line if isinstance(line, int) and line > 0 else 1
        return Span(first, first + snippet.rstrip("\n").count("\n")), snippet.strip("\n")
    first, count = max(1, int(header[1])), max(1, int(header[2]))
    return _trimmed(Span(first, first + count - 1), snippet[header.end() :])


def _trimmed(span: Span, snippet: str) -> tuple[Span, str]:
    """Without the blank lines around: a citation shall not begin with nothing."""
    lines = snippet.split("\n")
    first, last = span
    while len(lines) > 1 and not lines[0].strip():
        lines, first = lines[1:], first + 1
    while len(lines) > 1 and not lines[-1].strip():
        lines, last = lines[:-1], last - 1
    return Span(first, max(first, last)), "\n".join(lines)
