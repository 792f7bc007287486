"""Why is this note not among the hits? Every way to be missed, told in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.search.hybrid import in_order, search, threshold
from notewell.search.legs import ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.core import Candidate
    from notewell.index import IndexView
    from notewell.ports import ModelFacts, Reranker
    from notewell.search.legs import Asked, Meaning
    from notewell.search.rerank import Found
    from notewell.search.settings import SearchOptions


def why_absent(
    view: IndexView,
    question: str,
    path: str,
    meaning: Meaning,
    facts: ModelFacts,
    settings: SearchOptions,
    reranker: Reranker | None = None,
) -> str:
    """Of a note that is in the index, where its best chunk stands and what it lacks."""
    ids = view.chunks_of(path)
    if not ids:
        return f"{path} is indexed, but has no text to find"
    asked = ask(view, question, meaning, facts, settings, also=ids)
    ordered = in_order(view, question, facts, settings, asked)
    own = [(place, one) for place, one in enumerate(ordered, start=1) if one[1].path == path]
    if not own:
        return f"{path} {_never_seen(asked)}"
    answer = search(view, question, meaning, facts, settings, reranker)
    shown = [hit for hit in answer.hits if hit.path == path]
    if shown:
        return f"{path} is among the hits: {', '.join(hit.citation for hit in shown)}"
    place, (candidate, chunk) = own[0]
    told = f"{path}: its best lines are {chunk.span}, {_judged(candidate, asked)}"
    least = threshold(settings, asked)
    if not candidate.exact and candidate.relevance < least:
        return (
            f"{told}; a relevance of {candidate.relevance:.2f} is below the {least:.2f} asked for"
        )
    return f"{told}; {_outdone(ordered, place, settings)}"


def _never_seen(asked: Asked) -> str:
    if asked.mode == "keyword":
        return f"has none of the words asked for: {', '.join(asked.query.terms) or 'none'}"
    return "has none of the words asked for, and no vector to compare"


def _judged(candidate: Candidate, asked: Asked) -> str:
    words = "none of the words" if candidate.text is None else f"words {candidate.text:.2f}"
    if asked.mode == "keyword":
        return words
    if candidate.vector is None:
        return f"{words}, no vector yet"
    return f"{words}, meaning {candidate.vector:.2f}"


def _outdone(ordered: Sequence[Found], place: int, settings: SearchOptions) -> str:
    candidate = ordered[place - 1][0]
    return (
        f"with {candidate.score:.2f} they come at place {place} of {len(ordered)} chunks, behind "
        f"those that fill the {settings.max_results} hits: ask for more with --max-results"
    )
