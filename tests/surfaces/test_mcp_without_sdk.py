"""Notewell without its extra `mcp`: the server of a host says what to install."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from tests.surfaces.tool_text import text_of

EXTRA = "the server needs the extra `mcp`"
RUN = "import sys; from notewell.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Of a Python that has all packages of this one, except the SDK."""
    packages = tmp_path / "packages"
    packages.mkdir()
    standard = Path(sysconfig.get_path("stdlib"))
    for folder in map(Path, filter(None, sys.path)):
        if folder.is_dir() and (folder.name == "site-packages" or standard not in folder.parents):
            for child in folder.iterdir() if folder != standard else ():
                if not child.name.startswith("mcp") and not (packages / child.name).exists():
                    (packages / child.name).symlink_to(child)
    (tmp_path / "notes").mkdir()
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    return {**home, "PYTHONPATH": str(packages), "PYTHONWARNDEFAULTENCODING": "1"}


def command(*words: str) -> list[str]:
    return ["-S", "-c", RUN, "mcp", "serve", *words]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_client_is_told_what_to_install(
    environ: dict[str, str], tmp_path: Path, mode: str
) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=command("-w", str(tmp_path / "notes")), env=environ
    )

    async def asking() -> None:
        with anyio.fail_after(120):
            async with Client(server, mode=mode) as client:
                assert mode != "legacy" or EXTRA in str(client.instructions)
                tools = [tool.name for tool in (await client.list_tools()).tools]
                assert tools == ["memory_status"]
                status = await client.call_tool("memory_status", {})
                assert status.is_error
                assert EXTRA in text_of(status)
                with pytest.raises(MCPError, match="extra `mcp`"):
                    await client.list_resources()

    anyio.run(asking)


def test_a_person_is_told_at_once(environ: dict[str, str], tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, *command("--http", "-w", str(tmp_path / "notes"))],
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert EXTRA in ended.stderr
