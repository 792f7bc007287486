"""The map of one agent's chunks: computed in the background and cached in a file.

    request ─▶ is there a map of this generation and model? ─yes─▶ return it
                        │ no, or too much has changed
                        ▼
              one thread: read vectors in batches ─▶ project ─▶ index-7.sqlite-map

The file may be deleted at any time, and is deleted with its generation. A generation never
reuses a chunk id, so a slightly outdated map still identifies its chunks correctly.
"""

from __future__ import annotations

import io
import json
import logging
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from notewell.errors import NotewellError
from notewell.files import replace_file
from notewell.http_service.ui.map_labels import Label, label_map, words_of
from notewell.http_service.ui.note_card import note_card
from notewell.http_service.ui.note_view import day_of
from notewell.http_service.ui.projection import MAX_POINTS, project
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from notewell.engines import IndexInspector, Placed
    from notewell.index import ListedNote, PlacedChunk

    Numbers = NDArray[np.int64]
    Floats = NDArray[np.float32]

VERSION = 4
"""Of format, titles and names. A file with another version is ignored and computed again."""
SMALL_MAP = 2_000
"""Up to this many points a map takes a second, so it is computed again after any change."""
OUTDATED_SHARE = 0.05
"""Larger maps are computed again when this share of their points has changed."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class VectorMap:
    """A finished map: each array has one row per chunk."""

    generation: str
    model: str
    ids: Numbers
    positions: Floats
    note: Numbers
    """The note of each chunk, as an index into `notes`."""
    lines: Numbers
    notes: tuple[str, ...]
    sources: tuple[str, ...]
    """Of each note."""
    titles: tuple[str, ...]
    days: tuple[str | None, ...]
    regions: Numbers
    """The named region of each chunk, for its colour."""
    labels: tuple[Label, ...]
    of: int
    """The number of chunks with a vector. Above `MAX_POINTS`, the map has a sample of them."""

    def matches(self, placed: Placed) -> bool:
        return (self.generation, self.model) == (placed.generation, placed.model)


class VectorMapCache:
    """The map of one memory, and the thread that computes it. Thread-safe."""

    def __init__(self, inspector: IndexInspector) -> None:
        self._inspector = inspector
        self._lock = threading.Lock()
        self._map: VectorMap | None = None
        self._mark: tuple[str, int, int] | None = None
        """State of the index for which `_map` was found to be current."""
        self._thread: threading.Thread | None = None

    def current(self) -> VectorMap | None:
        """The newest map; None while the first one is computed.

        While a new map is computed, the older one is returned. Raises `IndexTrouble`.
        """
        mark = self._inspector.mark()
        with self._lock:
            # The quick path: nothing has changed since the last call.
            if mark is not None and mark == self._mark:
                return self._map
            placed = self._inspector.placed()
            if placed is None or not placed.chunks:
                return empty_map(placed)
            if self._map is None or not self._map.matches(placed):
                self._map = self._load(placed)
            if self._map is None or is_outdated(self._map, [chunk.id for chunk in placed.chunks]):
                self._start(placed)
            else:
                self._mark = mark
            return self._map

    def wait(self, timeout_s: float) -> None:
        """Waits until no map is being computed."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def _load(self, placed: Placed) -> VectorMap | None:
        file = self._file(placed.generation)
        stored = read_map(file) if file else None
        return stored if stored is not None and stored.matches(placed) else None

    def _file(self, generation: str) -> Path | None:
        """None if the store has no folder of its own; then the map is kept in memory only."""
        return self._inspector.store.derived_file(generation)

    def _start(self, placed: Placed) -> None:
        # One computation at a time: it uses a whole processor for seconds.
        if self._thread is not None and self._thread.is_alive():
            return
        self._thread = threading.Thread(
            target=self._run, args=(placed,), name="notewell-map", daemon=True
        )
        self._thread.start()

    def _run(self, placed: Placed) -> None:
        try:
            vector_map = compute_map(self._inspector, placed)
            if file := self._file(placed.generation):
                write_map(file, vector_map)
        except (NotewellError, OSError) as error:
            _log.warning("cannot compute the map: %s", error)
            return
        except Exception:  # noqa: BLE001
            # The root of a thread. Everything else works without a map.
            _log.exception("cannot compute the map")
            return
        with self._lock:
            self._map = vector_map


