"""Asking the index: hybrid search over words and vectors."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.search.absence import why_absent
    from notewell.search.hits import make_hits
    from notewell.search.hybrid import check_question, in_order, search
    from notewell.search.legs import Asked, meaning_of
    from notewell.search.settings import SearchOptions, SearchSettings
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "absence": "why_absent",
            "hits": "make_hits",
            "hybrid": "check_question in_order search",
            "legs": "Asked meaning_of",
            "settings": "SearchOptions SearchSettings",
        },
    )
