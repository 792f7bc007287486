"""A narrowed search finds all that fits, and nothing else; a plain one knows nothing of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from tests.postgres_server import PostgresServer
from tests.search.vault import NOTES, write_vault

from notewell import Filters, Memory, SessionSettings, Settings, StoreSettings, open_memory
from notewell.core import Secret, is_private_path, read_note_facts
from notewell.errors import BadRequest
from notewell.search import candidates
from notewell.testing import HashEmbedder
from notewell.types import Answer

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
GROUP = "agent:main:chat:group:1"
QUERIES = (
    "tag:network",
    "tag:network/home",
    "tag:NETWORK tag:#to-do",
    "tag:hardware",
    "tag:hardware-test",
    "tag:fff",
    "tag:42",
    "tag:häuser/garten",
    "tag:haus",
    "tag:网络",
    "tag:keys",
    "tag:devops",
    "tag:devops_tools",
    "path:PROJECTS",
    'path:"edge router"',
    "path:memory/2026",
    "after:2026",
    "after:2026-03-04 before:2026-05-02",
    "before:2026-03-04",
    "after:300d",
    "tag:network after:2026 path:projects",
    "tag:none",
)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def memory(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp(request.param)
    store = StoreSettings()
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres_server")
        url = Secret(server.login_url("notewell"))
        store = StoreSettings(driver="postgres", url=url, tenant=str(folder))
    with open_memory(
        write_vault(folder / "vault"),
        state_dir=folder / "state",
        settings=Settings(store=store),
        embedder=HashEmbedder(),
        environment={},
        now_ns=lambda: int(NOW.timestamp() * 1e9),
    ) as opened:
        opened.sync()
        yield opened


def fitting(query: str) -> set[str]:
    """The notes that fit, read one by one."""
    filters = filters_of(query)
    return {
        path
        for path, text in NOTES.items()
        if filters.fits(path, read_note_facts(text), NOW.date())
    }


def filters_of(query: str) -> Filters:
    from notewell.core import split_question

    text, filters = split_question(query)
    assert not text
    return filters


def paths(answer: Answer) -> set[str]:
    return {hit.path for hit in answer.hits}


@pytest.mark.parametrize("query", QUERIES)
def test_what_fits_is_found_and_nothing_else(memory: Memory, query: str) -> None:
    everything = memory.search("router 路由器", min_score=0, max_results=50)
    assert paths(everything) == set(NOTES)
    answer = memory.search(f"router 路由器 {query}", min_score=0, max_results=50)
    assert paths(answer) == fitting(query)
    # The scores are those of the whole memory, so that they can be compared.
    scores = {hit.path: hit.score for hit in everything.hits}
    assert all(hit.score == scores[hit.path] for hit in answer.hits)
    assert paths(memory.search(query, max_results=50)) == fitting(query)
    assert bool(answer.reason) == (not fitting(query))


def test_the_queries_tell_the_notes_apart() -> None:
    sizes = [len(fitting(query)) for query in QUERIES]
    assert min(sizes) == 0
    assert len({frozenset(fitting(query)) for query in QUERIES}) > 10


def test_filters_of_a_program_are_added_to_those_that_are_typed(memory: Memory) -> None:
    filters = Filters.of(tags=["network"], after=["2026-04"])
    assert paths(memory.search("router", filters=filters)) == {
        "memory/2026-05-02.md", "memory/projects/DNS.md",
    }  # fmt: skip
    both = memory.search("router path:DNS", filters=filters)
    assert paths(both) == {"memory/projects/DNS.md"}
    assert paths(memory.search("", filters=filters)) == paths(memory.search(str(filters)))


def test_a_plain_text_has_no_filters(memory: Memory) -> None:
    plain = memory.search("router tag:none after:noon", plain=True, min_score=0, max_results=50)
    assert set(NOTES) - {"memory/日记.md"} <= paths(plain)
    with pytest.raises(BadRequest, match="'noon' is no day"):
        memory.search("router after:noon")


def test_filters_alone_list_the_newest_first(memory: Memory) -> None:
    answer = memory.search("tag:network")
    assert [hit.path for hit in answer.hits] == [
        "memory/2026-05-02.md",
        "memory/projects/DNS.md",
        "memory/projects/Edge router.md",
        "memory/2025-12-24.md",
    ]
    assert answer.hits[0].span.start_line == 1
    assert "password" in answer.hits[0].shown_text
    assert len(memory.search("tag:network", max_results=2).hits) == 2


def test_an_empty_answer_names_the_filter(memory: Memory) -> None:
    assert memory.search("tag:none").reason == "nothing fits tag:none"
    none = memory.search("router tag:none", mode="keyword")
    assert none.reason == "nothing that fits tag:none has any of these words"
    far = memory.search("restic tag:to-do", min_score=1)
    assert far.reason is not None
    assert far.reason.startswith("among what fits tag:to-do: ")


@pytest.mark.parametrize("words", ["a828e60", "https://example.org/guide", "v7.0.1"])
def test_an_identifier_that_no_note_has_is_no_obstacle(memory: Memory, words: str) -> None:
    for filters in ("tag:network", "after:2026", "path:nowhere"):
        answer = memory.search(f"{words} {filters}", mode="keyword")
        assert not answer.hits
        assert filters in (answer.reason or "")
        memory.search(f"{words} router {filters}")


def test_why_a_note_is_left_out(memory: Memory) -> None:
    why = memory.inspect.why_absent("router tag:network", "memory/garten.md")
    assert why == "memory/garten.md does not fit tag:network"


def test_a_group_learns_nothing_of_private_notes(memory: Memory) -> None:
    assert is_private_path("MEMORY.md")
    assert paths(memory.search("key tag:keys")) == {"MEMORY.md"}
    for query in ("key tag:keys", "tag:keys", "key path:memory.md", "path:memory.md"):
        asked = memory.search(query, session_key=GROUP)
        unknown = memory.search(query.replace("keys", "none").replace("memory.md", "none"),
                                session_key=GROUP)  # fmt: skip
        assert not asked.hits
        assert asked.reason is not None
        assert unknown.reason is not None
        assert asked.reason.partition(":")[0] == unknown.reason.partition(":")[0]


def test_many_notes_that_fit_are_compared_without_reading_all_their_vectors(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = memory.search("router tag:network", max_results=50, min_score=0)
    monkeypatch.setattr(candidates, "EXACT_CHUNKS", 1)
    many = memory.search("router tag:network", max_results=50, min_score=0)
    assert many.hits == few.hits


def test_front_matter_that_is_longer_than_a_chunk_is_read(tmp_path: Path) -> None:
    names = "\n".join(f"  - other name number {at}" for at in range(90))
    text = f"---\naliases:\n{names}\ndate: 2026-02-03\ntags: [deep]\n---\nThe router.\n"
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "notes" / "memory" / "long.md").write_text(text, encoding="utf-8")
    with open_memory(
        tmp_path / "notes", state_dir=tmp_path / "state", embedder=HashEmbedder()
    ) as memory:
        memory.sync()
        assert paths(memory.search("router after:2026 before:2027 tag:deep"))
        assert not paths(memory.search("router after:2027"))


def test_a_changed_note_has_its_new_tags(tmp_path: Path) -> None:
    folder = write_vault(tmp_path / "vault")
    with ExitStack() as stack:
        memory = stack.enter_context(
            open_memory(folder, state_dir=tmp_path / "state", embedder=HashEmbedder())
        )
        memory.sync()
        assert not memory.search("router tag:fresh").hits
        (folder / "memory/garten.md").write_text("The router. #fresh\n", encoding="utf-8")
        memory.mark_changed()
        assert paths(memory.search("router tag:fresh")) == {"memory/garten.md"}
        assert "memory/garten.md" not in paths(memory.search("tag:häuser"))


# -- conversations -------------------------------------------------------------------------------


def test_conversations_have_days_and_paths_and_no_tags(tmp_path: Path) -> None:
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    lines = [
        {"type": "message", "timestamp": f"2026-0{month}-10T10:00:00Z",
         "message": {"role": "user", "content": said}}
        for month, said in ((2, "the router hums " * 60), (6, "the router sings #network " * 60))
    ]  # fmt: skip
    (sessions / "talk.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines), "utf-8")
    settings = Settings(sessions=SessionSettings(enabled=True, folders=((sessions, "talks"),)))
    with open_memory(
        write_vault(tmp_path / "vault"),
        state_dir=tmp_path / "state",
        settings=settings,
        embedder=HashEmbedder(),
    ) as memory:
        memory.sync()

        def said(query: str) -> str:
            hits = memory.search(f"router {query}", max_results=50, min_score=0).hits
            return " ".join(hit.shown_text for hit in hits if hit.source == "sessions")

        assert "hums" in said("before:2026-03")
        assert "hums" not in said("after:2026-06-10")
        assert "sings" in said("after:2026-06-10 path:talk")
        assert not said("before:2026")
        assert not said("tag:network")
        newest = memory.search("path:talk").hits
        assert [hit.source for hit in newest] == ["sessions"]


def test_a_note_with_a_date_in_its_front_matter_does_not_age(memory: Memory) -> None:
    (hit,) = memory.search("restic cellar path:edge").hits
    assert hit.parts.decay == 1.0
    (dated,) = memory.search("password path:2026-05").hits
    assert dated.parts.decay < 1.0


def test_the_day_of_a_name_comes_before_that_of_the_front_matter() -> None:
    facts = read_note_facts("---\ndate: 2020-01-01\n---\n")
    assert facts.day == date(2020, 1, 1)
    assert Filters.of(after=["2026"]).fits("memory/2026-01-01.md", facts, NOW.date())
