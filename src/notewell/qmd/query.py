"""A question in QMD's terms (arguments for a command, a body for its server), and its answers.

QMD joins the words of a question by AND and matches whole files, so a full sentence mostly finds
nothing. If it gets several lists at once it fuses their rankings, which is an OR that needs no
model:

    when do we ship the router?   ->   lex: ship router
                                       lex: ship
                                       lex: router

Only letters, digits and `_` are sent: QMD rejects an unclosed quote, and a hyphen before a word
excludes the files that contain it.

An answer:

    [{"docid": "#df12ed", "score": 0.64, "file": "qmd://notes-main/2026/a b.md", "line": 11,
      "snippet": "@@ -10,4 @@ (9 before, 80 after)\\n…"}]

The command writes file names as they are, the server percent-encodes them. `docid` is a hash of
the content: two files with the same text share it and are two results. QMD's scores are not
comparable (0.00 for a word that is in most files, 1/rank for several lists), so we use the rank.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from notewell.core import is_identifier, split_words, stop_words
from notewell.qmd.failures import QmdFailed
from notewell.qmd.home import INDEX
from notewell.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from notewell.qmd.collections import Collection
    from notewell.qmd.settings import SearchMode

MAX_LINES = 10
"""QMD accepts about ten lists at once; each one is a search in every collection."""
MAX_WORDS = 24
"""In the line that asks for all words together."""
MAX_CHARS = 2000
"""Of a question that a model reads; its context window is hardly larger."""
RANK_HALF = 10
"""The rank at which about half of the score is left."""

SCHEME = "qmd://"

_WORD = re.compile(r"\w+")
# Prefixes of QMD's own query language: a question must stay a question.
_TYPED = re.compile(r"^(lex|vec|hyde|expand|intent):", re.IGNORECASE)
_NEGATION = re.compile(r"(?:^|(?<=\s))-+(?=\S)")
_HEADER = re.compile(r"@@ -(\d{1,9}),(\d{1,9}) @@[^\n]*\n?")
_NUMBERED = re.compile(r"^\d+: ?", re.MULTILINE)
_INDEXED = re.compile(
    r"Indexed: (\d{1,9}) new, (\d{1,9}) updated, (\d{1,9}) unchanged, (\d{1,9}) removed"
)


# -- the question --------------------------------------------------------------------------------


class QmdQuery(NamedTuple):
    """A question in QMD's terms."""

    mode: SearchMode
    lex: tuple[str, ...]
    """Words to look for: all together, then one by one."""
    text: str
    """The question in one line, for the modes that embed it."""

    @property
    def is_empty(self) -> bool:
        return not (self.lex if self.mode == "search" else self.text)


def qmd_query(question: str, mode: SearchMode) -> QmdQuery:
    return QmdQuery(mode, tuple(_lists(question)), _one_line(question))


def _lists(question: str) -> Iterator[str]:
    content = _content_words(question)
    if len(content) > 1:
        yield " ".join(content[:MAX_WORDS])
    # If there are too many, the most specific ones: identifiers first, then the longest words.
    specific = sorted(content, key=lambda word: (not is_identifier(word.lower()), -len(word)))
    kept = frozenset(specific[: MAX_LINES - 1])
    yield from (word for word in content if word in kept)


def _content_words(question: str) -> list[str]:
    """As they are written, because QMD stems words itself; each once, in order."""
    spoken = [word for word in split_words(question) if not word.single]
    # A question of stop words alone ("who is he?") keeps them: better than an empty query.
    content = [word for word in spoken if word.forms[0] not in stop_words()] or spoken
    pieces = (
        piece for word in content for piece in _WORD.findall(question[word.start : word.end])
    )
    return list({piece.casefold(): piece for piece in pieces if piece.strip("_")}.values())


def _one_line(question: str) -> str:
    """QMD parses a line that begins with `lex:` as a query document, and rejects `-word`."""
    # A NUL or half a surrogate pair cannot be an argument of a process.
    line = " ".join(question.encode("utf-8", "replace").decode().replace("\0", " ").split())
    line = _NEGATION.sub("", _TYPED.sub(r"\1 ", line)).strip()
    return line[:MAX_CHARS]


def arguments(
    query: QmdQuery, collections: Sequence[str], limit: int, rerank: bool | None
) -> list[str]:
    """For the command line. Flags come first and `--` before the question: it may look like a
    flag, and QMD would answer `--help` with its help and exit code 0."""
    command, text, flags = _command(query, limit, rerank)
    filters = [part for name in collections for part in ("-c", name)]
    return ["--index", INDEX, command, "--json", "-n", str(limit), *filters, *flags, "--", text]


