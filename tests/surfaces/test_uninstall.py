"""What is put into the files of hosts can be taken out again, to the character."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.surfaces.test_hook_install import FILES
from tests.surfaces.test_hook_install import OTHER as OTHER_HOOK
from tests.surfaces.test_mcp_install import JSON_FILES, TOML_FILES, without_comments

from notewell.clients import CannotMerge, install_entry, merged, remove_entry, remove_hooks
from notewell.clients.remove import without_entry, without_hooks
from notewell.hosts import HOOK_FILES, MCP_FILES

COMMAND = ["/bin/notewell", "mcp", "serve", "--workspace", "/my notes"]
YAML_FILES = [
    "name: mine\nversion: 1.0.0\nschema: v1\n",
    "name: mine # a comment\nmcpServers:\n  - name: other\n    command: x\nmodels: []\n",
    "mcpServers:\n- name: other\n  command: x\n\n# the end\nrules:\n  - a\n",
    "a: 1\r\nmcpServers:\r\n  - name: other\r\n    command: x\r\n",
]
ITEMS = {
    event: HOOK_FILES["claude"].item(f"/bin/notewell hook {ours} --host claude -w /n", event)
    for event, ours in HOOK_FILES["claude"].events.items()
}


def files_of(name: str) -> list[str]:
    if MCP_FILES[name].format == "json":
        return [text.replace("mcpServers", MCP_FILES[name].key) for text in JSON_FILES]
    return {"toml": TOML_FILES, "yaml": YAML_FILES}[MCP_FILES[name].format]


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name in MCP_FILES for text in files_of(name)]
)
def test_a_file_is_as_it_was(name: str, text: str) -> None:
    mcp = MCP_FILES[name]
    installed = merged(text, mcp, "notewell", mcp.entry(COMMAND))
    assert installed is not None
    after = without_entry(installed, mcp, "notewell")
    assert after is not None
    # Several texts lead to the same file: with an empty object, or with a comma at the end.
    assert merged(after, mcp, "notewell", mcp.entry(COMMAND)) == installed
    if mcp.format == "json":
        before, found = without_comments(text), without_comments(after)
        assert before.pop(mcp.key, {}) == found.pop(mcp.key, {})
        assert before == found
    else:
        assert after.rstrip() == text.rstrip()
    assert without_entry(after, mcp, "notewell") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{\n  "theme": "dark"\n}\n',
        '{"theme": "dark"}',
        '{\n\t"mcpServers": {\n\t\t"other": {\n\t\t\t"a": 1\n\t\t}\n\t},\n\t"x": 1\n}\n',
        '{"mcpServers": {"other": {"command": "x"}}, "after": 1}',
        '{\r\n    "a": 1.10,\r\n    "mcpServers": {\r\n        "b": {}\r\n    }\r\n}\r\n',
        '// mine\n{\n  "mcpServers": {\n    "a": {} // last\n  }\n}\n',
    ],
)
def test_usual_files_are_the_same_to_the_character(text: str) -> None:
    mcp = MCP_FILES["claude"]
    installed = merged(text, mcp, "notewell", mcp.entry(COMMAND))
    assert installed is not None
    assert without_entry(installed, mcp, "notewell") == text


@pytest.mark.parametrize("name", MCP_FILES)
def test_what_was_added_since_stays(name: str) -> None:
    mcp = MCP_FILES[name]
    once = merged("", mcp, "notewell", mcp.entry(COMMAND))
    assert once is not None
    twice = merged(once, mcp, "second", mcp.entry(["other", "server"]))
    assert twice is not None
    after = without_entry(twice, mcp, "notewell")
    assert after is not None
    parse: Any = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}[mcp.format]
    document = parse(after)
    servers = document[mcp.key]
    found = [one["name"] for one in servers] if isinstance(servers, list) else list(servers)
    assert found == ["second"]


@pytest.mark.parametrize("name", MCP_FILES)
def test_an_entry_of_somebody_else_is_refused(tmp_path: Path, name: str) -> None:
    mcp, file = MCP_FILES[name], tmp_path / "file"
    install_entry(mcp, file, "notewell", mcp.entry(["/bin/other", "mcp"]))
    before = file.read_bytes()
    with pytest.raises(CannotMerge, match="not one that Notewell wrote"):
        remove_entry(mcp, file, "notewell")
    assert file.read_bytes() == before


@pytest.mark.parametrize("text", FILES, ids=range(len(FILES)))
def test_hooks_leave_a_file_as_it_was(text: str) -> None:
    from notewell.clients import with_hooks

    installed = with_hooks(text, ITEMS)
    assert installed is not None
    after = without_hooks(installed, HOOK_FILES["claude"], "claude")
    assert after is not None
    before, found = json.loads(text or "{}"), json.loads(after or "{}")
    # Events without hooks mean the same as no events.
    left = {event: items for event, items in before.pop("hooks", {}).items() if items}
    assert found.pop("hooks", {}) == left
    assert before == found
    assert with_hooks(after, ITEMS) == installed


def test_hooks_of_others_and_of_other_hosts_stay(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    theirs = HOOK_FILES["claude"].item("/bin/notewell hook stop --host codex", "Stop")
    mixed = {"hooks": [*ITEMS["SessionEnd"]["hooks"], *OTHER_HOOK["hooks"]]}
    hooks = {"SessionStart": [OTHER_HOOK, ITEMS["SessionStart"]], "Stop": [theirs, mixed]}
    file.write_text(json.dumps({"hooks": hooks}), encoding="utf-8")
    assert remove_hooks(file, HOOK_FILES["claude"], "claude").changed
    left = json.loads(file.read_text(encoding="utf-8"))["hooks"]
    assert left == {"SessionStart": [OTHER_HOOK], "Stop": [theirs, mixed]}
    assert not remove_hooks(file, HOOK_FILES["claude"], "claude").changed


def notewell(home: Path, *words: str) -> dict[str, Any]:
    ended = subprocess.run(
        [sys.executable, "-m", "notewell", *words, "--json"],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONWARNDEFAULTENCODING": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    document: dict[str, Any] = json.loads(ended.stdout)
    return document


@pytest.mark.parametrize(
    ("command", "host"),
    [*(("mcp", name) for name in MCP_FILES), *(("hook", name) for name in HOOK_FILES)],
)
def test_the_commands_install_and_uninstall(tmp_path: Path, command: str, host: str) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    done = notewell(home, command, "install", host, "-w", str(notes))
    file = Path(done["file"])
    assert done["changed"]
    assert str(notes) in file.read_text(encoding="utf-8")
    gone = notewell(home, command, "uninstall", host)
    assert gone["changed"]
    assert (gone["backup"], gone["keptBackups"]) == (None, [])
    assert not file.exists()
    assert not notewell(home, command, "uninstall", host)["changed"]


@pytest.mark.parametrize("words", [("uninstall",), ("mcp", "uninstall"), ("hook", "uninstall")])
def test_an_uninstall_says_that_it_needs_no_folder(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "notewell", *words, "claude", "-w", str(tmp_path)],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "argument -w/--workspace: leave it out" in done.stderr
    assert list(tmp_path.iterdir()) == []
