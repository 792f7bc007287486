"""Asking the index: hybrid search over words and vectors."""

from recollect.search.hybrid import Answer, Mode, SearchSettings, search

__all__ = ["Answer", "Mode", "SearchSettings", "search"]
