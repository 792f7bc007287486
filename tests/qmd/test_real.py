"""The contract with the real program; the numbers are those of the notes on QMD."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.qmd.conftest import NO_MODELS, MakeQmd, with_node
from tests.qmd.processes import await_end_of, group_of

from notewell.qmd import ExtraFolder, Qmd, QmdFailed, QmdHome, QmdResult, collections_of
from notewell.qmd.collections import shown_path
from notewell.qmd.home import INDEX, document_counts, has_vectors
from notewell.qmd.process import Program, run
from notewell.qmd.query import UpdateCounts
from notewell.types import Source

CAP = "# Day\n\nFirst.\n\n\n\n\n\n\n\n## The CAP Theorem\n\nConsistency or availability.\n"
BOTH = pytest.mark.parametrize("daemon", [False, True], ids=["command", "server"])


@pytest.fixture
def notes(workspace: Path) -> Path:
    (workspace / "MEMORY.md").write_text("# Memory\n\nThe router ships on Friday.\n", "utf-8")
    (workspace / "memory" / "2026-11-01.md").write_text(CAP, "utf-8")
    (workspace / "memory" / "Ü a #1?.md").write_text("# Odd\n\nAn odd zebra.\n", "utf-8")
    return workspace


def paths(found: tuple[QmdResult, ...]) -> list[str]:
    return ["/".join(one.parts) for one in found]


@BOTH
def test_one_update_is_all_it_takes_to_be_found(
    make_real: MakeQmd, notes: Path, home: QmdHome, daemon: bool
) -> None:
    """C1: our own settings file, no `collection add`."""
    qmd = make_real(daemon=daemon)
    before = home.config_file
    qmd.update()
    written = before.read_bytes()
    found = qmd.search("When does the router ship?", 6)
    assert paths(found) == ["MEMORY.md"]
    assert found[0].snippet == "The router ships on Friday."
    assert before.read_bytes() == written, "QMD leaves the settings we wrote as they are"
    assert json.loads(written)["models"] == NO_MODELS._asdict()


def test_what_qmd_writes_is_for_its_owner_alone(
    make_real: MakeQmd, notes: Path, home: QmdHome
) -> None:
    make_real().update()
    modes = {path.stat().st_mode & 0o077 for path in [home.path, *home.path.rglob("*")]}
    assert modes == {0}


@BOTH
@pytest.mark.parametrize("where", ["workspace", "above", "home"])
def test_settings_in_the_workspace_or_above_have_no_effect(
    make_real: MakeQmd, notes: Path, home: QmdHome, where: str, daemon: bool
) -> None:
    """C2: without the name of the index QMD follows the first `.qmd/index.yml` it meets."""
    place = {"workspace": notes, "above": notes.parent, "home": home.path}[where]
    elsewhere = notes.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "trap.md").write_text("The router is a trap.\n", "utf-8")
    (place / ".qmd").mkdir(parents=True)
    trap = {"collections": {"memory-root-main": {"path": str(elsewhere), "pattern": "**/*.md"}}}
    (place / ".qmd" / "index.yml").write_text(json.dumps(trap), "utf-8")
    qmd = make_real(daemon=daemon)
    qmd.update()
    assert paths(qmd.search("router", 6)) == ["MEMORY.md"]
    assert not (place / ".qmd" / "index.sqlite").exists()


def test_another_qmds_settings_in_the_environment_have_no_effect(
    real_qmd: Path, make_real: MakeQmd, notes: Path, home: QmdHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C3."""
    elsewhere = notes.parent / "other.sqlite"
    monkeypatch.setenv("INDEX_PATH", str(elsewhere))
    monkeypatch.setenv("QMD_CONFIG_DIR", str(notes.parent / "other"))
    monkeypatch.setenv("PWD", str(notes))
    qmd = make_real()
    qmd.update()
    assert paths(qmd.search("router", 6)) == ["MEMORY.md"]
    assert not elsewhere.exists()
    assert home.index.exists()


QUESTIONS = (
    "--help router",
    "-n1 router",
    "--index=nope router",
    "-router",
    'router "unbalanced',
    "lex: router",
    "router\nvec: x\n\0",
    "router \ud800",
    "* OR router^ AND (",
    "NOT router {x}",
)


