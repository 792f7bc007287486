"""Asking the index: hybrid search over words and vectors."""

from recollect.search.hybrid import check_question, search
from recollect.search.legs import meaning_of
from recollect.search.settings import SearchSettings

__all__ = ["SearchSettings", "check_question", "meaning_of", "search"]