def is_outdated(vector_map: VectorMap, ids: Sequence[int]) -> bool:
    """Whether enough has changed to compute a new map."""
    import numpy as np

    if vector_map.of > MAX_POINTS:
        # The map has only a sample of the ids, so compare the counts.
        return abs(vector_map.of - len(ids)) > OUTDATED_SHARE * vector_map.of
    changed = len(np.setxor1d(vector_map.ids, np.array(ids, np.int64)))
    return changed > (OUTDATED_SHARE * vector_map.of if vector_map.of > SMALL_MAP else 0)


def empty_map(placed: Placed | None) -> VectorMap:
    import numpy as np

    no_ids, no_positions = np.empty(0, np.int64), np.empty((0, 2), np.float32)
    generation, model = (placed.generation, placed.model) if placed else ("", "")
    return VectorMap(
        generation=generation,
        model=model,
        ids=no_ids,
        positions=no_positions,
        note=no_ids,
        lines=no_ids,
        notes=(),
        sources=(),
        titles=(),
        days=(),
        regions=no_ids,
        labels=(),
        of=0,
    )


def compute_map(inspector: IndexInspector, placed: Placed) -> VectorMap:
    """Reads the vectors and projects them. Raises `IndexTrouble`."""
    import numpy as np

    selected = sample(placed.chunks)
    by_id: dict[int, Floats] = {}
    for ids, rows in inspector.vectors(sorted(chunk.id for chunk in selected)):
        by_id.update(zip(ids, rows, strict=True))
    # In the order of paths and not of ids: a rebuilt index then gives the same picture.
    chunks = [chunk for chunk in selected if chunk.id in by_id]
    if not chunks:
        return empty_map(placed)
    vectors = np.stack([by_id[chunk.id] for chunk in chunks])
    by_id.clear()  # Half of the memory is not needed any more.
    notes = list(dict.fromkeys(chunk.path for chunk in chunks))
    note_numbers = {path: number for number, path in enumerate(notes)}
    sources = {chunk.path: chunk.source for chunk in chunks}
    positions = project(vectors)
    words, titles = _read_chunks(inspector, chunks)
    regions, labels = label_map(positions, vectors, words)
    return VectorMap(
        generation=placed.generation,
        model=placed.model,
        ids=np.array([chunk.id for chunk in chunks], np.int64),
        positions=positions,
        note=np.array([note_numbers[chunk.path] for chunk in chunks], np.int64),
        lines=np.array([chunk.start_line for chunk in chunks], np.int64),
        notes=tuple(notes),
        sources=tuple(sources[path] for path in notes),
        titles=titles,
        days=_days(inspector, notes),
        regions=regions,
        labels=labels,
        of=len(placed.chunks),
    )


def _days(inspector: IndexInspector, paths: Sequence[str]) -> tuple[str | None, ...]:
    """The day of each note: in its name, or of a conversation, or when it was last changed."""
    listed = {note.path: note for note in inspector.notes()}
    days: list[str | None] = []
    for path in paths:
        note = listed.get(path)
        days.append((day_of(note) or _changed_day(note)) if note else None)
    return tuple(days)


def _changed_day(note: ListedNote) -> str:
    # A note that changed right before it was indexed has no time there; that was today.
    at = datetime.fromtimestamp(note.mtime_ns / 1e9, UTC) if note.mtime_ns > 0 else None
    return (at or datetime.now(UTC)).date().isoformat()


