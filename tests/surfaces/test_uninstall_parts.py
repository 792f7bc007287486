"""The entry and the hooks of a host come out one by one, in any order, and nothing is left."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from notewell.clients import install_entry, install_hooks, remove_entry, remove_hooks
from notewell.hosts import HOSTS, Host, Machine

WITH_BOTH = {host.id: host for host in HOSTS.values() if host.mcp and host.hooks}
OTHERS = """\
{
  "mcpServers": {
    "o": {
      "command": "x"
    }
  },
  "hooks": {
    "SessionStart": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "o"
          }
        ]
      }
    ]
  }
}
"""
BEFORE = {
    "no file": None,
    "empty file": "",
    "empty": "{}",
    "empty line": "{}\n",
    "plain": '{\n  "theme": "dark"\n}\n',
    "one line": '{"theme": "dark"}',
    "tabs": '{\n\t"theme": "dark",\n\t"x": {\n\t\t"a": 1\n\t}\n}\n',
    "others": OTHERS,
    "empty objects": '{\n  "mcpServers": {},\n  "hooks": {}\n}\n',
    "an event": '{\n  "hooks": {\n    "Stop": []\n  }\n}',
    "comments": '{\n  // mine\n  "a": 1 // last\n}\n',
    "windows": '{\r\n  "a": 1\r\n}\r\n',
    "byte order mark": '\ufeff{\n  "a": 1\n}\n',
}
ORDERS = ("entry", "hooks"), ("hooks", "entry")


class Files:
    """The files of a host, in a folder of the test."""

    def __init__(self, host: Host, folder: Path) -> None:
        assert host.mcp
        assert host.hooks
        self.host, self.mcp, self.hooks, self.folder = host, host.mcp, host.hooks, folder
        machine = Machine(folder, {}, "linux")
        self.entry_file, self.hook_file = (
            host.mcp.file(machine, None),
            host.hooks.file(machine, None),
        )

    def write(self, text: str | None) -> None:
        for file in {self.entry_file, self.hook_file} if text is not None else ():
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".toml":
                file.write_text('model = "m"\n', encoding="utf-8")
            else:
                named = str(text).replace("mcpServers", self.mcp.key)
                file.write_text(named, encoding="utf-8", newline="")

    def contents(self) -> dict[str, bytes]:
        files = [file for file in self.folder.rglob("*") if file.is_file()]
        return {str(file): file.read_bytes() for file in files}

    def install(self, part: str) -> None:
        words = f"/bin/notewell hook {{}} --host {self.host.id} --workspace /n"
        events = {**self.hooks.events, **self.hooks.turn_events}
        items = {
            event: self.hooks.item(words.format(ours), event) for event, ours in events.items()
        }
        if part == "hooks":
            install_hooks(self.hook_file, self.hooks, items, self.host.id)
        else:
            command = ["/bin/notewell", "mcp", "serve", "--workspace", "/n"]
            install_entry(self.mcp, self.entry_file, "notewell", self.mcp.entry(command))

    def uninstall(self, part: str) -> None:
        if part == "hooks":
            remove_hooks(self.hook_file, self.hooks, self.host.id)
        else:
            remove_entry(self.mcp, self.entry_file, "notewell")


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("name", WITH_BOTH)
def test_the_files_are_as_they_were(tmp_path: Path, name: str, before: str) -> None:
    for number, (order, reverse) in enumerate(product(ORDERS, ORDERS)):
        files = Files(WITH_BOTH[name], tmp_path / str(number))
        files.write(BEFORE[before])
        was = files.contents()
        # Twice: the backups of the first time must not mislead the second.
        for _ in range(2):
            for part in order:
                files.install(part)
            assert files.contents() != was
            for part in reverse:
                files.uninstall(part)
            assert files.contents() == was, (order, reverse)


@pytest.mark.parametrize("name", WITH_BOTH)
def test_what_others_added_since_stays(tmp_path: Path, name: str) -> None:
    for number, (order, reverse) in enumerate(product(ORDERS, ORDERS)):
        files = Files(WITH_BOTH[name], tmp_path / str(number))
        for part in order:
            files.install(part)
        other = files.mcp.entry(["other", "server"])
        install_entry(files.mcp, files.entry_file, "other", other)
        item = files.hooks.item("other hook", next(iter(files.hooks.events)))
        install_hooks(files.hook_file, files.hooks, dict.fromkeys(files.hooks.events, item), "x")
        for part in reverse:
            files.uninstall(part)
        text = "".join(one.decode() for one in files.contents().values())
        assert "notewell" not in text
        assert '"other' in text
        assert text.count("other hook") == len(files.hooks.events)


def notewell(home: Path, *words: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "notewell", *words],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONWARNDEFAULTENCODING": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("commands", [("mcp", "hook"), ("hook", "mcp")], ids="-".join)
@pytest.mark.parametrize("before", ["no file", "plain"])
@pytest.mark.parametrize("name", ["gemini", "qwen", "copilot"])
def test_the_two_commands_leave_nothing(
    tmp_path: Path, name: str, before: str, commands: tuple[str, str]
) -> None:
    files = Files(WITH_BOTH[name], tmp_path / "home")
    files.folder.mkdir()
    notes = tmp_path / "notes"
    notes.mkdir()
    files.write(BEFORE[before])
    was = files.contents()
    notewell(files.folder, "install", name, "-w", str(notes), "--notes-only")
    for command in commands:
        notewell(files.folder, command, "uninstall", name)
    assert files.contents() == was