@BOTH
def test_no_question_is_taken_for_a_flag_or_for_syntax(
    make_real: MakeQmd, notes: Path, daemon: bool
) -> None:
    """C4, C7."""
    qmd = make_real(daemon=daemon)
    qmd.update()
    with ThreadPoolExecutor(2) as pool:
        answers = pool.map(lambda question: paths(qmd.search(question, 6)), QUESTIONS)
        told = dict(zip(QUESTIONS, answers, strict=True))
    assert {question: found for question, found in told.items() if found != ["MEMORY.md"]} == {}


@BOTH
def test_a_question_without_words_is_answered_by_nothing(
    make_real: MakeQmd, notes: Path, daemon: bool
) -> None:
    assert make_real(daemon=daemon).search("?! -- …", 6) == ()


def test_updates_at_once_all_succeed(make_real: MakeQmd, notes: Path, home: QmdHome) -> None:
    """C6: without a lock three of four die of a broken constraint."""
    drivers = [make_real() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda one: one.update(), drivers))
    assert document_counts(home.index) == {"memory-root-main": 1, "memory-dir-main": 2}


def test_searches_during_an_update_are_answered(make_real: MakeQmd, notes: Path) -> None:
    qmd = make_real(daemon=True)
    qmd.update()
    for number in range(200):
        (notes / "memory" / f"more-{number}.md").write_text(f"zebra {number}\n" * 50, "utf-8")
    with ThreadPoolExecutor(2) as pool:
        updating = pool.submit(qmd.update)
        answers = [qmd.search("router", 6) for _ in range(5)]
        updating.result()
    assert all(paths(found) == ["MEMORY.md"] for found in answers)
    assert len(qmd.search("zebra", 20)) == 20


@BOTH
def test_one_word_of_many_is_enough(make_real: MakeQmd, notes: Path, daemon: bool) -> None:
    """C7: QMD alone wants every word in the same file."""
    qmd = make_real(daemon=daemon)
    qmd.update()
    question = "Did anybody decide whether the CAP theorem matters to the quarterly budget?"
    assert paths(qmd.search(question, 6)) == ["2026-11-01.md"]


@BOTH
def test_hits_are_scored_by_rank_though_qmd_says_nought(
    make_real: MakeQmd, notes: Path, daemon: bool
) -> None:
    """C8: a word that is in every file has score 0.00."""
    for number in range(3):
        (notes / "memory" / f"{number}.md").write_text("The router again.\n", "utf-8")
    qmd = make_real(daemon=daemon)
    qmd.update()
    scores = [one.score for one in qmd.search("router", 6)]
    assert len(scores) == 4
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1.0
    assert scores[-1] > 0.7


@BOTH
def test_odd_names_come_back_as_they_are(make_real: MakeQmd, notes: Path, daemon: bool) -> None:
    """C9: the command does not encode them, the server does."""
    (notes / "memory" / "100%25 sure.md").write_text("A percent zebra.\n", "utf-8")
    (notes / "memory" / "emoji 🦓.md").write_text("A striped zebra.\n", "utf-8")
    qmd = make_real(daemon=daemon)
    qmd.update()
    found = qmd.search("zebra", 6)
    assert sorted(paths(found)) == ["100%25 sure.md", "emoji 🦓.md", "Ü a #1?.md"]
    shown = {shown_path(notes, one.collection, one.parts) for one in found}
    assert shown == {"memory/100%25 sure.md", "memory/emoji 🦓.md", "memory/Ü a #1?.md"}


@BOTH
def test_lines_are_those_of_the_file(make_real: MakeQmd, notes: Path, daemon: bool) -> None:
    """C10: the server numbers them wrongly, the header is right."""
    qmd = make_real(daemon=daemon)
    qmd.update()
    [found] = qmd.search("CAP theorem", 6)
    lines = CAP.split("\n")[found.span.start_line - 1 : found.span.end_line]
    assert "\n".join(lines) == found.snippet
    assert lines[0] == "## The CAP Theorem"


