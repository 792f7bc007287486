"""`notewell eval --replay`: conversations go through the installed hooks, then questions."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from notewell.cli import hook_setup, main
from notewell.cli.hook_call import HookTime

ROOT = Path(__file__).parents[2]
SET = ROOT / "examples" / "conversations"


@pytest.fixture(autouse=True, scope="module")
def unhurried() -> Iterator[None]:
    """A busy machine must not decide what these tests find."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hook_setup, "time_of", lambda *_, **__: HookTime(600, 600))
        yield


def replayed(*words: str | Path) -> tuple[int, str]:
    with redirect_stdout(io.StringIO()) as out:
        code = main(["eval", "--replay", *map(str, words)])
    return code, out.getvalue()


def as_json(*words: str | Path) -> dict[str, dict[str, Any]]:
    """The runs by their form."""
    code, out = replayed("--json", *words)
    assert code == 0, out
    return {run["form"]: run for run in json.loads(out)["replays"]}


def means(run: dict[str, Any], stage: str) -> tuple[float, float]:
    measures = run["measures"][stage]
    return measures["any"]["mean"], measures["all"]["mean"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the replays of this module are saved."""
    return tmp_path_factory.mktemp("saved")


@pytest.fixture(scope="module")
def kept(
    tmp_path_factory: pytest.TempPathFactory, saved: Path
) -> tuple[Path, dict[str, dict[str, Any]]]:
    """The set of the repository, and what its replay left in the state folder."""
    state = tmp_path_factory.mktemp("state")
    return state, as_json(SET, "--state-dir", state, "--out", saved / "kept.json")


@pytest.fixture(scope="module")
def notes_only(saved: Path) -> dict[str, dict[str, Any]]:
    """Eight of its questions, after the hooks that write session notes only."""
    return as_json(SET, "--notes-only", "--limit", "8", "--out", saved / "notes.json")


@pytest.mark.parametrize("form", ["sessions", "one"])
def test_what_was_said_is_kept_found_and_seen(
    kept: tuple[Path, dict[str, dict[str, Any]]], form: str
) -> None:
    run = kept[1][form]
    assert (run["questions"], run["messages"], run["degraded"]) == (17, 120, False)
    # Floors, not the figures of today: 1.00/1.00 found, 1.00/.88 seen.
    assert means(run, "disk") == (1.0, 1.0)
    assert min(means(run, "found")) >= 0.94
    assert means(run, "seen") >= (0.94, 0.82)
    corrected = next(one for one in run["asked"] if one["id"] == "staging-port")
    assert corrected["seen"] == [True]


def test_each_message_is_kept_once_in_both_forms(
    kept: tuple[Path, dict[str, dict[str, Any]]],
) -> None:
    state, runs = kept
    assert {form: run["sessions"] for form, run in runs.items()} == {"sessions": 6, "one": 1}
    for form, files in (("sessions", 6), ("one", 1)):
        found = list(state.glob(f"replay/*/diary-{form}/state/agents/main/sessions/*/*.jsonl"))
        assert len(found) == files
        lines = [
            json.loads(line) for file in found for line in file.read_text("utf-8").split("\n")[:-1]
        ]
        ids = [line["id"] for line in lines if line["type"] == "message"]
        assert len(ids) == len(set(ids)) == 120


def test_hooks_that_keep_notes_only_lose_most_of_a_long_session(
    notes_only: dict[str, dict[str, Any]],
) -> None:
    runs = notes_only
    # The last 15 messages of each session become a note; more was never stored.
    assert means(runs["one"], "disk") < means(runs["sessions"], "disk") < (1.0, 1.0)
    assert runs["one"]["questions"] == 8
    for run in runs.values():
        assert means(run, "seen") <= means(run, "disk")


def test_two_saved_replays_are_compared_question_by_question(
    kept: tuple[Path, dict[str, dict[str, Any]]],
    notes_only: dict[str, dict[str, Any]],
    saved: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = (str(saved / "notes.json"), str(saved / "kept.json"))
    assert main(["eval", "--compare", *files, "--json"]) == 0
    comparisons = json.loads(capsys.readouterr().out)["comparisons"]
    assert [(one["new"], one["stage"], one["measure"]) for one in comparisons] == [
        (form, stage, measure)
        for form in ("sessions", "one")
        for stage in ("found", "seen")
        for measure in ("any", "all")
    ]
    for one in comparisons:
        assert (one["old"], one["k"], one["onlyInOne"]) == (one["new"], 6, 9)
        before = _has(notes_only[one["new"]], one)
        after = _has(kept[1][one["new"]], one)
        won = {id_ for id_, value in before.items() if after[id_] > value}
        lost = {id_ for id_, value in before.items() if after[id_] < value}
        assert ({each["id"] for each in one["won"]}, {each["id"] for each in one["lost"]}) == (
            won,
            lost,
        )
    assert any(one["won"] for one in comparisons)


def _has(run: dict[str, Any], comparison: dict[str, Any]) -> dict[str, bool]:
    measure = any if comparison["measure"] == "any" else all
    return {one["id"]: measure(one[comparison["stage"]]) for one in run["asked"]}


@pytest.mark.usefixtures("kept")
def test_a_comparison_of_replays_names_the_columns_of_the_table(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(saved / "kept.json")
    assert main(["eval", "--replay", "--compare", file, file, "--measure", "all"]) == 0
    out = capsys.readouterr().out
    assert "conversations:\nsessions against sessions, all@6: +.000 [+.000 +.000]; 0 won" in out
    assert "\none against one, all seen: +.000 [+.000 +.000]; 0 won, 0 lost, 17 equal" in out
    assert "any" not in out


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--measure", "mrr"), "a replay is measured by any and all, not by mrr"),
        (("--k", "3"), "leave out --system and --k"),
        (("--system", "hybrid"), "leave out --system and --k"),
    ],
)
def test_replays_have_no_other_measures(
    saved: Path, words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(saved / "kept.json")
    assert main(["eval", "--compare", file, file, *words]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.usefixtures("kept")
def test_a_replay_is_not_compared_with_a_run_without_one(
    saved: Path, workspaces: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, replay = str(saved / "run.json"), str(saved / "kept.json")
    assert main(["eval", str(workspaces), "--system", "fts5", "--out", run]) == 0
    for words in ((run, replay), (replay, run), (run, run, "--replay")):
        assert main(["eval", "--compare", *words]) == 2
        assert f"{run!r} has no replay" in capsys.readouterr().err


def test_a_second_replay_finds_nothing_of_the_first(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    shutil.copytree(SET, folder)
    state = tmp_path / "state"
    first = as_json(folder, "--limit", "2", "--state-dir", state)
    for file in (folder / "diary" / "sessions").glob("0[1-5]*"):
        lines = file.read_text("utf-8").splitlines()
        texts = [line.replace("allergic", "used") for line in lines]
        file.write_text("\n".join(texts) + "\n", encoding="utf-8")
    second = as_json(folder, "--limit", "2", "--state-dir", state)
    assert [one["id"] for one in first["one"]["asked"]] == [
        one["id"] for one in second["one"]["asked"]
    ]
    kept = "".join(file.read_text("utf-8") for file in state.rglob("agents/**/*.jsonl"))
    assert "allergic" not in kept


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--system", "fts5"), "--replay has no --system"),
        (("--backend", "qmd"), "--replay has no --system and --backend"),
        (("--out", "no/such/folder/runs.json"), "name a file in a folder that exists"),
        (("--limit", "0"), "--limit must be at least 1"),
        (("--k", "0"), "k must be 1 to"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "--replay", str(SET), *words]) == 2
    assert why in capsys.readouterr().err


def test_notes_only_without_a_replay_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", str(SET), "--notes-only"]) == 2
    assert "--notes-only is for --replay" in capsys.readouterr().err


def test_a_set_without_conversations_is_refused(
    workspaces: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "--replay", str(workspaces)]) == 2
    assert "no question has evidence in sessions/*.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"type": "message", "id": "m9", "message": 3}', "expected an object as 'message'"),
        (
            '{"type": "message", "id": "m9", "timestamp": "soon", '
            '"message": {"role": "user", "content": "hi"}}',
            "expected a time such as 2026-03-02T09:00:00Z as 'timestamp', not 'soon'",
        ),
        ('{"type": "mess', "not valid JSON"),
    ],
)
def test_a_broken_session_is_named_with_its_line(
    tmp_path: Path, line: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "set"
    shutil.copytree(SET, folder)
    with (folder / "diary" / "sessions" / "06-garden.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    assert main(["eval", "--replay", str(folder)]) == 2
    err = capsys.readouterr().err
    assert "06-garden.jsonl', line 18: " in err
    assert why in err


def test_a_hook_that_fails_ends_the_replay_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.json"
    own.write_text('{"agents": {"defaults": {"userTimezone": "Mars/Olympus"}}}', encoding="utf-8")
    monkeypatch.setenv("NOTEWELL_CONFIG", str(own))
    assert main(["eval", "--replay", str(SET)]) in (1, 2)
    assert "Mars/Olympus" in capsys.readouterr().err


def test_the_page_shows_what_is_printed() -> None:
    page = (ROOT / "docs" / "how-to" / "evaluate.md").read_text(encoding="utf-8")
    (shown,) = re.findall(
        r"^notewell eval --replay examples/conversations\n```\n\n```text\n(.*?)^```",
        page,
        re.M | re.S,
    )
    code, out = replayed(SET, "--limit", "3")
    assert code == 0
    assert [_words(line) for line in out.strip().split("\n")] == [
        _words(line) for line in shown.strip().split("\n")
    ]


def _words(line: str) -> list[str]:
    """Figures, and so the blanks before them, differ by run."""
    return re.sub(r"[\d.]+", "#", line).split()
