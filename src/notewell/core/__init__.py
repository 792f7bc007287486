"""Pure functions: text and numbers in, decisions out. No disk, no clock, no network, no threads.

segmentation.py   Unicode word and grapheme boundaries
languages.py      which language a text in Latin letters is in
stems.py          the stems of words in other languages than English
words.py          what a word is, for the index, the query and the snippet; the markers of
                  entries, which are no words
form_places.py    where a text has these words
terms.py          the terms of a query
text_scores.py    how well the words of a chunk match a query (BM25)
ranking.py        unit vectors; both scores become one; threshold, time, diversity
vector_weights.py how much the vectors count against the words
nearness.py       whether anything is near a query
passages.py       ranked chunks become hits: merged, widened, with a snippet
packing.py        the best lines of the hits, within a budget
calibration.py    the scale of a model's cosines, measured from an index
chunking.py       a note becomes chunks
cutting.py        where a long line is cut; the token estimate
long_lines.py     the pieces of a line that is longer than a chunk, joined again
windows.py        parts of a chunk that get a vector of their own
window_codes.py   these vectors in a quarter of their bytes
front_matter.py   the keys and values at the beginning of a note
note_facts.py     its tags, its other names, its day, its links
filters.py        what narrows a search: tags, parts of paths, days
times/            which days a query means, and the day of a note
routing.py        which agent answers, and what a session key says
scope.py          which conversations may see a memory
secret.py         a text that does not show itself in logs
short_hash.py     the sha256 of a short text, without OpenSSL
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.core.calibration import (
        LEAST_CHUNKS,
        MEASURED_CHUNKS,
        PROBES,
        excerpt,
        scale_of,
    )
    from notewell.core.chunking import (
        HEADING_SEPARATOR,
        ChunkLimits,
        chunk,
        embedding_text,
        find_units,
        front_matter_end,
    )
    from notewell.core.cutting import LinePart, token_weight
    from notewell.core.filters import (
        MAX_FILTER_CHARS,
        MAX_FILTERS,
        Filters,
        both,
        split_question,
    )
    from notewell.core.front_matter import FrontMatter, read_front_matter
    from notewell.core.languages import ENGLISH, language_of
    from notewell.core.long_lines import Extent
    from notewell.core.note_facts import (
        NoteFacts,
        has_tag,
        linked_path,
        note_links,
        read_note_facts,
    )
    from notewell.core.packing import (
        LineScores,
        choose_lines,
        pack_hits,
        score_lines,
        speaking,
    )
    from notewell.core.passages import (
        ChunkLines,
        FoundChunk,
        Passage,
        add_answers,
        apply_quotas,
        merge_passages,
        numbered_lines,
        snippet,
        widen_passages,
    )
    from notewell.core.ranking import FUSIONS, Candidate, Fusion, unit_rows, vector_score
    from notewell.core.routing import (
        DEFAULT_AGENT,
        BadSessionKey,
        Binding,
        ChatType,
        Peer,
        Route,
        SessionKey,
        UnknownAgent,
        agent_id,
        chat_type_of,
        normal_agent_id,
        parse_session_key,
        resolve_agent,
        resolve_session,
    )
    from notewell.core.scope import (
        ConversationScope,
        ScopeRule,
        is_curated,
        is_private,
        is_private_path,
        is_transcript,
        scope_from,
        why_denied,
    )
    from notewell.core.secret import SECRET_MASK, Secret
    from notewell.core.short_hash import short_sha256
    from notewell.core.terms import (
        TextQuery,
        as_spelled,
        languages_of,
        stop_words,
        text_query,
        useful_terms,
    )
    from notewell.core.text_scores import (
        TermCounts,
        TextMatch,
        TextMatches,
        TextStats,
        least_gap,
    )
    from notewell.core.times import find_times, note_date
    from notewell.core.vector_weights import TextKind, kind_of
    from notewell.core.window_codes import (
        WindowCosines,
        WindowTable,
        has_windows,
        pack_windows,
        window_cosines,
    )
    from notewell.core.windows import find_windows, split_text, window_places
    from notewell.core.words import (
        MARKER_ID,
        MARKER_NAME,
        VERSION,
        ChunkWords,
        chunk_words,
        index_words,
        is_identifier,
        split_words,
        stem,
        without_markers,
        word_forms,
        word_set,
    )
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "calibration": "LEAST_CHUNKS MEASURED_CHUNKS PROBES excerpt scale_of",
            "chunking": (
                "ChunkLimits HEADING_SEPARATOR chunk embedding_text find_units front_matter_end"
            ),
            "cutting": "LinePart token_weight",
            "filters": "Filters MAX_FILTERS MAX_FILTER_CHARS both split_question",
            "front_matter": "FrontMatter read_front_matter",
            "languages": "ENGLISH language_of",
            "long_lines": "Extent",
            "note_facts": "NoteFacts has_tag linked_path note_links read_note_facts",
            "packing": "LineScores choose_lines pack_hits score_lines speaking",
            "passages": (
                "ChunkLines FoundChunk Passage add_answers apply_quotas merge_passages "
                "numbered_lines snippet widen_passages"
            ),
            "ranking": "Candidate FUSIONS Fusion unit_rows vector_score",
            "routing": (
                "BadSessionKey Binding ChatType DEFAULT_AGENT Peer Route SessionKey UnknownAgent "
                "agent_id chat_type_of normal_agent_id parse_session_key resolve_agent "
                "resolve_session"
            ),
            "scope": (
                "ConversationScope ScopeRule is_curated is_private is_private_path is_transcript "
                "scope_from why_denied"
            ),
            "secret": "SECRET_MASK Secret",
            "short_hash": "short_sha256",
            "terms": "TextQuery as_spelled languages_of stop_words text_query useful_terms",
            "text_scores": "TermCounts TextMatch TextMatches TextStats least_gap",
            "times": "find_times note_date",
            "vector_weights": "TextKind kind_of",
            "window_codes": "WindowCosines WindowTable has_windows pack_windows window_cosines",
            "windows": "find_windows split_text window_places",
            "words": (
                "ChunkWords MARKER_ID MARKER_NAME VERSION word_forms chunk_words index_words "
                "is_identifier split_words stem without_markers word_set"
            ),
        },
    )
