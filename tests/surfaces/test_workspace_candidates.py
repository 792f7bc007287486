"""Which folders `notewell init` proposes, and in which order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from notewell.cli.output import ProgressBar, duration, pace, short_path
from notewell.cli.workspace_candidates import (
    MarkdownCount,
    WorkspaceCandidate,
    count_markdown,
    find_candidates,
    is_wide,
    proposals,
)
from notewell.cli.workspace_sources import obsidian_vaults
from notewell.clients import host_projects
from notewell.hosts import Machine
from notewell.sync import Progress


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


def machine(home: Path, platform: str = "linux") -> Machine:
    return Machine(home, {"HOME": str(home), "PATH": ""}, platform)


def write(file: Path, text: str = "text\n") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def proposed(home: Path, here: Path) -> list[tuple[str, str]]:
    found = find_candidates(here, machine(home))
    return [
        (one.folder.relative_to(home).as_posix(), one.kind) for one in proposals(found, here, home)
    ]


def test_everything_that_a_machine_knows_is_proposed_the_likeliest_first(home: Path) -> None:
    write(home / ".openclaw" / "workspace" / "MEMORY.md")
    write(home / ".openclaw" / "openclaw.json", "{}")
    write(home / "deep" / "in" / "vault" / "a.md")
    (home / "deep" / "in" / "vault" / ".obsidian").mkdir()
    vaults = {"vaults": {"x": {"path": str(home / "deep/in/vault"), "ts": 5}}}
    write(home / ".config" / "obsidian" / "obsidian.json", json.dumps(vaults))
    write(home / "code" / "app" / "CLAUDE.md")
    write(home / ".claude.json", json.dumps({"projects": {str(home / "code/app"): {}}}))
    write(home / "code" / "tool" / "AGENTS.md")
    write(home / ".codex" / "config.toml", f'[projects."{home / "code/tool"}"]\ntrust = 1\n')
    for number in range(3):
        write(home / "Documents" / "diary" / f"{number}.md")
        write(home / "Downloads" / f"from-others-{number}.md")
    write(home / "Documents" / "letters" / "one.md")
    assert proposed(home, home) == [
        (".openclaw/workspace", "openclaw"),
        ("deep/in/vault", "vault"),
        ("Documents/diary", "markdown"),
        ("code/app", "project"),
        ("code/tool", "project"),
        ("notes", "new"),
    ]
    here = home / "Documents" / "letters"
    assert proposed(home, here)[0] == ("Documents/letters", "markdown")


def test_a_folder_is_proposed_once_under_its_first_name(home: Path) -> None:
    write(home / "vault" / "MEMORY.md")
    (home / "link").symlink_to(home / "vault")
    assert proposed(home, home / "link") == [("link", "workspace"), ("notes", "new")]


def test_the_home_folder_and_those_above_it_are_never_proposed(home: Path) -> None:
    write(home / "a.md")
    assert proposed(home, home) == [("notes", "new")]
    assert is_wide(home, home)
    assert is_wide(home.parent, home)
    assert not is_wide(home / "notes", home)


def test_a_home_that_is_a_workspace_already_is_proposed(home: Path) -> None:
    write(home / "MEMORY.md")
    assert proposed(home, home)[0] == (".", "workspace")


def test_a_nearly_empty_machine_has_a_new_folder_to_offer(home: Path) -> None:
    (home / "empty").mkdir()
    assert proposed(home, home / "empty") == [("empty", "empty"), ("notes", "new")]
    (home / "notes").mkdir()
    assert proposed(home, home) == [("notes", "new")], "an empty folder is as good as a new one"


def test_the_checkout_that_notewell_was_installed_from_is_not_proposed(home: Path) -> None:
    checkout = home / "notewell"
    write(checkout / "src" / "notewell" / "cli" / "init.py")
    for name in ("README.md", "docs/a.md", "docs/b.md"):
        write(checkout / name)
    assert proposed(home, home) == proposed(home, checkout) == [("notes", "new")]
    write(checkout / "MEMORY.md")
    assert proposed(home, checkout)[0] == ("notewell", "workspace")


def test_a_long_list_is_cut(home: Path) -> None:
    found = [
        WorkspaceCandidate(home / f"v{number}", "vault", MarkdownCount(number + 1, 10))
        for number in range(30)
    ]
    shown = proposals(found, home, home)
    assert [one.folder.name for one in shown] == [*(f"v{n}" for n in range(29, 21, -1)), "notes"]


def test_counting_a_huge_folder_ends(tmp_path: Path) -> None:
    for number in range(30):
        write(tmp_path / f"{number}.md", "four")
    assert count_markdown(tmp_path) == MarkdownCount(30, 120)
    cut = count_markdown(tmp_path, limit=10)
    assert (cut.notes, cut.is_cut) == (10, True)
    assert str(cut) == "more than 10 Markdown files, 0.1 KB"


def test_counting_follows_no_link_and_skips_the_folders_of_tools(tmp_path: Path) -> None:
    write(tmp_path / "outside" / "secret.md")
    write(tmp_path / "notes" / "node_modules" / "README.md")
    write(tmp_path / "notes" / "a.md")
    (tmp_path / "notes" / "up").symlink_to(tmp_path / "outside")
    (tmp_path / "notes" / "b.md").symlink_to(tmp_path / "outside" / "secret.md")
    assert count_markdown(tmp_path / "notes").notes == 1
    assert count_markdown(tmp_path / "missing") == MarkdownCount(0, 0)


@pytest.mark.parametrize(
    ("platform", "folder"),
    [
        ("linux", ".config/obsidian"),
        ("linux", ".var/app/md.obsidian.Obsidian/config/obsidian"),
        ("darwin", "Library/Application Support/obsidian"),
        ("win32", "AppData/Roaming/obsidian"),
    ],
)
def test_vaults_are_those_that_obsidian_lists_the_last_opened_first(
    home: Path, platform: str, folder: str
) -> None:
    listed = {
        "a": {"path": "/a", "ts": 1},
        "b": {"path": "/b", "ts": 2},
        "c": {"path": 3},
        "d": {"path": "/d"},
    }
    write(home / folder / "obsidian.json", json.dumps({"vaults": listed}))
    assert obsidian_vaults(machine(home, platform)) == [Path("/b"), Path("/a"), Path("/d")]


@pytest.mark.parametrize("text", ["", "[", "[1]", '{"vaults": []}', '{"projects": [1]}'])
def test_broken_lists_of_other_programs_name_no_folder(home: Path, text: str) -> None:
    for name in (".config/obsidian/obsidian.json", ".claude.json", ".codex/config.toml"):
        write(home / name, text)
    assert proposed(home, home) == [("notes", "new")]


def test_projects_without_instructions_or_with_odd_names_are_left_out(home: Path) -> None:
    write(home / "app" / "CLAUDE.md")
    write(home / "plain" / "README.md")
    names = ["relative", "\0", str(home / "plain"), str(home / "gone"), str(home / "app")]
    write(home / ".claude.json", json.dumps({"projects": dict.fromkeys(names)}))
    projects = host_projects(machine(home))
    assert [(one.folder, one.host.id) for one in projects] == [(home / "app", "claude")]


# -- progress ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1, "1 s"), (4.4, "4 s"), (99, "99 s"), (100, "2 min"), (5400, "90 min"),
     (7800, "2 h 10 min")],
)  # fmt: skip
def test_a_time_is_said_in_the_unit_of_a_person(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_rate_and_time_left_are_those_of_the_phase() -> None:
    assert pace(50, 200, 2.0) == ", 25/s, 6 s left"
    assert pace(5, 200, 2.0) == ", 2.5/s, 78 s left"
    assert pace(200, 200, 2.0) == ", 100/s"
    assert pace(50, 200, 0.1) == "", "too early"
    assert pace(1, 2, 9.0) == "", "two steps have no rate"
    assert pace(0, 200, 9.0) == ""


class _Screen:
    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text = text

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True


def test_a_new_phase_has_a_rate_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, clock = _Screen(), [0.0]
    monkeypatch.setattr("sys.stderr", screen)
    bar = ProgressBar(now_s=lambda: clock[0])
    clock[0] = 2.0
    bar.update(Progress(20, 20, "notes"))
    assert "20/20 notes, 10/s" in screen.text
    clock[0] = 3.0
    bar.update(Progress(40, 100, "vectors"))
    assert "40/100 vectors, 40/s, 2 s left" in screen.text, "two seconds of notes do not count"


def test_a_path_in_the_home_folder_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/a")
    assert short_path(Path("/home/a/notes")) == "~/notes"
    assert short_path(Path("/home/a")) == "~"
    assert short_path(Path("/home/ab")) == "/home/ab"
