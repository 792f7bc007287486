"""core."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.core.chunking import (
        HEADING_SEPARATOR,
        ChunkLimits,
        chunk,
        embedding_text,
        find_units,
    )
    from notewell.core.entry_marker import ID, NAME, without_marks
    from notewell.core.fusion import FUSIONS, Candidate, Fusion, vector_score
    from notewell.core.passages import Lines, Passage, fair, merge, widen
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
    from notewell.core.snippets import snippet
    from notewell.core.terms import TextQuery, stop_words, text_query, worth_asking
    from notewell.core.text_scores import TextMatch, TextStats
    from notewell.core.times import asked_times, note_date
    from notewell.core.token_estimate import weight
    from notewell.core.words import VERSION, index_words, is_identifier, stem, word_set
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "chunking": "ChunkLimits HEADING_SEPARATOR chunk embedding_text find_units",
            "entry_marker": "ID NAME without_marks",
            "fusion": "Candidate FUSIONS Fusion vector_score",
            "passages": "Lines Passage fair merge widen",
            "routing": (
                "BadSessionKey Binding ChatType DEFAULT_AGENT Peer SessionKey "
                "chat_type_of normal_agent_id parse_session_key"
            ),
            "secret": "MASK Secret",
            "snippets": "snippet",
            "terms": "TextQuery stop_words text_query worth_asking",
            "text_scores": "TextMatch TextStats",
            "times": "asked_times note_date",
            "token_estimate": "weight",
            "words": "VERSION index_words is_identifier stem word_set",
        },
    )
