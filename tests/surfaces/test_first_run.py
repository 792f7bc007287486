"""`notewell init` on a terminal, in the home of a new user."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.surfaces.terminal import END_OF_INPUT, INTERRUPT, Terminal

BACKUPS = "# Backups\n\nThe backup runs at 3 am. Restore it with `restic restore latest`.\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A user with an Obsidian vault, which Obsidian knows."""
    home = tmp_path / "home"
    (home / "vault" / ".obsidian").mkdir(parents=True)
    (home / "vault" / "backups.md").write_text(BACKUPS, encoding="utf-8")
    (home / ".config" / "obsidian").mkdir(parents=True)
    vaults = {"vaults": {"a1": {"path": str(home / "vault"), "ts": 1, "open": True}}}
    listed = home / ".config" / "obsidian" / "obsidian.json"
    listed.write_text(json.dumps(vaults), encoding="utf-8")
    return home


def terminal(home: Path, *words: str, cwd: Path | None = None) -> Terminal:
    # No program is on the path: a host of the machine that runs the tests must not be offered.
    environment = {"HOME": str(home), "PATH": "/nowhere", "TERM": "xterm", "LANG": "C.UTF-8"}
    return Terminal(["init", *words], cwd or home, environment)


def files_of(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def test_a_new_user_gets_an_answer_from_the_vault(home: Path) -> None:
    before = files_of(home)
    dialog = terminal(home)
    shown = dialog.answer("Which folder?", "\n")
    assert "1  ~/vault  Obsidian vault: 1 Markdown file, 0.1 KB" in shown
    shown = dialog.answer("Write ~/vault/notewell.json", "y\n")
    assert "~/vault: 1 note, 0.1 KB" in shown
    assert "A first index takes about 1 s here (measured with 1 chunk of your notes)" in shown
    dialog.answer("Use this memory in every folder", "y\n")
    dialog.answer("Index the notes now?", "\n")
    assert "1 note, 1 chunk: 1 written" in dialog.answer("Ask your notes something", "\n")
    assert "[Backups]" in dialog.shown
    shown = dialog.answer("Another question", "\n")
    assert "backups.md#L1-L3" in shown
    assert "restic restore latest" in shown
    assert dialog.end() == 0
    new = {name for name in files_of(home) - before if not name.startswith(".local/state/")}
    assert new == {"vault/notewell.json", ".config/notewell/config.json"}
    assert (home / "vault" / "backups.md").read_text(encoding="utf-8") == BACKUPS


def test_the_memory_is_then_found_in_every_folder(home: Path, tmp_path: Path) -> None:
    dialog = terminal(home, "vault")
    dialog.answer("Write ~/vault/notewell.json", "y\n")
    dialog.answer("every folder", "y\n")
    dialog.answer("Index the notes now?", "n\n")
    assert dialog.end() == 0
    assert f"left: notewell index -w {home / 'vault'}" in dialog.shown
    done = subprocess.run(
        [sys.executable, "-m", "notewell", "search", "--json", "backup"],
        env={"HOME": str(home)},
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert json.loads(done.stdout)["results"][0]["path"] == "backups.md"


@pytest.mark.parametrize("everywhere", ["y\n", "n\n"])
def test_the_last_line_is_a_command_that_works_where_the_user_is(
    home: Path, everywhere: str
) -> None:
    dialog = terminal(home, "vault")
    dialog.answer("Write ~/vault/notewell.json", "y\n")
    dialog.answer("every folder", everywhere)
    dialog.answer("Index the notes now?", "\n")
    dialog.answer("Ask your notes something", "\n")
    dialog.answer("Another question", "\n")
    assert dialog.end() == 0
    place = "" if everywhere == "y\n" else f" -w {home / 'vault'}"
    assert f"Your notes answer from now on: notewell search{place} 'a question'" in dialog.shown


def test_whoever_only_presses_enter_writes_nothing_into_other_folders(home: Path) -> None:
    before = files_of(home)
    dialog = terminal(home)
    dialog.answer("Which folder?", "\n")
    dialog.answer("Write ~/vault/notewell.json", "\n")
    assert dialog.end() == 4
    assert "nothing was written\nleft: notewell init -w" in dialog.shown
    assert files_of(home) == before


@pytest.mark.parametrize(
    ("typed", "code", "told"),
    [(INTERRUPT, 130, "stopped"), (END_OF_INPUT, 4, "no answer: stopped")],
)
@pytest.mark.parametrize("question", ["Which folder?", "Write ~/vault", "every folder", "Index"])
def test_a_user_can_stop_at_every_question(
    home: Path, typed: str, code: int, told: str, question: str
) -> None:
    answers = {"Which folder?": "1\n", "Write ~/vault": "y\n", "every folder": "n\n"}
    dialog = terminal(home)
    for earlier, answer in answers.items():
        if earlier == question:
            break
        dialog.answer(earlier, answer)
    dialog.answer(question, typed)
    assert dialog.end() == code
    assert told in dialog.shown
    assert "left: notewell in" in dialog.shown
    is_written = question in ("every folder", "Index")
    assert ("done: wrote notewell.json" in dialog.shown) == is_written
    assert ("nothing was written" in dialog.shown) != is_written
    assert (home / "vault" / "notewell.json").exists() == is_written


def test_an_interrupted_index_goes_on_where_it_stopped(home: Path) -> None:
    # Seconds of work on any machine: the interrupt must come while most of it is left.
    for number in range(60):
        text = "".join(
            f"# Part {number}.{one}\n\nbackup {one} of {number}\n\n" for one in range(60)
        )
        (home / "vault" / f"{number}.md").write_text(text, encoding="utf-8")
    dialog = terminal(home, "vault")
    dialog.answer("Write ~/vault", "y\n")
    dialog.answer("every folder", "n\n")
    dialog.answer("Index", "\n")
    dialog.answer(" vectors", INTERRUPT)
    assert dialog.end() == 130
    assert "done: a part of the index; it goes on from there" in dialog.shown
    assert f"left: notewell index -w {home / 'vault'}" in dialog.shown
    done = subprocess.run(
        [sys.executable, "-m", "notewell", "index", "--json", "-w", str(home / "vault")],
        env={"HOME": str(home)},
        capture_output=True,
        check=True,
    )
    report = json.loads(done.stdout)
    assert report["written"] == 0
    (home / "vault" / "60.md").write_text("# Gate\n\nThe gate code changed.\n", encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "notewell", "index", "--text-only", "-w", str(home / "vault")],
        env={"HOME": str(home)},
        capture_output=True,
        check=True,
    )
    again = terminal(home, "vault")
    again.answer("every folder", "n\n")
    assert "is up to date" not in again.answer("Index", "n\n"), "a vector is missing"
    assert again.end() == 0
    assert 0 < report["vectorsAdded"] < report["chunks"]


def test_the_home_folder_itself_is_warned_about(home: Path) -> None:
    before = files_of(home)
    dialog = terminal(home)
    dialog.answer("Which folder?", "~\n")
    assert "also that of programs and what others sent you" in dialog.answer("Use it all", "\n")
    assert dialog.end() == 4
    assert files_of(home) == before


def test_an_empty_folder_gets_a_first_note(home: Path) -> None:
    (home / "new").mkdir()
    dialog = terminal(home, cwd=home / "new")
    shown = dialog.answer("Which folder?", "2\n")
    assert "2  ~/new    this folder, which has no notes yet" in shown
    assert "~/new has no notes yet." in dialog.answer("Write ~/new/MEMORY.md, a first note", "y\n")
    dialog.answer("every folder", "n\n")
    dialog.answer("Index", "\n")
    assert dialog.end() == 0
    append = f"There is nothing to ask yet: `notewell append -w {home / 'new'} 'what to remember'`"
    assert append in dialog.shown


def test_the_proposed_question_is_not_the_name_of_a_file(home: Path) -> None:
    note = "# Readme\n\n## Notes\n\nThe keys are with Anna.\n"
    (home / "vault" / "backups.md").write_text(note, encoding="utf-8")
    dialog = terminal(home, "vault")
    dialog.answer("Write ~/vault", "y\n")
    dialog.answer("every folder", "n\n")
    dialog.answer("Index", "\n")
    dialog.answer("Ask your notes something [The keys are with Anna.]", END_OF_INPUT)
    assert dialog.end() == 4


def test_a_new_folder_is_made_only_if_the_user_says_so(home: Path) -> None:
    dialog = terminal(home)
    dialog.answer("Which folder?", "2\n")
    dialog.answer("Make the folder ~/notes?", "\n")
    assert dialog.end() == 4
    assert not (home / "notes").exists()


def test_an_empty_folder_notes_is_not_called_new(home: Path) -> None:
    (home / "notes").mkdir()
    dialog = terminal(home)
    assert "2  ~/notes  an empty folder" in dialog.answer("Which folder?", "2\n")
    dialog.answer("Write ~/notes/MEMORY.md, a first note", "n\n")
    assert dialog.end() == 4


def test_a_linked_folder_is_used_and_a_missing_one_is_asked_for_again(home: Path) -> None:
    (home / "link").symlink_to(home / "vault")
    dialog = terminal(home)
    dialog.answer("Which folder?", "~/nowhere\n")
    assert "'~/nowhere' is neither a number of the list" in dialog.answer("Which folder?", "9\n")
    dialog.answer("Which folder?", "~/link\n")
    dialog.answer("Write ~/link/notewell.json", "y\n")
    dialog.answer("every folder", END_OF_INPUT)
    assert dialog.end() == 4
    assert (home / "vault" / "notewell.json").is_file()


def test_a_host_is_offered_and_connected(home: Path) -> None:
    (home / ".claude.json").write_text("{}", encoding="utf-8")
    dialog = terminal(home, "vault")
    dialog.answer("Write ~/vault", "y\n")
    dialog.answer("every folder", "n\n")
    assert "kept from now on: " in dialog.answer("Connect Claude Code with this memory?", "y\n")
    dialog.answer("Index", "\n")
    dialog.answer("Ask your notes something", "where is the backup?\n")
    dialog.answer("Another question", "\n")
    assert dialog.end() == 0
    assert "Start a new session of Claude Code" in dialog.shown
    entry = json.loads((home / ".claude.json").read_text(encoding="utf-8"))["mcpServers"]
    assert str(home / "vault") in entry["notewell"]["args"]
    again = terminal(home, "vault")
    again.answer("every folder", "n\n")
    shown = again.answer("Ask your notes something", END_OF_INPUT)
    assert "Connect" not in shown, "it is connected"
    assert "Index the notes" not in shown, "it is indexed"
    assert again.end() == 4


def test_a_folder_that_cannot_be_written_is_an_error(home: Path) -> None:
    # In the place of the temporary file: also root cannot write the settings file then.
    (home / "vault" / ".notewell.json.tmp").mkdir()
    dialog = terminal(home, "vault")
    dialog.answer("Write ~/vault", "y\n")
    assert dialog.end() == 2
    assert "cannot write in" in dialog.shown


@pytest.mark.parametrize("options", [("--yes",), ("--json",)])
def test_with_these_options_nothing_is_asked_on_a_terminal(
    home: Path, options: tuple[str, ...]
) -> None:
    dialog = terminal(home, "vault", *options)
    assert dialog.end() == 0
    assert "?" not in dialog.shown
    assert (home / "vault" / "notewell.json").is_file()


def test_without_a_terminal_the_home_folder_is_refused_unless_it_is_named(home: Path) -> None:
    words = [sys.executable, "-m", "notewell", "init"]
    environment = {"HOME": str(home)}
    done = subprocess.run(words, env=environment, cwd=home, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"is your home folder or above it" in done.stderr
    assert not (home / "notewell.json").exists()
    done = subprocess.run(
        [*words, str(home)], env=environment, cwd=home, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert b"that of other programs, too" in done.stderr
