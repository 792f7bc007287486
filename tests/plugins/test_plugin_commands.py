"""The plugins as hosts run them: the commands of their manifests, with a fresh home."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from os import getuid
from pathlib import Path
from pwd import getpwuid
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

ROOT = Path(__file__).parents[2] / "plugins"
SAID = "the Rancilio is on the third floor"
MISSING = "'notewell' is not installed"
HOSTS = ("claude", "codex", "gemini")
FOLDERS = {"claude": "claude-code", "codex": "codex", "gemini": "gemini"}
ROOT_NAMES = {"claude": "CLAUDE_PLUGIN_ROOT", "codex": "PLUGIN_ROOT", "gemini": "extensionPath"}


class Host:
    """Does with a plugin what the host does: copies its folder, puts values in, runs commands."""

    def __init__(self, name: str, home: Path) -> None:
        self.name = name
        self.home = home
        self.root = home / "a folder of plugins" / name
        shutil.copytree(ROOT / FOLDERS[name], self.root)
        self.notes = home / "notes"
        self.notes.mkdir()
        (self.notes / "MEMORY.md").write_text("- we ship on Friday\n", encoding="utf-8")
        self.project = home / "project"
        self.project.mkdir()
        self.transcript = home / "t.jsonl"
        self.transcript.write_text(
            json.dumps({"type": "user", "sessionId": "s", "message": {"content": SAID}}) + "\n",
            encoding="utf-8",
        )
        self.bin = home / "bin"
        self.bin.mkdir()
        self.env = {
            "HOME": str(home),
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "NOTEWELL_WORKSPACE": str(self.notes),
            ROOT_NAMES[name]: str(self.root),
        }

    def install_notewell(self, folder: Path | None = None) -> None:
        program = (folder or self.bin) / "notewell"
        program.parent.mkdir(parents=True, exist_ok=True)
        # The tests run in an environment that has the package; a user has a script of pipx.
        path = os.pathsep.join(filter(None, sys.path))
        lines = (
            "#!/bin/sh",
            f"export PYTHONPATH='{path}'",
            f'exec {sys.executable} -m notewell "$@"',
        )
        program.write_text("\n".join(lines) + "\n", encoding="utf-8")
        program.chmod(0o755)

    def file(self, name: str) -> Any:
        text = (self.root / name).read_text(encoding="utf-8")
        if self.name == "gemini":
            text = text.replace("${extensionPath}", str(self.root))
        return json.loads(text)

    def hook_commands(self) -> dict[str, str]:
        hooks = self.file("hooks/hooks.json")["hooks"]
        return {event: groups[0]["hooks"][0]["command"] for event, groups in hooks.items()}

    def run(self, event: str) -> subprocess.CompletedProcess[str]:
        sample = {"session_id": "s", "transcript_path": str(self.transcript), "source": "startup"}
        return subprocess.run(
            ["sh", "-c", self.hook_commands()[event]],
            input=json.dumps({**sample, "cwd": str(self.project), "prompt": "when do we ship?"}),
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=self.project,
            env=self.env,
            timeout=120,
            check=False,
        )

    def server(self) -> StdioServerParameters:
        name = "gemini-extension.json" if self.name == "gemini" else ".mcp.json"
        entry = self.file(name)["mcpServers"]["notewell"]
        words = [word.replace("${CLAUDE_PLUGIN_ROOT}", str(self.root)) for word in entry["args"]]
        # Only Codex names a folder, relative to the plugin; others run it in the project.
        cwd = self.root / entry["cwd"] if "cwd" in entry else self.project
        return StdioServerParameters(command=entry["command"], args=words, env=self.env, cwd=cwd)

    def session_notes(self) -> list[Path]:
        return [file for file in self.notes.glob("memory/*.md") if SAID in file.read_text("utf-8")]


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Host:
    return Host(request.param, tmp_path)


@pytest.fixture
def codex(tmp_path: Path) -> Host:
    """For what the script decides, which is the same in every plugin."""
    return Host("codex", tmp_path)


async def _greeting(host: Host) -> tuple[str, list[str], str]:
    """The instructions of the server, its tools, and what `memory_status` says."""
    async with Client(host.server()) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        status = await client.call_tool("memory_status", {})
        text = "".join(getattr(part, "text", "") for part in status.content)
        return client.instructions or "", tools, text


def test_every_hook_of_a_manifest_runs_and_a_session_is_saved_once(host: Host) -> None:
    host.install_notewell()
    config = host.home / ".config" / "notewell" / "config.json"
    config.parent.mkdir(parents=True)
    # On a busy machine, a recall may need more than its usual time.
    config.write_text('{"hooks": {"recallSeconds": 60}}', encoding="utf-8")
    for event in host.hook_commands():
        done = host.run(event)
        assert (done.returncode, done.stderr) == (0, ""), event
        if event == "SessionStart":
            context = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
            assert "we ship on Friday" in context
    assert len(host.session_notes()) == 1


def test_the_server_of_a_manifest_offers_the_tools_of_this_workspace(host: Host) -> None:
    host.install_notewell()
    instructions, tools, status = anyio.run(_greeting, host)
    assert "memory_search" in tools
    assert "Before you answer" in instructions
    assert "1 note" in status


def test_a_program_that_is_not_on_the_path_is_found_where_pipx_puts_it(codex: Host) -> None:
    codex.install_notewell(codex.home / ".local" / "bin")
    assert "we ship on Friday" in codex.run("SessionStart").stdout


def test_a_missing_program_is_said_to_the_user_and_to_the_model(host: Host) -> None:
    answers = {event: host.run(event) for event in host.hook_commands()}
    assert {done.returncode for done in answers.values()} == {0}
    start = json.loads(answers.pop("SessionStart").stdout)
    assert MISSING in start["systemMessage"]
    assert MISSING in start["hookSpecificOutput"]["additionalContext"]
    assert {done.stdout for done in answers.values()} == {""}  # Once in a session is enough.
    instructions, tools, status = anyio.run(_greeting, host)
    assert MISSING in instructions
    assert tools == ["memory_status"]
    assert MISSING in status


def test_without_a_folder_nothing_is_read_and_the_user_hears_why(host: Host) -> None:
    host.install_notewell()
    # Hosts leave the name of an option that has no value.
    host.env["NOTEWELL_WORKSPACE"] = "${NOTEWELL_WORKSPACE}" if host.name == "gemini" else ""
    host.env["CLAUDE_PLUGIN_OPTION_WORKSPACE"] = "${user_config.workspace}"
    # The host runs in a project that happens to have such a file: nobody sent notes there.
    (host.project / "MEMORY.md").write_text("- of the project\n", encoding="utf-8")
    start = json.loads(host.run("SessionStart").stdout)
    assert "no folder of notes is set" in start["systemMessage"]
    host.run("SessionEnd")
    assert [file.name for file in host.project.iterdir()] == ["MEMORY.md"]
    instructions, tools, status = anyio.run(_greeting, host)
    assert "no folder of notes is set" in instructions
    assert tools == ["memory_status"]
    assert "no folder of notes is set" in status
    # Where: a host such as Codex has no options for a plugin.
    assert '{"agents": {"defaults": {"workspace": "~/notes"}}} into config.json' in status


def test_without_a_folder_the_settings_of_the_user_name_it(codex: Host) -> None:
    codex.install_notewell()
    del codex.env["NOTEWELL_WORKSPACE"]
    config = codex.home / ".config" / "notewell" / "config.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"agents": {"defaults": {"workspace": "~/notes"}}}', encoding="utf-8")
    (codex.project / "MEMORY.md").write_text("- of the project\n", encoding="utf-8")
    assert "we ship on Friday" in codex.run("SessionStart").stdout
    codex.run("SessionEnd")
    assert len(codex.session_notes()) == 1


@pytest.mark.parametrize("home", ["~/notes", "~"])
def test_a_folder_may_begin_with_a_tilde(codex: Host, home: str) -> None:
    codex.install_notewell()
    (codex.home / "MEMORY.md").write_text("- we ship on Friday\n", encoding="utf-8")
    codex.env["NOTEWELL_WORKSPACE"] = home
    assert "we ship on Friday" in codex.run("SessionStart").stdout


def test_claude_passes_the_option_of_the_plugin_to_hooks_in_its_own_variable(
    tmp_path: Path,
) -> None:
    host = Host("claude", tmp_path)
    host.install_notewell()
    host.env["CLAUDE_PLUGIN_OPTION_WORKSPACE"] = host.env.pop("NOTEWELL_WORKSPACE")
    assert "we ship on Friday" in host.run("SessionStart").stdout


def test_claude_can_decline_recall_by_the_option_of_the_plugin(tmp_path: Path) -> None:
    host = Host("claude", tmp_path)
    program = host.bin / "notewell"
    # The words that the program gets, each in a line.
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    host.env["NOTEWELL_WORKSPACE"] = str(host.notes) + " --recall"
    place = ["--workspace", host.env["NOTEWELL_WORKSPACE"]]
    plain = ["hook", "prompt", "--host", "claude"]
    for value in ("true", "", "${user_config.recall}"):
        host.env["CLAUDE_PLUGIN_OPTION_RECALL"] = value
        assert host.run("UserPromptSubmit").stdout.splitlines() == [*plain, "--recall", *place]
    host.env["CLAUDE_PLUGIN_OPTION_RECALL"] = "false"
    assert host.run("UserPromptSubmit").stdout.splitlines() == [*plain, *place]
    assert host.run("SessionStart").stdout.splitlines()[1] == "session-start"


def test_a_host_without_a_home_variable_is_served(host: Host) -> None:
    # Not into the home of whoever runs this test, which the program would find.
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        host.env[name] = str(host.home / name)
    del host.env["HOME"]
    host.install_notewell()
    assert "we ship on Friday" in host.run("SessionStart").stdout
    # The folder of the user is known to the system.
    (host.bin / "notewell").write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
    host.env["NOTEWELL_WORKSPACE"] = "~/notes"
    home = getpwuid(getuid()).pw_dir
    assert host.run("SessionStart").stdout.endswith(f"--workspace {home}/notes\n")
    # Nor does the search for a program that is missing fail.
    (host.bin / "notewell").unlink()
    done = host.run("SessionStart")
    assert (MISSING in done.stdout, done.stderr) == (True, "")


def test_a_folder_that_is_gone_is_said(codex: Host) -> None:
    codex.install_notewell()
    codex.env["NOTEWELL_WORKSPACE"] = str(codex.home / "gone")
    assert "no such folder" in json.loads(codex.run("SessionStart").stdout)["systemMessage"]


def test_a_mistake_in_the_settings_is_said(codex: Host) -> None:
    codex.install_notewell()
    config = codex.home / ".config" / "notewell" / "config.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"agents": {"defaults": {"memorySearch": 3}}}', encoding="utf-8")
    start = json.loads(codex.run("SessionStart").stdout)
    assert "memorySearch" in start["systemMessage"]
    assert "a setting" in start["hookSpecificOutput"]["additionalContext"]


def test_beside_the_hooks_of_the_installer_a_session_is_saved_once(host: Host) -> None:
    host.install_notewell()
    program, place = str(host.bin / "notewell"), ["-w", str(host.notes)]
    installed = subprocess.run(
        [program, "hook", "install", host.name, *place, "--print", "--json"],
        env=host.env, capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    hooks = json.loads(installed.stdout)["entries"]["hooks"]
    # Gemini CLI reports compactions that it does not make.
    event = "SessionEnd" if host.name == "gemini" else "PreCompact"
    both = [host.hook_commands()[event], hooks[event][0]["hooks"][0]["command"]]
    sample = {"session_id": "s", "transcript_path": str(host.transcript)}
    running = []
    for command in both:  # At the same time, as a host runs them.
        process = subprocess.Popen(
            ["sh", "-c", command], stdin=subprocess.PIPE, cwd=host.project, env=host.env
        )
        assert process.stdin
        process.stdin.write(json.dumps(sample).encode())
        process.stdin.close()
        running.append(process)
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    assert len(host.session_notes()) == 1
