"""Letting a host call us: the right file and shape, and nothing of the user's lost."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from notewell.cli import hook
from notewell.clients import CannotMerge, FileNotWritten, Installed, install_hooks, with_hooks
from notewell.hosts import HOOK_FILES, Machine

ITEMS = {
    event: HOOK_FILES["claude"].item("notewell hook x", event)
    for event in HOOK_FILES["claude"].events
}
OTHER = {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}

FILES = [
    "",
    "{}",
    '{"hooks": {}}',
    '{\n  "model": "opus",\n  "hooks": {\n    "SessionStart": []\n  }\n}\n',
    json.dumps({"hooks": {"SessionStart": [OTHER], "Stop": [OTHER]}, "x": 1.5}),
    json.dumps({"hooks": {"SessionStart": [OTHER, OTHER]}}, indent=4) + "\n",
    json.dumps({"hooks": {"SessionEnd": [OTHER]}}, indent="\t").replace("\n", "\r\n"),
    json.dumps({"a": {"hooks": {"SessionStart": []}}, "b": ']}{[:," hooks'}, indent=2),
]


@pytest.mark.parametrize("text", FILES, ids=range(len(FILES)))
def test_hooks_are_added_and_the_rest_stays(text: str) -> None:
    after = with_hooks(text, ITEMS)
    assert after is not None
    before, found = json.loads(text or "{}"), json.loads(after)
    for event, item in ITEMS.items():
        assert found["hooks"][event] == [*before.get("hooks", {}).get(event, []), item]
    assert {key: found[key] for key in before if key != "hooks"} == {
        key: before[key] for key in before if key != "hooks"
    }
    # Taking our characters out again leaves the file: it is a subsequence of the new one.
    rest = iter(after)
    assert all(character in rest for character in text.strip())
    assert with_hooks(after, ITEMS) is None


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"hooks": []}', '{"hooks": {"SessionStart": {}}}', '{"hooks": 1}']
)
def test_a_file_we_do_not_understand_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CannotMerge):
        install_hooks(file, HOOK_FILES["claude"], ITEMS, "claude")
    assert file.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [file]


def test_a_path_that_is_not_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    items = {
        "SessionStart": HOOK_FILES["claude"].item("notewell hook x -w /\udcff", "SessionStart")
    }
    with pytest.raises(CannotMerge, match="cannot be written as UTF-8"):
        install_hooks(file, HOOK_FILES["claude"], items, "claude")
    assert list(tmp_path.iterdir()) == []


def test_the_file_as_it_was_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "settings.json"
    assert install_hooks(file, HOOK_FILES["claude"], ITEMS, "claude") == Installed(
        file, changed=True, backup=None, made=(file.parent,)
    )
    assert install_hooks(file, HOOK_FILES["claude"], ITEMS, "claude") == Installed(
        file, changed=False, backup=None
    )
    before = file.read_bytes()
    more = {"Stop": HOOK_FILES["claude"].item("another", "Stop")}
    result = install_hooks(file, HOOK_FILES["claude"], more, "claude")
    assert result.changed
    assert result.backup is not None
    assert result.backup.read_bytes() == before


def test_a_folder_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "in-the-way").write_text("", encoding="utf-8")
    with pytest.raises(FileNotWritten):
        install_hooks(tmp_path / "in-the-way" / "hooks.json", HOOK_FILES["codex"], ITEMS, "codex")


@pytest.mark.parametrize(
    ("name", "environ", "file"),
    [
        ("claude", {}, "/h/.claude/settings.json"),
        ("claude", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/settings.json"),
        ("codex", {}, "/h/.codex/hooks.json"),
        ("codex", {"CODEX_HOME": "/c"}, "/c/hooks.json"),
        ("cursor", {}, "/h/.cursor/hooks.json"),
    ],
)
def test_every_host_has_its_file(name: str, environ: dict[str, str], file: str) -> None:
    machine = Machine(Path("/h"), environ, "linux")
    assert HOOK_FILES[name].file(machine, None).as_posix() == file
    below = Path(file).name
    assert HOOK_FILES[name].file(machine, Path("/p")).as_posix() == f"/p/.{name}/{below}"


def test_copilot_has_a_file_of_ours_among_its_hooks() -> None:
    hooks, machine = HOOK_FILES["copilot"], Machine(Path("/h"), {}, "linux")
    assert hooks.file(machine, None).as_posix() == "/h/.copilot/hooks/notewell.json"
    assert hooks.file(machine, Path("/p")).as_posix() == "/p/.github/hooks/notewell.json"
    moved = Machine(Path("/h"), {"COPILOT_HOME": "/c"}, "linux")
    assert hooks.file(moved, None).as_posix() == "/c/hooks/notewell.json"
    fields = hooks.fields.transcript_file
    assert fields is not None
    assert fields(moved, "s").as_posix() == "/c/session-state/s/events.jsonl"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # An installation makes a folder there; not in that of whoever runs the tests.
    monkeypatch.setenv("NOTEWELL_STATE_DIR", str(tmp_path.with_name(f"{tmp_path.name}-state")))


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.set_defaults(module="hook", json=False)
    hook.add_options(parser)
    return parser.parse_args(["install", *words])


@pytest.mark.parametrize("name", ["claude", "codex", "cursor"])
def test_print_shows_what_would_be_written_and_writes_nothing(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = tmp_path / "my notes"
    workspace.mkdir()
    words = ("-w", str(workspace), "--project", str(tmp_path))
    assert hook.run(parse(name, *words, "--print")) == 0
    shown = capsys.readouterr().out
    assert not (tmp_path / f".{name}").exists()
    assert hook.run(parse(name, *words, "--json")) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["changed"] is True
    assert Path(told["file"]).read_text(encoding="utf-8") == shown
    for event, ours in HOOK_FILES[name].events.items():
        entry = json.loads(shown)["hooks"][event][0]
        command = entry.get("hooks", [entry])[0]["command"]
        words_of = shlex.split(command)
        at = words_of.index("hook")
        assert words_of[at : at + 6] == [
            "hook", ours, "--host", name, "--workspace", str(workspace)
        ]  # fmt: skip


def test_codex_gets_the_time_that_it_grants(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hook.run(parse("codex", "-w", str(tmp_path), "--print", "--json"))
    hooks = json.loads(capsys.readouterr().out)["entries"]["hooks"]
    limits = {event: entries[0]["hooks"][0]["timeout"] for event, entries in hooks.items()}
    assert limits.pop("SessionEnd") == 3
    assert set(limits.values()) == {10}


def test_installing_says_what_was_done_and_what_is_left_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("codex", "-w", str(tmp_path), "--project", str(tmp_path))
    hook.run(parse(*words))
    first = capsys.readouterr()
    assert first.out == "Codex now calls this memory\n"
    assert "type /hooks there" in first.err
    hook.run(parse(*words))
    assert capsys.readouterr().out == "Codex calls this memory already\n"
    hook.run(parse(*words, "--print", "--json"))
    told = json.loads(capsys.readouterr().out)
    hooks = HOOK_FILES["codex"]
    assert set(told["entries"]["hooks"]) == {*hooks.events, *hooks.turn_events}


@pytest.mark.parametrize("name", ["claude", "cursor"])
def test_a_host_does_not_get_the_advice_of_another(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hook.run(parse(name, "-w", str(tmp_path), "--project", str(tmp_path)))
    assert "type /hooks" not in capsys.readouterr().err


def test_what_is_installed_can_be_parsed_again(tmp_path: Path) -> None:
    from notewell.cli.clients import hook_command

    command = shlex.split(hook_command(parse("claude", "-w", str(tmp_path)), "session-start"))
    parser = argparse.ArgumentParser()
    hook.add_options(parser)
    again = parser.parse_args(command[command.index("hook") + 1 :])
    assert (again.action, again.host, again.workspace) == (
        "session-start",
        "claude",
        str(tmp_path),
    )


@pytest.mark.parametrize(
    ("config", "words", "claude", "codex"),
    [
        ({}, [], {"Stop", "UserPromptSubmit"}, {"Stop", "UserPromptSubmit"}),
        ({}, ["--notes-only"], {"UserPromptSubmit"}, {"Stop", "UserPromptSubmit"}),
        ({}, ["--no-recall"], {"Stop"}, {"Stop"}),
        ({}, ["--no-recall", "--notes-only"], set(), {"Stop"}),
        (
            {"autoRecall": True},
            ["--no-recall", "--notes-only"],
            {"UserPromptSubmit"},
            {"Stop", "UserPromptSubmit"},
        ),
        ({"autoCapture": True}, ["--no-recall", "--notes-only"], {"Stop"}, {"Stop"}),
    ],
)
def test_events_of_each_turn_are_installed_only_if_they_are_wanted(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    config: dict[str, bool],
    words: list[str],
    claude: set[str],
    codex: set[str],
) -> None:
    file = tmp_path / "own.json"
    lancedb = {"memory-lancedb": {"enabled": True, "config": config}}
    file.write_text(json.dumps({"plugins": {"entries": lancedb}}), encoding="utf-8")
    monkeypatch.setenv("NOTEWELL_CONFIG", str(file))
    for name, expected in (("claude", claude), ("codex", codex)):
        hook.run(parse(name, "-w", str(tmp_path), "--print", "--json", *words))
        hooks = json.loads(capsys.readouterr().out)["entries"]["hooks"]
        assert set(hooks) & {"Stop", "UserPromptSubmit"} == expected
        for entry in hooks.get("UserPromptSubmit", []):
            command = shlex.split(entry["hooks"][0]["command"])
            assert command[command.index("hook") + 1] == "prompt"
            assert ("--recall" in command) is ("--no-recall" not in words)
