"""A question becomes what QMD is asked: arguments for a command, or a body for its server.

QMD joins the words of a question by AND and matches whole files, so that the question of a
person mostly finds nothing. Asked for several lists at once it ranks them together, which is an OR
that needs no model:

    when do we ship the router?   ->   lex: ship router
                                       lex: ship
                                       lex: router

Only letters, digits and `_` are sent: a quote that is not closed is an error to QMD, and a hyphen
before a word takes its files away.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.core import is_identifier, stop_words
from notewell.core.words import words
from notewell.qmd.home import INDEX

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notewell.qmd.settings import SearchMode

MAX_LINES = 10
"""QMD takes about ten lists at once; each costs it a search in every collection."""
MAX_WORDS = 24
"""Of the line that asks for all words together."""
MAX_CHARS = 2000
"""Of a question that a model shall read; its window is hardly larger."""

_WORD = re.compile(r"\w+")
_TYPED = re.compile(r"^(lex|vec|hyde|expand|intent):", re.IGNORECASE)
_NEGATION = re.compile(r"(?:^|(?<=\s))-+(?=\S)")


class Asked(NamedTuple):
    """A question in QMD's terms."""

    mode: SearchMode
    lex: tuple[str, ...]
    """Words to look for: all together, then one by one."""
    text: str
    """The question in one line, for those modes that read it."""

    @property
    def is_empty(self) -> bool:
        return not (self.lex if self.mode == "search" else self.text)


def asked(question: str, mode: SearchMode) -> Asked:
    return Asked(mode, tuple(_lists(question)), _one_line(question))


def _lists(question: str) -> Iterator[str]:
    found = _content_words(question)
    if len(found) > 1:
        yield " ".join(found[:MAX_WORDS])
    # The telling ones, if there are too many: names somebody made up, then the longest.
    telling = sorted(found, key=lambda word: (not is_identifier(word.lower()), -len(word)))
    kept = frozenset(telling[: MAX_LINES - 1])
    yield from (word for word in found if word in kept)


def _content_words(question: str) -> list[str]:
    """As they are written, for QMD has its own way to trim endings; each once, in order."""
    spoken = [word for word in words(question) if not word.single]
    content = [word for word in spoken if word.forms[0] not in stop_words()] or spoken
    pieces = (
        piece for word in content for piece in _WORD.findall(question[word.start : word.end])
    )
    return list({piece.casefold(): piece for piece in pieces if piece.strip("_")}.values())


def _one_line(question: str) -> str:
    """What begins like a line of a query document is one to QMD, and `-word` an error."""
    line = " ".join(question.encode("utf-8", "replace").decode().replace("\0", " ").split())
    line = _NEGATION.sub("", _TYPED.sub(r"\1 ", line)).strip()
    return line[:MAX_CHARS]


def arguments(
    question: Asked, collections: Sequence[str], limit: int, rerank: bool | None
) -> list[str]:
    """For the command line. Flags come first and `--` before the question: it may look like a
    flag, and `--help` would be answered with help and exit code 0."""
    command, text, flags = _command(question, limit, rerank)
    filters = [part for name in collections for part in ("-c", name)]
    return ["--index", INDEX, command, "--json", "-n", str(limit), *filters, *flags, "--", text]


def _command(question: Asked, limit: int, rerank: bool | None) -> tuple[str, str, list[str]]:
    if question.mode == "search":
        if len(question.lex) == 1:
            return "search", question.lex[0], []
        # Each candidate is cut into chunks: without a rerank more than are shown are a waste.
        flags = ["--no-rerank", "-C", str(limit)]
        return "query", "\n".join(f"lex: {one}" for one in question.lex), flags
    without = ["--no-rerank"] if question.mode == "query" and rerank is False else []
    return question.mode, question.text, without


def body(
    question: Asked, collections: Sequence[str], limit: int, rerank: bool | None
) -> dict[str, Any]:
    """For the server, which expands nothing: `query` is words and meaning, reranked."""
    lex = [{"type": "lex", "query": one} for one in question.lex]
    vec = [{"type": "vec", "query": question.text}]
    searches = {"search": lex, "vsearch": vec, "query": vec + lex}[question.mode]
    reranks = question.mode == "query" and rerank is not False
    return {
        "searches": searches[:MAX_LINES],
        "collections": list(collections),
        "limit": limit,
        "rerank": reranks,
    } | ({} if reranks else {"candidateLimit": limit})
