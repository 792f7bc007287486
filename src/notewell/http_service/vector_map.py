"""The map of one agent's chunks: computed in the background, kept beside the index, shown at once.

    asked ─▶ is there one of this generation and model? ─yes─▶ it
                        │ no, or much has changed since
                        ▼
              one thread: vectors in pieces ─▶ layout ─▶ index-7.sqlite-map

The file may be removed at any time, and goes with its generation. Chunks are known by their ids,
which a generation gives out once; so a map that is a little behind still says what is near.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from notewell.core import note_date
from notewell.errors import NotewellError
from notewell.http_service.projection import MAX_POINTS, layout

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from notewell.engines import Looking, Placed
    from notewell.index import PlacedChunk

    Numbers = NDArray[np.int64]
    Floats = NDArray[np.float32]

VERSION = 1
"""Of the file; another one is computed anew."""
SMALL = 2_000
"""So many points take a second: any change is worth a new map."""
BEHIND = 0.05
"""Above that, a map is made anew when so much of it has changed."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A finished map: one row a chunk in each array."""

    generation: str
    model: str
    ids: Numbers
    places: Floats
    note: Numbers
    """Which of `notes` a chunk is of."""
    lines: Numbers
    notes: tuple[str, ...]
    sources: tuple[str, ...]
    """Of each note."""
    days: tuple[str | None, ...]
    of: int
    """How many chunks had a vector; above `MAX_POINTS` every n-th is here."""

    def fits(self, placed: Placed) -> bool:
        return (self.generation, self.model) == (placed.generation, placed.model)


