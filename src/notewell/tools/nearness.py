"""Whether a hit is near enough to be put before a prompt that did not ask for it.

A search always returns its best hits. That is right for a question, and wrong for "fix the failing
test": most prompts have nothing to do with the notes, and a passage about something else costs
tokens and distracts. So a passage is recalled only if

    text score · coverage >= NEAR

where the text score is that of the search (BM25 by its maximum: rare words count most) and the
coverage is the share of the prompt's content words that the passage has (all words count the
same). Either of them alone is fooled: the score by one rare word, the coverage by common ones.
Content words are those that `ordinary_words.py` does not list; a prompt without any gets nothing,
and one word is enough (`SQLite`). An identifier of the prompt (a828e60) in the passage is enough,
too.

Measured with `bench/recall.py`: prompts that have nothing to do with the notes and get a passage
(the worst memory of each kind), and LoCoMo's questions that see their evidence in 1200 characters:

    NEAR                                          0.2     0.21    0.22
    200 unrelated prompts, notes of chats         1.5 %   1.5 %   1.0 %
    200 unrelated prompts, 578 to 788 manuals     9.0 %   6.0 %   6.0 %
    LoCoMo's 997 questions, with evidence         59.1 %  58.6 %  57.2 %

Since a quotation is made of the best lines (`core.packing`), 68.2 % at 0.21 see it.
Short unrelated prompts in five languages that were kept aside: 0 to 4 % (without the lists 7 to
16 %, and 37 to 73 % in larger memories); names from the notes: 92 to 100 %. How rare a word is in
this memory does not replace the lists: a limit that lowers the noise of a language without a list
from 23 % to 13 % silences one in seven of LoCoMo's questions, because in a few notes every word
is rare.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.core import split_words, text_query
from notewell.tools.ordinary_words import ordinary_terms

if TYPE_CHECKING:
    from notewell.types import Hit

NEAR = 0.21


def nearness_of(prompt: str, hit: Hit) -> float:
    """0 to 1: how much of the prompt the hit is about."""
    query, words = text_query(prompt), _forms(f"{hit.path} {hit.heading} {hit.snippet}")
    if query.identifiers & words:
        return 1.0
    # Bigrams with a particle are seldom words.
    terms = _content_terms(prompt) - query.faint
    if not terms:
        return 0.0
    # QMD gives one score only.
    score = hit.score if hit.parts.text is None else hit.parts.text
    return score * len(terms & words) / len(terms)


def is_near(prompt: str, hit: Hit) -> bool:
    return nearness_of(prompt, hit) >= NEAR


def _forms(text: str) -> frozenset[str]:
    """With the parts of names: a prompt about the ledger is about `ledger.db`."""
    return frozenset(form for word in split_words(text) for form in word.forms)


def _content_terms(prompt: str) -> frozenset[str]:
    """Each word as a whole: `SQLite` is one, its parts say nothing of their own."""
    words = frozenset(word.forms[0] for word in split_words(prompt) if not word.single)
    return words - ordinary_terms(prompt)
