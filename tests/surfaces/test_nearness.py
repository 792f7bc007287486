"""A memory says that nothing is near a question, and shows the nearest if it is asked to.

With the embedded model: what is near is a matter of its cosines.
"""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest
from mcp import Client
from tests.http_service.served import serving
from tests.surfaces.tool_text import text_of

from notewell import Memory, Settings, open_memory
from notewell.cli import main
from notewell.embedders import open_embedded
from notewell.mcp_server import create_server
from notewell.records import replace
from notewell.testing import HashEmbedder
from notewell.tools import CallContext

NOTES = {
    "MEMORY.md": (
        "# House\n\nThe boiler is a Viessmann from 1998, serviced by Mr. Novak every autumn.\n\n"
        "The router is in the cellar; its password is on the underside.\n"
    ),
    "memory/2026-11-02.md": (
        "# 2026-11-02\n\n- Nina plants garlic in the second bed.\n"
        "- The tap in the kitchen leaks again; a new washer is ordered.\n"
    ),
    "memory/2026-11-05.md": "# 2026-11-05\n\nWe paint the fence green next spring.\n",
}
KNOWN = "who looks after our heating?"
"""Its answer has none of its words."""
UNKNOWN = "Which orchestra recorded the violin concerto?"


def write_notes(workspace: Path) -> Path:
    for name, text in NOTES.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return workspace


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = open_memory(
        write_notes(tmp_path / "workspace"), state_dir=tmp_path / "state", embedder=open_embedded()
    )
    memory.sync()
    return memory


@pytest.mark.parametrize("question", [UNKNOWN, "sdkfj wqpoe", "How do I debug a segfault in C?"])
def test_nothing_is_near_and_the_nearest_is_shown_on_request(
    memory: Memory, question: str
) -> None:
    with memory:
        answer = memory.search(question)
        assert answer.hits == ()
        assert answer.nearness
        assert answer.nearness.is_far
        assert answer.reason
        assert answer.reason.startswith("nothing is near this question")
        assert "a minimum score of 0 shows the nearest" in answer.reason
        nearest = memory.search(question, min_score=0)
        assert nearest.hits
        assert nearest.nearness == answer.nearness._replace(limit=None)


@pytest.mark.parametrize(
    "question", [KNOWN, "garlic", "what did we order for the kitchen?", "Novak", "fence colour?"]
)
def test_what_the_notes_know_is_near(memory: Memory, question: str) -> None:
    with memory:
        answer = memory.search(question)
        assert answer.hits
        assert answer.nearness
        assert not answer.nearness.is_far


def test_the_command_line_names_the_way_to_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = write_notes(tmp_path / "workspace")
    place = ["-w", str(workspace), "--state-dir", str(tmp_path / "state")]
    assert main(["index", *place]) == 0
    capsys.readouterr()
    assert main(["search", UNKNOWN, *place]) == 3
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.startswith("nothing found: nothing is near this question (nearness 0.")
    assert main(["search", UNKNOWN, "--min-score", "0", *place]) == 0
    assert "memory/" in capsys.readouterr().out
    assert main(["search", UNKNOWN, "--json", *place]) == 3
    nearness = json.loads(capsys.readouterr().out)["nearness"]
    assert 0 < nearness["value"] < nearness["limit"]
    assert main(["search", KNOWN, "--explain", *place]) == 0
    assert "nothing would be shown" in capsys.readouterr().out
    assert main(["search", UNKNOWN, "--why", "MEMORY.md", *place]) == 0
    assert "nothing is near this question: a nearness of 0." in capsys.readouterr().out


def test_a_model_reads_over_mcp_that_nothing_is_near(memory: Memory) -> None:
    async def ask() -> None:
        server = create_server(memory, CallContext(origin="mcp"), background_sync=False)
        with anyio.fail_after(60):
            async with Client(server, mode="legacy") as client:
                result = await client.call_tool("memory_search", {"query": UNKNOWN})
                text = text_of(result)
                assert text.startswith("Nothing found: nothing is near this question")
                arguments = {"query": UNKNOWN, "minScore": 0}
                nearest = text_of(await client.call_tool("memory_search", arguments))
                assert "memory/2026-11-0" in nearest

    with memory:
        anyio.run(ask)


def test_the_service_says_how_near_it_is(tmp_path: Path) -> None:
    with serving(tmp_path, embedder=open_embedded()) as served:
        write_notes(served.workspaces["main"])
        served.agents.memory("main").sync()
        answer = served.search(UNKNOWN)
        assert answer["results"] == []
        assert answer["reason"].startswith("nothing is near this question")
        assert answer["nearness"]["value"] < answer["nearness"]["limit"]
        nearest = served.search(UNKNOWN, minScore=0)
        assert nearest["results"]
        assert "limit" not in nearest["nearness"]


def test_a_minimum_score_of_the_settings_is_obeyed(tmp_path: Path) -> None:
    settings = replace(Settings(), search=replace(Settings().search, min_score=0.0))
    workspace = write_notes(tmp_path / "workspace")
    with open_memory(
        workspace, state_dir=tmp_path / "state", settings=settings, embedder=open_embedded()
    ) as memory:
        memory.sync()
        assert memory.search(UNKNOWN).hits


def test_a_model_of_unknown_scale_hides_nothing(tmp_path: Path) -> None:
    workspace = write_notes(tmp_path / "workspace")
    state = tmp_path / "state"
    with open_memory(workspace, state_dir=state, embedder=HashEmbedder()) as memory:
        memory.sync()
        answer = memory.search(KNOWN)
        assert answer.nearness
        assert answer.nearness.limit is None


def test_words_alone_refuse_only_what_shares_hardly_a_word(tmp_path: Path) -> None:
    workspace = write_notes(tmp_path / "workspace")
    for number in range(100):
        diary = (
            f"Page {number} of the diary is about a walk, and about the take-away on day {number}."
        )
        (workspace / "memory" / f"page-{number}.md").write_text(diary, encoding="utf-8")
    with open_memory(workspace, state_dir=tmp_path / "state", embedder=HashEmbedder()) as memory:
        memory.sync(vectors=False)
        assert memory.search("who services the boiler?", mode="keyword").hits
        long_winded = (
            "Which violin concerto by Sibelius did the orchestra of Lahti record in the famous "
            "hall, under what conductor, and was the second take the better one?"
        )
        answer = memory.search(long_winded, mode="keyword")
        assert answer.hits == ()
        assert answer.nearness
        assert answer.nearness.is_far
        assert memory.search(long_winded, mode="keyword", min_score=0).hits
