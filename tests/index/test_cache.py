"""Vectors are paid for once; a cache that went bad costs vectors, never a sync."""

from __future__ import annotations

import hashlib
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest

from notewell.errors import IndexUnreadable, StateNotWritable
from notewell.index.sqlite.cache import SqliteVectorCache, count_entries
from notewell.index.sqlite.connect import open_reader, select
from notewell.ports import ModelFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.index.conftest import Child, Room

    from notewell.ports import Vectors

SMALL = ModelFacts(provider="hash", model="small", dims=4, chunk_tokens=400)
OTHER = ModelFacts(provider="hash", model="other", dims=4, chunk_tokens=400)
WIDER = ModelFacts(provider="hash", model="small", dims=5, chunk_tokens=400)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache.sqlite"


def opened(file: Path, facts: ModelFacts = SMALL) -> closing[SqliteVectorCache]:
    return closing(SqliteVectorCache(file, facts))


def digest(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def vectors(numbers: Iterable[int], dims: int = 4) -> dict[str, Vectors]:
    return {digest(number): np.full(dims, number, np.float32) for number in numbers}


def numbers(found: Iterable[Vectors]) -> list[int]:
    return sorted(int(vector[0]) for vector in found)


def damage(file: Path, at: int) -> None:
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)


# -- round trip ----------------------------------------------------------------------------------


def test_what_was_put_is_got_by_this_process_and_the_next(file: Path) -> None:
    exact = {digest(1): np.array([0.1, -2.5, 3e-9, 4e9], np.float32)}
    with opened(file) as cache:
        assert cache.get([digest(1)]) == {}
        cache.put(exact)
        assert cache.get([digest(1)])[digest(1)].tolist() == exact[digest(1)].tolist()
    with opened(file) as cache:
        assert cache.get([digest(2), digest(1)]).keys() == exact.keys()
        assert cache.get([digest(1)])[digest(1)].tolist() == exact[digest(1)].tolist()
    assert file.stat().st_mode & 0o777 == 0o600


def test_more_than_one_read_holds_comes_back_whole(file: Path) -> None:
    many = vectors(range(1, 1_001))
    with opened(file) as cache:
        cache.put(many)
        assert numbers(cache.get([*many, "unknown"]).values()) == list(range(1, 1_001))
        assert cache.get([]) == {}
    assert count_entries(file) == 1_000


def test_a_vector_put_again_takes_the_place_of_the_first(file: Path) -> None:
    with opened(file) as cache:
        cache.put(vectors([1]))
        cache.put({digest(1): np.full(4, 9, np.float32)})
        assert numbers(cache.get([digest(1)]).values()) == [9]
    assert count_entries(file) == 1


def test_models_do_not_mix(file: Path) -> None:
    with opened(file) as small, opened(file, OTHER) as other:
        small.put(vectors([1]))
        assert other.get([digest(1)]) == {}
        other.put({digest(1): np.full(4, 7, np.float32)})
        assert numbers(small.get([digest(1)]).values()) == [1]
        assert numbers(other.get([digest(1)]).values()) == [7]


def test_vectors_of_other_dimensions_are_not_seen(file: Path) -> None:
    with opened(file) as small, opened(file, WIDER) as wider:
        small.put(vectors([1, 2]))
        assert wider.get([digest(1)]) == {}
        wider.put(vectors([1], dims=5))
        assert small.get([digest(1), digest(2)]).keys() == {digest(2)}
        assert wider.get([digest(1)])[digest(1)].shape == (5,)


# -- the bound -----------------------------------------------------------------------------------


def test_the_oldest_go_first_whatever_their_model(file: Path) -> None:
    clock = iter(range(1, 100))

    def bounded(facts: ModelFacts) -> closing[SqliteVectorCache]:
        return closing(SqliteVectorCache(file, facts, max_entries=5, now_s=lambda: next(clock)))

    with bounded(SMALL) as small, bounded(OTHER) as other:
        small.put(vectors([1]))
        other.put(vectors([2]))
        small.put(vectors([3, 4, 5]))
        assert count_entries(file) == 5
        small.put(vectors([1]))  # paid for again: it is the youngest now
        small.put(vectors([6]))
        assert other.get([digest(2)]) == {}
        small.put(vectors([7, 8, 9]))
        assert numbers(small.get(list(vectors(range(10)))).values()) == [1, 6, 7, 8, 9]
        small.put(vectors(range(10, 18)))
        assert count_entries(file) == 5


# -- damage --------------------------------------------------------------------------------------


def text_file(file: Path) -> None:
    file.write_text("not a database at all\n" * 500, encoding="ascii")


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-5_000])


def flipped_page(file: Path) -> None:
    damage(file, file.stat().st_size - 500)


def flipped_header(file: Path) -> None:
    damage(file, 20)  # the byte that says that pages have checksums


