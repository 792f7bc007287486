"""What every engine must do, whoever stands behind it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from notewell import Memory, Settings, open_memory
from notewell.engines import Engine, search_fresh
from notewell.errors import BackendFailed, NotANote, NoteUnreadable
from notewell.search import Question
from notewell.testing import HashEmbedder
from notewell.types import Answer

QMD = "NOTEWELL_TEST_QMD"
NOTES = {
    "MEMORY.md": "# Memory\n\n## Decisions\n\nWe chose PostgreSQL for billing.\n",
    "memory/2026-03-01.md": "# Sunday\n\n- The router in the attic is called Hermes.\n"
    "- Its password is in the safe.\n",
    "memory/people.md": "# People\n\nUrsula keeps bees and writes letters by hand.\n\n"
    + "".join(f"Line {number} about nothing.\n" for number in range(60))
    + "\nHer sister Renate repairs violins.\n",
    "memory/中文.md": "# 会议\n\n我们决定使用向量索引来搜索笔记。\n",
}


def _no_progress(_: object) -> None: ...


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name, text in NOTES.items():
        path = tmp_path / "workspace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "workspace"


@pytest.fixture(params=["builtin", "qmd", "qmd with a fallback", "fallback of a broken qmd"])
def memory(request: pytest.FixtureRequest, workspace: Path, tmp_path: Path) -> Iterator[Memory]:
    settings = _settings(request.param)
    with open_memory(
        workspace,
        state_dir=tmp_path / "state",
        settings=settings,
        embedder=HashEmbedder(),
        environment=_with_node(),
    ) as memory:
        yield memory


def _with_node() -> dict[str, str]:
    """QMD is started by the node that was installed beside it."""
    beside = Path(os.environ.get(QMD, "")).parent
    return {**os.environ, "PATH": f"{beside}:{os.environ.get('PATH', '')}"}


def _settings(name: str) -> Settings:
    if name == "builtin":
        return Settings()
    from notewell.qmd import QmdSettings

    if name == "fallback of a broken qmd":
        return Settings(qmd=QmdSettings(command="/nowhere/qmd"))
    command = os.environ.get(QMD)
    if not command:
        pytest.skip(f"set {QMD} to a qmd; ./check installs one")
    fallback = "builtin" if name == "qmd with a fallback" else "none"
    # On a busy machine the program takes longer than a user waits for it.
    qmd = QmdSettings(command=command, timeout_s=60.0)
    return Settings(qmd=qmd, fallback_engine=fallback)  # type: ignore[arg-type]


@pytest.fixture
def backend(memory: Memory) -> Engine:
    """With everything taken in."""
    backend = memory._engine
    backend.sync(progress=_no_progress)
    return backend


def _ask(backend: Engine, text: str, **limits: int) -> Answer:
    return search_fresh(backend, Question(text, **limits))  # type: ignore[arg-type]


def test_the_note_that_says_it_comes_first(backend: Engine) -> None:
    answer = _ask(backend, "Which database did we choose for billing?")
    first = answer.hits[0]
    assert first.path == "MEMORY.md"
    assert "PostgreSQL" in first.snippet
    assert first.source == "memory"
    assert 0 < first.score <= 1
    assert answer.reason is None


def test_scores_go_down_and_are_shares(backend: Engine) -> None:
    scores = [hit.score for hit in _ask(backend, "router password letters bees database").hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_the_lines_of_a_hit_are_where_it_says(backend: Engine) -> None:
    hits = _ask(backend, "Renate violins").hits
    lines = backend.get(hits[0].path).splitlines()
    span = hits[0].span
    assert 1 <= span.start_line <= span.end_line <= len(lines)
    assert "Renate" in "\n".join(lines[span.start_line - 1 : span.end_line])


def test_every_hit_can_be_read(backend: Engine) -> None:
    for hit in _ask(backend, "router bees PostgreSQL", max_results=20).hits:
        assert backend.get(hit.path)


def test_one_note_in_every_script(backend: Engine) -> None:
    assert _ask(backend, "向量索引").hits[0].path == "memory/中文.md"


def test_nothing_found_is_an_answer_with_a_reason(backend: Engine) -> None:
    answer = backend.search(Question("xylophone zeppelin", min_score=0.9, keyword_only=True))
    assert answer.hits == ()
    assert answer.reason


def test_no_more_hits_than_were_asked_for(backend: Engine) -> None:
    assert len(_ask(backend, "the", max_results=1).hits) <= 1
    assert len(_ask(backend, "router bees PostgreSQL violins", max_results=2).hits) <= 2


def test_the_same_question_has_the_same_answer(backend: Engine) -> None:
    question = "Who keeps bees, and what is the router called?"
    assert _ask(backend, question).hits == _ask(backend, question).hits


@pytest.mark.parametrize(
    "text",
    [
        "--help", "-n1 router", "--index=other router", '"', '"router', "router AND", "NEAR(a b)",
        "body:router", "-router", "😀", "lex: router", "a\nb", "*", "'; DROP TABLE x; --", "- ",
        "\x00router", "é" * 2000,
    ],
)  # fmt: skip
def test_a_question_is_a_question_and_no_command(backend: Engine, text: str) -> None:
    answer = _ask(backend, text)
    assert answer.hits or answer.reason


def test_what_changed_is_found_after_a_sync(backend: Engine, workspace: Path) -> None:
    (workspace / "memory" / "new.md").write_text("The zeppelin lands at noon.\n", encoding="utf-8")
    (workspace / "memory" / "people.md").unlink()
    backend.sync(progress=_no_progress)
    assert _ask(backend, "zeppelin").hits[0].path == "memory/new.md"
    assert "memory/people.md" not in {hit.path for hit in _ask(backend, "Ursula bees").hits}


def test_two_notes_that_say_the_same_are_two_hits(backend: Engine, workspace: Path) -> None:
    for name in ("one", "two"):
        (workspace / "memory" / f"{name}.md").write_text("A quagga was seen.\n", encoding="utf-8")
    backend.sync(progress=_no_progress)
    found = {hit.path for hit in _ask(backend, "quagga").hits}
    assert {"memory/one.md", "memory/two.md"} <= found


@pytest.mark.parametrize("name", ["Ü a #1?.md", "a%20b.md", "per cent 100%.md", "a&b=c;d.md"])
def test_any_name_a_note_has_leads_back_to_it(backend: Engine, workspace: Path, name: str) -> None:
    (workspace / "memory" / name).write_text("A quagga was seen.\n", encoding="utf-8")
    backend.sync(progress=_no_progress)
    hit = _ask(backend, "quagga").hits[0]
    assert hit.path == f"memory/{name}"
    assert backend.get(hit.path) == "A quagga was seen.\n"


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x.md", "secret.md", "qmd/none/x.md", "qmd/../x.md", "qmd/", ""]
)
def test_nothing_else_is_read(backend: Engine, workspace: Path, path: str) -> None:
    (workspace / "secret.md").write_text("outside", encoding="utf-8")
    with pytest.raises((NotANote, NoteUnreadable)):
        backend.get(path)


def test_a_link_is_neither_found_nor_read(backend: Engine, workspace: Path) -> None:
    outside = workspace.parent / "outside.md"
    outside.write_text("The zeppelin is a secret.\n", encoding="utf-8")
    (workspace / "memory" / "link.md").symlink_to(outside)
    backend.sync(progress=_no_progress)
    assert "memory/link.md" not in {hit.path for hit in _ask(backend, "zeppelin secret").hits}
    with pytest.raises((NotANote, NoteUnreadable)):
        backend.get("memory/link.md")


def test_it_says_who_answers_and_how_much_there_is(backend: Engine) -> None:
    status = backend.status()
    assert status.state == "ready"
    assert status.problem is None
    assert status.eligible == len(NOTES)
    assert status.counts is not None
    assert status.counts.files == len(NOTES)
    assert status.answering.wanted == backend.name


def test_before_anything_is_taken_in_it_says_so(memory: Memory) -> None:
    backend = memory._engine
    assert backend.status().state == "missing"
    with suppress(BackendFailed):  # There is no answer, and it says why: as good.
        answer = _ask(backend, "router")
        assert not answer.hits
        assert answer.reason
