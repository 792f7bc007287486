"""Strangers at every tool: bad paths, odd questions, other agents' notes. Nothing comes out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from notewell import Memory, open_memory
from notewell.limits import MAX_QUERY_CHARS
from notewell.testing import HashEmbedder
from notewell.tools import CallContext, Failure, SearchInput, SearchOutput, call, memory_search

CANARY = "canary-7c1f"
AGENTS = ("main", "office", "home")


def make_workspace(folder: Path, agent: str) -> Path:
    workspace = folder / agent
    (workspace / "memory" / "deep").mkdir(parents=True)
    canary = f"the password of {agent} is {CANARY}-{agent}\n"
    for path in ("MEMORY.md", "memory/2026-11-15.md", "memory/deep/topic.md"):
        (workspace / path).write_text(canary, encoding="utf-8")
    (workspace / "secret.md").write_text(f"{CANARY} beside the notes", encoding="utf-8")
    return workspace


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[dict[str, Memory]]:
    opened = {
        agent: open_memory(
            make_workspace(tmp_path, agent),
            agent=agent,
            state_dir=tmp_path / "state",
            embedder=HashEmbedder(),
        )
        for agent in AGENTS
    }
    for memory in opened.values():
        memory.sync()
    yield opened
    for memory in opened.values():
        memory.close()


def bad_paths(root: Path, workspace: Path) -> list[str]:
    """Ways out that have worked somewhere, each in several spellings."""
    targets = [
        "secret.md",
        "../office/MEMORY.md",
        "../office/memory/2026-11-15.md",
        "../state/memory",
        "../../../../../../etc/passwd",
        "memory/../secret.md",
        "memory/deep/../../secret.md",
        "memory/./2026-11-15.md",
        "memory//2026-11-15.md",
        "/etc/passwd",
        "/etc/passwd\0.md",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "/dev/stdin",
        "/dev/zero",
        "/dev/random",
        str(root / "office" / "MEMORY.md"),
        str(workspace / "secret.md"),
        str(workspace / "MEMORY.md"),
        "memory/fifo.md",
        "memory/link.md",
        "memory/linked/MEMORY.md",
        "memory/outside.md",
        "memory/device.md",
    ]
    spellings: list[Callable[[str], str]] = [
        lambda path: path,
        quote,
        lambda path: quote(path, safe=""),
        lambda path: quote(quote(path, safe=""), safe=""),
        lambda path: path.replace("/", "\\"),
        lambda path: path.replace("..", "．．").replace("/", "／"),
        lambda path: path.replace("/", "%c0%af"),
        lambda path: f"./{path}/.",
        lambda path: f"file://{path}",
        lambda path: f"memory/{path}",
    ]
    odd = [
        "",
        ".",
        "..",
        "~",
        "~root/x.md",
        "\0",
        "memory",
        "memory/",
        "MEMORY.md/",
        "MEMORY.md\0",
    ]
    odd += [
        "MEMORY.MD\n",
        "CON",
        "C:\\x.md",
        "\\\\host\\share\\x.md",
        "memory/\ud800.md",
        "a" * 4096,
    ]
    odd += ["MEMORY.md#L1-L9999999999", "$HOME/x.md", "`id`.md", "; cat x.md", "memory/*.md", "-"]
    return odd + [spell(path) for path in targets for spell in spellings]


def set_traps(root: Path, workspace: Path) -> None:
    os.mkfifo(workspace / "memory" / "fifo.md")
    (workspace / "memory" / "link.md").symlink_to(root / "office" / "MEMORY.md")
    (workspace / "memory" / "linked").symlink_to(root / "work")
    (workspace / "memory" / "outside.md").symlink_to("../secret.md")
    (workspace / "memory" / "device.md").symlink_to("/dev/zero")


def test_no_bad_path_leads_anywhere(memories: dict[str, Memory], tmp_path: Path) -> None:
    memory = memories["main"]
    set_traps(tmp_path, memory.workspace)
    paths = bad_paths(tmp_path, memory.workspace)
    assert len(paths) > 200
    allowed = {f"{CANARY}-main"}
    for path in paths:
        told = json.dumps(call(memory, "memory_get", {"path": path}).to_json())
        leaked = {word for word in told.replace("\\n", " ").split() if CANARY in word}
        assert leaked <= allowed, path
        assert "root:" not in told, path
        assert "Traceback" not in told, path


def test_a_refusal_does_not_tell_what_is_outside(memories: dict[str, Memory]) -> None:
    memory = memories["main"]
    there = call(memory, "memory_get", {"path": "../office/MEMORY.md"}).to_json()
    not_there = call(memory, "memory_get", {"path": "../nowhere/MEMORY.md"}).to_json()
    assert there == not_there


def test_a_parent_that_turns_into_a_link_is_not_followed(
    memories: dict[str, Memory], tmp_path: Path
) -> None:
    """The race itself is run in tests/notes; here its states are asked for."""
    memory = memories["main"]
    deep = memory.workspace / "memory" / "deep"
    deep.rename(memory.workspace / "memory" / "moved")
    (tmp_path / "office" / "topic.md").write_text(f"{CANARY}-office", encoding="utf-8")
    deep.symlink_to(tmp_path / "office")
    failed = call(memory, "memory_get", {"path": "memory/deep/topic.md"})
    assert isinstance(failed, Failure)
    told = json.dumps(call(memory, "memory_search", {"query": f"{CANARY}-office"}).to_json())
    assert f"{CANARY}-office" not in told


def test_no_agent_reaches_the_notes_of_another(memories: dict[str, Memory]) -> None:
    for agent, memory in memories.items():
        others = [f"{CANARY}-{other}" for other in AGENTS if other != agent]
        for other in AGENTS:
            answers = [
                call(memory, "memory_search", {"query": f"{CANARY}-{other} password {other}"}),
                call(memory, "memory_search", {"query": other, "maxResults": 200, "minScore": 0}),
                call(memory, "memory_get", {"path": f"../{other}/MEMORY.md"}),
                call(memory, "memory_get", {"path": str(memories[other].workspace / "MEMORY.md")}),
                call(memory, "memory_search", {"query": "password", "agent": other}),
                call(memory, "memory_status", {}),
                call(memory, "memory_status", {"agent": other}),
            ]
            told = json.dumps([answer.to_json() for answer in answers])
            told += "".join(answer.to_text() for answer in answers)
            assert not [canary for canary in others if canary in told]


def test_what_one_agent_writes_the_others_do_not_find(memories: dict[str, Memory]) -> None:
    call(memories["office"], "memory_append", {"text": "the walrus sleeps in Basel"})
    for agent in ("main", "home"):
        told = call(memories[agent], "memory_search", {"query": "walrus Basel"}).to_json()
        assert "walrus" not in json.dumps(told["results"])


@pytest.mark.parametrize(
    "section", ["../x", "# A › ## B", "A\nB", "A\0B", "<!--", "# ", "\ud800", "a" * 200]
)
def test_a_section_writes_to_no_other_file(memories: dict[str, Memory], section: str) -> None:
    workspace = memories["main"].workspace
    before = set(workspace.parent.rglob("*.md"))
    call(memories["main"], "memory_append", {"text": "entry", "section": section})
    assert set(workspace.parent.rglob("*.md")) == before


@pytest.mark.parametrize(
    "text", ["\ud800", "a\0b", "x" * 1_000_001, "x" * 70_000, " \n ", "---", "```\nopen", "<!-- "]
)
def test_an_entry_is_saved_or_refused_but_breaks_nothing(
    memories: dict[str, Memory], text: str
) -> None:
    memory = memories["main"]
    answer = call(memory, "memory_append", {"text": text})
    assert answer.to_text()
    assert isinstance(memory_search(memory, SearchInput("password")), SearchOutput)


def test_a_megabyte_is_no_question(memories: dict[str, Memory]) -> None:
    failed = call(memories["main"], "memory_search", {"query": "walrus " * 150_000})
    assert isinstance(failed, Failure)
    assert f"{MAX_QUERY_CHARS} characters at most" in failed.error
    assert len(failed.to_text()) < 300


def test_the_longest_question_is_answered(memories: dict[str, Memory]) -> None:
    longest = ("password " * MAX_QUERY_CHARS)[:MAX_QUERY_CHARS]
    assert isinstance(memory_search(memories["main"], SearchInput(longest)), SearchOutput)


SHOWN = "password \" ' * NEAR( AND OR NOT ( ) : ^ - + col: 💩 温室 สวัสดี % \\ ;-- { } é"
PIECES = st.sampled_from([*SHOWN.split(), "\0", "\ud800", "\u202e", "\n", "\t"])


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example("")
@example("\ud800")
@given(st.lists(PIECES, max_size=30).map(" ".join) | st.text(max_size=200))
def test_any_question_gets_an_answer_or_a_reason(memories: dict[str, Memory], query: str) -> None:
    answer = call(memories["main"], "memory_search", {"query": query})
    json.dumps(answer.to_json()).encode()
    if isinstance(answer, Failure):
        assert answer.error
        assert not answer.unavailable
    else:
        assert isinstance(answer, SearchOutput)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["memory_search", "memory_get", "memory_append", "memory_status"]),
    st.dictionaries(
        st.sampled_from(["query", "path", "text", "section", "from", "lines", "maxResults", "x"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.none()),
    ),
)
def test_any_arguments_get_an_answer_or_a_reason(
    memories: dict[str, Memory], name: str, arguments: dict[str, object]
) -> None:
    answer = call(memories["main"], name, arguments, CallContext(origin="fuzz"))
    assert answer.to_text()


SWAP = """
import os, select, sys
folder, outside = sys.argv[1:]
print("started", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    os.rename(folder, folder + ".aside")
    os.symlink(outside, folder)
    os.unlink(folder)
    os.rename(folder + ".aside", folder)
"""
RACE_S = 3.0
LEAST = 20
"""Replies: a busy machine may need longer for them."""


def test_a_parent_swapped_for_a_link_all_the_time_lets_nothing_out(
    memories: dict[str, Memory], tmp_path: Path
) -> None:
    """Another process swaps a folder of notes for a link to a stranger's, as fast as it can."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "topic.md").write_text(f"{CANARY}-outside", encoding="utf-8")
    folder = tmp_path / "main" / "memory" / "deep"
    memory = memories["main"]
    replies: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-c", SWAP, str(folder), str(outside)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as swapping:
        assert swapping.stdin is not None
        assert swapping.stdout is not None
        swapping.stdout.readline()
        ends = time.monotonic() + RACE_S
        while len(replies) < LEAST or time.monotonic() < ends:
            for name, arguments in (
                ("memory_get", {"path": "memory/deep/topic.md"}),
                ("memory_search", {"query": f"{CANARY} outside password"}),
            ):
                replies.append(json.dumps(call(memory, name, arguments, CallContext()).to_json()))
        assert swapping.poll() is None
        swapping.stdin.close()
    assert not [reply for reply in replies if f"{CANARY}-outside" in reply]
    assert swapping.returncode == 0