def other_table(file: Path) -> None:
    with closing(apsw.Connection(str(file))) as db:
        db.execute("DROP TABLE embedding_cache; CREATE TABLE embedding_cache (hash, updated_at)")


def no_checksums(file: Path) -> None:
    file.unlink()
    with closing(apsw.Connection(str(file))) as db:
        db.execute("CREATE TABLE t (x)")


HARMS = [text_file, cut_off, flipped_page, flipped_header, other_table, no_checksums]


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("first", ["get", "put"])
def test_a_cache_that_went_bad_is_begun_anew(
    file: Path, harm: Callable[[Path], None], first: str
) -> None:
    with opened(file) as cache:
        cache.put(vectors(range(500)))
    harm(file)
    with opened(file) as cache:
        if first == "get":
            found = cache.get(list(vectors(range(500))))
            assert numbers(found.values()) == sorted({int(vector[0]) for vector in found.values()})
            assert len(found) < 500
        cache.put(vectors(range(500, 900)))
        found = cache.get(list(vectors(range(500, 900))))
        assert numbers(found.values()) == list(range(500, 900))
        assert all(int(vector[0]) == int(vector[3]) for vector in found.values())


def test_only_one_of_two_begins_anew(file: Path) -> None:
    """The second to notice finds a sound file there and leaves it."""
    first, second = SqliteVectorCache(file, SMALL), SqliteVectorCache(file, SMALL)
    with opened(file) as cache:
        cache.put(vectors(range(500)))
    flipped_page(file)
    everything = list(vectors(range(1_000)))
    with closing(first), closing(second):
        for cache in (first, second):
            assert cache.get([]) == {}
            cache._opened()
        first.get(everything)
        first.put(vectors([600]))
        second.get(everything)
        assert numbers(second.get(everything).values()) == [600]
        assert numbers(first.get(everything).values()) == [600]


def test_a_cache_that_was_taken_away_is_begun_anew_too(file: Path) -> None:
    with opened(file) as cache:
        cache.put(vectors(range(500)))
        damage(file, file.stat().st_size - 500)
        file.unlink()
        cache._replace_damaged()
        assert cache.get([digest(1)]) == {}


def test_counting_changes_nothing(file: Path) -> None:
    assert count_entries(file) == 0
    assert not file.exists()
    text_file(file)
    before = file.read_bytes()
    with pytest.raises(IndexUnreadable):
        count_entries(file)
    assert file.read_bytes() == before


def test_a_cache_that_is_not_ours_to_look_into_is_no_trouble_to_count(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    place = shared_path / "index"
    place.mkdir(mode=0o700)
    with opened(place / "cache.sqlite") as cache:
        cache.put(vectors([1]))
    with unprivileged():
        try:
            assert count_entries(place / "cache.sqlite") == 0
        except IndexUnreadable as error:
            assert "unable to open" in error.why  # noqa: PT017 - root is asked by its real name


def test_a_cache_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    with pytest.raises(StateNotWritable):
        SqliteVectorCache(tmp_path / "missing" / "cache.sqlite", SMALL).put(vectors([1]))


# -- two at once ---------------------------------------------------------------------------------

PUT = """
import sys
from pathlib import Path
import numpy as np
from notewell.ports import ModelFacts
from notewell.index.sqlite.cache import SqliteVectorCache

facts = ModelFacts(provider="hash", model="small", dims=4, chunk_tokens=400)
cache = SqliteVectorCache(Path(sys.argv[1]), facts)
print("ready", flush=True)
input()
first = int(sys.argv[2])
for start in range(first, first + 200, 4):
    cache.put({f"{one}": np.full(4, one, np.float32) for one in range(start, start + 4)})
    cache.get([str(one) for one in range(1000)])
print("done", flush=True)
"""


def test_processes_that_make_and_fill_it_at_once_lose_nothing(
    file: Path, start: Callable[..., Child]
) -> None:
    children = [start(PUT, file, first) for first in (0, 200, 400, 600)]
    for child in children:
        assert child.line() == "ready"
    for child in children:
        child.tell()
    for child in children:
        assert child.line() == "done"
        assert child.ended() == 0
    with opened(file) as cache:
        found = cache.get([str(number) for number in range(1_000)])
    assert {int(name): int(vector[0]) for name, vector in found.items()} == {
        number: number for number in range(800)
    }
    with closing(open_reader(file)) as db:
        assert int(db.pragma("checksum_verification")) == 1
        assert select(db, "PRAGMA integrity_check") == [("ok",)]


def test_the_cache_outlives_every_generation(room: Room) -> None:
    assert room.index.cache_entries() == 0
    with closing(room.index.vector_cache(SMALL)) as cache:
        cache.put(vectors([1]))
    room.publish({"a.md": "router"})
    room.publish({"a.md": "router"})
    assert room.index.cache_entries() == 1
