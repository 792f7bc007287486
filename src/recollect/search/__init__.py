"""Asking the index: hybrid search over words and vectors."""

from recollect.search.hybrid import Answer, search
from recollect.search.legs import Mode
from recollect.search.settings import SearchSettings

__all__ = ["Answer", "Mode", "SearchSettings", "search"]