class Atlas:
    """The map of one memory, and the thread that draws it. Safe from several threads."""

    def __init__(self, looking: Looking) -> None:
        self._looking = looking
        self._lock = threading.Lock()
        self._sheet: Sheet | None = None
        self._mark: tuple[str, int, int] | None = None
        """Of the index when the sheet was found to be good enough."""
        self._thread: threading.Thread | None = None

    def sheet(self) -> Sheet | None:
        """The map as far as it is known; None while the first is drawn.

        An older one is shown while the next is drawn. Raises `IndexTrouble`.
        """
        mark = self._looking.mark()
        with self._lock:
            if mark is not None and mark == self._mark:
                return self._sheet
            placed = self._looking.placed()
            if placed is None or not placed.chunks:
                return empty_sheet(placed)
            if self._sheet is None or not self._sheet.fits(placed):
                self._sheet = self._kept(placed)
            if self._sheet is None or is_behind(self._sheet, [one.id for one in placed.chunks]):
                self._draw(placed)
            else:
                self._mark = mark
            return self._sheet

    def wait(self, timeout_s: float) -> None:
        """Until nothing is being drawn."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def _kept(self, placed: Placed) -> Sheet | None:
        file = self._file(placed.generation)
        sheet = read_sheet(file) if file else None
        return sheet if sheet is not None and sheet.fits(placed) else None

    def _file(self, generation: str) -> Path | None:
        return self._looking.indexer.store.derived_file(generation)

    def _draw(self, placed: Placed) -> None:
        if self._thread is not None and self._thread.is_alive():
            return
        self._thread = threading.Thread(
            target=self._drawn, args=(placed,), name="notewell-map", daemon=True
        )
        self._thread.start()

    def _drawn(self, placed: Placed) -> None:
        try:
            sheet = draw(self._looking, placed)
            if file := self._file(placed.generation):
                write_sheet(file, sheet)
        except (NotewellError, OSError) as error:
            _log.warning("the map could not be drawn: %s", error)
            return
        except Exception:  # noqa: BLE001
            # The root of a thread: without a map everything else goes on.
            _log.exception("the map could not be drawn")
            return
        with self._lock:
            self._sheet = sheet


def is_behind(sheet: Sheet, ids: Sequence[int]) -> bool:
    """Whether so much has changed since a map was drawn that it is worth a new one."""
    import numpy as np

    if sheet.of > MAX_POINTS:
        return abs(sheet.of - len(ids)) > BEHIND * sheet.of
    changed = len(np.setxor1d(sheet.ids, np.array(ids, np.int64)))
    return changed > (BEHIND * sheet.of if sheet.of > SMALL else 0)


def empty_sheet(placed: Placed | None) -> Sheet:
    import numpy as np

    none, nowhere = np.empty(0, np.int64), np.empty((0, 2), np.float32)
    generation, model = (placed.generation, placed.model) if placed else ("", "")
    return Sheet(generation, model, none, nowhere, none, none, (), (), (), 0)


def draw(looking: Looking, placed: Placed) -> Sheet:
    """Read the vectors and lay them out. Raises `IndexTrouble`."""
    import numpy as np

    taken = sampled(placed.chunks)
    by_id = {one.id: one for one in taken}
    found: dict[int, Floats] = {}
    for ids, rows in looking.vectors(sorted(by_id)):
        found.update(zip(ids, rows, strict=True))
    # By place, not by id: an index that is built anew gives the same picture.
    chunks = [one for one in taken if one.id in found]
    if not chunks:
        return empty_sheet(placed)
    vectors = np.stack([found[one.id] for one in chunks])
    found.clear()
    notes = list(dict.fromkeys(one.path for one in chunks))
    number = {path: at for at, path in enumerate(notes)}
    source = {one.path: one.source for one in chunks}
    talks = looking.days(path for path in notes if source[path] == "sessions")
    days = [talks.get(path) or note_date(path) for path in notes]
    return Sheet(
        generation=placed.generation,
        model=placed.model,
        ids=np.array([one.id for one in chunks], np.int64),
        places=layout(vectors),
        note=np.array([number[one.path] for one in chunks], np.int64),
        lines=np.array([one.start_line for one in chunks], np.int64),
        notes=tuple(notes),
        sources=tuple(source[path] for path in notes),
        days=tuple(day.isoformat() if day else None for day in days),
        of=len(placed.chunks),
    )


def sampled(chunks: Sequence[PlacedChunk], most: int = MAX_POINTS) -> list[PlacedChunk]:
    """All of them, or evenly every n-th."""
    if len(chunks) <= most:
        return list(chunks)
    return [chunks[at * len(chunks) // most] for at in range(most)]


# -- the file ------------------------------------------------------------------------------------


def write_sheet(file: Path, sheet: Sheet) -> None:
    """Whole or not at all, and for its owner alone: it names every note."""
    import numpy as np

    told = {
        "version": VERSION,
        "generation": sheet.generation,
        "model": sheet.model,
        "notes": sheet.notes,
        "sources": sheet.sources,
        "days": sheet.days,
        "of": sheet.of,
    }
    beside = file.with_name(f"{file.name}.tmp")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        np.savez(
            opened,
            told=np.frombuffer(json.dumps(told).encode(), np.uint8),
            ids=sheet.ids,
            places=sheet.places,
            note=sheet.note,
            lines=sheet.lines,
        )
    beside.replace(file)


def read_sheet(file: Path) -> Sheet | None:
    """None where there is none that can be used: then it is drawn anew."""
    import zipfile

    import numpy as np

    try:
        # Opened here: what numpy opens itself stays open where the file is torn.
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as held:
            told: dict[str, Any] = json.loads(bytes(held["told"]))
            sheet = Sheet(
                generation=told["generation"],
                model=told["model"],
                ids=held["ids"],
                places=held["places"],
                note=held["note"],
                lines=held["lines"],
                notes=tuple(told["notes"]),
                sources=tuple(told["sources"]),
                days=tuple(told["days"]),
                of=told["of"],
            )
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None
    return sheet if told.get("version") == VERSION and _is_sound(sheet) else None


def _is_sound(sheet: Sheet) -> bool:
    """What stands in a file of ours may be torn, or somebody else's."""
    import numpy as np

    count = len(sheet.ids)
    arrays = (sheet.places, sheet.note, sheet.lines)
    if any(len(one) != count for one in arrays) or sheet.places.shape != (count, 2):
        return False
    if len({len(sheet.notes), len(sheet.sources), len(sheet.days)}) != 1:
        return False
    inside = count == 0 or (sheet.note.min() >= 0 and sheet.note.max() < len(sheet.notes))
    return bool(inside and np.isfinite(sheet.places).all())
