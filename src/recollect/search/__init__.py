"""Asking the index: hybrid search over words and vectors."""

from recollect.search.hybrid import Answer, check_question, search
from recollect.search.legs import Mode, meaning_of
from recollect.search.settings import SearchSettings

__all__ = ["Answer", "Mode", "SearchSettings", "check_question", "meaning_of", "search"]
