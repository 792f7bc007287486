"""An alias finds its note, and a link lends its text to the note that it leads to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.postgres_server import PostgresServer
from tests.search.vault import write_vault

from notewell import Memory, Settings, StoreSettings, open_memory
from notewell.core import Secret, linked_path, note_links
from notewell.testing import HashEmbedder

EDGE, DNS, GARDEN = (f"memory/projects/{name}.md" for name in ("Edge router", "DNS", "Garden"))
GROUP = "agent:main:chat:group:1"


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
    write_vault(folder / "vault")
    curated = folder / "vault" / "MEMORY.md"
    curated.write_text("It is [the secret name](memory/projects/DNS.md).\n", encoding="utf-8")
    with open_memory(
        folder / "vault",
        state_dir=folder / "state",
        settings=Settings(store=store),
        embedder=HashEmbedder(),
        environment={},
    ) as opened:
        opened.sync()
        yield opened


def first(memory: Memory, question: str, **given: str) -> str | None:
    hits = memory.search(question, **given).hits  # type: ignore[arg-type]
    return hits[0].path if hits else None


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("the box in the cellar", EDGE),
        ("The Box  in the cellar?", EDGE),
        ("name server", DNS),
    ],
)
def test_an_alias_finds_its_note(memory: Memory, question: str, path: str) -> None:
    assert first(memory, question) == path
    assert first(memory, question, mode="keyword") == path


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("what is our gateway", EDGE),
        ("the resolver", DNS),
        ("the resolver tag:network", DNS),
        ("the resolver path:dns", DNS),
    ],
)
def test_a_link_lends_its_text(memory: Memory, question: str, path: str) -> None:
    assert path in {hit.path for hit in memory.search(question).hits[:2]}
    assert path in {hit.path for hit in memory.search(question, mode="keyword").hits[:2]}


def test_a_longer_question_is_no_name(memory: Memory) -> None:
    hits = memory.search("our gateway listens to the pump", mode="keyword").hits
    assert hits[0].path == GARDEN
    assert EDGE not in {hit.path for hit in hits}


def test_a_named_note_must_fit_the_filters(memory: Memory) -> None:
    paths = {hit.path for hit in memory.search("our gateway path:garden").hits}
    assert paths == {GARDEN}
    assert EDGE not in {hit.path for hit in memory.search("our gateway tag:naming").hits}


def test_a_private_note_names_nothing_for_a_group(memory: Memory) -> None:
    def text_score(session_key: str | None) -> float | None:
        answer = memory.search("the secret name", min_score=0, session_key=session_key)
        return next(hit.parts.text for hit in answer.hits if hit.path == DNS)

    alone, group = text_score(None), text_score(GROUP)
    assert alone is not None
    assert group is None or group < alone


def test_of_many_notes_that_have_the_words_the_named_one_is_first(tmp_path: Path) -> None:
    notes = tmp_path / "notes" / "memory"
    notes.mkdir(parents=True)
    for number in range(60):
        (notes / f"n{number}.md").write_text(
            f"The red button {number}, red button, of the machine.\n", encoding="utf-8"
        )
    text = "---\naliases:\n- red button\n---\n# Emergency stop\n\nPress it, then call.\n"
    (notes / "stop.md").write_text(text, encoding="utf-8")
    with open_memory(
        tmp_path / "notes", state_dir=tmp_path / "state", embedder=HashEmbedder()
    ) as memory:
        memory.sync()
        assert first(memory, "red button") == "memory/stop.md"


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[[DNS|name server]] [[a/b#part|c d]] [[x^1|y]]", ["DNS", "a/b", "x"]),
        ("[a b](c.md) [d](../e%20f.md#g) [h](<i j.md>)", ["c.md", "../e f.md", "i j.md"]),
        ("[[DNS]] ![a](b.md) [c](https://d.e/f.md) [g](h.png) [[|x]] [](y.md)", []),
    ],
)
def test_links_with_a_text_of_their_own(text: str, links: list[str]) -> None:
    assert [link.target for link in note_links(text)] == links


@pytest.mark.parametrize(
    ("target", "source", "path"),
    [
        ("DNS", "x.md", "a/DNS.md"),
        ("dns.md", "b/x.md", "b/dns.md"),
        ("../a/DNS.md", "b/x.md", "a/DNS.md"),
        ("b/dns", "c.md", "b/dns.md"),
        ("NS", "x.md", None),
        ("../../../etc", "x.md", None),
        ("", "x.md", None),
    ],
)
def test_the_note_that_a_link_means(target: str, source: str, path: str | None) -> None:
    assert linked_path(target, source, ["a/DNS.md", "b/dns.md", "b/c/dns.md"]) == path
