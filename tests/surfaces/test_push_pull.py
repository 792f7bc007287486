"""`notewell push` and `notewell pull`: a workspace into PostgreSQL and out of it again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.postgres_server import PASSWORD, PostgresServer

from notewell.cli import main
from notewell.notes import Entry, Transfer
from notewell.notes.postgres import PostgresNotes, StoredNote
from notewell.notes.transfer import decide
from notewell.postgres import Database, Scope
from notewell.postgres.address import VARIABLE

NOTES = {
    "MEMORY.md": b"# Mine\r\n\r\n- coffee\r\n",
    "memory/2026-11-15.md": b"\xef\xbb\xbf- one\n",
    "memory/deep/er/\xe4 b.md": b"\xff\x00 no text",
    "memory/empty.md": b"",
}
PULLED = "memory/2026-11-15.md"


class Desk:
    """A tenant of its own, and the commands."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._capsys = root, capsys
        self.tenant = f"tenant-{uuid.uuid4()}"
        store = {"agents": {"defaults": {"memorySearch": {"store": {"tenant": self.tenant}}}}}
        (root / "own.json").write_text(json.dumps(store), encoding="utf-8")
        self.a, self.b = root / "a", root / "b"
        write(self.a, NOTES)

    def run(self, *words: str, expected: int = 0) -> dict[str, str]:
        """The outcome of each note."""
        return self.run_all(*words, expected=expected)["main"]

    def run_all(self, *words: str, expected: int = 0) -> dict[str, dict[str, str]]:
        code = main([*words, "--json", "--state-dir", str(self.root / "state")])
        output = self._capsys.readouterr()
        assert code == expected, output
        assert PASSWORD not in output.out + output.err
        answer: dict[str, Any] = json.loads(output.out)
        return {
            agent: {one["path"]: one["outcome"] for one in notes}
            for agent, notes in answer["agents"].items()
        }


