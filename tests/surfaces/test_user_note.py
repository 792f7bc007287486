"""USER.md, in which OpenClaw keeps what it knows about the user, is a note like MEMORY.md."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from notewell import Memory, open_memory
from notewell.capture import propose
from notewell.errors import ConversationDenied, NotANote
from notewell.mcp_server import create_server
from notewell.testing import HashEmbedder
from notewell.tools import CallContext, bootstrap

GROUP = "agent:main:telegram:group:-100"
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("The office has two okapis.\n", encoding="utf-8")
    (workspace / "USER.md").write_text("- Ada prefers okapis.\n", encoding="utf-8")
    (workspace / "memory" / "zoo.md").write_text("Okapis sleep.\n", encoding="utf-8")
    return workspace


@pytest.fixture
def memory(workspace: Path, tmp_path: Path) -> Iterator[Memory]:
    with open_memory(
        workspace,
        state_dir=tmp_path / "state",
        embedder=HashEmbedder(),
        now_ns=lambda: int(NOW.timestamp()) * 10**9,
    ) as memory:
        yield memory


def test_the_command_line_finds_and_reads_it(workspace: Path, tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        place = ("-w", str(workspace), "--state-dir", str(tmp_path / "state"), "--json")
        ended = subprocess.run(
            [sys.executable, "-m", "notewell", *words, *place],
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=True,
        )
        return json.loads(ended.stdout)

    paths = [hit["path"] for hit in run("search", "what does Ada prefer?")["results"]]
    assert paths[0] == "USER.md"
    assert "Ada prefers okapis" in run("get", "USER.md")["text"]


def test_a_change_is_found_and_a_removal_forgotten(memory: Memory, workspace: Path) -> None:
    memory.sync()
    (workspace / "USER.md").write_text("- Ada prefers quaggas.\n", encoding="utf-8")
    memory.sync()
    assert memory.search("quaggas").hits[0].path == "USER.md"
    (workspace / "USER.md").unlink()
    memory.sync()
    assert "USER.md" not in {hit.path for hit in memory.search("Ada").hits}


def test_a_group_neither_finds_nor_reads_it(memory: Memory) -> None:
    memory.sync()
    assert {hit.path for hit in memory.search("okapis").hits} == {
        "MEMORY.md",
        "USER.md",
        "memory/zoo.md",
    }
    found = memory.search("okapis", session_key=GROUP)
    assert [hit.path for hit in found.hits] == ["memory/zoo.md"]
    with pytest.raises(ConversationDenied, match=r"USER\.md is for private"):
        memory.get("USER.md", session_key=GROUP)

    async def list_names() -> list[str]:
        context = CallContext(session_key=GROUP)
        server = create_server(memory, context, background_sync=False)
        with anyio.fail_after(60):
            async with Client(server) as client:
                return [one.name for one in (await client.list_resources()).resources]

    assert anyio.run(list_names) == ["memory/zoo.md"]


def test_only_the_one_in_the_root_is_a_note(memory: Memory, workspace: Path) -> None:
    (workspace / "users" / "7").mkdir(parents=True)
    (workspace / "users" / "7" / "USER.md").write_text("Bob prefers okapis.\n", encoding="utf-8")
    memory.sync()
    assert not [hit for hit in memory.search("Bob okapis").hits if "Bob" in hit.snippet]
    with pytest.raises(NotANote):
        memory.get("users/7/USER.md")


def test_a_session_begins_with_it_within_the_budget_of_memory_md(
    memory: Memory, workspace: Path
) -> None:
    begun = bootstrap(memory, NOW.date())
    assert begun.index("Ada prefers") < begun.index("two okapis")
    assert bootstrap(memory, NOW.date(), CallContext(session_key=GROUP)) == ""
    for name in ("USER.md", "MEMORY.md"):
        (workspace / name).write_text(f"{name} says much.\n" * 2000, encoding="utf-8")
    cut = bootstrap(memory, NOW.date(), max_chars=3000)
    assert 900 < cut.count("USER.md says much.") * len("USER.md says much.\n") <= 1000
    assert 1800 < cut.count("MEMORY.md says much.") * len("MEMORY.md says much.\n") <= 2000


def test_a_review_proposes_nothing_that_it_says_already(
    memory: Memory, workspace: Path, tmp_path: Path
) -> None:
    text = "- Remember that Ada prefers okapis.\n- Remember that Bob prefers quaggas.\n"
    (workspace / "memory" / "2026-11-14.md").write_text(text, encoding="utf-8")
    proposed = " ".join(proposal.text for proposal in propose(memory.notes, tmp_path / "none"))
    assert "quaggas" in proposed
    assert "okapis" not in proposed