@BOTH
def test_a_word_deep_in_a_long_file_has_its_own_lines(
    make_real: MakeQmd, notes: Path, daemon: bool
) -> None:
    text = "".join(f"Line {number} of a long day.\n" for number in range(1, 901))
    text = text.replace("Line 700 of", "Line 700 has a quagga of")
    (notes / "memory" / "long.md").write_text(text, "utf-8")
    qmd = make_real(daemon=daemon)
    qmd.update()
    [found] = qmd.search("Where was the quagga?", 6)
    assert found.span.start_line <= 700 <= found.span.end_line
    assert "quagga" in found.snippet


@BOTH
def test_two_files_that_say_the_same_are_two_hits(
    make_real: MakeQmd, notes: Path, daemon: bool
) -> None:
    """C15: QMD gives them one id."""
    for name in ("a.md", "b.md"):
        (notes / "memory" / name).write_text("The same okapi.\n", "utf-8")
    qmd = make_real(daemon=daemon)
    qmd.update()
    assert sorted(paths(qmd.search("okapi", 6))) == ["a.md", "b.md"]


def test_links_are_not_followed(make_real: MakeQmd, notes: Path) -> None:
    """C15."""
    outside = notes.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("A secret okapi.\n", "utf-8")
    (notes / "memory" / "link.md").symlink_to(outside / "secret.md")
    (notes / "memory" / "folder").symlink_to(outside, target_is_directory=True)
    qmd = make_real()
    qmd.update()
    assert qmd.search("okapi", 6) == ()


@BOTH
def test_a_folder_that_becomes_a_link_is_not_followed(
    make_real: MakeQmd, notes: Path, daemon: bool
) -> None:
    qmd = make_real(daemon=daemon)
    qmd.update()
    outside = notes.parent / "outside"
    (notes / "memory").rename(outside)
    (outside / "secret.md").write_text("A secret okapi.\n", "utf-8")
    (notes / "memory").symlink_to(outside, target_is_directory=True)
    qmd.update()
    assert qmd.search("okapi", 6) == ()
    assert qmd.search("zebra", 6) == ()
    assert paths(qmd.search("router", 6)) == ["MEMORY.md"]