def _read_chunks(
    inspector: IndexInspector, chunks: Sequence[PlacedChunk]
) -> tuple[list[Counter[str]], tuple[str, ...]]:
    """The words of each chunk that can name its region, and the title of each note."""
    words: list[Counter[str]] = []
    titles: dict[str, str] = {}
    lines: list[str] = []
    # The chunks are in the order of their paths, so each note is read once.
    for chunk in chunks:
        if chunk.path not in titles:
            text = _text(inspector, chunk.path)
            lines, titles[chunk.path] = text.split("\n"), note_card(chunk.path, text).title
        words.append(words_of("\n".join(lines[chunk.start_line - 1 : chunk.start_line + 15])))
    return words, tuple(titles.values())


def _text(inspector: IndexInspector, path: str) -> str:
    try:
        return inspector.text(path)
    except NotewellError:
        return ""  # Removed or locked since it was indexed: its points have no words.


def sample(chunks: Sequence[PlacedChunk], limit: int = MAX_POINTS) -> list[PlacedChunk]:
    """All chunks, or evenly spaced ones if there are too many."""
    if len(chunks) <= limit:
        return list(chunks)
    return [chunks[number * len(chunks) // limit] for number in range(limit)]


# -- the file ------------------------------------------------------------------------------------


def write_map(file: Path, vector_map: VectorMap) -> None:
    """Atomic, without fsync: a lost map is computed again. Mode 600: it names all notes."""
    import numpy as np

    header = {
        "version": VERSION,
        "generation": vector_map.generation,
        "model": vector_map.model,
        "notes": vector_map.notes,
        "sources": vector_map.sources,
        "titles": vector_map.titles,
        "days": vector_map.days,
        "labels": vector_map.labels,
        "of": vector_map.of,
    }
    buffer = io.BytesIO()
    np.savez(
        buffer,
        header=np.frombuffer(json.dumps(header).encode(), np.uint8),
        ids=vector_map.ids,
        positions=vector_map.positions,
        note=vector_map.note,
        lines=vector_map.lines,
        regions=vector_map.regions,
    )
    # A fixed name: the next computation then removes what a killed process left behind.
    temporary = file.with_name(f"{file.name}.tmp")
    replace_file(file, buffer.getvalue(), durable=False, temporary=temporary)


def read_map(file: Path) -> VectorMap | None:
    """None if there is no usable file; then the map is computed again."""
    import zipfile

    import numpy as np

    try:
        # Opened here: a file that numpy opens itself stays open if it is damaged.
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            header: dict[str, Any] = json.loads(bytes(arrays["header"]))
            vector_map = VectorMap(
                generation=header["generation"],
                model=header["model"],
                ids=arrays["ids"],
                positions=arrays["positions"],
                note=arrays["note"],
                lines=arrays["lines"],
                notes=tuple(header["notes"]),
                sources=tuple(header["sources"]),
                titles=tuple(header["titles"]),
                days=tuple(header["days"]),
                regions=arrays["regions"],
                labels=tuple(Label(*label) for label in header["labels"]),
                of=header["of"],
            )
    # All that numpy and zipfile raise for a damaged file.
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None
    return vector_map if header.get("version") == VERSION and _is_consistent(vector_map) else None


def _is_consistent(vector_map: VectorMap) -> bool:
    """The file may be damaged, or from another program."""
    import numpy as np

    count = len(vector_map.ids)
    arrays = (vector_map.positions, vector_map.note, vector_map.lines, vector_map.regions)
    if any(len(array) != count for array in arrays) or vector_map.positions.shape != (count, 2):
        return False
    by_note = (vector_map.notes, vector_map.sources, vector_map.titles, vector_map.days)
    if len({len(values) for values in by_note}) != 1:
        return False
    numbers = vector_map.note
    is_inside = count == 0 or (numbers.min() >= 0 and numbers.max() < len(vector_map.notes))
    return bool(is_inside and np.isfinite(vector_map.positions).all())
