"""Why a note is not among the hits of a question: the steps of `hybrid.search`, for one note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.search.candidates import collect
from notewell.search.hybrid import (
    nearness,
    rank,
    search,
    threshold,
    without_copied,
    without_repeats,
)

if TYPE_CHECKING:
    from notewell.core import Candidate
    from notewell.index import IndexView
    from notewell.ports import Reranker
    from notewell.search.candidates import Candidates, SearchContext


def why_absent(
    view: IndexView, context: SearchContext, path: str, reranker: Reranker | None = None
) -> str:
    """Where the best chunk of an indexed note ranks, and what it lacks to be a hit."""
    ids = view.chunks_of(path)
    if not ids:
        return f"{path} is indexed, but has no text to find"
    # Both legs score the note's own chunks, however far behind they are.
    candidates = collect(view, context, also=ids)
    if candidates.only is not None and candidates.only.isdisjoint(ids):
        return f"{path} does not fit {context.options.filters}"
    if candidates.leaves_out(view.chunks(ids[:1])[ids[0]]):
        return f"{path} is a conversation in another folder"
    ranked = rank(view, context, candidates)
    own = [(place, pair) for place, pair in enumerate(ranked, start=1) if pair[1].path == path]
    if not own:
        return f"{path} {_why_no_candidate(candidates)}"
    shown = [hit for hit in search(view, context, reranker).hits if hit.path == path]
    if shown:
        return f"{path} is among the hits: {', '.join(hit.citation for hit in shown)}"
    place, (candidate, chunk) = own[0]
    scores = f"{path}: its best lines are {chunk.span}, {_leg_scores(candidate, candidates)}"
    facts = {chunk.id: chunk.facts for _, chunk in ranked}
    least, near = threshold(context.options, candidates), nearness(context, candidates, facts)
    if near is not None and near.is_far:
        far = f"{near.value:.2f} is below {near.limit:.2f}"
        return f"{scores}; nothing is near this question: a nearness of {far}"
    if not candidate.exact and candidate.relevance < least:
        relevance = f"a relevance of {candidate.relevance:.2f}"
        return f"{scores}; {relevance} is below the minimum {least:.2f}"
    if chunk not in (one for _, one in without_copied(ranked, least)):
        return f"{scores}; the conversation that they are copied from comes in their place"
    if chunk not in (one for _, one in without_repeats(ranked, context, candidates)):
        return f"{scores}; they repeat the question, and a later note with the same reply is shown"
    return (
        f"{scores}; with {candidate.score:.2f} they come at place {place} of {len(ranked)} "
        f"chunks, behind those that fill the {context.options.max_results} hits: ask for more "
        "hits"
    )


def _why_no_candidate(candidates: Candidates) -> str:
    if candidates.mode == "keyword":
        return (
            f"has none of the words of the question: {', '.join(candidates.query.terms) or 'none'}"
        )
    return "has none of the words of the question, and no vector to compare"


def _leg_scores(candidate: Candidate, candidates: Candidates) -> str:
    words = "none of the words" if candidate.text is None else f"words {candidate.text:.2f}"
    if candidates.mode == "keyword":
        return words
    if candidate.vector is None:
        return f"{words}, no vector yet"
    return f"{words}, meaning {candidate.vector:.2f}"
