"""Stems of words in the languages of Snowball: книгами and книга are one word for a search.

A script that one language dominates decides by itself: a word in the letters of Russian is stemmed
as Russian. So a word has the same stem in a note and in a question, whatever its language really
is, and always matches itself. A word with a letter of another language of the script (Ukrainian і,
Persian پ) is left as it is.

Latin letters do not name their language: `stem_in` is given it. Its stems have the language in
front (fr·appliqu), so that they meet no word of another language.

This is the only module that imports Stemmer (PyStemmer), and only for the first word that needs
it. A release with other stems needs a new number in `core.words.VERSION`; tests/core/test_stems.py
fails then.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from notewell.core.languages import marker
from notewell.core.segmentation import casefold, strip
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class _Script(NamedTuple):
    first: str
    last: str
    """The letters of the language, and the signs that its words are not written without."""
    language: str


_SCRIPTS = (
    _Script("\u0370", "\u03ff", "greek"),
    _Script("\u0430", "\u0451", "russian"),
    _Script("\u0621", "\u064a", "arabic"),
    _Script("\u0900", "\u0963", "hindi"),
)
_SPOKEN_SIGNS = frozenset({"hindi"})
"""Without its signs for vowels, a word of these languages is another word."""

# The accents of Latin, Greek and Cyrillic letters; the signs for Arabic vowels, and its tatweel.
# Not compiled at import: for words in other scripts alone (`re` caches the pattern).
_MARKS = r"[\u0300-\u036f\u064b-\u0652\u0670\u0640]+"


def stem_by_script(word: str) -> str | None:
    """The stem of a word that is not ASCII; None if its letters do not decide its language."""
    letters = _letters(word)
    for first, last, language in _SCRIPTS:
        if first <= letters[:1] <= last:
            is_pure = first <= min(letters) and max(letters) <= last
            return _without_marks(snowball(language)(letters), language) if is_pure else None
    return None


_SNOWBALL_NAMES = {
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "sv": "swedish",
    "tr": "turkish",
}
"""By the codes of `languages.LANGUAGES`."""


def stem_in(word: str, language: str) -> str:
    """The stem of a word in Latin letters, with its accents; the stem has none."""
    stem = snowball(_SNOWBALL_NAMES[language])(_letters(word))
    return f"{marker(language)}{stem if stem.isascii() else strip(stem) or stem}"


def _letters(word: str) -> str:
    """In lower case, й as one character (file names on macOS have two), and without stress marks,
    which dictionaries and poems have."""
    from unicodedata import normalize  # Imported late: most notes are ASCII.

    return re.sub(_MARKS, "", normalize("NFC", casefold(word)))


def _without_marks(stem: str, language: str) -> str:
    return stem if language in _SPOKEN_SIGNS else strip(stem) or stem


class _Snowball(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the name is Snowball's


@cache
def snowball(language: str) -> Callable[[str], str]:
    """The stemmer of a language. Threads may share it: it holds the GIL during a call."""
    import Stemmer

    # Without its own cache: `words` has one for all forms of a word.
    stemmer = cast("_Snowball", Stemmer.Stemmer(language, 0))
    return stemmer.stemWord
