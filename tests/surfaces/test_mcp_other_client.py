"""The MCP server, asked by a client with no line in common with it: the TypeScript SDK.

It needs Node 20 and the package `@modelcontextprotocol/client`. Where the folder is that holds it
is said by NOTEWELL_TEST_NODE_MODULES; without that these tests are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MODULES = os.environ.get("NOTEWELL_TEST_NODE_MODULES", "")
PROGRAM = (
    "import argparse, sys; from notewell.cli import mcp; parser = argparse.ArgumentParser(); "
    "mcp.add_options(parser); sys.exit(mcp.run(parser.parse_args()))"
)
SCRIPT = """
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const { mode, command, args } = JSON.parse(process.argv[2]);
const client = new Client({ name: "other", version: "1" }, { versionNegotiation: { mode } });
await client.connect(new StdioClientTransport({ command, args }));
const told = {};
told.version = client.getNegotiatedProtocolVersion();
told.tools = (await client.listTools()).tools.map((tool) => tool.name);
const call = async (name, input) => (await client.callTool({ name, arguments: input }));
told.saved = (await call("memory_append", { text: `The ${mode} zebra lives in Basel.` }));
told.found = (await call("memory_search", { query: `${mode} zebra` }));
const path = /<recalled path="([^"]+)"/.exec(told.found.content[0].text)[1];
told.read = (await call("memory_get", { path }));
told.refused = (await call("memory_get", { path: "../secret.md" }));
told.resource = (await client.readResource({ uri: "memory://MEMORY.md" })).contents[0].text;
told.prompt = (await client.getPrompt({ name: "recall", arguments: { question: "zebra" } }));
await client.close();
console.log(JSON.stringify(told));
"""

pytestmark = pytest.mark.skipif(
    not (Path(MODULES, "@modelcontextprotocol").is_dir() and shutil.which("node")),
    reason="set NOTEWELL_TEST_NODE_MODULES to a node_modules with @modelcontextprotocol/client",
)


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_another_client_is_served_in_both_eras(tmp_path: Path, mode: str, version: str) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text("We store readings in SQLite.\n", encoding="utf-8")
    (tmp_path / "node_modules").symlink_to(MODULES)
    (tmp_path / "ask.mjs").write_text(SCRIPT, encoding="utf-8")
    place = ["-w", str(workspace), "--state-dir", str(tmp_path / "state")]
    asked = {"mode": mode, "command": sys.executable, "args": ["-c", PROGRAM, "serve", *place]}
    ended = subprocess.run(
        ["node", str(tmp_path / "ask.mjs"), json.dumps(asked)],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    told: dict[str, Any] = json.loads(ended.stdout)
    assert told["version"] == version
    assert told["tools"] == ["memory_search", "memory_get", "memory_append", "memory_status"]
    assert told["saved"]["content"][0]["text"].startswith("Saved: ")
    assert "zebra lives in Basel" in told["read"]["content"][0]["text"]
    assert told["refused"]["isError"] is True
    assert told["resource"] == "We store readings in SQLite."
    assert "zebra" in json.dumps(told["prompt"]["messages"])
