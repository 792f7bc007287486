"""What QMD is asked, and what becomes of its answers; without QMD."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.qmd import Collection, QmdFailed
from notewell.qmd.query import (
    MAX_LINES,
    arguments,
    body,
    from_command,
    from_server,
    qmd_query,
    rank_score,
)
from notewell.types import Span

NOTES = Collection("notes-main", Path("/notes"), "**/*.md", "extra")
MANY = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "name_x",
        "eleventh", "twelfth"]  # fmt: skip


def lex(question: str) -> tuple[str, ...]:
    return qmd_query(question, "search").lex


def test_a_question_becomes_its_words_together_and_one_by_one() -> None:
    assert lex("When do we ship the router?") == ("ship router", "ship", "router")


def test_a_single_word_is_asked_for_once() -> None:
    assert lex("the router?") == ("router",)
    assert arguments(qmd_query("router", "search"), ["a"], 3, None) == [
        "--index", "index", "search", "--json", "-n", "3", "-c", "a", "--", "router",
    ]  # fmt: skip


def test_of_a_long_question_the_telling_words_are_asked_for_one_by_one() -> None:
    lines = lex(" ".join(MANY))
    assert len(lines) == MAX_LINES
    assert lines[0].split()[-1] == "twelfth"
    assert {"name_x", "eleventh"} <= set(lines[1:])


def test_stop_words_alone_are_better_than_nothing() -> None:
    assert lex("who are we?") == ("who are we", "who", "are", "we")


def test_names_are_cut_where_qmd_cuts_them() -> None:
    assert lex("memorySearch.query") == ("memorySearch query", "memorySearch", "query")


def test_scripts_without_spaces_are_asked_for_in_pairs() -> None:
    assert lex("索引库")[1:] == ("索引", "引库")


@given(st.text())
def test_only_word_characters_are_ever_sent(question: str) -> None:
    for line in lex(question):
        assert re.fullmatch(r"\w+( \w+)*", line)
        line.encode()


@given(st.text(), st.sampled_from(["vsearch", "query"]))
def test_a_question_to_a_model_is_one_line_without_syntax(question: str, mode: str) -> None:
    line = qmd_query(question, "vsearch" if mode == "vsearch" else "query").text
    assert "\n" not in line
    assert not re.match(r"(lex|vec|hyde|expand|intent):", line, re.IGNORECASE)
    assert not re.search(r"(^|\s)-\w", line)
    line.encode()


def test_the_server_is_asked_for_words_and_meaning_and_reranks_only_for_query() -> None:
    assert body(qmd_query("the router", "search"), ["a"], 3, None) == {
        "searches": [{"type": "lex", "query": "router"}],
        "collections": ["a"],
        "limit": 3,
        "rerank": False,
        "candidateLimit": 3,
    }
    told = body(qmd_query("the router", "query"), ["a"], 3, None)
    assert [one["type"] for one in told["searches"]] == ["vec", "lex"]
    assert told["rerank"] is True
    assert "candidateLimit" not in told
    assert body(qmd_query("the router", "query"), ["a"], 3, rerank=False)["rerank"] is False
    assert len(body(qmd_query(" ".join(MANY), "query"), ["a"], 3, None)["searches"]) <= MAX_LINES


def test_a_query_that_shall_not_rerank_says_so() -> None:
    told = arguments(qmd_query("the router", "query"), ["a", "b"], 3, rerank=False)
    assert told[-7:] == ["-c", "a", "-c", "b", "--no-rerank", "--", "the router"]
    assert "--no-rerank" not in arguments(qmd_query("the router", "query"), ["a"], 3, None)


def row(file: str = "qmd://notes-main/a.md", **more: Any) -> dict[str, Any]:
    return {"docid": "#1", "score": 0.0, "file": file, "line": 3, "title": "T", **more}


def command(*rows: Any) -> tuple[Any, ...]:
    return from_command(json.dumps(rows).encode(), [NOTES])


def served(*rows: Any) -> tuple[Any, ...]:
    return from_server(json.dumps({"results": rows}).encode(), [NOTES])


def test_names_are_literal_from_the_command_and_encoded_from_the_server() -> None:
    assert command(row("qmd://notes-main/Ü/a #1?%20.md"))[0].parts == ("Ü", "a #1?%20.md")
    encoded = row("qmd://notes-main/%C3%9C/a%20%231%3F%2520.md")
    assert served(encoded)[0].parts == ("Ü", "a #1?%20.md")


@pytest.mark.parametrize(
    "file",
    [
        "qmd://notes-main/../secret.md",
        "qmd://notes-main//etc/passwd.md",
        "qmd://notes-main/a.txt",
        "qmd://notes-main/",
        "qmd://notes-main",
        "qmd://other/a.md",
        "/etc/passwd",
        "",
    ],
)
def test_what_lies_in_no_collection_of_ours_is_left_out(file: str) -> None:
    assert command(row(file)) == ()
    assert served(row(file)) == ()


def test_encoded_slashes_do_not_lead_out() -> None:
    assert served(row("qmd://notes-main/..%2f..%2fsecret.md")) == ()


def test_each_file_counts_once_and_ranks_have_no_gaps() -> None:
    names = ["a.md", "b.md", "a.md", "c.txt", "d.md"]
    found = command(*(row(f"qmd://notes-main/{name}") for name in names))
    assert [(one.parts[0], one.rank) for one in found] == [("a.md", 1), ("b.md", 2), ("d.md", 3)]


def test_lines_come_from_the_header_and_blank_ones_are_left_out() -> None:
    snippet = "@@ -2,4 @@ (1 before, 0 after)\n\nThe router.\nTea.\n"
    [found] = command(row(snippet=snippet))
    assert (found.span, found.snippet) == (Span(3, 4), "The router.\nTea.")


def test_the_servers_own_numbers_are_taken_off() -> None:
    snippet = "3: @@ -2,4 @@ (1 before, 0 after)\n4: \n5: 7: The router.\n6: Tea.\n7: "
    [found] = served(row(snippet=snippet))
    assert (found.span, found.snippet) == (Span(3, 4), "7: The router.\nTea.")


@pytest.mark.parametrize(
    ("told", "span"),
    [
        ({"snippet": "no header"}, Span(3, 3)),
        ({"snippet": "two\nlines"}, Span(3, 4)),
        ({}, Span(3, 3)),
        ({"snippet": None, "line": "x"}, Span(1, 1)),
        ({"snippet": "x", "line": -4}, Span(1, 1)),
        ({"snippet": "@@ -0,0 @@\nx"}, Span(1, 1)),
    ],
)
def test_without_a_header_the_line_counts(told: dict[str, Any], span: Span) -> None:
    assert command(row(**told))[0].span == span


def test_scores_fall_with_the_rank_and_stay_above_nought() -> None:
    scores = [rank_score(rank) for rank in range(1, 201)]
    assert scores[0] == 1.0
    assert all(after < before for before, after in pairwise(scores))
    assert 0.5 < scores[9] < 0.55
    assert scores[-1] > 0


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["file", "line", "snippet", "results", "title"]), inner, max_size=4
        )
    ),
)


@given(json_values)
def test_whatever_it_says_it_is_hits_or_a_failure(value: Any) -> None:
    for read in (from_command, from_server):
        with suppress(QmdFailed):
            found = read(json.dumps(value).encode(), [NOTES])
            assert all(one.span.start_line >= 1 for one in found)
