"""A run with peers of our own: real processes, and what the table says of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bench.peers.claude_mem import merged
from bench.peers.evidence import Verdict
from bench.peers.measure import Measuring, PeerResult, SetResult, Written, load, save
from bench.peers.openclaw import OpenClaw
from bench.peers.peer import PeerAnswer, PeerFailed, PeerHit, PeerHome, Serving
from bench.peers.processes import LineProcess, run, started
from bench.peers.qmd import by_words
from bench.peers.questions import AskedSet
from bench.peers.runs import measure_rows, result_file, time_rows
from bench.peers.service import EmbeddingService
from bench.peers.settings import NotesUnchanged, environ, passages
from bench.peers.table import set_table, table
from bench.peers.times import PeerTimes

from notewell.evals.dataset import EvalQuestion, Evidence, EvidenceLines

ANSWERS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    print("a line that is not for us", flush=True)
    print(json.dumps({"id": message["id"], "text": "Ben painted a sunrise."}), flush=True)
"""
PATH = "memory/2023-05-08.md"


class OneLine(NotesUnchanged):
    """Answers every question with one line; when it indexes, it writes into the notes."""

    name = "one line"
    packages = {"one": "1.0"}  # noqa: RUF012 - never changed
    about = "for a test"
    has_own_vectors = True

    def install(self, cache: Path) -> tuple[Path, ...]:
        file = cache / "one" / "program"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * 1_000_000)
        return (file.parent,)

    def index(self, home: PeerHome) -> None:
        run([sys.executable, "-c", "pass"], environ(home), home.state)
        (home.notes / "added.md").write_bytes(b"12345")

    @contextmanager
    def serve(self, home: PeerHome) -> Iterator[Serving]:
        with started(
            [sys.executable, "-c", ANSWERS], environ(home), home.state, lines=True
        ) as process:
            yield _Asked(LineProcess(process))

    def ask_once(self, home: PeerHome, question: str) -> None:
        with self.serve(home) as serving:
            serving.ask(question)


class _Asked:
    def __init__(self, lines: LineProcess) -> None:
        self._lines = lines
        self.pid = lines.pid

    def ask(self, question: str) -> PeerAnswer:
        text = self._lines.ask({"id": 7, "question": question})["text"]
        return PeerAnswer((PeerHit(PATH, text),), text)


class NotInstalled(OneLine):
    name = "not installed"

    def install(self, cache: Path) -> tuple[Path, ...]:
        raise PeerFailed("npm ended with 1")


class Ends(OneLine):
    name = "ends"

    def index(self, home: PeerHome) -> None:
        run([sys.executable, "-c", "raise SystemExit('no room')"], environ(home), home.state)


@pytest.fixture
def measuring(tmp_path: Path) -> Measuring:
    notes = tmp_path / "given"
    (notes / "memory").mkdir(parents=True)
    (notes / PATH).write_text("# Day\n\nBen painted a sunrise.\n", encoding="utf-8")
    evidence = (Evidence((EvidenceLines(PATH, 3, 3),)), Evidence((EvidenceLines(PATH, 1, 1),)))
    asked = EvalQuestion("q", "Who painted?", "", "one", evidence)
    service = EmbeddingService("http://127.0.0.1:9/v1", 0)
    return Measuring([AskedSet("set", {"one": notes}, (asked,))], service, "2026-11-18")


def test_a_peer_that_fails_does_not_stop_the_others(measuring: Measuring, tmp_path: Path) -> None:
    peers = {"a": NotInstalled(), "b": Ends(), "c": OneLine()}
    failures = measure_rows(peers, tmp_path, measuring, lambda _: 5)
    assert failures.keys() == {"a", "b"}
    assert "no room" in failures["b"]
    assert [result_file(tmp_path, name).exists() for name in peers] == [False, False, True]

    assert time_rows(peers, tmp_path, measuring) == {}
    result = load(result_file(tmp_path, "c"))
    (verdict,) = result.sets[0].verdicts
    assert verdict == Verdict(
        any_found=True, all_found=False, any_seen=True, all_seen=False, chars=22, hits=1
    )
    assert result.written == Written(files=1, bytes=5)
    assert result.works_offline
    assert result.install_mb >= 1
    assert result.rss_mb > 1
    assert result.times
    assert result.times.cold_ms > 0


