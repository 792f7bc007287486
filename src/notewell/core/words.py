"""What a word is: the only tokenizer, for the index, the query, the snippet and every comparison.

* The word boundaries of Unicode (UAX #29) split the text; case and accents are removed.
* Text in scripts without spaces between words (Chinese, Japanese, Thai …), and in Korean with its
  particles, becomes bigrams: 索引库 → 索引 引库. Single characters follow, so that a query of one
  character has hits too.
* An identifier is one word and its parts: `memorySearch.query` → memorysearch_query, memory,
  search, query.
* A light stemmer removes English endings; words with a digit or an underscore stay as they are.
  Words in a script of their own (Russian, Greek, Arabic …) have the stem of Snowball.
* A chunk in another language than English that is written in Latin letters (`languages`) is
  indexed by the stems of that language instead. A term of a query has a variant for each language
  that the index has.
* A French or Italian article before an apostrophe is not part of the word: l'application is
  application.

The keyword index stores these words joined by spaces, so its own tokenizer has nothing to decide.
`terms` makes the terms of a query from the same words.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, cast

from notewell.core.languages import ENGLISH, language_of, line_language, marker
from notewell.core.segmentation import casefold, strip, word_iter_with_offsets
from notewell.core.stems import stem_by_script, stem_in
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ASKED = "User: "
"""What a message of the user begins with, as `sessions.transcript` writes it."""
VERSION = 9
"""Part of the identity of an index: words of two versions do not match each other. It also counts
the versions of `embedding_text`."""

MAX_WORD_CHARS = 64  # Longer runs (base64, joined hashes) are cut; nobody types them in full.

# Han, kana, Hangul, Bopomofo, Thai, Lao, Tibetan, Myanmar, Khmer.
DENSE = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff"
    "\u3100-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NUMBERED = re.compile(r"([a-z]{2,})(\d+)")  # gpt4, but not the hash a828e60
_JOINTS = re.compile(r"[\W_]+")
_PLAIN = re.compile(r"[a-z]+")
_VOWEL = re.compile(r"[aeiouy]")
# What is elided before a vowel, in French, Italian and Catalan; not O'Brien, and not don't.
_ELIDED = (
    r"(?:[cdjlmnst]|(?:jus|lors|puis|quoi|quel)?qu|(?:d|n|s)?[aeu]ll|quest|un|sant)"
    r"['’](?=[^\W\d_]{2})"
)
_BEFORE_VOWELS = frozenset("aeiouhœæ")


class Word(NamedTuple):
    """One occurrence: its position in the text, and the forms in which it is searched."""

    start: int
    end: int
    forms: tuple[str, ...]
    """The first form is the word as a whole."""
    single: bool = False
    """One character of a longer run in a dense script: indexed, but not part of a query."""
    dense: bool = False
    """In a script without spaces between words."""


def split_words(text: str) -> Iterator[Word]:
    """The words of a text, in order; of a dense run, its bigrams and then its characters."""
    if is_sparse(text):
        yield from _sparse_words(text, 0)
        return
    for run in _runs().finditer(text):
        split = _dense_words if run["dense"] else _sparse_words
        yield from split(run.group(), run.start())


def is_sparse(text: str) -> bool:
    """Whether a text surely has no dense script: letters with accents, quotation marks and arrows
    are in most English notes."""
    return text.isascii() or re.search("[^\x00-\u024f\u2000-\u27ff]", text) is None


@cache
def _runs() -> re.Pattern[str]:
    """Compiled for the first text in another script: its large classes take milliseconds."""
    return re.compile(f"(?P<dense>[{DENSE}]+)|[^{DENSE}]+")


def index_words(text: str, language: str = ENGLISH) -> str:
    """The words of a text in a language as the keyword index stores them."""
    if language == ENGLISH:
        return " ".join(form for word in split_words(text) for form in word.forms)
    return " ".join(
        form
        for word in split_words(text)
        for form in stem_forms(text[word.start : word.end], language) or word.forms
    )


def word_forms(text: str, languages: Sequence[str] = ()) -> list[tuple[str, ...]]:
    """For each word of a text the forms of which a chunk with this text has one: the word, or its
    stem in one of these languages."""
    return [
        (word.forms[0], *_stems_in(languages, text[word.start : word.end]))
        for word in split_words(text)
        if not word.single
    ]


def _stems_in(languages: Sequence[str], word: str) -> Iterator[str]:
    for language in languages:
        yield from stem_forms(word, language)


class ChunkWords(NamedTuple):
    """The words of a chunk as the keyword index stores them."""

    body: str
    heading: str


def chunk_words(text: str, heading: str) -> ChunkWords:
    """Each line in its language, or in that of the text if a line is too short to tell, as a
    heading is. Markers in the body say which ones there are, so that `languages_of` finds them."""
    whole = language_of(text)
    lines = [(line_language(line) or whole, line) for line in text.split("\n")]
    parts = [
        index_words("\n".join(line for _, line in run), language)
        for language, run in groupby(lines, key=itemgetter(0))
    ]
    others = {language for language, _ in lines} - {ENGLISH}
    body = " ".join(filter(None, [*parts, *map(marker, sorted(others))]))
    return ChunkWords(body, index_words(heading, whole))


@lru_cache(maxsize=32_768)
def stem_forms(word: str, language: str) -> tuple[str, ...]:
    """Empty for what has no stem in a language: an identifier, a number, another script."""
    whole = _without_elision(word[:MAX_WORD_CHARS].removesuffix("'s").removesuffix("’s"))
    is_plain = len(_forms(word[:MAX_WORD_CHARS])) == 1 and whole.isalpha()
    return (stem_in(whole, language),) if is_plain and _is_latin(whole) else ()


def _is_latin(word: str) -> bool:
    """Of letters up to Latin Extended-B, and its additions for accents."""
    return all(letter < "\u0250" or "\u1e00" <= letter <= "\u1eff" for letter in word)


def _dense_words(run: str, offset: int) -> Iterator[Word]:
    for at in range(len(run) - 1):
        yield Word(offset + at, offset + at + 2, (run[at : at + 2],), dense=True)
    for at, character in enumerate(run):
        lone = len(run) == 1
        yield Word(offset + at, offset + at + 1, (character,), single=not lone, dense=True)


def _sparse_words(run: str, offset: int) -> Iterator[Word]:
    for start, end, word in cast("Iterator[tuple[int, int, str]]", word_iter_with_offsets(run)):
        forms = _forms(word[:MAX_WORD_CHARS])
        if forms:
            yield Word(offset + start, offset + end, forms)


@lru_cache(maxsize=32_768)
def _forms(word: str) -> tuple[str, ...]:
    """The whole word, then its parts if it has several."""
    if word.isascii() and word.isalpha() and (len(word) == 1 or word[1:].islower()):
        return (stem(word.lower()),)  # The fast path: nearly every word of a note.
    if not word.isascii() and (by_script := stem_by_script(word)) is not None:
        return (by_script,)
    plain = without_accents(_without_elision(word.removesuffix("'s").removesuffix("’s")))
    plain = plain.replace("'", "").replace("’", "")
    segments = [segment for segment in _JOINTS.split(plain) if segment]
    parts = [part for segment in segments for part in _parts(segment)]
    if len(parts) < 2:
        return tuple(stem(casefold(part)) for part in parts)
    # The stem of a name in mixed case, as of the same letters in one case: devops finds DevOps.
    whole = stem("_".join(casefold(segment) for segment in segments))
    return tuple(dict.fromkeys((whole, *map(stem, parts))))


def _without_elision(word: str) -> str:
    if "'" not in word and "’" not in word:
        return word
    # Not compiled at import: few words have an apostrophe (`re` caches the pattern).
    elided = re.match(_ELIDED, word, re.IGNORECASE)
    if elided is None:
        return word
    rest = word[elided.end() :]
    return rest if without_accents(rest[0]).lower() in _BEFORE_VOWELS else word


def _parts(segment: str) -> Iterator[str]:
    """`memorySearch` and `gpt4` have two parts; another mix of letters and digits is one name."""
    numbered = _NUMBERED.fullmatch(segment.lower())
    if numbered:
        yield from numbered.groups()
    elif segment.isascii() and segment.isalpha():
        yield from (part.lower() for part in _CAMEL.findall(segment))
    else:
        yield casefold(segment)


def without_accents(word: str) -> str:
    return word if word.isascii() else strip(word) or word


def is_identifier(form: str) -> bool:
    """Whether a form is a name (a828e60, err_foo) and not a word of a language."""
    digits = sum(character.isdigit() for character in form)
    return "_" in form or digits >= 5 or (digits > 0 and digits < len(form) and len(form) >= 4)


def stem(word: str) -> str:
    """Remove English endings, so that notes, noted and noting match."""
    if len(word) < 4 or not _PLAIN.fullmatch(word):
        return word
    word = _without_tense(_without_plural(word))
    if word.endswith("y") and len(word) > 3:
        return word[:-1] + "i"
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_tense(word: str) -> str:
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base == word or len(base) < 2 or base.endswith("e") or not _VOWEL.search(base):
            continue
        if base[-1] == base[-2] and base[-1] not in "lsz" and len(base) > 3:
            return base[:-1]  # running, run
        if len(base) <= 3 and _VOWEL.match(base[-2]) and not _VOWEL.match(base[-1]):
            return base + "e"  # making, make
        return base
    return word


def word_set(text: str) -> frozenset[str]:
    """The set of words of a text, to measure how similar two texts are."""
    return frozenset(word.forms[0] for word in split_words(text) if not word.single)


# -- the marker of an appended entry -------------------------------------------------------------

# A comment at the end of an entry says who appended it. It is neither embedded nor searched.
# A name has no white space and no `>`: nothing that could end the comment.
MARKER_NAME = r"[A-Za-z0-9][A-Za-z0-9._:/@+-]*"
MARKER_ID = rf"(?: #{MARKER_NAME})?"
# The lookbehind: without it, a line of spaces would be tried from every column, in O(n²).
_MARK = re.compile(rf"(?<![ \t])[ \t]*<!-- @{MARKER_NAME}{MARKER_ID} -->[ \t]*$", re.MULTILINE)


def without_markers(text: str) -> str:
    """The same lines without the markers of entries."""
    return _MARK.sub("", text) if "<!-- @" in text else text
