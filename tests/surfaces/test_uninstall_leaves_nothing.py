"""After `uninstall`, the folders of the user are as they were before `install`, each file and each
folder, in every host and after any number of rounds."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from notewell.cli import main
from notewell.hosts import HOOK_FILES, HOSTS, MCP_FILES, Machine
from notewell.sessions import kept_dir

ROUNDS = 2
"""The second one begins with the same folders as the first one, and so would a third one."""
INSTALLABLE = [host.id for host in HOSTS.values() if host.mcp or host.hooks]
WITH_BOTH = [host.id for host in HOSTS.values() if host.mcp and host.hooks]
IN_PROJECTS = [
    host.id
    for host in HOSTS.values()
    if host.hooks or (host.mcp is not None and host.mcp.project_file)
]
THEIRS = {
    "json": (
        "// mine: see http://example.org\n"
        '{\n\t"zeta": 1.10, // odd order\n\t"%s": {\n\t\t"other": {"command": "x"},\n\t},\n'
        '\t"alpha": [1, 2,], /* "quoted" */\n}\n'
    ),
    "toml": '# mine "quoted"\nmodel = "m" # why\n\n[%s.other]\ncommand = "x"\n',
    "yaml": "schema: v1 # mine\nname: mine\n%s:\n  - name: other\n    command: x\nmodels: []\n",
}
THEIR_HOOKS = (
    '{ // mine\n    "version": 1,\n    "zeta": {},\n    "hooks": {\n        "%s": [\n'
    '            {"hooks": [{"type": "command", "command": "theirs"}]}\n        ]\n    }\n}\n'
)


class Home:
    """A home, a project in it, and a folder of notes, in an environment of their own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.project, self.notes = folder, folder / "project", folder / "notes"
        for name in ("project", "notes"):
            (folder / name).mkdir(parents=True)
        for name in [name for name in os.environ if name not in ("PATH", "LANG")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(folder))

    def files(self, host: str, project: Path | None) -> dict[Path, str]:
        """The files of a host with settings of the user."""
        machine, texts = Machine(self.folder, {}, sys.platform), {}
        hooks, mcp = HOOK_FILES.get(host), MCP_FILES.get(host)
        if hooks:
            texts[hooks.file(machine, project)] = THEIR_HOOKS % next(iter(hooks.events))
        if mcp and (project is None or mcp.project_file):
            texts[mcp.file(machine, project)] = THEIRS[mcp.format] % mcp.key
        return texts

    def write(self, host: str, project: Path | None) -> None:
        for file, text in self.files(host, project).items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    def tree(self) -> dict[str, tuple[int, bytes]]:
        return {
            str(path.relative_to(self.folder)): (
                stat.S_IMODE(path.stat().st_mode),
                path.read_bytes() if path.is_file() else b"",
            )
            for path in self.folder.rglob("*")
        }

    def run(self, *words: str) -> None:
        is_install = "install" in words
        place = ["-w", str(self.notes)] if is_install else []
        assert main([*words, *place]) == 0, words


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path / "home", monkeypatch)


def commands(host: str, way: str, verb: str) -> list[list[str]]:
    """One command for both parts, or one for each, which come out in either order."""
    if way == "one command":
        return [[verb, host]]
    parts = [["mcp", verb, host], ["hook", verb, host]]
    return parts[::-1] if way == "hooks first" and verb == "uninstall" else parts


@pytest.mark.parametrize("settings", ["no files", "files"])
@pytest.mark.parametrize(
    ("host", "way"),
    [
        *((host, "one command") for host in INSTALLABLE),
        *((host, way) for host in WITH_BOTH for way in ("entry first", "hooks first")),
    ],
)
def test_the_home_is_as_it_was(home: Home, host: str, way: str, settings: str) -> None:
    if settings == "files":
        home.write(host, None)
    was = home.tree()
    for _ in range(ROUNDS):
        for words in commands(host, way, "install"):
            home.run(*words)
        assert home.tree() != was
        for words in commands(host, way, "uninstall"):
            home.run(*words)
        assert home.tree() == was


@pytest.mark.parametrize("settings", ["no files", "files"])
@pytest.mark.parametrize("host", IN_PROJECTS)
def test_a_project_is_as_it_was(home: Home, host: str, settings: str) -> None:
    if settings == "files":
        home.write(host, home.project)
    was = home.tree()
    for _ in range(ROUNDS):
        home.run("install", host, "--project", str(home.project))
        assert home.tree() != was
        home.run("uninstall", host, "--project", str(home.project))
        assert home.tree() == was


def test_all_hosts_at_once_leave_nothing(home: Home) -> None:
    was = home.tree()
    for host in INSTALLABLE:
        home.run("install", host)
    # In another order: the record of the folders serves all of them.
    for host in sorted(INSTALLABLE):
        assert home.tree() != was
        home.run("uninstall", host)
    assert home.tree() == was


