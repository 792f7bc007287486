"""The terms of a query: its words without stop words, and what counts as each of them.

A term is a word in the form in which English chunks have it. If the index has chunks in other
languages, a term also has their stems as variants, and a chunk with a variant has the term.
"""

from __future__ import annotations

from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING

from notewell.core.form_places import KEPT_TOKEN_CHARS, KEPT_TOKENS, tokens_of
from notewell.core.languages import LANGUAGES, marker
from notewell.core.words import is_identifier, is_sparse, split_words, stem, stem_forms
from notewell.limits import MAX_QUERY_TERMS
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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

_MARKERS = tuple(marker(language) for language in LANGUAGES)


class _QueryFields(NamedTuple):
    terms: tuple[str, ...]
    """A chunk with any of these matches; with more of them it has a better score."""
    identifiers: frozenset[str]
    """Terms that name one thing exactly: the threshold does not apply to a chunk with one."""
    pairs: frozenset[str] = frozenset()
    """Bigrams: adjacent characters of a script without spaces, which may or may not be words."""
    faint: frozenset[str] = frozenset()
    """The bigrams that contain a particle: they are seldom words."""
    variants: tuple[tuple[str, ...], ...] = ()
    """For each term its stems in the languages of the index, which count as the term itself; or
    nothing at all, if the index has no such language."""


class TextQuery(_QueryFields):
    """The content words of a query, each once, in order. (A class without slots, so that there is
    room for what a search asks for several times.)"""

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Each term with its variants."""
        if not self.variants:
            return tuple([(term,) for term in self.terms])
        return tuple([(term, *self.variants[number]) for number, term in enumerate(self.terms)])

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """All terms and variants."""
        return tuple([form for group in self.groups for form in group])


@cache
def stop_words() -> frozenset[str]:
    """In the form in which words are searched, so that `get` also covers `gets` and `getting`."""
    english = {stem(word) for word in _STOP_WORDS.split()}
    return frozenset(english) | frozenset(_DENSE_STOP_WORDS.split())


@lru_cache(maxsize=64)
def text_query(question: str, languages: tuple[str, ...] = ()) -> TextQuery:
    """The terms of a query without stop words, unless it has nothing else. `languages` are those
    of the index, besides English."""
    # A single character of a longer run is covered by its bigrams, which are more precise.
    found = [word for word in split_words(question) if not word.single]
    forms = [form for word in found for form in word.forms]
    content = [form for form in forms if form not in stop_words()]
    pairs = frozenset(word.forms[0] for word in found if word.dense)
    # "To be or not to be" has stop words only; then they are the query.
    terms = tuple(dict.fromkeys(content or forms))
    spellings = {word.forms[0]: question[word.start : word.end] for word in reversed(found)}
    return _query(terms, pairs, _variants(terms, spellings, languages))


def languages_of(having: Callable[[Sequence[str]], Mapping[str, int]]) -> tuple[str, ...]:
    """The languages besides English that an index has, given how many chunks have each word."""
    found = having(_MARKERS)
    if not found:
        return ()
    return tuple(one for one, word in zip(LANGUAGES, _MARKERS, strict=True) if word in found)


def _variants(
    terms: Sequence[str], spellings: Mapping[str, str], languages: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """The stems of each term, each stem once: two forms of a word must not count twice."""
    variants, seen = dict[str, tuple[str, ...]](), set[str]()
    for term in terms if languages else ():
        spelling = spellings.get(term, term)
        stems = [form for one in languages for form in stem_forms(spelling, one)]
        variants[term] = tuple(form for form in stems if form not in seen)
        seen.update(stems)
    return variants


def useful_terms(query: TextQuery, having: Mapping[str, int]) -> TextQuery:
    """The terms to search for, given the number of chunks that have each form.

    Many bigrams in Chinese are not words: one that no chunk has says nothing about the answer,
    while an English word that no chunk has lowers every score. Of a very long query the rarest
    terms are kept.
    """
    if not query.pairs and not query.variants and len(query.terms) <= MAX_QUERY_TERMS:
        return query
    counts = {group[0]: sum(having.get(form, 0) for form in group) for group in query.groups}
    terms = [term for term in query.terms if counts[term] or term not in query.pairs]
    if len(terms) > MAX_QUERY_TERMS:
        rarest = sorted(filter(counts.get, terms), key=lambda term: counts[term])
        kept = frozenset(rarest[:MAX_QUERY_TERMS])
        terms = [term for term in terms if term in kept]
    if not query.variants and len(terms) == len(query.terms):
        return query
    variants = {term: tuple(filter(having.get, others)) for term, *others in query.groups}
    return _query(tuple(terms), query.pairs, variants)


def _query(
    terms: tuple[str, ...], pairs: frozenset[str], variants: Mapping[str, tuple[str, ...]]
) -> TextQuery:
    faint = frozenset(pair for pair in pairs if not _PARTICLES.isdisjoint(pair))
    others = tuple(variants[term] for term in terms) if any(variants.values()) else ()
    return TextQuery(terms, frozenset(filter(is_identifier, terms)), pairs, faint, others)


def as_spelled(weights: Mapping[str, float], query: TextQuery, text: str) -> Mapping[str, float]:
    """The weights of terms, also for the forms of them that a text has: of `libros` for `libro`,
    if Spanish is a language of the query."""
    if not query.variants:
        return weights
    terms = {form: term for term, *others in query.groups for form in others}
    languages = tuple(sorted({form.partition("·")[0] for form in terms}))
    spelled = dict(weights)
    # Of a text that may have runs without blanks, all of it is one token.
    for token in dict.fromkeys(tokens_of(text)) if is_sparse(text) else (text,):
        stemmed = _kept_stems if len(token) <= KEPT_TOKEN_CHARS else _stems
        for form, stems in stemmed(token, languages):
            for stem_form in stems:
                if stem_form in terms and form not in spelled:
                    spelled[form] = weights.get(terms[stem_form], 0.0)
    return spelled


def _stems(token: str, languages: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The first form of each word, and its stems in these languages."""
    return tuple(
        (
            word.forms[0],
            tuple(
                form
                for language in languages
                for form in stem_forms(token[word.start : word.end], language)
            ),
        )
        for word in split_words(token)
    )


_kept_stems = lru_cache(maxsize=KEPT_TOKENS)(_stems)
