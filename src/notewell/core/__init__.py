"""core."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.core.chunking import (
        HEADING_SEPARATOR,
        ID,
        NAME,
        ChunkLimits,
        chunk,
        embedding_text,
        find_units,
        weight,
        without_marks,
    )
    from notewell.core.passages import Lines, Passage, fair, merge, snippet, widen
    from notewell.core.ranking import FUSIONS, Candidate, Fusion, vector_score
    from notewell.core.routing import (
        DEFAULT_AGENT,
        BadSessionKey,
        Binding,
        ChatType,
        Peer,
        SessionKey,
        chat_type_of,
        normal_agent_id,
        parse_session_key,
    )
    from notewell.core.secret import MASK, Secret
    from notewell.core.terms import TextQuery, stop_words, text_query, worth_asking
    from notewell.core.text_scores import TextMatch, TextStats
    from notewell.core.times import asked_times, note_date
    from notewell.core.words import VERSION, index_words, is_identifier, stem, word_set
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "chunking": (
                "ChunkLimits HEADING_SEPARATOR ID NAME chunk embedding_text find_units weight "
                "without_marks"
            ),
            "passages": "Lines Passage fair merge snippet widen",
            "ranking": "Candidate FUSIONS Fusion vector_score",
            "routing": (
                "BadSessionKey Binding ChatType DEFAULT_AGENT Peer SessionKey "
                "chat_type_of normal_agent_id parse_session_key"
            ),
            "secret": "MASK Secret",
            "terms": "TextQuery stop_words text_query worth_asking",
            "text_scores": "TextMatch TextStats",
            "times": "asked_times note_date",
            "words": "VERSION index_words is_identifier stem word_set",
        },
    )
