"""Other names of notes: an alias finds its note, and a link lends its text to its target.

    "name server" ──▶ chunks with both words ─┬─ one has `aliases: [name server]`
                                              │     its note comes first
                                              └─ one has `[[DNS|name server]]`
                                                    the beginning of DNS.md gets its text score

Only a question that is such a name, apart from stop words, is changed by it. The names are in
chunks that the words have found, so nothing else is read.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from notewell.core import linked_path, note_links, read_note_facts, text_query
from notewell.search.filtering import front_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from notewell.index import IndexView, StoredChunk
    from notewell.search.candidates import Candidates

MAX_NAMED = 3
"""Notes that one question can name."""
LENT = 0.5
"""The text score that a link lends from a note that does not fit the filters, and so has none."""


def add_named(
    view: IndexView, question: str, chunks: Sequence[StoredChunk], candidates: Candidates
) -> None:
    """Add the beginnings of the notes that the question names; `chunks` have all its words."""
    # In an order that does not depend on how the index was built.
    notes = sorted(
        (one for one in chunks if one.source == "memory"), key=lambda one: one.facts.order
    )
    is_name = _name_test(question)
    for path in dict.fromkeys(islice(_by_alias(view, notes, is_name), MAX_NAMED)):
        if chunk_id := _beginning(view, path, candidates):
            candidates.texts[chunk_id] = 1.0
            candidates.exact.add(chunk_id)
            candidates.named.add(chunk_id)
    for path, score in islice(_by_link(view, notes, is_name, candidates), MAX_NAMED):
        if chunk_id := _beginning(view, path, candidates):
            candidates.texts[chunk_id] = max(score, candidates.texts.get(chunk_id, 0.0))
            candidates.exact.add(chunk_id)


def _beginning(view: IndexView, path: str, candidates: Candidates) -> int | None:
    """The first chunk of a note, if it may be found."""
    ids = view.chunks_of(path)[:1]
    return ids[0] if ids and candidates.may_find(ids[0]) else None


def _name_test(question: str) -> Callable[[str], bool]:
    folded, terms = " ".join(question.casefold().split()), text_query(question).terms

    def is_name(text: str) -> bool:
        # The first test is quick: few names are a part of the question.
        return " ".join(text.casefold().split()) in folded and text_query(text).terms == terms

    return is_name


def _by_alias(
    view: IndexView, notes: Iterable[StoredChunk], is_name: Callable[[str], bool]
) -> Iterator[str]:
    for chunk in notes:
        if "\nalias" in chunk.text and chunk.span.start_line == 1:
            aliases = read_note_facts(front_text(view, chunk)).aliases
            yield from (chunk.path for alias in aliases if is_name(alias))


def _by_link(
    view: IndexView,
    notes: Iterable[StoredChunk],
    is_name: Callable[[str], bool],
    candidates: Candidates,
) -> Iterator[tuple[str, float]]:
    """The target, and the text score of the chunk with the link."""
    for chunk in notes:
        for link in note_links(chunk.text):
            if is_name(link.text):
                path = linked_path(link.target, chunk.path, view.notes("memory"))
                if path is not None:
                    yield path, candidates.texts.get(chunk.id, LENT)