def test_options_that_changed_between_leave_nothing(home: Home) -> None:
    """Also two state folders, of which the second one is the user's."""
    state = home.folder / "my state"
    state.mkdir()
    home.write("gemini", None)
    was = home.tree()
    home.run("hook", "install", "gemini", "--no-recall")
    home.run("hook", "install", "gemini")
    home.run("mcp", "install", "gemini", "--state-dir", str(state))
    home.run("mcp", "install", "gemini", "--name", "second")
    home.run("uninstall", "gemini")
    backups = [path for path in home.tree() if "notewell-backup" in path]
    assert backups, "the second entry is in the file"
    home.run("mcp", "uninstall", "gemini", "--name", "second")
    assert home.tree() == was


@pytest.mark.parametrize("host", INSTALLABLE)
def test_what_the_user_added_stays_and_no_backup_does(home: Home, host: str) -> None:
    home.write(host, None)
    home.run("install", host)
    expected = {}
    for file, text in home.files(host, None).items():
        end = "# added\n" if file.suffix in (".toml", ".yaml") else "// added\n"
        with file.open("a", encoding="utf-8") as opened:
            opened.write(end)
        expected[file] = text + end
    home.run("uninstall", host)
    assert {file: file.read_text(encoding="utf-8") for file in expected} == expected
    assert not [path for path in home.tree() if "backup" in path or ".local" in path]


def test_a_folder_that_is_in_use_stays(home: Home) -> None:
    home.run("install", "claude")
    (home.folder / ".claude" / "CLAUDE.md").write_text("mine\n", encoding="utf-8")
    home.run("uninstall", "claude")
    left = {path for path in home.tree() if path not in ("notes", "project")}
    assert left == {".claude", ".claude/CLAUDE.md"}


def test_an_empty_folder_of_the_user_stays(home: Home) -> None:
    (home.folder / ".claude").mkdir()
    (home.folder / ".local" / "state").mkdir(parents=True)
    was = home.tree()
    home.run("install", "claude")
    home.run("uninstall", "claude")
    assert home.tree() == was


def test_conversations_stay_when_the_hooks_go(home: Home) -> None:
    home.run("install", "claude")
    kept = kept_dir(home.folder / ".local" / "state" / "notewell", "main", home.notes)
    kept.mkdir(parents=True)
    (kept / "one.md").write_text("said\n", encoding="utf-8")
    home.run("uninstall", "claude")
    assert (kept / "one.md").exists()
    assert not (home.folder / ".claude").exists()


def notewell(home: Home, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "notewell", *words],
        env={**os.environ, "PYTHONWARNDEFAULTENCODING": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_a_backup_with_something_else_is_kept_and_named(home: Home) -> None:
    file = home.folder / ".claude.json"
    file.write_text('{"numStartups": 3, "theme": "dark"}\n', encoding="utf-8")
    for startups in (4, 5):
        installed = notewell(home, "mcp", "install", "claude", "-w", str(home.notes))
        assert installed.returncode == 0, installed.stderr
        document = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**document, "numStartups": startups}), encoding="utf-8")
        done = notewell(home, "mcp", "uninstall", "claude")
        assert done.returncode == 0, done.stderr
        oldest = home.folder / ".claude.json.notewell-backup"
        assert json.loads(oldest.read_text(encoding="utf-8"))["numStartups"] == 3
        assert f"kept {oldest}: it has settings that .claude.json does not have now" in done.stderr
    unchanged = notewell(home, "mcp", "uninstall", "claude", "--json")
    kept = json.loads(unchanged.stdout)["keptBackups"]
    assert kept == [str(oldest), f"{oldest}-1"]
    # The user goes back to the first one: it holds nothing more, and nobody needs it.
    file.write_bytes(oldest.read_bytes())
    assert json.loads(notewell(home, "mcp", "uninstall", "claude", "--json").stdout) == {
        "version": 1,
        "file": str(file),
        "changed": False,
        "backup": None,
        "keptBackups": [f"{oldest}-1"],
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": {"b": [1, 2]}}', '{"a": {"b": [2, 1]}}'),
        ('{"a": 1}', '{"a": true}'),
        ('{"a": {}}', '{"a": []}'),
        ('{"a": 1} // why\n', '{"a": 1}\n'),
        ('{"hooks": {"Stop": [{"command": "theirs"}]}}', "{}"),
        ('{"mcpServers": {"other": {"command": "x"}}}', "{}"),
    ],
)
def test_a_backup_goes_only_if_the_file_has_all_of_it(home: Home, before: str, after: str) -> None:
    file = home.folder / ".claude.json"
    file.write_text(before, encoding="utf-8")
    home.run("mcp", "install", "claude")
    home.run("mcp", "uninstall", "claude")
    assert file.read_text(encoding="utf-8") == before
    backup = home.folder / ".claude.json.notewell-backup"
    home.run("mcp", "install", "claude")
    file.write_text(after, encoding="utf-8")
    home.run("mcp", "uninstall", "claude")
    assert backup.read_text(encoding="utf-8") == before
    assert file.read_text(encoding="utf-8") == after


def test_the_processes_leave_nothing(home: Home) -> None:
    was = home.tree()
    installed = notewell(home, "install", "copilot", "-w", str(home.notes))
    assert installed.returncode == 0, installed.stderr
    done = notewell(home, "uninstall", "copilot")
    assert done.returncode == 0, done.stderr
    assert "as it was" not in done.stderr
    assert home.tree() == was
