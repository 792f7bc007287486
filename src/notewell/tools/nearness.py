"""Whether a hit is near enough to be put before a prompt that did not ask for it.

A search always returns its best hits. That is right for a question, and wrong for "fix the failing
test": most prompts have nothing to do with the notes, and a passage about something else costs
tokens and distracts. So a passage is recalled only if

    text score · coverage >= NEAR

where the text score is that of the search (BM25 by its maximum: rare words count most) and the
coverage is the share of the prompt's words that the passage has (all words count the same). Either
of them alone is fooled: the score by one rare word, the coverage by common ones. An identifier
of the prompt (a828e60) in the passage is enough.

Measured with `bench/recall.py` on 200 prompts that have nothing to do with the notes (coding
prompts, questions of other sets), and on LoCoMo's 997 questions as prompts:

    nearness of the best hit         >0     0.1    0.15   0.2    0.25   0.3
    unrelated, notes of chats        78 %   5.6 %  2.0 %  0.6 %  0.5 %  0.5 %
    unrelated, 578 to 788 manuals    92 %   31 %   12 %   4.0 %  2.3 %  1.0 %

With 0.2 (and three hits to choose from) at most 1 % and 7 % get a passage. 57 % of LoCoMo's
questions see their evidence in its 1200 characters; with no limit it would be 61 %, with 0.3 51 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.core import split_words, text_query, word_set

if TYPE_CHECKING:
    from notewell.types import Hit

NEAR = 0.2
MIN_WORDS = 3
"""A shorter prompt is an order to go on ("yes please", "go on"), not a question."""


def nearness_of(prompt: str, hit: Hit) -> float:
    """0 to 1: how much of the prompt the hit is about."""
    query, words = text_query(prompt), word_set(f"{hit.path} {hit.heading} {hit.snippet}")
    if query.identifiers & words:
        return 1.0
    # Bigrams with a particle are seldom words.
    terms = [term for term in query.terms if term not in query.faint]
    if not terms or sum(1 for _ in split_words(prompt)) < MIN_WORDS:
        return 0.0
    # QMD gives one score only.
    score = hit.score if hit.parts.text is None else hit.parts.text
    return score * sum(term in words for term in terms) / len(terms)


def is_near(prompt: str, hit: Hit) -> bool:
    return nearness_of(prompt, hit) >= NEAR
