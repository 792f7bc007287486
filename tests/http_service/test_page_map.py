"""The map: the same picture every time, computed once, thrown away at any time."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.http_service.served import Served
from tests.sqlite_store import sqlite_store

from notewell.engines import Placed
from notewell.http_service.ui import vector_map
from notewell.http_service.ui.map_labels import Label, label_map, words_of
from notewell.http_service.ui.projection import project
from notewell.http_service.ui.state import UiState
from notewell.http_service.ui.vector_map import VectorMap, is_outdated, read_map, sample, write_map
from notewell.index import PlacedChunk
from notewell.index.sqlite import IndexFolder
from notewell.index.sqlite.maintenance import sweepable

WAIT_S = 60


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found.astype(np.float32)


def groups(count: int, dims: int = 64, of: int = 4) -> tuple[NDArray[np.float32], list[int]]:
    chance = np.random.default_rng(7)
    middles = chance.normal(size=(of, dims))
    which = [number % of for number in range(count)]
    return unit(middles[which] + 0.4 * chance.normal(size=(count, dims))), which


# -- the picture ---------------------------------------------------------------------------------


@given(st.integers(0, 40), st.integers(1, 8), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_every_vector_has_a_place_on_the_sheet(count: int, dims: int, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(count, dims)) + 1e-6
    found = project(unit(rows) if count else np.empty((0, dims), np.float32))
    assert found.shape == (count, 2)
    assert np.isfinite(found).all()
    assert (np.abs(found) <= 1).all()


def test_the_same_vectors_give_the_same_picture() -> None:
    vectors, _ = groups(300)
    assert np.array_equal(project(vectors), project(vectors.copy()))


def test_what_is_alike_lies_together() -> None:
    vectors, which = groups(400)
    places = project(vectors)
    gaps = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    np.fill_diagonal(gaps, np.inf)
    near = np.argsort(gaps, axis=1)[:, :5]
    alike = [[which[other] == which[one] for other in row] for one, row in enumerate(near)]
    assert np.mean(alike) > 0.95


def test_texts_that_are_all_the_same_are_seen_apart() -> None:
    found = project(np.full((50, 16), 0.25, np.float32))
    assert np.isfinite(found).all()
    assert len(np.unique(found, axis=0)) > 25


def test_of_too_many_chunks_every_nth_is_taken() -> None:
    chunks = [PlacedChunk(number, "a.md", "memory", number) for number in range(1000)]
    taken = [one.id for one in sample(chunks, 100)]
    assert taken == list(range(0, 1000, 10))
    assert sample(chunks, 1000) == chunks


# -- the file ------------------------------------------------------------------------------------


def sheet(count: int = 3, generation: str = "index-1.sqlite") -> VectorMap:
    numbers = np.arange(count, dtype=np.int64)
    places = np.zeros((count, 2), np.float32)
    notes, sources, days = ("a.md",), ("memory",), ("2026-03-01",)
    return VectorMap(
        generation=generation,
        model="hash",
        ids=numbers,
        positions=places,
        note=numbers * 0,
        lines=numbers + 1,
        notes=notes,
        sources=sources,
        titles=("A",),
        days=days,
        regions=numbers * 0,
        labels=(Label(0.5, 0.5, 0, 0, "one · two", 3),),
        of=count,
    )


def test_a_sheet_comes_back_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "index-1.sqlite-map"
    write_map(file, sheet())
    found = read_map(file)
    assert found is not None
    assert (found.notes, found.days, found.of) == (("a.md",), ("2026-03-01",), 3)
    assert found.lines.tolist() == [1, 2, 3]
    assert found.labels == (Label(0.5, 0.5, 0, 0, "one · two", 3),)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("cut", [0, 1, 100, 400])
def test_a_torn_sheet_is_none(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "index-1.sqlite-map"
    write_map(file, sheet())
    file.write_bytes(file.read_bytes()[:cut])
    assert read_map(file) is None
    assert read_map(tmp_path / "not there") is None


def test_a_sheet_that_points_nowhere_is_none(tmp_path: Path) -> None:
    odd = sheet()
    odd.note[1] = 9
    write_map(tmp_path / "map", odd)
    assert read_map(tmp_path / "map") is None


def test_a_small_map_follows_every_change_and_a_large_one_many() -> None:
    assert not is_outdated(sheet(3), [0, 1, 2])
    assert is_outdated(sheet(3), [0, 1, 2, 3])
    large = sheet(10_000)
    assert not is_outdated(large, range(10_400))
    assert is_outdated(large, range(10_600))


# -- the route -----------------------------------------------------------------------------------


def ui_state_of(served: Served) -> UiState:
    """The one that the first request has made."""
    state: UiState = served.app._app._app.state.ui
    return state


def mapped(served: Served) -> dict[str, Any]:
    """Asked twice: the first answer is that it is being computed."""
    answer = served.ask("GET", "/v1/page/map")
    if answer.status_code == 202:
        assert answer.json() == {"state": "computing"}
        ui_state_of(served).map_cache("main", served.agents.memory("main")).wait(WAIT_S)
        answer = served.ask("GET", "/v1/page/map")
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def filled(served: Served, count: int = 12) -> None:
    for number in range(count):
        file = served.workspaces["main"] / "memory" / f"2026-{1 + number % 3:02}-01-n{number}.md"
        text = f"# Note {number}\n\nThe harbour number {number} was frozen.\n"
        file.write_text(text, encoding="utf-8")
    served.agents.memory("main").sync()


def test_every_chunk_is_on_the_map_with_its_note_and_month(served: Served) -> None:
    filled(served)
    told = mapped(served)
    assert told["computed"] == told["of"] == len(told["points"]) == 13
    assert {"2026-01", "2026-02", "2026-03"} <= set(told["months"])
    assert told["sources"] == ["memory", "sessions"]
    for x, y, note, line, month, source, region in told["points"]:
        assert abs(x) <= 1
        assert abs(y) <= 1
        assert line >= 1
        assert source == 0
        path = told["notes"][note]
        # A note without a date in its name has the month of its last change.
        assert path == "MEMORY.md" or told["months"][month] == path[7:14]
        assert region == 0  # Thirteen points are one region.


def test_a_memory_without_vectors_has_an_empty_map(served: Served) -> None:
    told = mapped(served)
    assert (told["points"], told["computed"], told["of"]) == ([], 0, 0)


def test_the_map_is_kept_and_read_back_by_another_server(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(served)
    told = mapped(served)
    memory = served.agents.memory("main")
    folder = sqlite_store(memory).folder
    (kept,) = folder.path.glob("*-map")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    monkeypatch.setattr(vector_map, "compute_map", None)
    another = vector_map.VectorMapCache(memory.inspect).current()
    assert another is not None
    assert len(another.ids) == told["computed"]


def test_a_map_that_was_removed_is_drawn_again_the_same(served: Served) -> None:
    filled(served)
    memory = served.agents.memory("main")
    first = mapped(served)
    (kept,) = sqlite_store(memory).folder.path.glob("*-map")
    kept.unlink()
    again = vector_map.VectorMapCache(memory.inspect)
    assert again.current() is None
    again.wait(WAIT_S)
    found = again.current()
    assert found is not None
    assert found.positions.round(4).tolist() == pytest.approx(
        np.array([point[:2] for point in first["points"]]), abs=1e-4
    )


def test_a_rebuilt_index_has_the_same_picture_and_sweeps_the_old_file(served: Served) -> None:
    filled(served)
    first = mapped(served)
    memory = served.agents.memory("main")
    folder = sqlite_store(memory).folder
    (old,) = folder.path.glob("*-map")
    memory.sync(force=True)
    assert not old.exists()
    assert mapped(served) == first
    (new,) = folder.path.glob("*-map")
    assert new.name != old.name


def test_a_change_shows_the_old_map_until_the_new_one_is_there(served: Served) -> None:
    filled(served)
    mapped(served)
    (served.workspaces["main"] / "memory" / "new.md").write_text(
        "Something else entirely.\n", encoding="utf-8"
    )
    memory = served.agents.memory("main")
    memory.sync()
    atlas = ui_state_of(served).map_cache("main", memory)
    shown = atlas.current()
    assert shown is not None
    assert len(shown.ids) == 13
    atlas.wait(WAIT_S)
    drawn = atlas.current()
    assert drawn is not None
    assert len(drawn.ids) == 14


def test_a_question_points_to_what_is_near(served: Served) -> None:
    filled(served)
    told = mapped(served)
    answer = served.ask("POST", "/v1/page/near", json={"query": "SQLite readings agent keeps"})
    assert answer.status_code == 200, answer.text
    near = answer.json()
    assert told["notes"][told["points"][near["points"][0]][2]] == "MEMORY.md"
    assert near["scores"] == sorted(near["scores"], reverse=True)
    assert len(near["points"]) == len(near["scores"]) > 1


def test_without_an_index_nothing_is_near(served: Served) -> None:
    near = served.ask("POST", "/v1/page/near", json={"query": "SQLite"}).json()
    assert near["points"] == []
    assert near["notice"]


def test_a_map_of_another_generation_or_model_does_not_fit() -> None:
    one = sheet()
    assert one.matches(Placed("index-1.sqlite", "hash", ()))
    assert not one.matches(Placed("index-2.sqlite", "hash", ()))
    assert not one.matches(Placed("index-1.sqlite", "other", ()))


def test_a_map_goes_with_its_generation_and_so_does_half_a_one(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path)
    for name in ("index-1.sqlite-map", "index-2.sqlite-map.tmp", "index-3.sqlite-map"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "index-3.sqlite").write_bytes(b"")
    (tmp_path / "CURRENT").write_text("index-3.sqlite\n", encoding="ascii")
    assert {file.name for file in sweepable(IndexFolder(tmp_path), 0)} == {
        "index-1.sqlite-map",
        "index-2.sqlite-map.tmp",
    }
    folder.sweep()
    assert {file.name for file in tmp_path.iterdir()} == {
        "CURRENT",
        "index-3.sqlite",
        "index-3.sqlite-map",
    }


def test_regions_are_named_by_their_own_words() -> None:
    random = np.random.default_rng(1)
    centres = np.array([[-0.8, -0.8], [0.8, 0.8], [0.8, -0.8]], np.float32)
    subjects = ("bread", "router", "telescope")
    positions = np.vstack([centre + random.normal(0, 0.05, (60, 2)) for centre in centres])
    vectors = np.zeros((180, 8), np.float32)
    texts = [
        f"## {subject}\n\nthe note about {subject} and the visit {number}"
        for subject in subjects
        for number in range(60)
    ]
    regions, labels = label_map(positions.astype(np.float32), vectors, [*map(words_of, texts)])
    large = [label for label in labels if label.level == 0]
    assert {label.text.split(" · ")[0] for label in large} >= set(subjects)
    for label in large:
        nearest = int(((centres - (label.x, label.y)) ** 2).sum(axis=1).argmin())
        if label.text.split(" · ")[0] in subjects:
            assert subjects[nearest] in label.text
    assert len(regions) == 180
    again = label_map(positions.astype(np.float32), vectors, [*map(words_of, texts)])
    assert again[1] == labels


def test_words_that_name_a_region_are_no_addresses_and_no_noise() -> None:
    words = words_of("# The Router\n\nsee [it](https://example.com/abc) with 配置网关\n```bash\n")
    assert set(words) == {"router", "配置", "置网", "网关"}
    assert words["router"] > words["配置"]
    assert set(words_of("---\ntags: [a1]\n---\n**User**: the Router\nAssistant: yes\n")) == {
        "router",
        "yes",
    }
    # Two characters of which one joins words are no word.
    assert set(words_of("我们的经济是一")) == {"经济"}


def test_a_point_tells_what_it_stands_for(served: Served) -> None:
    (served.workspaces["main"] / "MEMORY.md").write_text(
        "# What lasts\n\nOne.\n\n## Trips\n\nThe **Alps**.\n", encoding="utf-8"
    )
    told = served.ask("GET", "/v1/page/point?path=MEMORY.md&line=5").json()
    assert told == {"title": "What lasts", "heading": "Trips", "text": "The Alps."}
    assert served.ask("GET", "/v1/page/point?path=none.md").status_code == 404
