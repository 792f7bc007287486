"""A host has Notewell once: as a plugin, or by `notewell install`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from notewell.clients import double_installs, refuse_beside_plugin
from notewell.errors import BadRequest
from notewell.hosts import HOSTS, Machine

PLUGIN = Path(__file__).parents[2] / "plugins" / "opencode"

# As Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0 and OpenCode 1.18.33 write it; `%s` is
# on or off.
ENABLED = {
    "claude": (
        ".claude/settings.json",
        '{"enabledPlugins": {"notewell@notewell": %s}, "model": "opus"}\n',
        ("true", "false"),
    ),
    "codex": (
        ".codex/config.toml",
        '[plugins."notewell@notewell"]\nenabled = %s\n',
        ("true", "false"),
    ),
    "gemini": (
        ".gemini/extensions/extension-enablement.json",
        '{"notewell": {"overrides": ["%s/home/*"]}}\n',
        ("", "!"),
    ),
    "opencode": (
        ".config/opencode/opencode.jsonc",
        '{"$schema": "https://opencode.ai/config.json", "plugin": [%s]}\n',
        (f'"x", "{PLUGIN}"', '"x", "/srv/plugins/opencode"'),
    ),
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "MEMORY.md").write_text("- a fact\n", encoding="utf-8")
    return tmp_path


def add_plugin(home: Path, host: str, *, on: bool = True) -> Path:
    name, text, switch = ENABLED[host]
    file = home / name
    file.parent.mkdir(parents=True, exist_ok=True)
    added = text % switch[not on]
    if not file.exists():
        file.write_text(added, encoding="utf-8")
    elif file.suffix == ".toml":
        file.write_text(file.read_text(encoding="utf-8") + added, encoding="utf-8")
    else:
        both = {**json.loads(file.read_text(encoding="utf-8")), **json.loads(added)}
        file.write_text(json.dumps(both), encoding="utf-8")
    return file


def notewell(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "notewell", *words, "-w", str(home / "notes")],
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONWARNDEFAULTENCODING": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


def doubles(home: Path) -> list[str]:
    found = double_installs(Machine(home, {}, sys.platform))
    return [double.host.id for double in found]


@pytest.mark.parametrize("host", ENABLED)
def test_the_installer_refuses_beside_the_plugin_and_changes_nothing(
    home: Path, host: str
) -> None:
    file = add_plugin(home, host)
    before = file.read_text(encoding="utf-8")
    done = notewell(home, "install", host)
    assert done.returncode == 2
    assert "as a plugin already" in done.stderr
    plugin = HOSTS[host].plugin
    assert plugin
    assert plugin.uninstall in done.stderr
    assert file.read_text(encoding="utf-8") == before
    assert sorted(path for path in home.rglob("*") if path.is_file()) == sorted(
        [file, home / "notes" / "MEMORY.md"]
    )


@pytest.mark.parametrize("host", ENABLED)
def test_the_two_commands_behind_it_refuse_too(home: Path, host: str) -> None:
    add_plugin(home, host)
    for command in ("mcp", "hook") if HOSTS[host].hooks else ("mcp",):
        assert "as a plugin already" in notewell(home, command, "install", host).stderr
        # What only prints changes nothing.
        assert notewell(home, command, "install", host, "--print").returncode == 0


OPENCODE = (
    '{"plugin": ["notewell-opencode@0.1.0"]}',
    '{"plugin": [["notewell-opencode", {"recall": false}]]}',
    f'{{\n  // mine\n  "plugin": [["{PLUGIN}", {{"workspace": "~/notes"}}]],\n}}',
    f'{{"plugin": ["file://{PLUGIN}"]}}',
)


@pytest.mark.parametrize("text", OPENCODE)
@pytest.mark.parametrize("name", ["opencode.json", "opencode.jsonc"])
def test_the_plugin_of_opencode_is_known_in_each_form(home: Path, name: str, text: str) -> None:
    file = home / ".config" / "opencode" / name
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadRequest, match="as a plugin already"):
        refuse_beside_plugin(HOSTS["opencode"], Machine(home, {}, sys.platform))


OTHERS = (
    '{"plugin": ["opencode"]}',
    '{"plugin": "notewell-opencode"}',
    '{"plugin": [[], [3], 4, "relative/plugins/opencode"]}',
)


@pytest.mark.parametrize("text", OTHERS)
def test_plugins_of_others_are_not_ours(home: Path, text: str) -> None:
    file = home / ".config" / "opencode" / "opencode.json"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    refuse_beside_plugin(HOSTS["opencode"], Machine(home, {}, sys.platform))


@pytest.mark.parametrize("host", ENABLED)
def test_a_plugin_that_is_off_does_not_count(home: Path, host: str) -> None:
    add_plugin(home, host, on=False)
    done = notewell(home, "install", host)
    assert done.returncode == 0, done.stderr
    assert doubles(home) == []


@pytest.mark.parametrize("host", ENABLED)
def test_the_doctor_names_a_plugin_that_came_later(home: Path, host: str) -> None:
    assert notewell(home, "install", host).returncode == 0
    assert doubles(home) == []
    add_plugin(home, host)
    report: dict[str, Any] = json.loads(notewell(home, "doctor", "--json").stdout)
    (finding,) = [one for one in report["findings"] if one["what"] == "hosts"]
    assert f"{HOSTS[host].title} has Notewell twice" in finding["told"]
    assert f"`notewell uninstall {host}`" in finding["todo"]
    # The next step helps.
    subprocess.run(
        [sys.executable, "-m", "notewell", "uninstall", host],
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=True,
    )
    assert doubles(home) == []


BROKEN = ("", "[", "[1]", '{"enabledPlugins": 3, "notewell": []}', "a = 1", "[plugins]\nx = 1")


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("host", ENABLED)
def test_a_file_of_another_form_has_no_plugin(home: Path, host: str, text: str) -> None:
    file = home / ENABLED[host][0]
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    refuse_beside_plugin(HOSTS[host], Machine(home, {}, sys.platform))
