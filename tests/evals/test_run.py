"""A run asks every question in its own workspace, of us and of the floor."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from notewell import Progress, SearchSettings, Settings
from notewell.errors import BadRequest, EmbedderFailed
from notewell.evals import EvalRun, NotewellSystem, PlainFts5, load_dataset, open_system, run
from notewell.evals.baseline import CHARS, windows
from notewell.evals.dataset import NotesFolder
from notewell.evals.measures import EvalHit
from notewell.evals.runner import SystemAnswer
from notewell.testing import BrokenEmbedder, HashEmbedder


def asked(run_: EvalRun) -> dict[str, list[str]]:
    return {one.question.id: [hit.path for hit in one.hits] for one in run_.results}


@pytest.mark.parametrize("name", ["hybrid", "keyword", "fts5"])
def test_every_system_finds_the_obvious(workspaces: Path, tmp_path: Path, name: str) -> None:
    dataset = load_dataset(workspaces, tmp_path)
    system = open_system(name, tmp_path / "state", embedder=HashEmbedder())
    done = run(dataset, name, system, 6)
    assert done.measured("any", 6).mean == 1
    assert done.measured("mrr", 1).mean == 1
    assert done.modes() == {done.mode: 2}
    assert (done.unanswerable, done.without_hits) == (1, 0)
    assert done.categories() == ["facts", "garden"]
    assert all(one.ms >= 0 for one in done.results)
    assert asked(done)["q2"] == ["memory/温室.md"]


def test_the_vector_system_goes_by_meaning_alone(workspaces: Path, tmp_path: Path) -> None:
    (workspaces / "north" / "notewell.json").write_text("{}", encoding="utf-8")
    system = open_system("vector", tmp_path / "state", embedder=HashEmbedder())
    done = run(load_dataset(workspaces, tmp_path), "vector", system, 6)
    assert asked(done)["q1"] == ["MEMORY.md"]
    assert done.modes() == {"hybrid": 2}


def test_progress_tells_of_notes_and_questions(workspaces: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    system = NotewellSystem(tmp_path / "state", embedder=HashEmbedder())
    run(load_dataset(workspaces, tmp_path), "us", system, 6, told.append)
    assert told[-1] == Progress(2, 2, "questions of diary, us")
    assert len(told) > 2


def test_vectors_are_kept_with_the_state(workspaces: Path, tmp_path: Path) -> None:
    dataset, embedder = load_dataset(workspaces, tmp_path), HashEmbedder()
    for _ in range(2):
        run(dataset, "hybrid", NotewellSystem(tmp_path / "state", embedder=embedder), 6)
    chunks, questions = 3, 2
    assert embedder.embedded_texts == chunks + 2 * questions


class TwiceTheSame:
    """Answers with two hits of one note before one of another."""

    mode = "hybrid"

    def open(self, folder: NotesFolder, progress: object) -> None: ...

    def close(self) -> None: ...

    def ask(self, question: str, max_results: int) -> SystemAnswer:
        places = [("memory/000001.md", 1), ("memory/000001.md", 9), ("memory/000000.md", 1)]
        hits = [EvalHit(path, line, line, 10, 0.5) for path, line in places]
        return SystemAnswer(hits[:max_results], "keyword", "no model", degraded=True)

    def read(self, question: str, budgets: Sequence[int]) -> list[str]:
        return ["Apples are red." for _ in budgets]


def test_hits_in_the_same_note_count_once_where_notes_are_asked_for(
    passages: Path, tmp_path: Path
) -> None:
    done = run(load_dataset(passages, tmp_path), "twice", TwiceTheSame(), 2)
    assert asked(done)["facts/q1"] == ["memory/000001.md", "memory/000000.md"]
    assert done.results[0].measured("all", 2) == 1
    assert done.modes() == {"keyword": 2}
    assert all(one.degraded and one.notice == "no model" for one in done.results)


def test_hits_in_the_same_note_all_count_where_lines_are_asked_for(
    workspaces: Path, tmp_path: Path
) -> None:
    done = run(load_dataset(workspaces, tmp_path), "twice", TwiceTheSame(), 2)
    assert asked(done)["q1"] == ["memory/000001.md"] * 2


FILLER = "Nothing of interest was said about the weather on that day, and we all went home."


@pytest.mark.parametrize("name", ["keyword", "fts5"])
def test_evidence_is_seen_if_its_text_is_within_the_budget(
    tmp_path: Path, workspaces: Path, name: str
) -> None:
    # One line of evidence, and a piece that is longer than both budgets.
    days = [f"Day {number}. {FILLER}" for number in range(80)]
    lines = ["The router's password is hunter2.", *days]
    note = workspaces / "north" / "MEMORY.md"
    note.write_text("# Facts\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    file = workspaces / "evidence.json"
    queries = json.loads(file.read_text(encoding="utf-8"))["queries"]
    queries[0]["evidence"].append({"path": "MEMORY.md", "start": 4, "end": 83})
    file.write_text(json.dumps({"queries": queries}), encoding="utf-8")
    system = open_system(name, tmp_path / "state", embedder=HashEmbedder())
    password, _ = run(load_dataset(workspaces, tmp_path), name, system, 6).results
    assert password.seen == {4000: (True, False), 2000: (True, False)}


def test_a_span_of_the_evidence_is_enough_where_the_set_names_it(
    tmp_path: Path, workspaces: Path
) -> None:
    long_line = "The router's password is hunter2. " + " ".join([FILLER] * 60)
    note = workspaces / "north" / "MEMORY.md"
    note.write_text(f"# Facts\n\n{long_line}\n", encoding="utf-8")
    file = workspaces / "evidence.json"
    queries = json.loads(file.read_text(encoding="utf-8"))["queries"]
    seen = []
    for text in ("", "password  is\nhunter2"):
        queries[0]["evidence"][0]["text"] = text
        file.write_text(json.dumps({"queries": queries}), encoding="utf-8")
        dataset = load_dataset(workspaces, tmp_path)
        password, _ = run(dataset, "floor", PlainFts5(), 6).results
        seen.append((dataset.digest, password.seen[4000]))
    # Runs with and without the text of the same lines can be compared.
    assert seen[0][0] == seen[1][0]
    assert [found for _, found in seen] == [(False,), (True,)]


def test_a_whole_page_is_no_evidence_that_one_could_see(passages: Path, tmp_path: Path) -> None:
    corpus = passages / "corpus.jsonl"
    first, *others = corpus.read_text(encoding="utf-8").splitlines()
    apples = {**json.loads(first), "text": " ".join([FILLER] * 60)}
    corpus.write_text("\n".join([json.dumps(apples), *others, ""]), encoding="utf-8")
    done = run(load_dataset(passages, tmp_path / "scratch"), "floor", PlainFts5(), 10)
    assert [one.question.id for one in done.readable()] == ["facts/q2"]
    assert done.seen("all-seen", 2000).mean == 1


def test_passages_are_found_as_notes(passages: Path, tmp_path: Path) -> None:
    dataset = load_dataset(passages, tmp_path / "scratch")
    for system in (PlainFts5(), NotewellSystem(tmp_path / "state", embedder=HashEmbedder())):
        done = run(dataset, "any", system, 10)
        assert done.measured("any", 10).mean == 1
        assert asked(done)["facts/q2"][0] == "memory/000002.md"


@pytest.mark.parametrize("name", ["keyword", "fts5"])
def test_notes_outside_of_memory_are_taken_in_where_the_evidence_is_there(
    workspaces: Path, tmp_path: Path, name: str
) -> None:
    (workspaces / "north" / "MEMORY.md").rename(workspaces / "north" / "router.md")
    file = workspaces / "evidence.json"
    told = file.read_text(encoding="utf-8").replace('"MEMORY.md"', '"router.md"')
    file.write_text(told, encoding="utf-8")
    done = run(load_dataset(workspaces, tmp_path), name, open_system(name, tmp_path / "state"), 6)
    assert asked(done)["q1"][0] == "router.md"


def test_the_settings_of_a_workspace_hold_in_an_evaluation(
    workspaces: Path, tmp_path: Path
) -> None:
    config = '{"agents": {"defaults": {"memorySearch": {"query": {"minScore": 1}}}}}'
    (workspaces / "north" / "notewell.json").write_text(config, encoding="utf-8")
    for settings, found in ((None, 0), (Settings(search=SearchSettings(min_score=0.0)), 1)):
        system = NotewellSystem(tmp_path / "state", "keyword", settings=settings)
        system.open(NotesFolder(workspaces / "north"), lambda _: None)
        assert len(system.ask("bread and wine", 6).hits) == found
        system.close()


def test_an_empty_question_is_refused_and_shown_not_raised(
    workspaces: Path, tmp_path: Path
) -> None:
    for system in (PlainFts5(), NotewellSystem(tmp_path / "state", "keyword")):
        system.open(NotesFolder(workspaces / "north"), lambda _: None)
        assert list(system.ask(" ", 6).hits) == []
        system.close()
        with pytest.raises(RuntimeError, match="no workspace is open"):
            system.ask("x", 6)
        system.close()


def test_a_run_without_the_vectors_it_was_to_have_is_no_run(
    workspaces: Path, tmp_path: Path
) -> None:
    broken = BrokenEmbedder(EmbedderFailed("broken", "on purpose"))
    with pytest.raises(EmbedderFailed):
        run(
            load_dataset(workspaces, tmp_path),
            "hybrid",
            NotewellSystem(tmp_path / "state", embedder=broken),
            6,
        )


def test_what_cannot_be_asked_for_is_refused(workspaces: Path, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="no system is called 'bm25'; known: hybrid"):
        open_system("bm25", tmp_path)
    with pytest.raises(BadRequest, match="k must be 1 to 200, not 0"):
        run(load_dataset(workspaces, tmp_path), "fts5", PlainFts5(), 0)


# -- the floor -----------------------------------------------------------------------------------


def test_windows_cover_every_line_and_overlap() -> None:
    text = "\n".join(f"line {number} " + "x" * 50 for number in range(200))
    cut = list(windows(text))
    assert cut[0][0] == 1
    assert cut[-1][1] == 200
    assert all(len(piece) <= CHARS for _, _, piece in cut)
    for (_, end, _), (start, _, _) in pairwise(cut):
        assert start <= end
    lines = text.split("\n")
    assert all(piece == "\n".join(lines[start - 1 : end]) for start, end, piece in cut)


def test_a_line_longer_than_a_window_is_kept_whole() -> None:
    assert list(windows("x" * 5000 + "\ny")) == [(1, 1, "x" * 5000), (2, 2, "y")]
    assert list(windows("")) == [(1, 1, "")]


def test_the_floor_stems_drops_common_words_and_pairs_chinese(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    (memory / "a.md").write_text("what is it that the is of", encoding="utf-8")
    (memory / "b.md").write_text("We painted sunrises.", encoding="utf-8")
    (memory / "c.md").write_text("在v2版本里柠檬树怕霜冻", encoding="utf-8")
    (tmp_path / "other.md").write_text("painted", encoding="utf-8")
    floor = PlainFts5()
    floor.open(NotesFolder(tmp_path), lambda _: None)
    assert [hit.path for hit in floor.ask("what did the man paint?", 5).hits] == ["memory/b.md"]
    assert [hit.path for hit in floor.ask("霜冻怎么办", 5).hits] == ["memory/c.md"]
    assert [hit.path for hit in floor.ask("v2", 5).hits] == ["memory/c.md"]
    assert [hit.path for hit in floor.ask("what is it", 5).hits] == ["memory/a.md"]
    assert floor.ask('"?!', 5).hits == ()
    floor.close()
