"""`notewell eval` from end to end, in this process, without a model."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from notewell.cli import main
from notewell.cli.parser import build_parser

ROOT = Path(__file__).parents[2]


class Eval:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.out = self.err = ""

    def __call__(self, *arguments: str | Path) -> int:
        code = main(["eval", *map(str, arguments)])
        self.out, self.err = self.capsys.readouterr()
        return code

    def json(self, *arguments: str | Path) -> dict[str, Any]:
        self("--json", *arguments)
        told: dict[str, Any] = json.loads(self.out)
        assert told.pop("version") == 1
        return told


@pytest.fixture
def evaluate(capsys: pytest.CaptureFixture[str]) -> Eval:
    return Eval(capsys)


KEYWORD = ("--system", "fts5,keyword")


def test_a_set_is_asked_of_the_floor_and_of_us(evaluate: Eval, workspaces: Path) -> None:
    assert evaluate(workspaces, *KEYWORD) == 0
    first, header, fts5, keyword, *seen, paired = evaluate.out.strip().split("\n")
    assert first == "diary: 2 questions, 1 more without evidence were not asked"
    assert "any@6" in header
    assert fts5.startswith("fts5        2  1.00")
    assert keyword.startswith("keyword     2  1.00")
    assert seen[0].split() == [
        *("n", "any-seen@4000", "all-seen@4000", "any-seen@2000", "all-seen@2000")
    ]
    assert seen[1:] == [
        f"{name:7}     2" + 4 * "  1.00 [1.00 1.00]" for name in ("fts5", "keyword")
    ]
    assert paired == ("keyword against fts5, ndcg@6: +.000 [+.000 +.000]; 0 won, 0 lost, 2 equal")
    assert evaluate.err == ""


def test_two_engines_stand_in_one_table(
    evaluate: Eval, workspaces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = os.environ.get("NOTEWELL_TEST_QMD")
    if not program:
        pytest.skip("set NOTEWELL_TEST_QMD to a qmd; ./check installs one")
    monkeypatch.setenv("PATH", f"{Path(program).parent}:{os.environ['PATH']}")
    evaluate(workspaces, "--backend", "qmd", "--system", "keyword")
    lines = evaluate.out.strip().split("\n")
    assert lines[2].startswith("qmd         2  1.00")
    assert lines[3].startswith("keyword     2  1.00")


def test_an_engine_nobody_knows_is_refused(evaluate: Eval, workspaces: Path) -> None:
    assert evaluate(workspaces, "--backend", "lucene") == 2
    assert "known: builtin, qmd" in evaluate.err


def test_by_category_and_several_sets(
    evaluate: Eval, workspaces: Path, passages: Path, tmp_path: Path
) -> None:
    assert evaluate(workspaces, passages, "--system", "fts5", "--k", "3", "--by-category") == 0
    assert "\n  garden     1  1.00 [" in evaluate.out
    assert "\nfacts: 2 questions, 1 more" in evaluate.out
    assert "against" not in evaluate.out
    assert list(tmp_path.rglob("000000.md")) == []


def test_json_has_measures_modes_and_the_comparison(evaluate: Eval, workspaces: Path) -> None:
    told = evaluate.json(workspaces, *KEYWORD, "--by-category")
    floor, ours = told["runs"]
    assert (floor["system"], ours["system"], ours["k"]) == ("fts5", "keyword", 6)
    assert (ours["questions"], ours["unanswerable"]) == (2, 1)
    assert ours["modes"] == {"keyword": 2}
    assert ours["measures"]["any"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert ours["seen"]["all-seen@2000"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert ours["categories"]["facts"]["questions"] == 1
    (comparison,) = told["comparisons"]
    assert (comparison["old"], comparison["new"], comparison["equal"]) == ("fts5", "keyword", 2)


def test_a_state_folder_keeps_indexes_and_notes(
    evaluate: Eval, passages: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    assert evaluate(passages, *KEYWORD, "--state-dir", state) == 0
    before = {path: path.stat().st_mtime_ns for path in state.rglob("*.md")}
    assert len(before) == 3
    assert list(state.rglob("index-*.sqlite"))
    evaluate(passages, *KEYWORD, "--state-dir", state)
    assert {path: path.stat().st_mtime_ns for path in state.rglob("*.md")} == before


def test_two_runs_are_compared_question_by_question(
    evaluate: Eval, workspaces: Path, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    evaluate(workspaces, *KEYWORD, "--out", old)
    (workspaces / "north" / "MEMORY.md").write_text("# Facts\n\n\n", encoding="utf-8")
    evaluate(workspaces, *KEYWORD, "--out", new)
    assert "keyword: 1 of 2 questions got no hit at all" in evaluate.out
    assert evaluate("--compare", old, new, "--measure", "any", "--k", "1") == 0
    assert "diary:\nkeyword against keyword, any@1: -.500 [" in evaluate.out
    assert "lost: 1\n  -1.00  q1  what is the password of the router?" in evaluate.out
    told = evaluate.json("--compare", old, new, "--system", "fts5")
    (comparison,) = told["comparisons"]
    assert [one["id"] for one in comparison["lost"]] == ["q1"]
    assert comparison["k"] == 6
    evaluate("--compare", old, new, "--measure", "all-seen")
    assert "keyword against keyword, all-seen@4000: " in evaluate.out
    evaluate("--compare", old, old, "--system", "fts5,keyword")
    assert "keyword against fts5" in evaluate.out


def test_wrong_usage_is_2_and_says_what_to_do(
    evaluate: Eval, workspaces: Path, tmp_path: Path
) -> None:
    saved = tmp_path / "run.json"
    evaluate(workspaces, "--system", "fts5", "--out", saved)
    for arguments, told in (
        ([], "name a folder with a set"),
        ([tmp_path / "nowhere"], "there is no such folder"),
        ([workspaces, "--system", "bm25"], "no system is called 'bm25'"),
        ([workspaces, "--k", "0"], "k must be 1 to 200"),
        ([workspaces, "--out", tmp_path / "no" / "x.json"], "name a file in a folder"),
        ([workspaces, "--out", tmp_path], "name a file in a folder"),
        ([workspaces, "--state-dir", ""], "it is empty"),
        (["--compare", saved, tmp_path / "x.json"], "cannot read the run"),
        (["--compare", saved, saved, "--k", "7"], "was run with --k 6"),
        (["--compare", saved, saved, "--system", "fts5,hybrid,vector"], "one for each"),
        ([workspaces, "--compare", saved, saved], "takes two saved runs"),
    ):
        assert evaluate(*arguments) == 2
        assert told in evaluate.err
        assert evaluate.out == ""


def test_a_broken_set_names_file_and_line_in_json_too(evaluate: Eval, passages: Path) -> None:
    (passages / "queries.jsonl").write_text('{"_id": "q1"\n', encoding="utf-8")
    told = evaluate.json(passages, *KEYWORD)
    assert told["error"]["kind"] == "NotADataset"
    assert "queries.jsonl', line 1: not valid JSON" in told["error"]["message"]


def test_progress_is_drawn_on_a_terminal(
    evaluate: Eval, workspaces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    evaluate(workspaces, *KEYWORD)
    assert "2/2 questions of diary, keyword" in evaluate.err


def test_what_the_model_does_not_read_is_shown_as_answered_by_keyword(
    evaluate: Eval, workspaces: Path
) -> None:
    file = workspaces / "evidence.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    content["queries"][1]["text"] = "Лимон боится мороза?"
    file.write_text(json.dumps(content), encoding="utf-8")
    assert evaluate(workspaces, "--system", "hybrid") == 0
    assert (
        "hybrid: 1 of 2 questions were answered in mode 'keyword', not 'hybrid': " in evaluate.out
    )
    assert "reads Latin and Chinese scripts only" in evaluate.out


def test_the_page_shows_what_is_printed(evaluate: Eval) -> None:
    page = (ROOT / "docs" / "how-to" / "evaluate.md").read_text(encoding="utf-8")
    (session,) = re.findall(r"^```console\n\$ notewell eval (.*?)^```", page, re.M | re.S)
    command, *shown = session.split("\n")
    folder, *options = shlex.split(command)
    assert evaluate(ROOT / folder, *options) == 0
    given = evaluate.out.split("\n")
    assert [_without_figures(line) for line in given[:4]] == [
        _without_figures(line) for line in shown[:4]
    ]


def _without_figures(line: str) -> list[str]:
    """The words of a line of the table: figures, and so the blanks before them, differ by run."""
    return re.sub(r"[\d.]+", "#", line).split()


def test_every_option_is_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser("eval").parse_args(["eval", "--help"])
    page = (ROOT / "docs" / "how-to" / "evaluate.md").read_text(encoding="utf-8")
    for option in re.findall(r"^  (--[\w-]+)", capsys.readouterr().out, re.M):
        assert option in page, option
    for line in re.findall(r"^notewell (eval .*?)(?: *#.*)?$", page, re.M):
        build_parser("eval").parse_args(shlex.split(line))
