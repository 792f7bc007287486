"""Every surface shows the best lines of the hits, with the numbers at which `memory_get` reads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.http_service.served import serving

from notewell import Memory, open_memory
from notewell.cli import main
from notewell.limits import ANSWER_CHARS, SNIPPET_CHARS
from notewell.testing import HashEmbedder
from notewell.tools import CallContext, call

QUESTION = "what does the walrus in the harbour eat?"
ASKED = "**Ada**: And what does the walrus in the harbour eat, do you know that by now?"
ANSWERED = "**Ben**: Clams and snails, about fifty kilograms of them on a good day in summer."


def diary(workspace: Path) -> str:
    """A long conversation that names the walrus at its beginning, and answers at its end."""
    talk = [
        f"**Ada**: On day {n} we spoke about the weather and the long way home." for n in range(7)
    ]
    lines = [
        "# 2026-11-02",
        "",
        "**Ada**: I saw the walrus in the harbour.",
        *talk,
        ASKED,
        ANSWERED,
    ]
    text = "\n".join([*lines, *talk]) + "\n"
    (workspace / "memory").mkdir(parents=True, exist_ok=True)
    (workspace / "memory" / "2026-11-02.md").write_text(text, encoding="utf-8")
    return text


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    diary(tmp_path / "workspace")
    return open_memory(
        tmp_path / "workspace", state_dir=tmp_path / "state", embedder=HashEmbedder()
    )


def test_a_small_answer_has_the_lines_that_answer_and_says_where_they_are(memory: Memory) -> None:
    with memory:
        context = CallContext(inject_chars=600)
        text = call(memory, "memory_search", {"query": QUESTION}, context).to_text()
        assert "I saw the walrus" in text
        assert ASKED in text
        assert ANSWERED in text
        assert text.count("the weather") < 7
        # The mark of a gap names the line that follows it.
        number, line = re.findall(r"^… L(\d+)\n(.*)$", text, re.MULTILINE)[-1]
        arguments = {"path": "memory/2026-11-02.md", "from": int(number), "lines": 1}
        assert line in call(memory, "memory_get", arguments).to_text()


def test_a_hit_has_a_short_snippet_and_all_hits_share_a_budget(memory: Memory) -> None:
    for number in range(8):
        text = "\n".join(f"The walrus {number} has tusk {n}, and eats." for n in range(60))
        (memory.workspace / "memory" / f"walrus-{number}.md").write_text(text, encoding="utf-8")
    with memory:
        hits = memory.search(QUESTION).hits
        assert len(hits) == 6
        assert all(len(hit.snippet) <= SNIPPET_CHARS for hit in hits)
        assert all(hit.shown for hit in hits)
        assert sum(len(hit.shown_text) for hit in hits) <= ANSWER_CHARS
        for hit in hits:
            lines = memory.get(hit.path).text.split("\n")
            for shown in hit.shown:
                first, last = shown.span
                assert shown.text == "\n".join(lines[first - 1 : last])


def test_the_command_line_and_http_show_the_same_lines(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with memory:
        memory.sync(vectors=False)
        (hit, *_) = memory.search(QUESTION, mode="keyword").hits
    place = ["--workspace", str(memory.workspace), "--state-dir", str(tmp_path / "state")]
    search = ["search", *place, "--mode", "keyword", QUESTION]
    assert main([*search, "--json"]) == 0
    (found, *_) = json.loads(capsys.readouterr().out)["results"]
    spans = [(shown["startLine"], shown["endLine"]) for shown in found["shown"]]
    assert spans == [tuple(shown.span) for shown in hit.shown]
    assert main(search) == 0
    assert ANSWERED in capsys.readouterr().out
    with serving(tmp_path / "served") as served:
        diary(served.workspaces["main"])
        served.agents.memory("main").mark_changed()
        served.agents.memory("main").sync()
        (http, *_) = served.search(QUESTION, mode="keyword", explain=True)["results"]
        assert [shown["text"] for shown in http["shown"]] == [one.text for one in hit.shown]
        assert all(shown["score"] > 0 for shown in http["shown"])
        page = served.ask("POST", "/v1/page/search", json={"query": QUESTION}).json()
        assert ANSWERED in page["a"]["results"][0]["snippet"]


def test_lines_are_quoted_with_the_heading_above_them(memory: Memory) -> None:
    lines = "\n".join(f"The walrus {n} is fed by Marta, at noon and at dusk." for n in range(80))
    text = f"# Zoo\n\n## Feeding of the animals\n\n{lines}\n\n## Heron\n\nIt eats frogs.\n"
    (memory.workspace / "memory" / "zoo.md").write_text(text, encoding="utf-8")
    with memory:
        found = call(memory, "memory_search", {"query": "walrus 75 Marta dusk"}).to_text()
        assert 'heading="Feeding of the animals"' in found
        found = call(memory, "memory_search", {"query": "heron frogs"}).to_text()
        assert "## Heron" in found
        assert 'heading="Heron"' not in found


def test_a_marker_in_a_note_is_not_shown(memory: Memory) -> None:
    with memory:
        memory.append("The walrus in the harbour eats clams.", origin="tool")
        (hit, *_) = memory.search("walrus harbour clams").hits
        assert "eats clams." in hit.shown_text
        assert "<!--" not in hit.shown_text
