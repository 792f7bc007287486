"""A query becomes terms for the keyword search: stop words removed, identifiers marked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from notewell.core.words import is_identifier, stem, words
from notewell.limits import MAX_QUERY_TERMS

if TYPE_CHECKING:
    from collections.abc import Mapping

_STOP_WORDS = """
a about above after again all also am an and any anyone anything are as at be because been
before being below between both but by can could did do does doing done during each else ever
few for from further get gets getting got had has have having he her here hers herself him
himself his how i if in into is it its itself just me might more most must my myself no nor not
now of off on once one ones only or other our ours out over own please same shall she should so
some someone something such tell than that the their theirs them themselves then there these
they thing things this those through to too under until up upon us very was we were what when
where which while who whom whose why will with would you your yours yourself yet im ive id ill
youre youve theyre weve isnt arent wasnt werent dont doesnt didnt wont cant couldnt shouldnt
wouldnt hasnt havent hadnt lets thats whats wheres whos
"""
_DENSE_STOP_WORDS = """
什么 怎么 哪些 哪个 哪里 为什 我们 你们 他们 它们 这个 那个 这些 那些 是否 如何 多少 可以 以及 一个
的是 是什 了吗 的吗 何时 谁的 请问 關於 关于 这里 那里 的 了 吗 呢 吧 是 在 和 与 或 我 你 他 她 它
这 那 です ます した する の は が を に で と も か
"""

_PARTICLES = frozenset(
    "的了是在和與与或及為为之其此被把將将也又可以就都而且但因所於于有個个哪誰谁什麼么嗎吗呢吧這这那們们"
)
"""Characters that are mostly grammar: 寧王的本名是? asks for 寧王 and 本名."""


@dataclass(frozen=True, slots=True)
class TextQuery:
    """The content words of a query, each once, in order."""

    terms: tuple[str, ...]
    """A chunk with any of these matches; with more of them it has a better score."""
    identifiers: frozenset[str]
    """Terms that name one thing exactly: the threshold does not apply to a chunk with one."""
    pairs: frozenset[str] = frozenset()
    """Bigrams: adjacent characters of a script without spaces, which may or may not be words."""
    faint: frozenset[str] = frozenset()
    """The bigrams that contain a particle: they are seldom words."""


@cache
def stop_words() -> frozenset[str]:
    """In the form in which words are searched, so that `get` also covers `gets` and `getting`."""
    english = {stem(word) for word in _STOP_WORDS.split()}
    return frozenset(english) | frozenset(_DENSE_STOP_WORDS.split())


def text_query(question: str) -> TextQuery:
    """The terms of a query without stop words, unless it has nothing else."""
    # A single character of a longer run is covered by its bigrams, which are more precise.
    found = [word for word in words(question) if not word.single]
    forms = [form for word in found for form in word.forms]
    content = [form for form in forms if form not in stop_words()]
    pairs = frozenset(word.forms[0] for word in found if word.dense)
    # "To be or not to be" has stop words only; then they are the query.
    return _query(tuple(dict.fromkeys(content or forms)), pairs)


def useful_terms(query: TextQuery, having: Mapping[str, int]) -> TextQuery:
    """The terms to search for, given the number of chunks that have each.

    Many bigrams in Chinese are not words: one that no chunk has says nothing about the answer,
    while an English word that no chunk has lowers every score. Of a very long query the rarest
    terms are kept.
    """
    terms = [term for term in query.terms if having.get(term) or term not in query.pairs]
    if len(terms) > MAX_QUERY_TERMS:
        rarest = sorted(filter(having.get, terms), key=lambda term: having[term])
        kept = frozenset(rarest[:MAX_QUERY_TERMS])
        terms = [term for term in terms if term in kept]
    return _query(tuple(terms), query.pairs)


def _query(terms: tuple[str, ...], pairs: frozenset[str]) -> TextQuery:
    faint = frozenset(pair for pair in pairs if not _PARTICLES.isdisjoint(pair))
    return TextQuery(terms, frozenset(filter(is_identifier, terms)), pairs, faint)
