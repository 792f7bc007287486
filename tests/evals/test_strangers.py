"""`notewell eval --strangers`: what a memory does with questions that it cannot answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from notewell import Progress
from notewell.cli import main
from notewell.evals import load_dataset, run_strangers, strangers_lines
from notewell.evals.dataset import NotesFolder
from notewell.evals.measures import EvalHit
from notewell.evals.runner import SystemAnswer

NEARNESS = {
    "what is the password of the router?": 0.9,
    "柠檬树怕霜冻吗？": 0.6,
    "what colour do apples have?": 0.7,
    "plums": 0.3,
}


class ScriptedSystem:
    """Knows both answers of the set, and how near each question is; 0.2 for nonsense."""

    mode = "hybrid"

    def open(self, folder: NotesFolder, progress: object) -> None: ...

    def close(self) -> None: ...

    def ask(self, question: str, max_results: int, min_score: float | None = None) -> SystemAnswer:
        nearness = NEARNESS.get(question, 0.2)
        is_shown = nearness >= (0.5 if min_score is None else min_score)
        hits = [EvalHit("MEMORY.md", 3, 3, 9, 0.9), EvalHit("memory/温室.md", 3, 3, 9, 0.9)]
        return SystemAnswer(hits if is_shown else [], "hybrid", nearness=nearness)


def test_a_run_gives_the_loss_and_the_gain_of_every_limit(
    workspaces: Path, passages: Path, tmp_path: Path
) -> None:
    datasets = [load_dataset(folder, tmp_path / "scratch") for folder in (workspaces, passages)]
    steps: list[Progress] = []
    run = run_strangers(datasets[0], datasets, "hybrid", ScriptedSystem(), 6, steps.append)
    assert [result.nearness for result in run.found] == [0.9, 0.6]
    # Each of two workspaces is asked the question of the other, and two of the other set.
    assert len(run.of("strangers", "diary")) == 2
    assert len(run.of("strangers", "facts")) == 4
    nothing_lost = run.curve()[0]
    assert nothing_lost.limit == 0.6
    # Below 0.6 is only `plums`, asked in both workspaces.
    assert nothing_lost.refused == {"strangers": 2 / 6, "words": 1.0, "letters": 1.0}
    lines = list(strangers_lines(run))
    assert lines[2].split() == ["own,", "evidence", "in", "the", "first", "6", "2", ".000"]
    assert lines[4].split()[-2:] == ["4", ".500"]
    assert (steps[-1].completed, steps[-1].total) == (2, 2)


def test_the_same_questions_are_asked_in_every_run(workspaces: Path, tmp_path: Path) -> None:
    dataset = load_dataset(workspaces, tmp_path / "scratch")
    first, second = (
        run_strangers(dataset, [dataset], "hybrid", ScriptedSystem(), 6) for _ in range(2)
    )
    assert first.results == second.results


def test_the_command_asks_each_set_the_questions_of_the_others(
    workspaces: Path, passages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["eval", "--strangers", str(workspaces), str(passages), "--system", "keyword"]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "diary, keyword: " in text
    assert "strangers of facts" in text
    assert main([*arguments, "--json"]) == 0
    payload: dict[str, Any] = json.loads(capsys.readouterr().out)
    diary, facts = payload["strangers"]
    assert diary["found"] == {"questions": 2, "noHit": 0.0}
    assert facts["kinds"]["strangers"]["questions"] == 2
    # No note has any of these words.
    assert diary["kinds"]["letters"]["noHit"] == 1.0
    assert [point["loss"] for point in facts["curve"]] == [0.0, 0.005, 0.01, 0.02, 0.05]


@pytest.mark.parametrize("option", [("--system", "fts5"), ("--replay",), ("--backend", "qmd")])
def test_what_cannot_say_how_near_it_is_is_refused(
    workspaces: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, ...]
) -> None:
    assert main(["eval", "--strangers", str(workspaces), *option]) == 2
    assert "--strangers" in capsys.readouterr().err
