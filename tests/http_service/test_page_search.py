"""The playground: what weights do to an answer, and which of its words were asked for."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.http_service.served import Served, serving

from notewell.errors import BadRequest
from notewell.http_service.ui.routes_search import highlights
from notewell.search import Question, Weighing
from notewell.testing import HashEmbedder


def compared(served: Served, query: str, **ways: Any) -> dict[str, Any]:
    answer = served.ask("POST", "/v1/page/search", json={"query": query, **ways})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def write(served: Served, name: str, text: str) -> None:
    file = served.workspaces["main"] / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    served.agents.memory("main").mark_changed()


def test_one_question_is_weighed_in_two_ways(served: Served) -> None:
    write(served, "memory/router.md", "The router is shipped on Friday, said the team.\n")
    served.agents.memory("main").sync()
    told = compared(
        served, "router shipped", a={"vectorWeight": 0.0}, b={"vectorWeight": 1.0, "minScore": 0}
    )
    words, meaning = told["a"]["results"][0], told["b"]["results"][0]
    assert words["path"] == meaning["path"] == "memory/router.md"
    assert words["parts"]["vector"] == meaning["parts"]["vector"]
    assert words["score"] != meaning["score"]
    assert told["a"]["backend"] == "builtin"
    assert told["a"]["tookMs"] >= 0


def test_filters_are_typed_and_not_highlighted(served: Served) -> None:
    write(served, "memory/router.md", "The router has a tag and a network. #network\n")
    write(served, "memory/other.md", "The router of the network, without its tag.\n")
    served.agents.memory("main").sync()
    told = compared(served, "router tag:network", a={"minScore": 0}, b={"vectorWeight": 0})
    for one in (told["a"], told["b"]):
        (hit,) = one["results"]
        assert hit["path"] == "memory/router.md"
        assert [hit["snippet"][start:end] for start, end in hit["highlights"]] == ["router"]
    assert [hit["path"] for hit in compared(served, "tag:network")["a"]["results"]] == [
        "memory/router.md"
    ]
    body = {"query": "router tag:network", "path": "memory/other.md"}
    why = served.ask("POST", "/v1/page/absent", json=body).json()["why"]
    assert why == "memory/other.md does not fit tag:network"


def test_a_comparison_embeds_the_question_once(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    with serving(tmp_path, embedder=embedder) as served:
        served.agents.memory("main").sync()
        before = embedder.embedded_texts
        compared(served, "SQLite", a={}, b={"fusion": "rrf"})
        assert embedder.embedded_texts == before + 1


def test_without_a_second_way_there_is_no_second_answer(served: Served) -> None:
    assert "b" not in compared(served, "SQLite")


def test_age_is_told_and_can_be_switched_off(served: Served) -> None:
    write(served, "memory/2020-01-01.md", "The harbour was frozen.\n")
    served.agents.memory("main").sync()
    told = compared(served, "harbour frozen", a={"halfLifeDays": 30}, b={"halfLifeDays": 0})
    today = served.agents.memory("main").now().date()
    hit = told["a"]["results"][0]
    assert (hit["day"], hit["ageDays"]) == ("2020-01-01", (today - date(2020, 1, 1)).days)
    assert hit["parts"]["decay"] < 1
    assert told["b"]["results"][0]["parts"]["decay"] == 1


def test_alike_hits_make_room_where_diversity_is_asked_for(served: Served) -> None:
    for number in range(4):
        write(served, f"memory/same{number}.md", "garden tomatoes water garden tomatoes\n")
    served.agents.memory("main").sync()
    way = {"maxResults": 2, "minScore": 0, "vectorWeight": 0}
    told = compared(served, "garden tomatoes", a=way, b={**way, "mmrLambda": 0.1})
    alike = ["memory/same0.md", "memory/same1.md"]
    assert [hit["path"] for hit in told["a"]["results"]] == alike
    assert [hit["path"] for hit in told["b"]["results"]] != alike


def test_highlights_are_the_words_that_were_asked_for(served: Served) -> None:
    write(served, "memory/emoji.md", "🚢 We shipped the routers, 索引库 too.\n")
    served.agents.memory("main").sync()
    hit = compared(served, "ship router 索引库", a={"minScore": 0})["a"]["results"][0]
    marked = [hit["snippet"][start:end] for start, end in hit["highlights"]]
    assert marked == ["shipped", "routers", "索引库"]


def test_what_the_owner_tries_out_counts_as_recalled_by_nobody(served: Served) -> None:
    served.agents.memory("main").sync()
    compared(served, "SQLite")
    assert served.ask("GET", "/v1/page/timeline?kind=recalled", "admin").json()["events"] == []
    assert [one["path"] for one in served.ask("GET", "/v1/page/never").json()["notes"]] == [
        "MEMORY.md"
    ]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": ""},
        {"query": "x" * 4001},
        {"query": "x", "c": {}},
        {"query": "x", "a": {"vectorWeight": 1.5}},
        {"query": "x", "a": {"vectorWeight": "0.5"}},
        {"query": "x", "a": {"fusion": "magic"}},
        {"query": "x", "a": {"maxResults": 0}},
        {"query": "x", "a": {"halfLifeDays": -1}},
        {"query": "x", "a": None},
    ],
)
def test_a_bad_comparison_is_refused(served: Served, body: dict[str, Any]) -> None:
    answer = served.ask("POST", "/v1/page/search", json=body)
    assert answer.status_code == 422, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_a_note_that_is_not_found_says_why(served: Served) -> None:
    write(served, "memory/far.md", "Nothing of that kind.\n")
    served.agents.memory("main").sync()
    asked = {"query": "SQLite", "path": "memory/far.md"}
    answer = served.ask("POST", "/v1/page/absent", json=asked)
    assert answer.status_code == 200
    assert answer.json()["why"].startswith("memory/far.md")


@pytest.mark.parametrize("path", ["memory/none.md", "../secret", "/etc/passwd"])
def test_what_is_no_note_is_not_explained(served: Served, path: str) -> None:
    answer = served.ask("POST", "/v1/page/absent", json={"query": "SQLite", "path": path})
    assert answer.status_code == 404


@pytest.mark.parametrize(
    "odd", [{"vector_weight": 1.1}, {"mmr_lambda": -0.1}, {"half_life_days": float("nan")}]
)
def test_a_weight_outside_its_bounds_is_refused(odd: dict[str, float]) -> None:
    with pytest.raises(BadRequest):
        Weighing(**odd)  # type: ignore[arg-type]


def test_a_question_without_a_weighing_is_asked_as_the_settings_say(served: Served) -> None:
    memory = served.agents.memory("main")
    memory.sync()
    plain = memory.search("SQLite")
    (weighed,) = memory.inspect.compare([Question("SQLite")])
    assert weighed == plain


def test_other_forms_of_a_word_are_highlighted() -> None:
    text = "Wir haben die alten Häuser am Fluss verkauft und das Geld gespart."
    assert [text[start:end] for start, end in highlights(text, "Haus")] == ["Häuser"]


@given(
    st.lists(st.sampled_from(["ship", "shipped", "the", "router", "🚢", "索引", "库", " ", "\n"])),
    st.lists(st.sampled_from(["ship", "router", "索引库", "the"]), min_size=1),
)
def test_highlights_lie_inside_the_text_in_order_and_apart(
    parts: list[str], query: list[str]
) -> None:
    text = " ".join(parts)
    found = highlights(text, " ".join(query))
    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(one[1] < other[0] for one, other in pairwise(found))
