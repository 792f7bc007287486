"""Hybrid search over one view of an index: full-text and vectors, fused into one order.

hybrid.py      START HERE: the steps from a question to an answer, and why a note is no hit
candidates.py  the two legs, and what a search reads about the index beforehand
hits.py        ranked chunks to passages with lines, snippet and citation
settings.py    how to search and how much to return
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.search.candidates import Candidates, SearchContext, prepare, search_words
    from notewell.search.hits import make_hits
    from notewell.search.hybrid import check_question, rank, search, why_absent
    from notewell.search.settings import SearchOptions, SearchSettings
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "candidates": "Candidates SearchContext prepare search_words",
            "hits": "make_hits",
            "hybrid": "check_question rank search why_absent",
            "settings": "SearchOptions SearchSettings",
        },
    )