def _unreachable(_: str) -> int | None:
    raise PeerFailed("no route to host")


@pytest.mark.parametrize(
    ("offline_hits", "works"),
    [(lambda _: 0, False), (lambda _: None, None), (_unreachable, False)],
)
def test_offline_means_answers_with_hits(
    measuring: Measuring,
    tmp_path: Path,
    offline_hits: Callable[[str], int | None],
    works: bool | None,
) -> None:
    assert not measure_rows({"c": OneLine()}, tmp_path, measuring, offline_hits)
    assert load(result_file(tmp_path, "c")).works_offline is works


def test_a_changed_note_counts_the_lines_that_differ(measuring: Measuring, tmp_path: Path) -> None:
    class Front(OneLine):
        def index(self, home: PeerHome) -> None:
            file = home.notes / PATH
            file.write_bytes(b"---\n" + file.read_bytes())

    measure_rows({"c": Front()}, tmp_path, measuring, lambda _: None)
    assert load(result_file(tmp_path, "c")).written == Written(files=1, bytes=4)
    # Its own copy: the notes that the others get are as they were.
    assert (tmp_path / "given" / PATH).read_text("utf-8").startswith("# Day")


FOUND = Verdict(any_found=True, all_found=True, any_seen=None, all_seen=None, chars=100, hits=6)
MISSED = Verdict(any_found=False, all_found=False, any_seen=False, all_seen=False, chars=0, hits=0)
ONE = PeerResult(
    name="One",
    packages={"one": "1.0"},
    about="defaults",
    day="2026-11-18",
    has_own_vectors=False,
    install_mb=12.4,
    index_s=3.2,
    index_cpu_s=2.1,
    rss_mb=80.0,
    written=Written(),
    sets=[SetResult("set", [FOUND, MISSED])],
    works_offline=True,
    times=PeerTimes(4.2, 3.1, 900.0),
)


def test_the_table_has_a_column_for_each_measure() -> None:
    heads, _, row = table([ONE])
    assert heads.count("|") == row.count("|")
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == [
        "One", ".500", ".500", ".000", ".000", "50", "3 (2)", "4 (3)", "900", "12", "80",
        "with an embedding server", "nothing",
    ]  # fmt: skip


def test_the_table_does_not_guess() -> None:
    *_, row = table([ONE._replace(times=None, works_offline=None, written=Written(2, 99))])
    assert "| – | – |" in row
    assert row.endswith("| – | 99 bytes, 2 files |")
    *_, row = table([ONE._replace(works_offline=False)])
    assert "| no |" in row
    *_, row = table([ONE._replace(has_own_vectors=True)])
    assert "| yes |" in row


def test_the_sets_are_shown_apart_with_questions_that_got_nothing() -> None:
    *_, row = set_table([ONE])
    assert row == "| One | .500 | .500 | .000 | 1 |"


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    save(ONE, tmp_path / "one.json")
    assert load(tmp_path / "one.json") == ONE


def test_an_ageless_note_has_a_name_without_a_day() -> None:
    assert OpenClaw(is_ageless=True).note_path(PATH) == "memory/on-2023-05-08.md"
    assert OpenClaw(is_ageless=True).note_path("memory/000001.md") == "memory/000001.md"
    assert OpenClaw().note_path(PATH) == PATH


def test_a_question_becomes_searches_for_its_words() -> None:
    assert by_words('When did "Ana" paint a sunrise?') == [
        "ana paint sunrise", "ana", "paint", "sunrise"
    ]  # fmt: skip
    assert len(by_words(" ".join(f"word{number}" for number in range(30)))) == 10


def test_what_several_searches_find_comes_first() -> None:
    assert merged([["1", "2"], ["3", "2"], []]) == ["2", "1", "3"]


def test_passages_name_their_lines(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one\n\ntwo\n", encoding="utf-8")
    (tmp_path / "b.md").write_text("\n\n", encoding="utf-8")
    (passage,) = passages(tmp_path)
    assert passage[:2] == ("a.md", 1)
    assert passage.end_line >= 3
