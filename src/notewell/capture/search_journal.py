"""What was searched and what was shown: two logs, for the user and for `notewell review`.

    asked.jsonl      each search of an agent: question, hits, time taken
    recalled.jsonl   which lines of which notes were shown on which day

They stay where the notes are and hold no text of a note, only line numbers. The caller masks
secrets in a question before it is recorded. Beyond their size limit the oldest lines go first.
`recallLog.enabled: false` records no questions, and the next search removes the recorded ones.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.capture.logs import logs_at
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date
    from pathlib import Path

    from notewell.capture.logs import Logs, LogWriter
    from notewell.types import Span

SEARCHES = "asked.jsonl"
MAX_BYTES = 2 * 1024 * 1024
"""About 4000 searches: months of them."""
MAX_QUERY_CHARS = 500
"""Enough to recognize it; a file pasted into a question is not kept."""

RECALLS = "recalled.jsonl"
MAX_RECALL_BYTES = 1024 * 1024
MAX_SHOWN = 20
"""Of one answer; an agent hardly reads further down."""
MAX_RECALLED_LINES = 200
"""Of one hit, so that a damaged record cannot fill the memory."""


class ShownLines(NamedTuple):
    """Lines that were part of an answer."""

    path: str
    start_line: int
    end_line: int
    score: float


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """One question and its result."""

    at: datetime
    query: str
    """Secrets are masked, and a long one is cut."""
    tool: str
    """How it came: the name of a tool, or the service's."""
    mode: str
    took_ms: float
    places: tuple[ShownLines, ...]
    asked_by: str | None = None
    """The id of the token that asked the service; None: a program of this machine."""


# -- searches ------------------------------------------------------------------------------------


def record_search(place: Path | LogWriter, search: SearchRecord) -> None:
    """The caller has redacted `search.query`."""
    line: dict[str, Any] = {
        "at": search.at.isoformat(),
        "query": search.query[:MAX_QUERY_CHARS],
        "tool": search.tool,
        "mode": search.mode,
        "tookMs": round(search.took_ms, 1),
        # As lists: the keys of objects would be most of the line.
        "hits": [list(place) for place in search.places[:MAX_SHOWN]],
    }
    if search.asked_by is not None:
        line["by"] = search.asked_by
    # No fsync: a search must not wait for the disk, and a power cut may take the last record.
    logs_at(place).append(SEARCHES, line, max_bytes=MAX_BYTES, durable=False)


def forget_searches(place: Path | LogWriter) -> None:
    """Remove the log: a user who switches it off does not want the old records either."""
    logs_at(place).clear(SEARCHES)


def recorded_searches(place: Path | Logs) -> list[SearchRecord]:
    """From the newest to the oldest that was kept."""
    records = (_search_record(line) for line in logs_at(place).lines(SEARCHES))
    return [record for record in records if record is not None][::-1]


def paths_shown(searches: Iterable[SearchRecord]) -> set[str]:
    return {place.path for search in searches for place in search.places}


def parse_moment(text: str) -> datetime:
    """A time with its zone, as it was written; raises `ValueError` for anything else."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("it has no zone")
    return at


def _search_record(line: dict[str, Any]) -> SearchRecord | None:
    """None for a line that a later version, or another program, has written."""
    try:
        return SearchRecord(
            at=parse_moment(line["at"]),
            query=str(line["query"]),
            tool=str(line["tool"]),
            mode=str(line["mode"]),
            took_ms=float(line["tookMs"]),
            places=tuple(
                ShownLines(str(path), int(first), int(last), float(score))
                for path, first, last, score in line["hits"]
            ),
            asked_by=str(line["by"]) if "by" in line else None,
        )
    # `int` of Infinity, which Python reads from JSON, is an OverflowError.
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


# -- recalls -------------------------------------------------------------------------------------


def record_recall(place: Path | LogWriter, places: Iterable[tuple[str, Span]], day: date) -> None:
    """These lines were shown in answer to a question of that day."""
    lines = [[path, span.start_line, span.end_line] for path, span in places][:MAX_SHOWN]
    if lines:
        # No fsync here either: a slow disk would limit how many searches a service can answer.
        line = {"day": day.isoformat(), "places": lines}
        logs_at(place).append(RECALLS, line, max_bytes=MAX_RECALL_BYTES, durable=False)


def recall_days(place: Path | Logs) -> dict[tuple[str, int], set[str]]:
    """For each line of each note, the days on which it was shown."""
    days: dict[tuple[str, int], set[str]] = {}
    for line in logs_at(place).lines(RECALLS):
        for path, first, last in _recalled_lines(line.get("places")):
            for number in range(first, min(last, first + MAX_RECALLED_LINES) + 1):
                days.setdefault((path, number), set()).add(str(line.get("day")))
    return days


def _recalled_lines(value: object) -> list[tuple[str, int, int]]:
    places = value if isinstance(value, list) else []
    triples = (place for place in places if isinstance(place, list) and len(place) == 3)
    return [
        (path, first, last)
        for path, first, last in triples
        if isinstance(path, str) and isinstance(first, int) and isinstance(last, int)
    ]
