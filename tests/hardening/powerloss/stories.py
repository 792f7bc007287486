"""The stories: something is prepared, something is done and told to be done, and then, from
whatever a power cut left, a judgement: what was told must be there, and nothing may be half.

    prepare   before the log begins; what it writes is safe
    act       in the watched process; `told` says what has been reported as done
    see       on one image: what is there, and what comes of it when work goes on
    judge     whether that may be, given what was told before the cut; None when it may
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tests.hardening.powerloss.workplace import (
    NOTHING,
    StopsAfter,
    edit_notes,
    leftovers,
    look,
    memory,
    note_text,
    write_notes,
)

from notewell.errors import NotewellError
from notewell.index.sqlite.cache import SqliteVectorCache
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from notewell.ports import Vectors

Told = Callable[[str], None]


class Story(Protocol):
    """`see` may return anything that is told apart by `==`; it is asked once an image."""

    @property
    def name(self) -> str: ...

    def prepare(self, root: Path) -> None: ...

    def act(self, root: Path, told: Told) -> None: ...

    def learn(self, root: Path, reset: Callable[[], None]) -> None:
        """What is right, without any power cut; `reset` brings back what was prepared."""

    def see(self, root: Path) -> object: ...

    def judge(self, seen: object, acknowledged: list[str]) -> str | None: ...


@dataclass(frozen=True, slots=True)
class IndexSeen:
    first: str
    """What the index answered before anything was mended; or the error."""
    after: str
    """And after one sync."""
    set_aside: str | None
    """Why the sync had to build a new index though one was there."""
    left: tuple[str, ...]


class IndexStory:
    """A sync goes through states; each answer is one of them, none before the last told."""

    name = ""

    def __init__(self) -> None:
        self._states: list[str] = []
        self._told_at: dict[str, int] = {}
        self._notes: dict[str, bytes] = {}

    def see(self, root: Path) -> IndexSeen:
        notes = {path.name: path.read_bytes() for path in (root / "ws" / "memory").iterdir()}
        try:
            first = look(root)
            with memory(root) as opened:
                report = opened.sync()
            trouble = str(report.trouble) if report.trouble else None
            rebuilt = str(report.rebuilt) if report.rebuilt and first != NOTHING else None
            after = look(root) if notes == self._notes else "the notes have changed"
            return IndexSeen(first, after, trouble or rebuilt, tuple(leftovers(root)))
        except NotewellError as error:
            return IndexSeen(f"{type(error).__name__}: {error}", "", None, ())

    def judge(self, seen: object, acknowledged: list[str]) -> str | None:
        assert isinstance(seen, IndexSeen)
        if seen.first not in self._states:
            return f"neither old nor new: {seen.first}"
        least = max((self._told_at[what] for what in acknowledged), default=0)
        if self._states.index(seen.first) < least:
            return f"{acknowledged[-1]!r} was told, and the index answers {seen.first}"
        if seen.after != self._states[-1]:
            return f"after a sync it answers {seen.after}, not {self._states[-1]}"
        if seen.set_aside or seen.left:
            return f"the sync had to mend: {seen.set_aside}, {seen.left}"
        return None

    def _learned(self, root: Path, states: list[str], told_at: dict[str, int]) -> None:
        assert len(set(states)) == len(states), f"states that look alike tell nothing: {states}"
        self._states, self._told_at = states, told_at
        self._notes = {path.name: path.read_bytes() for path in (root / "ws" / "memory").iterdir()}


class FirstIndex(IndexStory):
    name = "first index"

    def prepare(self, root: Path) -> None:
        write_notes(root)

    def act(self, root: Path, told: Told) -> None:
        with memory(root) as opened:
            opened.sync()
        told("synced")

    def learn(self, root: Path, reset: Callable[[], None]) -> None:
        states, waiting, texts = [NOTHING], 1, 0
        while waiting:
            reset()
            with memory(root, StopsAfter(texts)) as opened:
                waiting = opened.sync().vectors_waiting
            states.append(look(root))
            texts += 8  # What the embedder takes at once.
        self._learned(root, states, {"synced": len(states) - 1})


class IncrementalSync(IndexStory):
    name = "incremental sync"

    def prepare(self, root: Path) -> None:
        write_notes(root)
        with memory(root) as opened:
            opened.sync()
        edit_notes(root)

    def act(self, root: Path, told: Told) -> None:
        with memory(root) as opened:
            opened.sync()
        told("synced")

    def learn(self, root: Path, reset: Callable[[], None]) -> None:
        """Notes are written, then forgotten, then get their vectors."""
        reset()
        states = [look(root)]
        umbrella = root / "ws" / "memory" / "umbrella.md"
        umbrella.write_text(note_text("umbrella"), encoding="utf-8")
        with memory(root) as opened:
            opened.sync(vectors=False)
            states.append(look(root))
            umbrella.unlink()
            opened.sync(vectors=False)
            states.append(look(root))
            opened.sync()
            states.append(look(root))
        self._learned(root, states, {"synced": 3})


class ForcedRebuild(IndexStory):
    name = "forced rebuild"

    def prepare(self, root: Path) -> None:
        write_notes(root)
        with memory(root) as opened:
            opened.sync()
        edit_notes(root)

    def act(self, root: Path, told: Told) -> None:
        with memory(root) as opened:
            opened.sync(force=True, vectors=False)
            told("rebuilt")
            opened.sync()
            told("synced")

    def learn(self, root: Path, reset: Callable[[], None]) -> None:
        reset()
        states = [look(root)]
        with memory(root) as opened:
            opened.sync(force=True, vectors=False)
            states.append(look(root))
            opened.sync()
            states.append(look(root))
        self._learned(root, states, {"rebuilt": 1, "synced": 2})


@dataclass(frozen=True, slots=True)
class CacheSeen:
    first: tuple[int, ...]
    """How many vectors of each batch are there, and right."""
    after: tuple[int, ...]
    """When all were put once more."""


class CacheWrite:
    name = "cache write"
    BATCHES, VECTORS = 5, 12

    def prepare(self, root: Path) -> None:
        (root / "state").mkdir()

    def act(self, root: Path, told: Told) -> None:
        cache = self._open(root)
        for number in range(self.BATCHES):
            cache.put(self._batch(number))
            told(f"batch {number}")
        cache.close()

    def learn(self, root: Path, reset: Callable[[], None]) -> None:
        pass

    def see(self, root: Path) -> CacheSeen:
        cache = self._open(root)
        first = self._right(cache)
        for number in range(self.BATCHES):
            cache.put(self._batch(number))
        after = self._right(cache)
        cache.close()
        return CacheSeen(first, after)

    def judge(self, seen: object, acknowledged: list[str]) -> str | None:
        assert isinstance(seen, CacheSeen)
        if not {0, self.VECTORS}.issuperset(seen.first):
            return f"a batch is there in part: {seen.first}"
        if 0 in seen.first[: len(acknowledged)]:
            return f"{len(acknowledged)} batches were told, there are {seen.first}"
        return (
            None if set(seen.after) == {self.VECTORS} else f"it does not take them: {seen.after}"
        )

    def _open(self, root: Path) -> SqliteVectorCache:
        return SqliteVectorCache(
            root / "state" / "cache.sqlite", HashEmbedder().facts, now_s=lambda: 1.0
        )

    def _batch(self, number: int) -> dict[str, Vectors]:
        texts = [f"{number} {one} words" for one in range(self.VECTORS)]
        return dict(zip(texts, HashEmbedder().embed(texts, "document"), strict=True))

    def _right(self, cache: SqliteVectorCache) -> tuple[int, ...]:
        counts = []
        for number in range(self.BATCHES):
            wanted = self._batch(number)
            found = cache.get(list(wanted))
            assert all((found[key] == wanted[key]).all() for key in found), "a wrong vector"
            counts.append(len(found))
        return tuple(counts)
