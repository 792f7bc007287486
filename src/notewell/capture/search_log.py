"""What agents asked, what they got and how long it took: for the user to look at, nobody else.

One JSON line a question, its secrets masked before it is written, the oldest first to go. It stays
on this machine and holds no text of a note, only where the lines were. `recallLog.enabled: false`
keeps nothing, and what was kept goes with the next question.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.files import append_json_line, read_json_lines

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NAME = "asked.jsonl"
MAX_BYTES = 2 * 1024 * 1024
"""Some 4000 questions: months of them."""
MAX_QUERY_CHARS = 500
"""To know it again; whoever pastes a file into a question does not want it kept."""
MAX_PLACES = 20


class PlaceShown(NamedTuple):
    """Lines that were part of an answer."""

    path: str
    start_line: int
    end_line: int
    score: float


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and what came of it."""

    at: datetime
    query: str
    """Masked where it held a secret, and cut where it was long."""
    tool: str
    """The way it came: a tool's name, or the service's."""
    mode: str
    took_ms: float
    places: tuple[PlaceShown, ...]


def note_asked(folder: Path, asked: Asked) -> None:
    """`asked.query` has been redacted by who calls."""
    line = {
        "at": asked.at.isoformat(),
        "query": asked.query[:MAX_QUERY_CHARS],
        "tool": asked.tool,
        "mode": asked.mode,
        "tookMs": round(asked.took_ms, 1),
        "hits": [list(place) for place in asked.places[:MAX_PLACES]],
    }
    # Not worth a wait for the disk: a power cut may take the last question along.
    append_json_line(folder / NAME, line, max_bytes=MAX_BYTES, durable=False)


def forget_asked(folder: Path) -> None:
    """Nothing is to be kept any more, so nothing of before either."""
    for name in (NAME, f"{NAME}.lock"):
        with suppress(FileNotFoundError):
            (folder / name).unlink()


def asked_before(folder: Path) -> list[Asked]:
    """From the newest to the oldest that was kept."""
    told = (_asked(line) for line in read_json_lines(folder / NAME))
    return [one for one in told if one is not None][::-1]


def paths_shown(asked: Iterable[Asked]) -> set[str]:
    return {place.path for one in asked for place in one.places}


def moment(told: str) -> datetime:
    """A time with its zone, as it was written; raises `ValueError` for anything else."""
    found = datetime.fromisoformat(told)
    if found.tzinfo is None:
        raise ValueError("it has no zone")
    return found


def _asked(line: dict[str, Any]) -> Asked | None:
    """None for a line that a later version, or somebody else, has written."""
    try:
        return Asked(
            at=moment(line["at"]),
            query=str(line["query"]),
            tool=str(line["tool"]),
            mode=str(line["mode"]),
            took_ms=float(line["tookMs"]),
            places=tuple(
                PlaceShown(str(path), int(first), int(last), float(score))
                for path, first, last, score in line["hits"]
            ),
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
