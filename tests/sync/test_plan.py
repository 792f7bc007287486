"""The plan decides from stats alone what a sync must look at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.index import Identity, IndexedNote, MustRebuild, UpToDate
from notewell.sync.plan import SETTLED_NS, behind, compare, plan_sync, settled_stat
from notewell.types import FoundNote, Ignored, NoteStat, Scan

NOW = 1_800_000_000_000_000_000


def stat(number: int) -> NoteStat:
    return NoteStat(number, NOW - number, NOW - number, number)


def scan(*unreadable: str, **notes: int) -> Scan:
    found = {path: FoundNote(path, stat(number)) for path, number in notes.items()}
    return Scan(found, unreadable=tuple(Ignored(path, "no permission") for path in unreadable))


def indexed(**notes: int) -> dict[str, IndexedNote]:
    return {path: IndexedNote(stat(number), f"digest {number}") for path, number in notes.items()}


NOTES = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 3))


@given(NOTES, NOTES)
def test_a_plan_reads_what_differs_and_forgets_what_is_gone(
    disk: dict[str, int], known: dict[str, int]
) -> None:
    todo = plan_sync(scan(**disk), indexed(**known))
    assert set(todo.read) == {path for path in disk if known.get(path) != disk[path]}
    assert set(todo.forget) == known.keys() - disk.keys()
    assert todo.unchanged + len(todo.read) == len(disk)


@given(NOTES)
def test_nothing_is_planned_when_nothing_changed(disk: dict[str, int]) -> None:
    assert plan_sync(scan(**disk), indexed(**disk)).is_empty


@pytest.mark.parametrize("folder", ["memory", "memory/deep", "memory/deep/a.md", "."])
def test_a_folder_that_could_not_be_listed_does_not_look_deleted(folder: str) -> None:
    known = {"memory/deep/a.md": IndexedNote(stat(1), "digest")}
    assert plan_sync(Scan({}, unreadable=(Ignored(folder, "no permission"),)), known).is_empty


def test_a_folder_beside_the_unreadable_one_is_forgotten() -> None:
    known = {"memory-old/a.md": IndexedNote(stat(1), "digest")}
    unreadable = (Ignored("memory", "no permission"),)
    assert plan_sync(Scan({}, unreadable=unreadable), known).forget == ("memory-old/a.md",)


def test_a_note_touched_within_the_clocks_tick_is_read_again() -> None:
    fresh = NoteStat(10, NOW - 5, NOW - 5, 1)
    old = NoteStat(10, NOW - SETTLED_NS - 1, NOW - SETTLED_NS - 1, 1)
    assert settled_stat(old, NOW) == old
    assert settled_stat(fresh, NOW) != fresh
    disk = Scan({"a": FoundNote("a", fresh)})
    known = {"a": IndexedNote(settled_stat(fresh, NOW), "digest")}
    assert plan_sync(disk, known).read == ("a",)
    assert behind(disk, known) == 0


@pytest.mark.parametrize(("age_ns", "is_settled"), [(SETTLED_NS, False), (SETTLED_NS + 1, True)])
@pytest.mark.parametrize("field", ["mtime_ns", "ctime_ns"])
def test_a_stat_is_settled_only_after_the_longest_tick(
    field: str, age_ns: int, is_settled: bool
) -> None:
    old = NOW - SETTLED_NS * 10
    changed = NoteStat(10, old, old, 1)._replace(**{field: NOW - age_ns})
    assert (settled_stat(changed, NOW) == changed) is is_settled


def test_behind_counts_what_a_sync_would_do() -> None:
    assert behind(scan(a=1, b=2), indexed(b=3, c=1)) == 3


def test_an_index_is_rebuilt_when_it_was_made_with_something_else() -> None:
    made = Identity("embedded", "small", 384, 400, 80, ("memory",), 1, "segments")
    wanted = Identity("embedded", "large", 384, 400, 80, ("memory",), 1, "segments")
    assert compare(made, made, force=False) == UpToDate()
    assert compare(made, made, force=True) == MustRebuild("requested")
    assert compare(made, wanted, force=False) == MustRebuild(
        "identity", "model changed from 'small' to 'large'"
    )
