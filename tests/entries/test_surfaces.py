"""Entries from the command line and over MCP, as users and agents meet them."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from tests.surfaces.tool_text import text_of

from notewell import open_memory
from notewell.cli import main
from notewell.config import ConfigScope, load_settings, read_configuration
from notewell.entries import EntriesSettings, EntryStore
from notewell.mcp_server import create_server
from notewell.testing import HashEmbedder
from notewell.tools import ENTRY_TOOLS, TOOLS, CallContext

Open = Callable[..., EntryStore]
Run = Callable[..., tuple[int, str, str]]
LANCE = {"plugins": {"entries": {"memory-lancedb": {"enabled": True}}}}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    place.mkdir()
    (place / "MEMORY.md").write_text("# Notes\n\nNothing yet.\n", encoding="utf-8")
    return place


@pytest.fixture
def run(workspace: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def ask(action: str, *words: str) -> tuple[int, str, str]:
        place = ["-w", str(workspace), "--state-dir", str(workspace.parent / "state")]
        code = main(["entries", action, *place, *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return ask


def test_store_recall_list_and_forget_from_the_command_line(run: Run) -> None:
    code, out, _ = run("store", "The", "router", "is", "in", "the", "basement")
    assert code == 0
    id_ = out.split()[-1]
    assert run("store", "The router is in the basement.")[1] == f"it exists already: {id_}\n"
    assert id_ in run("recall", "where is the router?")[1]
    assert run("recall", "where is the router?", "--agent", "guest")[0] == 3
    (entry,) = json.loads(run("list", "--json")[1])["entries"]
    assert (entry["id"], entry["agent"]) == (id_, "main")
    assert run("forget", id_, "--agent", "guest")[0] == 3
    assert run("forget", id_)[0] == 0
    assert json.loads(run("list", "--json")[1])["entries"] == []


def test_wrong_usage_says_what_to_do(run: Run) -> None:
    assert run("forget")[0] == 2
    code, _, err = run("forget", "nonsense")
    assert code == 2
    assert "not the id of an entry" in err
    assert run("store", "tea", "--importance", "7")[0] == 2
    code, out, _ = run("store", "tea", "--category", "secret", "--json")
    assert (code, json.loads(out)["error"]["kind"]) == (2, "BadRequest")
    assert run("import", "/no/such/file.md")[0] == 2


def test_export_and_import_round_trip_and_never_overwrite(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("store", "The router is in the basement")
    run("store", "Deploys are on Friday", "--importance", "0.25")
    file = tmp_path / "entries.md"
    assert run("export", str(file))[0] == 0
    assert run("export", str(file))[0] == 2, "a file that is there is not touched"
    assert run("import", str(file), "--agent", "guest")[1].startswith("stored 2; 0 existed")
    assert run("import", str(file), "--agent", "guest")[1].startswith("stored 0; 2 existed")
    shown = run("export", "--agent", "guest")[1]
    assert shown == file.read_text(encoding="utf-8").replace("of main", "of guest")
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BytesIO(shown.encode()), encoding="utf-8")
    )
    assert run("import", "-", "--agent", "third", "--json")[0] == 0


# -- settings ------------------------------------------------------------------------------------


def written(path: Path, told: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


def test_the_settings_come_from_the_users_own_file(workspace: Path, tmp_path: Path) -> None:
    plugin = {
        "enabled": True,
        "config": {
            "autoRecall": True,
            "dbPath": "~/lance",
            "captureMaxChars": 700,
            "embedding": {"model": "x"},
        },
    }
    told = {"plugins": {"entries": {"memory-lancedb": plugin}}}
    env = {"HOME": str(tmp_path), "NOTEWELL_CONFIG": str(written(tmp_path / "own.json", told))}
    assert load_settings(workspace, "main", env).entries == EntriesSettings(
        auto_recall=True, db_path="~/lance", capture_chars=700
    )
    assert load_settings(workspace, "main", {"HOME": str(tmp_path)}).entries is None


def test_a_workspace_that_came_from_a_stranger_opens_no_entries(
    workspace: Path, tmp_path: Path
) -> None:
    written(workspace / "notewell.json", LANCE)
    env = {"HOME": str(tmp_path)}
    assert load_settings(workspace, "main", env).entries is None
    (finding,) = read_configuration(ConfigScope(workspace), env).findings
    assert finding.kind == "refused"


# -- MCP -----------------------------------------------------------------------------------------


async def told(client: Client, name: str, **arguments: object) -> str:
    result = await client.call_tool(name, arguments)
    assert not result.is_error
    return text_of(result)


async def store_recall_forget(client: Client) -> None:
    stored = await told(client, "memory_store", text="The router is in the basement")
    found = await told(client, "memory_recall", query="where is the router")
    entry = stored.removeprefix("Stored: ")
    assert f'<recalled entry="{entry}"' in found
    gone = await told(client, "memory_forget", memoryId=entry)
    assert gone.startswith("Deleted:\n")
    again = await told(client, "memory_recall", query="where is the router")
    assert again.startswith("Nothing: ")


def test_the_tools_are_offered_only_with_a_store(workspace: Path, store: EntryStore) -> None:
    names = [spec.name for spec in TOOLS]
    more = [spec.name for spec in ENTRY_TOOLS]

    async def asking() -> None:
        with anyio.fail_after(60):
            for entries, offered in [(None, names), (store, names + more)]:
                server = create_server(
                    memory, CallContext(), background_sync=False, entries=entries
                )
                async with Client(server, mode="legacy") as client:
                    tools = (await client.list_tools()).tools
                    assert [tool.name for tool in tools] == offered
                    deleting = [
                        tool.name
                        for tool in tools
                        if tool.annotations and tool.annotations.destructive_hint
                    ]
                    assert deleting == (["memory_forget"] if entries else [])
            server = create_server(memory, CallContext(), background_sync=False, entries=store)
            async with Client(server, mode="legacy") as client:
                await store_recall_forget(client)

    state = workspace.parent / "state"
    with open_memory(workspace, state_dir=state, embedder=HashEmbedder()) as memory:
        anyio.run(asking)


def test_a_client_that_starts_the_program_stores_recalls_and_forgets(
    workspace: Path, tmp_path: Path
) -> None:
    state = str(tmp_path / "state")
    config = str(written(tmp_path / "own.json", LANCE))
    command = ["-m", "notewell", "mcp", "serve", "-w", str(workspace), "--state-dir", state]
    started = StdioServerParameters(
        command=sys.executable, args=command, env={"NOTEWELL_CONFIG": config}
    )

    async def asking() -> None:
        with anyio.fail_after(120):
            async with Client(started, mode="legacy") as client:
                await store_recall_forget(client)

    anyio.run(asking)