def test_an_extra_folder_may_be_a_link(make_real: MakeQmd, notes: Path, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("A tapir.\n", "utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "docs", target_is_directory=True)
    qmd = make_real(paths=(ExtraFolder(str(tmp_path / "link")),))
    qmd.update()
    assert paths(qmd.search("tapir", 6)) == ["a.md"]


@BOTH
def test_extra_folders_and_files_are_collections_of_their_own(
    make_real: MakeQmd, notes: Path, tmp_path: Path, daemon: bool
) -> None:
    docs = tmp_path / "docs"
    (docs / "deep").mkdir(parents=True)
    (docs / "deep" / "a.md").write_text("A tapir.\n", "utf-8")
    (docs / "b.txt").write_text("No tapir: wrong ending.\n", "utf-8")
    (tmp_path / "one.md").write_text("One tapir.\n", "utf-8")
    extra = (ExtraFolder(str(docs), None, "Docs!"), ExtraFolder(str(tmp_path / "one.md")))
    qmd = make_real(daemon=daemon, paths=extra)
    qmd.update()
    found = qmd.search("tapir", 6)
    shown = {shown_path(notes, one.collection, one.parts) for one in found}
    assert shown == {"qmd/docs-main/deep/a.md", "qmd/custom-2-main/one.md"}


@BOTH
def test_only_the_sources_asked_for_are_searched(
    make_real: MakeQmd, notes: Path, home: QmdHome, daemon: bool
) -> None:
    home.sessions.mkdir(parents=True)
    (home.sessions / "s.md").write_text("# Session s\n\nUser: about the router\n", "utf-8")
    qmd = make_real(daemon=daemon, export_sessions=True)
    qmd.update()
    assert len(qmd.search("router", 6)) == 2
    expected: dict[Source, str] = {"sessions": "s.md", "memory": "MEMORY.md"}
    for source, name in expected.items():
        assert paths(qmd.search("router", 6, (source,))) == [name]
    assert qmd.search("router", 6, ()) == ()


@BOTH
def test_what_changed_is_found_after_an_update_and_what_went_is_not(
    make_real: MakeQmd, notes: Path, daemon: bool
) -> None:
    qmd = make_real(daemon=daemon)
    qmd.update()
    assert qmd.search("gnu", 6) == ()
    (notes / "memory" / "new.md").write_text("A gnu.\n", "utf-8")
    (notes / "MEMORY.md").unlink()
    qmd.update()
    assert paths(qmd.search("gnu", 6)) == ["new.md"]
    assert qmd.search("router", 6) == ()


def test_an_index_begun_anew_forgets_everything_else(
    make_real: MakeQmd, notes: Path, home: QmdHome
) -> None:
    qmd = make_real(daemon=True)
    qmd.update()
    home.index.write_bytes(b"this is no database" * 1000)
    with pytest.raises(QmdFailed) as failed:
        qmd.search("router", 6)
    assert failed.value.is_index_damaged
    qmd.update()  # It is a copy: what cannot be read is made anew.
    assert paths(qmd.search("router", 6)) == ["MEMORY.md"]


@BOTH
@pytest.mark.parametrize("mode", ["vsearch", "query"])
def test_without_vectors_a_search_by_meaning_says_so_at_once(
    make_real: MakeQmd, notes: Path, daemon: bool, mode: str
) -> None:
    """C12."""
    qmd = make_real(daemon=daemon, search_mode=mode)
    qmd.update()
    with pytest.raises(QmdFailed) as failed:
        qmd.search("router", 6)
    assert failed.value.kind == "no-vectors"


def test_without_a_model_nothing_is_embedded(make_real: MakeQmd, notes: Path) -> None:
    """C12: QMD would hang for twelve minutes where the network is dead."""
    qmd = make_real()
    qmd.update()
    with pytest.raises(QmdFailed) as failed:
        qmd.embed()
    assert failed.value.kind == "no-models"
    assert "/nonexistent/e.gguf" in str(failed.value)


def test_the_error_line_of_qmd_reaches_the_user(
    real_qmd: Path, make_real: MakeQmd, notes: Path, home: QmdHome
) -> None:
    """C13."""
    make_real().update()
    program = Program(str(real_qmd), home.path, home.environment(with_node(real_qmd)))
    with pytest.raises(QmdFailed, match="Collection not found: nope") as failed:
        run(program, ["--index", INDEX, "search", "--json", "-c", "nope", "--", "x"], 30)
    assert (failed.value.kind, failed.value.code) == ("exit", 1)


def test_a_model_that_is_no_model_is_an_error_and_no_hang(
    make_real: MakeQmd, notes: Path, tmp_path: Path
) -> None:
    models = NO_MODELS._replace(embed=str(tmp_path / "e.gguf"))
    (tmp_path / "e.gguf").write_bytes(b"GGUF, not really")
    qmd = make_real(models=models, embed_timeout_s=60.0)
    qmd.update()
    with pytest.raises(QmdFailed) as failed:
        qmd.embed()
    assert failed.value.kind == "exit"
    assert "Error" in failed.value.why


def test_the_status_of_qmd_is_still_text(
    real_qmd: Path, make_real: MakeQmd, notes: Path, home: QmdHome
) -> None:
    """A canary: once `status --json` is JSON, we need not look into its database."""
    make_real().update()
    program = Program(str(real_qmd), home.path, home.environment(with_node(real_qmd)))
    told = run(program, ["--index", INDEX, "status", "--json"], 30).stdout
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(told)
    assert has_vectors(home.index) is False


def test_the_server_ends_with_close_and_starts_again(make_real: MakeQmd, notes: Path) -> None:
    """C5, C16."""
    qmd = make_real(daemon=True)
    qmd.update()
    qmd.search("router", 6)
    pid = running(qmd)
    qmd.close()
    await_end_of(group_of(pid))
    assert not group_of(pid)
    assert paths(qmd.search("router", 6)) == ["MEMORY.md"]
    assert running(qmd) != pid
    assert qmd.daemon_failure is None


@pytest.mark.parametrize("victim", ["node", "leash"])
def test_a_server_that_was_killed_is_replaced(
    make_real: MakeQmd, notes: Path, victim: str
) -> None:
    qmd = make_real(daemon=True)
    qmd.update()
    qmd.search("router", 6)
    pid = running(qmd)
    node = max(group_of(pid))
    os.kill(node if victim == "node" else pid, signal.SIGKILL)
    for _ in range(2):
        assert paths(qmd.search("router", 6)) == ["MEMORY.md"]
    qmd.close()
    await_end_of(group_of(pid))
    assert not group_of(pid)


def test_a_server_killed_in_the_middle_of_questions_costs_no_answer(
    make_real: MakeQmd, notes: Path
) -> None:
    qmd = make_real(daemon=True)
    qmd.update()
    qmd.search("router", 6)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(qmd.search, "router friday", 6) for _ in range(40)]
        os.kill(max(group_of(running(qmd))), signal.SIGKILL)
        answers = [one.result() for one in asked]
    assert all(paths(found) == ["MEMORY.md"] for found in answers)


def test_no_server_outlives_a_process_that_was_killed(
    make_real: MakeQmd, real_qmd: Path, notes: Path, home: QmdHome
) -> None:
    make_real().update()
    script = f"""
import os, signal
from pathlib import Path
from notewell.qmd import QmdModels, Qmd, QmdHome, QmdSettings, collections_of
settings = QmdSettings(
    command={str(real_qmd)!r}, timeout_s=30, models=QmdModels(*{tuple(NO_MODELS)!r})
)
home, workspace = QmdHome(Path({str(home.path)!r})), Path({str(notes)!r})
collections = collections_of(workspace, "main", settings, home.sessions)
qmd = Qmd(settings, home, collections, server_from=1)
assert qmd.search("router", 6)
print(qmd.daemon_pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run(
        [sys.executable, "-c", script],
        env=with_node(real_qmd),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    await_end_of(group_of(int(killed.stdout)))
    assert not group_of(int(killed.stdout))


def test_command_and_server_find_the_same(make_real: MakeQmd, notes: Path) -> None:
    """C16."""
    for number in range(30):
        text = f"# Note {number}\n\nAbout topic {number % 7} and animal {number % 5}.\n"
        (notes / "memory" / f"n{number}.md").write_text(text, "utf-8")
    command, server = make_real(), make_real(daemon=True)
    command.update()
    for question in ("topic 3 and animal 2?", "animal", "CAP theorem, or topic 6"):
        assert command.search(question, 10) == server.search(question, 10)


def test_an_update_tells_what_it_did(make_real: MakeQmd, notes: Path, home: QmdHome) -> None:
    qmd = make_real()
    assert qmd.update() == UpdateCounts(3, 0, 0, 0)
    first = home.updated_ns()
    (notes / "MEMORY.md").write_text("Something else.\n", "utf-8")
    (notes / "memory" / "2026-11-01.md").unlink()
    assert qmd.update() == UpdateCounts(0, 1, 1, 1)
    assert first is not None
    assert (home.updated_ns() or 0) > first


def test_who_asks_once_starts_no_server(
    real_qmd: Path, make_real: MakeQmd, notes: Path, home: QmdHome
) -> None:
    make_real().update()
    settings = replace(make_real().settings, daemon=True)
    collections = collections_of(notes, "main", settings, home.sessions)
    qmd = Qmd(settings, home, collections, inherited=with_node(real_qmd))
    try:
        assert paths(qmd.search("router", 6)) == ["MEMORY.md"]
        assert qmd.daemon_pid is None
        assert paths(qmd.search("router", 6)) == ["MEMORY.md"]
        assert qmd.daemon_pid is not None
    finally:
        qmd.close()


def test_a_question_behind_the_dashes_is_no_flag(
    real_qmd: Path, make_real: MakeQmd, notes: Path, home: QmdHome
) -> None:
    """C4: without them `--help` prints help and exits with 0."""
    make_real().update()
    program = Program(str(real_qmd), home.path, home.environment(with_node(real_qmd)))
    told = run(program, ["--index", INDEX, "search", "--json", "--", "--help"], 30).stdout
    assert json.loads(told) == []
    assert b"Usage" in run(program, ["--index", INDEX, "search", "--json", "--help"], 30).stdout


def test_its_version_can_be_asked_for(make_real: MakeQmd) -> None:
    assert re.match(r"qmd \d+\.\d+", make_real().version())


def running(qmd: Qmd) -> int:
    assert qmd.daemon_pid is not None
    return qmd.daemon_pid
