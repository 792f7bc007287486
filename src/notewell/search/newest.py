"""A question of filters alone: the newest notes and conversations that fit."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from notewell.core import text_query
from notewell.core.ranking import Candidate
from notewell.search.candidates import Candidates
from notewell.search.filtering import note_days
from notewell.search.hits import make_hits
from notewell.search.narrowing import narrow
from notewell.types import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.index import ChunkFacts, IndexedNote, IndexView
    from notewell.search.candidates import SearchContext


def newest(view: IndexView, context: SearchContext) -> Answer:
    """The beginning of each, the newest first; those of one day by path."""
    facts, options = context.facts, context.options
    candidates = Candidates(text_query(""))
    narrow(view, options, candidates)
    first: dict[str, ChunkFacts] = {}
    for one in view.facts(candidates.only or ()).values():
        path, span = one.place
        if path not in first or span < first[path].place[1]:
            first[path] = one
    days = _days(view, first)
    paths = sorted(first)
    # Twice: the sort is stable, so those of one day stay in the order of their paths.
    paths.sort(key=lambda path: days[path], reverse=True)
    chunks = view.chunks([first[path].id for path in paths[: options.max_results]])
    ranked = [
        (Candidate(chunk_id, 1.0, None, None, exact=True), chunk)
        for chunk_id, chunk in chunks.items()
    ]
    hits = make_hits(view, ranked, candidates, context)
    reason = None if hits else f"nothing fits {options.filters}"
    answer = Answer(hits, "keyword", facts.provider, facts.model, reason)
    notice = candidates.folder_notice
    return answer.with_notice(notice) if notice else answer


def _days(view: IndexView, first: Mapping[str, ChunkFacts]) -> dict[str, date]:
    """Of each path: its day; of a note without one, the day of its last change."""
    sources = {one.source for one in first.values()}
    notes = {path: note for source in sources for path, note in view.notes(source).items()}
    days = {path: _changed(notes[path]) for path in first}
    days |= note_days(view, [path for path, one in first.items() if one.source == "memory"])
    said = [path for path, one in first.items() if one.source == "sessions"]
    for path, session in (view.sessions(said) if said else {}).items():
        days[path] = first[path].day or session.day or days[path]
    return days


def _changed(note: IndexedNote) -> date:
    # Negative: it changed right before it was indexed, and may have changed since.
    return datetime.fromtimestamp(abs(note.stat.mtime_ns) / 1e9, UTC).date()
