"""Asking the index: hybrid search over words and vectors."""

from notewell.search.hybrid import check_question, search
from notewell.search.legs import meaning_of
from notewell.search.settings import SearchSettings

__all__ = ["SearchSettings", "check_question", "meaning_of", "search"]
