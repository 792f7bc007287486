"""Another engine answers while the first cannot: when, for how long, and who is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from notewell import Memory, Progress, open_memory
from notewell.engines.fallback import FallbackEngine
from notewell.engines.status import Answering, Status
from notewell.errors import BackendFailed, BadRequest
from notewell.search import Question
from notewell.sync import SyncReport
from notewell.testing import HashEmbedder
from notewell.types import Answer

ASKED = Question("router")
TIMEOUT = BackendFailed("first", "timeout", "no answer in 4 s", "look at its log")


def _quiet(_: object) -> None: ...


@dataclass
class First:
    """An engine that answers, or raises what it is told to."""

    template: Status
    raises: BaseException | None = None
    asked: int = 0
    closed: int = 0
    name: str = "first"

    def _act(self) -> None:
        self.asked += 1
        if self.raises:
            raise self.raises

    def sync_before_search(self, question: Question) -> None:
        return None

    def search(self, question: Question) -> Answer:
        self._act()
        return Answer((), "hybrid", "first", "first", "nothing there")

    def get(self, path: str) -> str:
        return f"first reads {path}"

    def sync(
        self,
        *,
        force: bool = False,
        vectors: bool = True,
        everything: bool = True,
        progress: Callable[[Progress], None],
    ) -> SyncReport:
        self._act()
        return SyncReport(written=7)

    def check(self) -> None:
        self._act()

    def status(self) -> Status:
        problem = str(self.raises) if self.raises else None
        return replace(self.template, answering=Answering("first", "first"), problem=problem)

    def close(self) -> None:
        self.closed += 1


@dataclass
class Clock:
    seconds: float = 0.0
    started_ns: int = field(default=1_772_000_000_000_000_000)

    def monotonic(self) -> float:
        return self.seconds

    def now_ns(self) -> int:
        return self.started_ns + int(self.seconds * 1e9)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text("The router is called Hermes.\n", encoding="utf-8")
    with open_memory(workspace, state_dir=tmp_path / "state", embedder=HashEmbedder()) as memory:
        memory.sync()
        yield memory


@pytest.fixture
def first(memory: Memory) -> First:
    return First(memory.status())


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def both(first: First, memory: Memory, clock: Clock) -> FallbackEngine:
    return FallbackEngine(first, memory._builtin, monotonic_s=clock.monotonic, now_ns=clock.now_ns)


def test_while_the_first_answers_nobody_else_is_asked(both: FallbackEngine) -> None:
    answer = both.search(ASKED)
    assert answer.provider == "first"
    assert answer.notice is None
    assert both.status().answering == Answering("first", "first")


def test_the_call_that_meets_a_failure_is_answered_all_the_same(
    both: FallbackEngine, first: First
) -> None:
    first.raises = TIMEOUT
    answer = both.search(ASKED)
    assert answer.hits[0].path == "MEMORY.md"
    assert answer.degraded
    assert answer.notice is not None
    assert "builtin answers since" in answer.notice
    assert "no answer in 4 s" in answer.notice
    assert "asked again in 60 s" in answer.notice


def test_until_the_cool_down_is_over_the_first_is_left_alone(
    both: FallbackEngine, first: First, clock: Clock
) -> None:
    first.raises = TIMEOUT
    both.search(ASKED)
    for clock.seconds in (1, 30, 59):
        assert both.search(ASKED).hits
    assert first.asked == 1
    clock.seconds = 60
    both.search(ASKED)
    assert first.asked == 2


def test_it_recovers(both: FallbackEngine, first: First, clock: Clock) -> None:
    first.raises = TIMEOUT
    both.search(ASKED)
    first.raises = None
    clock.seconds = 61
    assert both.search(ASKED).provider == "first"
    assert both.status().answering.backend == "first"


def test_status_says_who_answers_why_and_since_when(
    both: FallbackEngine, first: First, clock: Clock
) -> None:
    first.raises = TIMEOUT
    both.search(ASKED)
    began = both.status().answering
    assert (began.backend, began.wanted) == ("builtin", "first")
    assert "no answer in 4 s" in (began.reason or "")
    clock.seconds = 100
    both.search(ASKED)
    assert both.status().answering.since == began.since


def test_status_finds_out_what_a_search_would(both: FallbackEngine, first: First) -> None:
    first.raises = TIMEOUT
    assert both.status().answering.backend == "builtin"
    asked = first.asked
    both.search(ASKED)
    assert first.asked == asked


def test_without_a_second_the_failure_is_the_answer(first: First, clock: Clock) -> None:
    alone = FallbackEngine(first, None, monotonic_s=clock.monotonic)
    first.raises = TIMEOUT
    for _ in range(2):
        with pytest.raises(BackendFailed, match="no answer in 4 s"):
            alone.search(ASKED)
    with pytest.raises(BackendFailed):
        alone.sync(progress=_quiet)
    with pytest.raises(BackendFailed):
        alone.check()
    assert "no answer in 4 s" in (alone.status().problem or "")


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), BadRequest("no"), ValueError("a bug")])
def test_nothing_else_is_a_failure(
    both: FallbackEngine, first: First, raised: BaseException
) -> None:
    first.raises = raised
    with pytest.raises(type(raised)):
        both.search(ASKED)
    first.raises = None
    assert both.search(ASKED).provider == "first"


def test_an_empty_answer_is_no_failure(both: FallbackEngine) -> None:
    assert both.search(ASKED).hits == ()


def test_a_sync_keeps_both_and_tells_of_a_failure(both: FallbackEngine, first: First) -> None:
    report = both.sync(progress=_quiet)
    assert (report.notes, report.trouble) == (1, None)
    first.raises = TIMEOUT
    report = both.sync(progress=_quiet)
    assert report.trouble is TIMEOUT
    assert report.is_degraded


def test_a_sync_does_not_wait_for_the_cool_down(both: FallbackEngine, first: First) -> None:
    first.raises = TIMEOUT
    both.search(ASKED)
    first.raises = None
    both.sync(progress=_quiet)
    assert both.search(ASKED).provider == "first"


def test_who_made_the_second_closes_it(both: FallbackEngine, first: First, memory: Memory) -> None:
    both.close()
    assert first.closed == 1
    assert memory.search("router").hits
