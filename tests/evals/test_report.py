"""Runs are shown, saved, read again and compared."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from notewell.errors import BadRequest, OutputFailed
from notewell.evals import (
    EvalRun,
    as_json,
    compare,
    from_json,
    load_runs,
    pairs,
    run_table,
    save_runs,
    seen_table,
)
from notewell.evals.dataset import EvalQuestion, Evidence, EvidenceLines
from notewell.evals.measures import EvalHit
from notewell.evals.report import change_lines, comparison_lines, run_title, run_warnings
from notewell.evals.runner import QuestionResult


def made(
    system: str, found: str, *, k: int = 6, dataset: str = "set", mode: str = "hybrid"
) -> EvalRun:
    """A run of one question a letter: `+` found first, `-` not found, `2` found second."""
    asked = []
    for number, how in enumerate(found):
        right, wrong = EvalHit("a.md", 1, 2, 10, 0.9), EvalHit("b.md", 1, 2, 10, 0.8)
        hits = {"+": (right,), "-": (wrong,), "2": (wrong, right), "0": ()}[how]
        evidence = (Evidence((EvidenceLines("a.md", 2, 2),)),)
        category = "even" if number % 2 == 0 else "odd"
        question = EvalQuestion(f"q{number}", f"question {number}?", category, "ws", evidence)
        asked.append(QuestionResult(question, hits, mode, None, degraded=False, ms=1.5))
    return EvalRun(dataset, "digest", system, "hybrid", k, tuple(asked), 3)


def test_the_table_has_a_row_for_each_system() -> None:
    header, fts5, hybrid = run_table(
        [made("fts5", "++--"), made("hybrid", "++++")], 6, by_category=False
    )
    assert header.split() == ["n", "any@6", "all@6", "ndcg@6", "mrr@6", "chars", "cpu", "ms"]
    assert fts5.startswith("fts5       4  .500 [")
    assert hybrid.startswith("hybrid     4  1.00 [1.00 1.00]  1.00 [1.00 1.00]")
    assert hybrid.split()[-2:] == ["10", "1.5"]
    assert len({len(line) for line in (header, fts5, hybrid)}) == 1


def test_the_table_by_category() -> None:
    lines = list(run_table([made("hybrid", "+-+-")], 6, by_category=True))
    assert [line.split()[0] for line in lines[1:]] == ["hybrid", "even", "odd"]
    assert lines[2].startswith("  even     2  1.00 [")
    assert lines[3].startswith("  odd      2  .000 [")


def test_the_title_counts_what_was_not_asked() -> None:
    assert run_title(made("hybrid", "+")) == (
        "set: 1 questions, 3 more without evidence were not asked"
    )
    assert run_title(replace(made("hybrid", "++"), unanswerable=0)) == "set: 2 questions"


def test_another_mode_than_the_one_asked_for_is_shown_with_the_reason() -> None:
    run = made("hybrid", "++0", mode="keyword")
    reason = "reads Latin scripts only"
    run = replace(run, results=tuple(one._replace(notice=reason) for one in run.results))
    assert list(run_warnings(run)) == [
        "hybrid: 3 of 3 questions were answered in mode 'keyword', not 'hybrid': " + reason,
        "hybrid: 1 of 3 questions got no hit at all",
    ]
    assert list(run_warnings(made("hybrid", "++"))) == []
    (refused,) = run_warnings(made("hybrid", "+", mode="refused"))
    assert refused == "hybrid: 1 of 1 questions were refused"


def test_a_run_survives_being_saved(tmp_path: Path) -> None:
    runs = [made("fts5", "+-2"), made("hybrid", "0++", dataset="集")]
    assert from_json(as_json(runs)) == runs
    save_runs(tmp_path / "runs.json", runs)
    assert load_runs(tmp_path / "runs.json") == runs
    assert [path.name for path in tmp_path.iterdir()] == ["runs.json"]


def test_what_a_model_reads_is_saved_and_an_older_run_is_not_taken_for_unread() -> None:
    old = made("hybrid", "++")
    seen = {4000: (True, False), 2000: (False, False)}
    new = replace(old, results=tuple(result._replace(seen=seen) for result in old.results))
    assert from_json(as_json([new])) == [new]
    assert (new.seen("any-seen", 4000).mean, new.seen("all-seen", 4000).mean) == (1, 0)
    assert list(seen_table([old], by_category=False)) == []
    with pytest.raises(BadRequest, match="hybrid on set does not have what a model reads"):
        compare(old, new, "any-seen", 6)


def test_a_run_that_cannot_be_saved_leaves_the_last_one(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    save_runs(shared_path / "runs.json", [made("fts5", "+")])
    before = (shared_path / "runs.json").read_bytes()
    shared_path.chmod(0o555)
    with unprivileged(), pytest.raises(OutputFailed, match="Permission denied"):
        save_runs(shared_path / "runs.json", [])
    assert (shared_path / "runs.json").read_bytes() == before
    assert [path.name for path in shared_path.iterdir()] == ["runs.json"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 99, "runs": []}', '{"version": 1, "runs": [{}]}', "[1]"]
)
def test_what_is_no_saved_run_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadRequest, match=r"x\.json' is not a run"):
        load_runs(tmp_path / "x.json")
    with pytest.raises(BadRequest, match="cannot read the run"):
        load_runs(tmp_path / "nowhere.json")
    with pytest.raises(OutputFailed, match="nowhere"):
        save_runs(tmp_path / "nowhere" / "x.json", [])


def test_a_comparison_counts_what_was_won_and_lost() -> None:
    comparison = compare(made("old", "++--"), made("new", "+2++"), "ndcg", 6)
    assert [question.id for question, _ in comparison.won] == ["q2", "q3"]
    assert [(one.id, round(gain, 3)) for one, gain in comparison.lost] == [("q1", -0.369)]
    assert comparison.equal == 1
    assert comparison.gain.mean == pytest.approx((2 - 0.3691) / 4, abs=1e-4)
    (line,) = comparison_lines(comparison)
    assert line.startswith("new against old, ndcg@6: +.408 [")
    assert line.endswith("; 2 won, 1 lost, 1 equal (may be chance)")
    assert list(change_lines(comparison)) == [
        "won: 2",
        "  +1.00  q2  question 2?",
        "  +1.00  q3  question 3?",
        "lost: 1",
        "  -.369  q1  question 1?",
    ]


def test_a_run_compared_with_itself_is_equal_and_a_better_one_is_not_chance() -> None:
    same = compare(made("a", "+-+"), made("a", "+-+"), "any", 6)
    assert (same.gain, same.may_be_chance) == ((0, 0, 0), False)
    better = compare(made("a", "-" * 30), made("b", "+" * 20 + "-" * 10), "any", 6)
    assert better.gain.low > 0
    assert not better.may_be_chance


def test_questions_in_one_run_only_are_left_out_and_said_to_be() -> None:
    comparison = compare(made("old", "++"), made("new", "+++-"), "any", 6)
    assert (comparison.only_in_one, comparison.equal) == (2, 2)
    assert "2 questions are in one of the two runs only" in "\n".join(comparison_lines(comparison))
    changed = replace(made("new", "++"), digest="another")
    told = "\n".join(comparison_lines(compare(made("old", "++"), changed, "any", 6)))
    assert "the evidence of some questions is different in the two runs" in told


def test_hits_that_were_not_kept_are_not_compared() -> None:
    with pytest.raises(BadRequest, match="old on set was run with --k 3"):
        compare(made("old", "+", k=3), made("new", "+"), "ndcg", 6)


def test_runs_are_paired_by_set_and_system() -> None:
    old = [made("fts5", "+"), made("hybrid", "+"), made("hybrid", "+", dataset="other")]
    new = [made("hybrid", "-"), made("vector", "-")]
    assert pairs(old, new) == [(old[1], new[0])]
    assert pairs(old, new, ["fts5", "vector"]) == [(old[0], new[1])]
    assert pairs(old, new, ["hybrid"]) == [(old[1], new[0])]
    assert pairs(old, [new[1]]) == [(old[1], new[1])]
    with pytest.raises(BadRequest, match=r"nothing to compare: one file has set \(fts5\)"):
        pairs(old, new, ["keyword"])
    with pytest.raises(BadRequest, match="the other no runs"):
        pairs(old, [])
