"""The questions for all peers: a fixed choice that does not depend on the order of a file."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from bench.peers.questions import SEED, SETS, choose, load_sets

from notewell.evals.dataset import EvalQuestion


def questions(count: int) -> list[EvalQuestion]:
    return [EvalQuestion(f"q{number}", "?", "", "one", ()) for number in range(count)]


def test_the_choice_is_the_same_in_any_order_and_another_with_another_seed() -> None:
    all_of_them = questions(500)
    chosen = choose(all_of_them, 100, SEED)
    assert choose(all_of_them[::-1], 100, SEED) == chosen
    assert len(set(chosen)) == 100
    assert set(choose(all_of_them, 100, SEED + 1)) != set(chosen)
    # Not the first ones of the file.
    assert {question.id for question in chosen} != {f"q{number}" for number in range(100)}


def write_sets(folder: Path) -> Path:
    conversations = folder / SETS[0]
    (conversations / "conv" / "memory").mkdir(parents=True)
    (conversations / "conv" / "memory" / "2023-05-08.md").write_text("# Day\n\nA swim.\n", "utf-8")
    place = {"path": "memory/2023-05-08.md", "start": 3, "end": 3}
    asked = [
        {"query_id": f"c{number}", "text": "Swim?", "workspace": "conv", "evidence": [place]}
        for number in range(9)
    ]
    file = conversations / "evidence.json"
    file.write_text(json.dumps({"queries": asked}), encoding="utf-8")
    pages = folder / SETS[1]
    pages.mkdir()
    (pages / "corpus.jsonl").write_text('{"_id": "p", "text": "Keys are kept."}\n', "utf-8")
    (pages / "queries.jsonl").write_text('{"_id": "d1", "text": "Keys?"}\n', "utf-8")
    (pages / "qrels.tsv").write_text("d1\tp\t1\n", "utf-8")
    return folder


def test_each_set_gives_an_equal_share(tmp_path: Path) -> None:
    conversations, pages = load_sets(write_sets(tmp_path / "data"), tmp_path / "scratch", 8)
    assert len(conversations.questions) == 4
    assert list(conversations.workspaces) == ["conv"]
    assert [question.id for question in pages.questions] == ["anthropic_docs/d1"]


def test_an_archive_is_unpacked_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    with tarfile.open(data / "dev.tar.xz", "w:xz") as archive:
        archive.add(write_sets(tmp_path / "dev"), "dev")
    first = load_sets(data, tmp_path / "scratch", 8)
    marked = tmp_path / "scratch" / "sets" / "dev" / SETS[0] / "marked"
    marked.touch()
    assert load_sets(data, tmp_path / "scratch", 8) == first
    assert marked.exists()


def test_a_folder_without_sets_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="--data"):
        load_sets(tmp_path, tmp_path / "scratch")
