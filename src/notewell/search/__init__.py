"""Hybrid search over one view of an index: full-text and vectors, fused into one order.

hybrid.py      START HERE: the steps from a question to an answer
hits.py        ranked chunks become hits
windows.py     which lines of a hit are nearest in meaning
absent.py      why a note is not among the hits
narrowing.py   what may be found: without what is private, in one folder, with a tag
filtering.py   which notes have a tag, a path, a day
names.py       aliases, and the texts of links, as names of notes
newest.py      a question of filters alone
utterances.py  who said what a hit shows, when and where
copies.py      session notes of conversations that are searched themselves
echoes.py      earlier conversations that asked the same question
candidates.py  the two legs, and what a search reads about the index beforehand
rerank.py      a second opinion on the order of the best chunks
settings.py    what can be set, and the question of a caller
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.search.absent import why_absent
    from notewell.search.candidates import (
        RUN_INDEX,
        Candidates,
        QuestionCache,
        SearchContext,
        prepare,
        search_words,
    )
    from notewell.search.hits import make_hits
    from notewell.search.hybrid import rank, search
    from notewell.search.settings import (
        Question,
        SearchOptions,
        SearchSettings,
        Weighing,
        check_question,
    )
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "absent": "why_absent",
            "candidates": "Candidates QuestionCache RUN_INDEX SearchContext prepare search_words",
            "hits": "make_hits",
            "hybrid": "rank search",
            "settings": "Question SearchOptions SearchSettings Weighing check_question",
        },
    )
