"""Claude's memory tool: Anthropic's runner, its own words, our files."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from anthropic.types.beta import BetaMemoryTool20250818ViewCommand
from hypothesis import given, settings
from hypothesis import strategies as st

from notewell import Memory, open_memory
from notewell.adapters.claude import async_memory_tool, memory_tool
from notewell.adapters.claude_commands import VIEW_CHARS
from notewell.errors import BadSetting
from notewell.testing import HashEmbedder
from notewell.tools import CallContext

Command = dict[str, Any]


def view(path: str, **more: Any) -> Command:
    return {"command": "view", "path": path, **more}


def create(path: str, text: str) -> Command:
    return {"command": "create", "path": path, "file_text": text}


def swap(path: str, old: str, new: str) -> Command:
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def insert(path: str, line: int, text: str) -> Command:
    return {"command": "insert", "path": path, "insert_line": line, "insert_text": text}


def delete(path: str) -> Command:
    return {"command": "delete", "path": path}


def rename(old: str, new: str) -> Command:
    return {"command": "rename", "old_path": old, "new_path": new}


def told(call: Callable[[object], Any], command: object) -> str:
    """What the model gets, error or not."""
    try:
        return str(call(command))
    except ToolError as error:
        return f"error: {error.content}"


@pytest.fixture
def tell(memory: Memory) -> Callable[[object], str]:
    tool = memory_tool(memory)
    return lambda command: told(tool.call, command)


# -- the walk ------------------------------------------------------------------------------------


def test_what_claude_writes_is_found_by_the_next_search(
    memory: Memory, workspace: Path, tell: Callable[[object], str]
) -> None:
    memory.indexer.looks._again_at = float("inf")  # as after a long look at very many notes
    tell(create("/memories/people/berta.md", "Berta prefers rooibos.\n"))
    (hit, *_) = memory.search("rooibos").hits
    assert hit.citation == "memory/claude/people/berta.md#L1-L1"
    tell(swap("/memories/people/berta.md", "rooibos", "espresso"))
    assert memory.search("espresso", mode="keyword").hits
    tell(delete("/memories/people"))
    assert not memory.search("espresso", mode="keyword").hits
    (kept,) = (workspace / "memory/claude/.trash").rglob("berta.md")
    assert kept.read_text(encoding="utf-8") == "Berta prefers espresso.\n"


def test_a_name_without_md_gets_it_and_both_names_lead_there(
    memory: Memory, workspace: Path, tell: Callable[[object], str]
) -> None:
    assert tell(create("/memories/todo.txt", "buy tea\n")) == (
        "File created successfully at: /memories/todo.txt"
    )
    assert (workspace / "memory/claude/todo.txt.md").exists()
    assert "todo.txt.md" in tell(view("/memories"))
    assert "buy tea" in tell(view("/memories/todo.txt"))
    assert "buy tea" in tell(view("/memories/todo.txt.md"))
    assert tell(create("/memories/todo.txt.md", "")).startswith("error: File ")
    tell(rename("/memories/todo.txt", "/memories/done.txt"))
    assert (workspace / "memory/claude/done.txt.md").exists()
    assert tell(delete("/memories/done.txt")) == "Successfully deleted /memories/done.txt"


def test_nothing_is_made_before_something_is_written(
    workspace: Path, tell: Callable[[object], str]
) -> None:
    assert tell(view("/memories")).endswith("excluding hidden items:\n0B\t/memories")
    assert tell(view("/memories/")).endswith("\n0B\t/memories")
    assert not (workspace / "memory/claude").exists()


# -- their runner --------------------------------------------------------------------------------


class Claude:
    """Stands in for the API: makes these calls one after another, and notes the answers."""

    def __init__(self, *commands: Command) -> None:
        self._left = list(commands)
        self.answers: list[Any] = []
        self.tools: list[Any] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        asked = json.loads(request.content)
        self.tools = asked.get("tools", self.tools)  # a thread goes on without repeating them
        last = asked["messages"][-1]["content"]
        if isinstance(last, list):
            self.answers += [block for block in last if block["type"] == "tool_result"]
        return httpx2.Response(200, json=self._message())

    def _message(self) -> dict[str, Any]:
        content: dict[str, Any] = {"type": "text", "text": "done"}
        if self._left:
            asked = {"name": "memory", "input": self._left.pop(0)}
            content = {"type": "tool_use", "id": f"toolu_{len(self._left)}", **asked}
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [content],
            "stop_reason": "tool_use" if content["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }


SCRIPT: tuple[Command, ...] = (
    create("/memories/a.md", "tea\n"),
    view("/memories/a.md"),
    view("/memories/../x"),
    {},
)
HELLO: Any = [{"role": "user", "content": "Hello."}]


def check(claude: Claude) -> None:
    assert claude.tools == [{"type": "memory_20250818", "name": "memory"}]
    created, shown, escaped, empty = claude.answers
    assert "File created successfully" in str(created["content"])
    assert "     1\ttea" in str(shown["content"])
    assert [each.get("is_error", False) for each in claude.answers] == [False, False, True, True]
    assert "would escape" in str(escaped["content"])
    assert "Unknown command" in str(empty["content"])


def test_anthropics_runner_runs_our_tool(memory: Memory) -> None:
    claude = Claude(*SCRIPT)
    with (
        httpx2.Client(transport=httpx2.MockTransport(claude)) as http,
        Anthropic(api_key="none", http_client=http) as client,
    ):
        runner = client.beta.messages.tool_runner(
            model="claude", max_tokens=100, messages=HELLO, tools=[memory_tool(memory)]
        )
        runner.until_done()
    check(claude)


def test_anthropics_asynchronous_runner_runs_our_tool(memory: Memory) -> None:
    claude = Claude(*SCRIPT)

    async def run() -> None:
        transport = httpx2.MockTransport(claude)
        async with (
            httpx2.AsyncClient(transport=transport) as http,
            AsyncAnthropic(api_key="none", http_client=http) as client,
        ):
            tool = async_memory_tool(memory)
            runner = client.beta.messages.tool_runner(
                model="claude", max_tokens=100, messages=HELLO, tools=[tool]
            )
            await runner.until_done()
            assert await tool.clear_all_memory() == "All memory cleared"

    asyncio.run(run())
    check(claude)


# -- their words ---------------------------------------------------------------------------------

PATHS = ["/memories/a.md", "/memories/b.md", "/memories/sub/a.md", "/memories/sub", "/memories"]
# Each ends with its last line: where one does not, an insertion of theirs anywhere adds the line
# break, and ours leaves that line as it was.
TEXTS = ["", "one\n", "one\ntwo\n", "one\n\none\n", "zwei é\n"]
paths, texts = st.sampled_from(PATHS), st.sampled_from(TEXTS)
commands = st.one_of(
    st.builds(view, paths),
    st.builds(
        lambda path, span: view(path, view_range=span), paths, st.sampled_from([[1, 2], [2, -1]])
    ),
    st.builds(create, paths.filter(lambda path: path.endswith(".md")), texts),
    st.builds(
        swap, paths, st.sampled_from(["one", "two", "n"]), st.sampled_from(["", "x", "1\n2"])
    ),
    st.builds(insert, paths, st.integers(-1, 3), st.sampled_from(["new", "new\n", "a\nb"])),
    st.builds(delete, paths),
    st.builds(rename, paths, paths),
)
# Something to change, or most commands would only hear that nothing is there.
BEGINNING = (create(PATHS[0], "one\n\none\n"), create(PATHS[2], "one\ntwo\n"))
FOLDER_SIZE = re.compile(r"^[\d.]+[BKMG](?=\t/memories(/\S+/)?$|\t/memories/sub$)", re.MULTILINE)


@settings(max_examples=150, deadline=None)
@given(st.lists(commands, min_size=1, max_size=12))
def test_every_answer_is_the_one_of_anthropics_own_tool(
    tmp_path_factory: pytest.TempPathFactory, commands: list[Command]
) -> None:
    """The same commands to their tool and to ours; how large a folder is depends on the disk."""
    base = tmp_path_factory.mktemp("both")
    theirs = BetaLocalFilesystemMemoryTool(str(base / "theirs"))
    (base / "ours").mkdir()
    with open_memory(
        base / "ours", state_dir=base / "state", embedder=HashEmbedder(), environment={}
    ) as memory:
        ours = memory_tool(memory)
        for command in (*BEGINNING, *commands):
            if _differs_on_purpose(command, theirs.memory_root):
                continue
            expected = FOLDER_SIZE.sub("…", told(theirs.call, command))
            assert FOLDER_SIZE.sub("…", told(ours.call, command)) == expected


def _differs_on_purpose(command: Command, memories: Path) -> bool:
    """A rename in three cases: of what is not there (theirs makes the folder it would go to), of
    a folder into itself (theirs shows what the system says), to a name that is no note's (ours
    adds `.md`)."""
    if command["command"] != "rename":
        return False
    old = memories / command["old_path"].removeprefix("/memories").lstrip("/")
    into_itself = command["new_path"].startswith(f"{command['old_path']}/")
    return not old.exists() or into_itself or (old.is_file() and "." not in command["new_path"])


def test_an_insertion_changes_no_other_line(
    workspace: Path, tell: Callable[[object], str]
) -> None:
    note = workspace / "memory/claude/a.md"
    note.parent.mkdir()
    note.write_bytes(b"one\r\ntwo\x0b2\r\nlast")
    tell(insert("/memories/a.md", 1, "new\nlines"))
    assert note.read_bytes() == b"one\r\nnew\r\nlines\r\ntwo\x0b2\r\nlast"
    tell(insert("/memories/a.md", 5, "end\n\n"))
    assert note.read_bytes() == b"one\r\nnew\r\nlines\r\ntwo\x0b2\r\nlast\r\nend\r\n\r\n"
    tell(swap("/memories/a.md", "new\nlines", "1\n2"))
    assert note.read_bytes() == b"one\r\n1\r\n2\r\ntwo\x0b2\r\nlast\r\nend\r\n\r\n"


def test_a_long_note_is_shown_in_parts(workspace: Path, tell: Callable[[object], str]) -> None:
    note = workspace / "memory/claude/a.md"
    note.parent.mkdir()
    note.write_text("".join(f"{n} {'x' * 90}\n" for n in range(1, 2001)), encoding="utf-8")
    seen, first = [], 1
    while first:
        page = tell(view("/memories/a.md", view_range=[first, -1]))
        assert len(page) < VIEW_CHARS + 300
        seen += re.findall(r"^ *(\d+)\t\1 x", page, re.MULTILINE)
        more = re.search(r"view_range \[(\d+), -1\]", page)
        first = int(more[1]) if more else 0
    assert seen == [str(n) for n in range(1, 2001)]
    note.write_text("y" * 200_000, encoding="utf-8")
    assert "line 1 of 1 is longer" in tell(view("/memories/a.md"))


# -- others ---------------------------------------------------------------------------------------


def test_what_is_not_utf8_is_shown_and_not_edited(
    workspace: Path, tell: Callable[[object], str]
) -> None:
    note = workspace / "memory/claude/a.md"
    note.parent.mkdir()
    note.write_bytes(b"caf\xe9\n")
    assert "caf" in tell(view("/memories/a.md"))
    assert tell(swap("/memories/a.md", "caf", "x")).startswith("error: ")
    assert note.read_bytes() == b"caf\xe9\n"


def test_only_the_host_can_clear_everything(
    memory: Memory, workspace: Path, tell: Callable[[object], str]
) -> None:
    tell(create("/memories/a.md", "a"))
    tell(create("/memories/sub/b.md", "b"))
    for name in ("clear", "clear_all_memory", "_find", "__init__", None, ["view"]):
        assert tell({"command": name}).startswith("error: Unknown command: ")
    assert memory_tool(memory).clear_all_memory() == "All memory cleared"
    assert tell(view("/memories")).count("\n") == 1
    assert len([*(workspace / "memory/claude/.trash").rglob("*.md")]) == 2


def test_an_agent_without_a_memory_is_told_so(memory: Memory) -> None:
    tool = memory_tool(memory, CallContext(enabled=False))
    assert "has no memory" in told(tool.call, view("/memories"))


@pytest.mark.parametrize("folder", ["memory", "..", "/etc", "memory/../..", "notes"])
def test_a_folder_that_is_not_below_memory_is_a_bad_setting(memory: Memory, folder: str) -> None:
    with pytest.raises(BadSetting, match="folder"):
        memory_tool(memory, folder=folder)


def test_a_loop_of_ones_own_may_call_the_methods(memory: Memory) -> None:
    command = BetaMemoryTool20250818ViewCommand(command="view", path="/memories")
    assert str(memory_tool(memory).view(command)).startswith("Here're the files")
    assert str(memory_tool(memory).execute(command)).startswith("Here're the files")
