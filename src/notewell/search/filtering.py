"""Which chunks fit the filters of a question; see `core.filters`.

    matching("network") ──▶ notes with the word ──▶ note_facts ──▶ notes with the tag ──▶ chunks

Tags and days are in the text of the notes, which the index has. The keyword index names the few
notes that can have a tag, and only those are read. So an index needs no table for it, and a
question without filters costs nothing.

The filters are applied before the ranking: however many other notes fit a question better, none of
them takes the place of one that is wanted.

A note has the day in its name; without one, the `date` of its front matter; otherwise none, and
`after:` and `before:` leave it out. A conversation has the days on which it was held, and no tags.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from notewell.core import (
    TextQuery,
    front_matter_end,
    has_tag,
    languages_of,
    note_date,
    read_note_facts,
    word_forms,
)
from notewell.core.chunking import FRONT_MATTER_LINES
from notewell.last_values import LastValues

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import date

    from notewell.core import Filters, NoteFacts
    from notewell.index import ChunkFacts, IndexView, StoredChunk

KEPT_CHARS = 10_000_000
"""Of the facts of notes that are kept, in all memories of a process: about 20 000 notes."""
FACTS_CHARS = 400
"""What the facts of a note take besides their texts, in characters."""
NOTES_AT_ONCE = 200
"""The texts of so many notes are read together: few megabytes."""
_DATE_KEY = re.compile(r"^date[ \t]*:", re.IGNORECASE | re.MULTILINE)
_NOTES, _CONVERSATIONS = "memory", "sessions"


def fitting_chunks(
    view: IndexView, filters: Filters, sources: Collection[str], today: date
) -> tuple[frozenset[int], frozenset[int]]:
    """Those of notes, and those of conversations."""
    notes, said = list[str](), list[str]()
    if _NOTES in sources:
        indexed = view.notes(_NOTES)
        notes = [path for path in indexed if filters.fits_path(path)]
        for tag in filters.tags:
            notes = _tagged(view, {path: indexed[path].digest for path in notes}, tag)
        if filters.after or filters.before:
            first, end = filters.days(today)
            days = note_days(view, notes)
            notes = [path for path in notes if path in days and first <= days[path] < end]
    if _CONVERSATIONS in sources and not filters.tags:
        said = [path for path in view.notes(_CONVERSATIONS) if filters.fits_path(path)]
    return (
        frozenset(view.chunks_of_notes(notes)),
        frozenset(_said_then(view, said, filters, today)),
    )


def _said_then(
    view: IndexView, paths: Collection[str], filters: Filters, today: date
) -> Iterable[int]:
    """Chunks of conversations. Of one that lasts for weeks, each chunk has its own day."""
    if not (filters.after or filters.before):
        return view.chunks_of_notes(paths)
    first, end = filters.days(today)
    sessions = view.sessions(paths) if paths else {}
    # What began too late goes unread.
    begun = [path for path, one in sessions.items() if one.day is None or one.day < end]
    facts = view.facts(view.chunks_of_notes(begun))
    days = {
        one.id: one.day if one.is_timed else sessions[one.place[0]].day for one in facts.values()
    }
    return [chunk_id for chunk_id, day in days.items() if day is not None and first <= day < end]


# -- what notes say of themselves ----------------------------------------------------------------


def _tagged(view: IndexView, digests: Mapping[str, str], tag: str) -> list[str]:
    with_words = {one.place[0] for one in _chunks_with(view, tag)}
    facts = _facts_of(view, digests, [path for path in digests if path in with_words])
    return [path for path, one in facts.items() if has_tag(one.tags, tag)]


def note_days(view: IndexView, paths: Iterable[str]) -> dict[str, date]:
    """The days of these notes; those without one are left out."""
    days = {path: note_date(path) for path in paths}
    undated = {path for path, day in days.items() if day is None}
    ids = [
        one.id
        for one in (_chunks_with(view, "date") if undated else ())
        if one.place[0] in undated and one.place[1].start_line <= FRONT_MATTER_LINES
    ]
    for chunk in view.chunks(ids).values():
        if _DATE_KEY.search(chunk.text):
            days[chunk.path] = read_note_facts(front_text(view, chunk)).day
    return {path: day for path, day in days.items() if day is not None}


def front_text(view: IndexView, chunk: StoredChunk) -> str:
    """The beginning of the note of a chunk, with all its front matter."""
    if chunk.span.start_line == 1 and front_matter_end(chunk.text.split("\n")):
        return chunk.text
    return _text(view.around(chunk.path, 1, FRONT_MATTER_LINES))  # It is longer than a chunk.


def _chunks_with(view: IndexView, text: str) -> Collection[ChunkFacts]:
    """The chunks of notes that may have this text."""
    groups = word_forms(text, languages_of(view.having))
    if not groups:  # Signs alone, such as an emoji, are no words.
        return view.facts(view.chunks_of_notes(view.notes(_NOTES))).values()
    having = view.having([form for group in groups for form in group])
    # A chunk with the text has all its words: the rarest one finds it.
    count, rarest = min((sum(having.get(form, 0) for form in group), group) for group in groups)
    if not count:
        return ()
    word = TextQuery(rarest[:1], frozenset(), variants=(rarest[1:],) if rarest[1:] else ())
    matches, _ = view.matching(word, (_NOTES,), count)
    return view.facts(matches.ids).values()


_kept = LastValues["NoteFacts"](KEPT_CHARS)


def _facts_of(
    view: IndexView, digests: Mapping[str, str], paths: Sequence[str]
) -> dict[str, NoteFacts]:
    """By note. What is kept has the digest of the note as its key, so that a change is seen."""
    facts: dict[str, NoteFacts] = {}
    for start in range(0, len(paths), NOTES_AT_ONCE):
        kept = {path: _kept.peek(digests[path]) for path in paths[start : start + NOTES_AT_ONCE]}
        texts = _texts(view, [path for path, known in kept.items() if known is None])
        for path, known in kept.items():
            facts[path] = known or _keep(digests[path], read_note_facts(texts.get(path, "")))
    return facts


def _keep(digest: str, facts: NoteFacts) -> NoteFacts:
    chars = sum(map(len, (*facts.tags, *facts.aliases)))
    return _kept.get(digest, FACTS_CHARS + chars, lambda: facts)


def _texts(view: IndexView, paths: Sequence[str]) -> dict[str, str]:
    by_note: dict[str, list[StoredChunk]] = {}
    for chunk in view.chunks(view.chunks_of_notes(paths)).values():
        by_note.setdefault(chunk.path, []).append(chunk)
    return {
        path: _text(sorted(chunks, key=lambda one: (one.span, one.offset)))
        for path, chunks in by_note.items()
    }


def _text(chunks: Iterable[StoredChunk]) -> str:
    """Of a note, from its chunks in order. Pieces of one line are joined again."""
    parts = list[str]()
    for chunk in chunks:
        parts += [chunk.text] if chunk.offset else ["\n", chunk.text]
    return "".join(parts[1:])