def _command(query: QmdQuery, limit: int, rerank: bool | None) -> tuple[str, str, list[str]]:
    if query.mode == "search":
        if len(query.lex) == 1:
            return "search", query.lex[0], []
        # QMD chunks every candidate: without a reranker, more candidates than hits are a waste.
        flags = ["--no-rerank", "-C", str(limit)]
        return "query", "\n".join(f"lex: {line}" for line in query.lex), flags
    no_rerank = ["--no-rerank"] if query.mode == "query" and rerank is False else []
    return query.mode, query.text, no_rerank


def body(
    query: QmdQuery, collections: Sequence[str], limit: int, rerank: bool | None
) -> dict[str, Any]:
    """For the server. It does no query expansion: mode `query` is lexical and vector search,
    reranked."""
    lex = [{"type": "lex", "query": line} for line in query.lex]
    vec = [{"type": "vec", "query": query.text}]
    searches = {"search": lex, "vsearch": vec, "query": vec + lex}[query.mode]
    reranks = query.mode == "query" and rerank is not False
    return {
        "searches": searches[:MAX_LINES],
        "collections": list(collections),
        "limit": limit,
        "rerank": reranks,
    } | ({} if reranks else {"candidateLimit": limit})


# -- the answer ----------------------------------------------------------------------------------


class QmdResult(NamedTuple):
    """A file of a collection and the lines QMD shows of it."""

    collection: Collection
    parts: tuple[str, ...]
    """The path of the file below the collection's root."""
    span: Span
    snippet: str
    title: str
    rank: int
    """From 1."""

    @property
    def score(self) -> float:
        return rank_score(self.rank)


def rank_score(rank: int) -> float:
    """1 for the first, about half for the tenth: it expresses the position and nothing else."""
    return RANK_HALF / (RANK_HALF - 1 + rank)


class UpdateCounts(NamedTuple):
    """What an update reports, summed over all collections."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0


def update_counts(stdout: bytes) -> UpdateCounts:
    """From `Indexed: 1 new, 0 updated, 4 unchanged, 0 removed`, one line a collection.

    The output is for people, so an unreadable line counts as zero. But a program that does not
    mention collections at all is not QMD.
    """
    output = stdout.decode("utf-8", "replace")
    rows = _INDEXED.findall(output)
    if not rows and "collection" not in output.lower():
        raise QmdFailed("bad-json", "`qmd update` does not say that it has updated anything")
    return UpdateCounts(*(sum(int(row[at]) for row in rows) for at in range(4)))


def from_command(stdout: bytes, collections: Iterable[Collection]) -> tuple[QmdResult, ...]:
    rows = _parse_json(stdout)
    if not isinstance(rows, list):
        raise QmdFailed("bad-json", "it printed no list of results")
    return tuple(_results(rows, collections, is_encoded=False))


def from_server(content: bytes, collections: Iterable[Collection]) -> tuple[QmdResult, ...]:
    answer = _parse_json(content)
    rows = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        raise QmdFailed("bad-json", "its server sent no list of results")
    return tuple(_results(rows, collections, is_encoded=True))


def _parse_json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        start = data[:60].decode("utf-8", "replace")
        why = f"its answer is no JSON ({type(error).__name__}): it begins with {start!r}"
        raise QmdFailed("bad-json", why) from error


def _results(
    rows: Iterable[Any], collections: Iterable[Collection], *, is_encoded: bool
) -> Iterator[QmdResult]:
    """Each file once, with its best rank; files outside our collections are skipped."""
    by_name = {collection.name: collection for collection in collections}
    seen: set[str] = set()
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("file"), str):
            raise QmdFailed("bad-json", "a result has no file")
        name, _, path = row["file"].removeprefix(SCHEME).partition("/")
        # surrogateescape: a name that is not UTF-8 must lead back to the same bytes on disk.
        path = unquote(path, errors="surrogateescape") if is_encoded else path
        collection, parts = by_name.get(unquote(name)), tuple(path.split("/"))
        # QMD's answer is input like any other: a path outside our collections is never opened.
        if collection is None or not collection.holds(parts) or (key := f"{name}/{path}") in seen:
            continue
        seen.add(key)
        span, snippet = _lines(row, is_numbered=is_encoded)
        yield QmdResult(collection, parts, span, snippet, str(row.get("title") or ""), len(seen))


def _lines(row: Mapping[str, Any], *, is_numbered: bool) -> tuple[Span, str]:
    """The lines of the snippet, from its header.

    The server also numbers the lines of the snippet, but it counts the header too, so these
    numbers are wrong and are removed.
    """
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
    return _trim(Span(first, first + count - 1), snippet[header.end() :])


def _trim(span: Span, snippet: str) -> tuple[Span, str]:
    """Without blank lines at both ends: a citation should not begin with an empty line."""
    lines = snippet.split("\n")
    first, last = span
    while len(lines) > 1 and not lines[0].strip():
        lines, first = lines[1:], first + 1
    while len(lines) > 1 and not lines[-1].strip():
        lines, last = lines[:-1], last - 1
    return Span(first, max(first, last)), "\n".join(lines)