def write(folder: Path, notes: dict[str, bytes]) -> None:
    for path, data in notes.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def desk(
    postgres_server: PostgresServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Desk:
    monkeypatch.setenv("NOTEWELL_CONFIG", str(tmp_path / "own.json"))
    monkeypatch.setenv(VARIABLE, postgres_server.login_url("notewell"))
    return Desk(tmp_path, capsys)


def test_a_workspace_goes_in_and_out_byte_for_byte_and_a_second_run_changes_nothing(
    desk: Desk,
) -> None:
    assert set(desk.run("push", str(desk.a), "--dry-run").values()) == {"written"}
    assert desk.run("pull", str(desk.b), "--dry-run") == {}
    assert not desk.b.exists()
    assert desk.run("push", str(desk.a)) == dict.fromkeys(NOTES, "written")
    assert desk.run("push", str(desk.a)) == dict.fromkeys(NOTES, "same")
    assert desk.run("pull", str(desk.b)) == dict.fromkeys(NOTES, "written")
    assert content(desk.b) == NOTES
    times = {path: (desk.b / path).stat().st_mtime_ns for path in NOTES}
    assert desk.run("pull", str(desk.b)) == dict.fromkeys(NOTES, "same")
    assert {path: (desk.b / path).stat().st_mtime_ns for path in NOTES} == times


def test_changes_travel_from_one_folder_to_the_other(desk: Desk) -> None:
    desk.run("push", str(desk.a))
    desk.run("pull", str(desk.b))
    write(desk.a, {PULLED: b"- one\n- two\n"})
    assert desk.run("push", str(desk.a))[PULLED] == "written"
    assert desk.run("push", str(desk.b))[PULLED] == "newer"
    assert desk.run("pull", str(desk.b))[PULLED] == "written"
    assert content(desk.b)[PULLED] == b"- one\n- two\n"


def test_a_note_that_changed_on_both_sides_is_named_and_left_alone(desk: Desk) -> None:
    desk.run("push", str(desk.a))
    desk.run("pull", str(desk.b))
    write(desk.a, {PULLED: b"- of a\n", "memory/new.md": b"of a\n"})
    write(desk.b, {PULLED: b"- of b\n", "memory/new.md": b"of b\n"})
    desk.run("push", str(desk.a))
    before = content(desk.b)
    for command in ("push", "pull"):
        for _ in range(2):
            done = desk.run(command, str(desk.b), expected=5)
            assert [path for path, outcome in done.items() if outcome == "conflict"] == [
                PULLED,
                "memory/new.md",
            ]
    assert content(desk.b) == before
    assert desk.run("push", str(desk.a)) == dict.fromkeys(content(desk.a), "same")


def test_an_untouched_older_copy_is_no_conflict_even_without_a_record(
    desk: Desk, postgres: Database
) -> None:
    desk.run("push", str(desk.a))
    write(desk.b, NOTES)  # Copied by hand; no transfer knows this folder.
    notes = PostgresNotes(postgres, Scope(desk.tenant, "main"))
    notes.rewrite(PULLED, lambda data: data + b"- two\n")
    assert desk.run("push", str(desk.b))[PULLED] == "newer"
    assert desk.run("pull", str(desk.b))[PULLED] == "written"


def test_no_removal_is_carried_over(desk: Desk, postgres: Database) -> None:
    desk.run("push", str(desk.a))
    desk.run("pull", str(desk.b))
    (desk.a / PULLED).unlink()
    assert desk.run("push", str(desk.a))[PULLED] == "only there"
    notes = PostgresNotes(postgres, Scope(desk.tenant, "main"))
    notes.rewrite("MEMORY.md", lambda _: None)
    assert desk.run("pull", str(desk.b))["MEMORY.md"] == "only there"
    # An old copy does not bring back what was removed on purpose.
    assert desk.run("push", str(desk.b))["MEMORY.md"] == "removed"
    write(desk.b, {"MEMORY.md": b"edited\n"})
    assert desk.run("push", str(desk.b), expected=5)["MEMORY.md"] == "conflict"
    assert notes.read_bytes("MEMORY.md") is None
    assert content(desk.b)["MEMORY.md"] == b"edited\n"


def test_links_are_not_followed(desk: Desk, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_bytes(b"secret\n")
    (desk.a / "memory/link.md").symlink_to(secret)
    done = desk.run("push", str(desk.a))
    assert done["memory/link.md"] == "ignored"
    (desk.b / "memory").mkdir(parents=True)
    (desk.b / PULLED).symlink_to(secret)
    (desk.b / "memory/deep").symlink_to(tmp_path)
    done = desk.run("pull", str(desk.b), expected=5)
    assert done[PULLED] == "conflict"
    assert sorted(done.values()).count("refused") == 1
    assert secret.read_bytes() == b"secret\n"
    assert not (tmp_path / "er").exists()


def test_a_backup_has_a_folder_for_every_agent_of_the_tenant_alone(
    desk: Desk, postgres: Database
) -> None:
    desk.run("push", str(desk.a))
    PostgresNotes(postgres, Scope(desk.tenant, "other")).create("talk", b"of other\n")
    PostgresNotes(postgres, Scope(f"{desk.tenant}-2", "main")).create("talk", b"canary\n")
    assert sorted(desk.run_all("pull", "--all", str(desk.b))) == ["main", "other"]
    assert content(desk.b / "main") == NOTES
    assert content(desk.b / "other") == {"memory/talk.md": b"of other\n"}
    assert {path.name for path in desk.b.iterdir()} == {"main", "other"}


def test_the_words_name_what_was_left_alone(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    place = [str(desk.a), "--state-dir", str(desk.root / "state")]
    assert main(["push", *place]) == 0
    assert f"main: wrote {PULLED}" in capsys.readouterr().out
    assert main(["push", str(desk.root / "none")]) == 1
    assert main(["push", str(desk.a), "--agent", "../a"]) == 2
    assert main(["pull", str(desk.a / "MEMORY.md")]) == 1
    capsys.readouterr()
    write(desk.b, {PULLED: b"other\n"})
    assert main(["push", str(desk.b), "--state-dir", str(desk.root / "state")]) == 5
    assert f"{PULLED}: changed on both sides" in capsys.readouterr().err


def test_a_pull_that_is_killed_leaves_whole_notes_alone(desk: Desk, postgres: Database) -> None:
    notes = PostgresNotes(postgres, Scope(desk.tenant, "main"))
    data = b"- line\n" * 50_000
    for number in range(20):
        notes.create(f"n{number}", data)
    state = str(desk.root / "state")
    words = [sys.executable, "-m", "notewell", "pull", str(desk.b), "--state-dir", state]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not list(desk.b.glob("memory/*.md")):
            os.sched_yield()
        process.kill()
    found = {path: data for path in content(desk.b) if path.endswith(".md")}
    assert {path: content(desk.b)[path] for path in found} == found
    desk.run("pull", str(desk.b))
    assert len(content(desk.b)) == 20


@pytest.mark.parametrize(
    ("source", "target", "base", "push", "pull"),
    [
        ("x", "x", None, "same", "same"),
        (None, "x", "x", "only there", "only there"),
        ("x", None, None, "written", "written"),
        ("x", None, "x", "removed", "written"),
        ("y", None, "x", "conflict", "written"),
        ("y", "x", "x", "written", "written"),
        ("x", "y", "x", "newer", "newer"),
        ("x", "y", None, "conflict", "conflict"),
        ("x", "y", "z", "conflict", "conflict"),
    ],
)
def test_digests_decide(
    source: str | None, target: str | None, base: str | None, push: str, pull: str
) -> None:
    assert decide(source, target, base, restores=False) == push
    assert decide(source, target, base, restores=True) == pull


def test_an_append_through_the_database_comes_out_with_a_pull(
    desk: Desk, postgres: Database
) -> None:
    desk.run("push", str(desk.a))
    notes = PostgresNotes(postgres, Scope(desk.tenant, "main"))
    notes.append(Entry("two", "test"), date(2026, 11, 15))
    assert desk.run("pull", str(desk.a))[PULLED] == "written"
    pulled = content(desk.a)[PULLED]
    assert pulled == notes.read_bytes(PULLED)
    assert pulled.endswith(b"- two <!-- @test -->\n")


def test_what_changes_after_the_look_is_left_alone(
    desk: Desk, postgres: Database, tmp_path: Path
) -> None:
    class EditedMeanwhile(PostgresNotes):
        """An editor saves two files after the folder was read."""

        def stored(self) -> dict[str, StoredNote]:
            write(desk.a, {PULLED: b"edited meanwhile\n", "memory/new.md": b"new meanwhile\n"})
            return super().stored()

    desk.run("push", str(desk.a))
    scope = Scope(desk.tenant, "main")
    PostgresNotes(postgres, scope).rewrite(PULLED, lambda data: data + b"- two\n")
    PostgresNotes(postgres, scope).create("new", b"of the database\n")
    transfer = Transfer(desk.a, EditedMeanwhile(postgres, scope), tmp_path / "state")
    pulled = {one.path: one.outcome for one in transfer.pull()}
    assert pulled[PULLED] == pulled["memory/new.md"] == "conflict"
    assert content(desk.a)[PULLED] == b"edited meanwhile\n"
    assert content(desk.a)["memory/new.md"] == b"new meanwhile\n"
    write(desk.a, {PULLED: PostgresNotes(postgres, scope).read_bytes(PULLED) or b""})
    transfer.push()  # Both sides are equal now, and remembered.
    write(desk.a, {PULLED: b"for the database\n"})
    pushed = {one.path: one.outcome for one in transfer.push()}
    assert pushed[PULLED] == "conflict"
