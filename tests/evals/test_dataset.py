"""Sets are read in every form; a broken one is refused with file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from notewell.errors import BadRequest, NotADataset, StateNotWritable
from notewell.evals import load_dataset
from notewell.evals.dataset import EVERY_LINE, Evidence, EvidenceLines


def spoil(folder: Path, **changed: Any) -> None:
    """Change the first question of an evidence.json."""
    file = folder / "evidence.json"
    told = json.loads(file.read_text(encoding="utf-8"))
    told["queries"][0].update(changed)
    file.write_text(json.dumps(told), encoding="utf-8")


def test_workspaces_with_evidence(workspaces: Path, tmp_path: Path) -> None:
    dataset = load_dataset(workspaces, tmp_path)
    assert dataset.name == "diary"
    assert [question.id for question in dataset.questions] == ["q1", "q2"]
    assert dataset.questions[0].evidence == (Evidence((EvidenceLines("MEMORY.md", 3, 3),)),)
    assert [question.category for question in dataset.questions] == ["facts", "garden"]
    assert (dataset.unanswerable, dataset.by_note) == (1, False)
    assert dataset.workspaces["north"].path == workspaces / "north"
    assert not dataset.workspaces["north"].whole


def test_evidence_may_stand_in_several_places(workspaces: Path, tmp_path: Path) -> None:
    places = [
        {"path": "./MEMORY.md", "start": 3, "end": 3},
        {"path": "sessions/1.jsonl", "start": 2, "end": 2},
    ]
    spoil(workspaces, evidence=[{"places": places}])
    (evidence,) = load_dataset(workspaces, tmp_path).questions[0].evidence
    assert evidence.places == (
        EvidenceLines("MEMORY.md", 3, 3),
        EvidenceLines("sessions/1.jsonl", 2, 2),
    )


def test_evidence_outside_of_memory_takes_in_the_whole_folder(tmp_path: Path) -> None:
    (tmp_path / "notes" / "guide").mkdir(parents=True)
    (tmp_path / "notes" / "guide" / "a.md").write_text("zebra", encoding="utf-8")
    query = {
        "query_id": 1,
        "text": "zebra?",
        "evidence": [{"path": "guide/a.md", "start": 1, "end": 1}],
    }
    told = {"workspace": str(tmp_path / "notes"), "queries": [query]}
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "evidence.json").write_text(json.dumps(told), encoding="utf-8")
    dataset = load_dataset(tmp_path / "set", tmp_path)
    (folder,) = dataset.workspaces.values()
    assert folder == (tmp_path / "notes", True)
    assert dataset.questions[0].id == "1"


def test_a_probe_names_notes(tmp_path: Path) -> None:
    folder = tmp_path / "probe"
    (folder / "workspace" / "memory").mkdir(parents=True)
    (folder / "workspace" / "memory" / "a.md").write_text("TCK-1", encoding="utf-8")
    line = '{"query": "TCK-1", "path": "memory/a.md", "kind": "id"}\n'
    (folder / "queries.jsonl").write_text(f"{line}\n", encoding="utf-8")
    dataset = load_dataset(folder, tmp_path)
    assert dataset.questions[0].id == "probe-0"
    assert dataset.questions[0].evidence == (
        Evidence((EvidenceLines("memory/a.md", 1, EVERY_LINE),)),
    )
    assert dataset.by_note
    (folder / "queries.jsonl").write_text(line + line.replace("a.md", "b.md"), encoding="utf-8")
    with pytest.raises(NotADataset, match=r"queries\.jsonl', line 2: there is no 'memory/b\.md'"):
        load_dataset(folder, tmp_path)


def test_passages_become_notes_whose_names_tell_nothing(passages: Path, tmp_path: Path) -> None:
    dataset = load_dataset(passages, tmp_path / "scratch")
    (folder,) = dataset.workspaces.values()
    notes = sorted(folder.path.rglob("*.md"))
    assert [note.name for note in notes] == ["000000.md", "000001.md", "000002.md"]
    assert notes[0].read_text(encoding="utf-8") == "# Apples\n\nApples are red.\n"
    assert notes[2].read_text(encoding="utf-8") == "Plums are blue.\n"
    first, second = dataset.questions
    assert (first.id, first.category) == ("facts/q1", "colour")
    assert [(one.places[0].path, one.gain) for one in first.evidence] == [
        ("memory/000000.md", 2),
        ("memory/000001.md", 1),
    ]
    assert second.evidence[0].places == (EvidenceLines("memory/000002.md"),)
    assert (dataset.unanswerable, dataset.by_note) == (1, True)


def test_notes_that_are_there_are_left_alone_and_strays_go(passages: Path, tmp_path: Path) -> None:
    (folder,) = load_dataset(passages, tmp_path / "scratch").workspaces.values()
    first, last = folder.path / "memory" / "000000.md", folder.path / "memory" / "000002.md"
    before = first.stat().st_mtime_ns
    corpus = passages / "corpus.jsonl"
    kept = corpus.read_text(encoding="utf-8").splitlines(keepends=True)[:2]
    corpus.write_text("".join(kept), encoding="utf-8")
    (passages / "qrels.tsv").write_text("q1\tb\t1\n", encoding="utf-8")
    load_dataset(passages, tmp_path / "scratch")
    assert first.stat().st_mtime_ns == before
    assert not last.exists()


def test_a_folder_of_groups_is_one_set(passages: Path, tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    passages.rename(folder / "one")
    (folder / "readme").mkdir()
    dataset = load_dataset(folder, tmp_path / "scratch")
    assert dataset.name == "all"
    assert [question.id for question in dataset.questions] == ["one/q1", "one/q2"]
    assert list(dataset.workspaces) == ["one"]


def test_the_digest_is_that_of_questions_and_evidence(workspaces: Path, tmp_path: Path) -> None:
    before = load_dataset(workspaces, tmp_path).digest
    assert load_dataset(workspaces, tmp_path).digest == before
    spoil(workspaces, text="and the password?")
    assert load_dataset(workspaces, tmp_path).digest != before


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"text": None}, r"queries\[0\]: expected a text as 'text', not None"),
        ({"query_id": "q2"}, "two questions have the id 'q2'"),
        ({"workspace": "carl"}, r"queries\[0\]: there is no workspace .*carl"),
        ({"evidence": "MEMORY.md"}, r"queries\[0\]: expected a list of objects as 'evidence'"),
        (
            {"evidence": [{"path": "memory/x.md", "start": 1, "end": 1}]},
            r"queries\[0\]\.evidence\[0\]: there is no 'memory/x\.md' in",
        ),
        (
            {"evidence": [{"path": "MEMORY.md", "start": 0, "end": 1}]},
            "expected a line number from 1 as 'start', not 0",
        ),
        (
            {"evidence": [{"path": "MEMORY.md", "start": 3, "end": 2}]},
            r"the lines end \(2\) before they begin",
        ),
    ],
)
def test_broken_evidence_says_what_is_wrong_with_it(
    workspaces: Path, tmp_path: Path, changed: dict[str, Any], told: str
) -> None:
    spoil(workspaces, **changed)
    with pytest.raises(NotADataset, match=told):
        load_dataset(workspaces, tmp_path)


@pytest.mark.parametrize(
    ("file", "text", "told", "line"),
    [
        ("corpus.jsonl", '{"_id": "a", "text": "x"}\n{"_id"', "not valid JSON", 2),
        ("corpus.jsonl", '{"_id": "a"}', "expected a text as 'text'", 1),
        ("corpus.jsonl", '{"_id": 1, "text": ""}\n' * 2, "two passages have the id '1'", 2),
        ("queries.jsonl", "\n[]\n", "expected a JSON object", 2),
        ("queries.jsonl", '{"_id": "q1"}', "expected a text as 'text'", 1),
        ("qrels.tsv", "q1\tb\n", "by tabs", 1),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\tb\tmuch\n", "by tabs", 2),
        ("qrels.tsv", "q1\tnone\t1\n", "no passage has the id 'none'", 1),
    ],
)
def test_broken_passages_say_in_which_line(
    passages: Path, tmp_path: Path, file: str, text: str, told: str, line: int
) -> None:
    (passages / file).write_text(text, encoding="utf-8")
    with pytest.raises(NotADataset, match=told) as caught:
        load_dataset(passages, tmp_path / "scratch")
    assert (caught.value.path, caught.value.line) == (str(passages / file), line)
    assert f"{file}', line {line}: " in str(caught.value)


def test_a_missing_file_and_bytes_that_are_no_text_are_named(
    passages: Path, tmp_path: Path
) -> None:
    (passages / "queries.jsonl").write_bytes(b'{"_id": "q1", "text": "caf\xe9"}')
    with pytest.raises(NotADataset, match=r"queries\.jsonl': not UTF-8"):
        load_dataset(passages, tmp_path / "scratch")
    (passages / "qrels.tsv").unlink()
    with pytest.raises(NotADataset, match=r"qrels\.tsv': No such file"):
        load_dataset(passages, tmp_path / "scratch")


def test_what_is_no_set_is_a_bad_request(workspaces: Path, tmp_path: Path) -> None:
    with pytest.raises(NotADataset, match="there is no such folder"):
        load_dataset(tmp_path / "nowhere", tmp_path)
    with pytest.raises(NotADataset, match=r"expected evidence\.json, or corpus\.jsonl"):
        load_dataset(workspaces / "north", tmp_path)
    (workspaces / "evidence.json").write_text('{"queries": []}', encoding="utf-8")
    with pytest.raises(NotADataset, match="none of its 0 questions") as caught:
        load_dataset(workspaces, tmp_path)
    assert isinstance(caught.value, BadRequest)
    assert caught.value.exit_code == 2


def test_notes_that_cannot_be_written_are_told(passages: Path, tmp_path: Path) -> None:
    (tmp_path / "scratch").write_text("a file in the way", encoding="utf-8")
    with pytest.raises(StateNotWritable):
        load_dataset(passages, tmp_path / "scratch")
