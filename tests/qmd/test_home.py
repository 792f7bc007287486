"""QMD's own folder, and what is exported into it."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.qmd import (
    Collection,
    ExportCounts,
    QmdFailed,
    QmdHome,
    QmdModels,
    SessionText,
    export_sessions,
)
from notewell.qmd.export import export_name
from notewell.qmd.home import user_models_of

NOTES = Collection("notes-main", Path("/notes/Ü 🦓"), "**/*.md", "extra")
NOW = datetime(2026, 11, 15, tzinfo=UTC)


def test_the_settings_are_written_once_and_for_the_owner_alone(home: QmdHome) -> None:
    assert home.prepare([NOTES], QmdModels(), None)
    before = home.config_file.stat()
    assert before.st_mode & 0o777 == 0o600
    assert home.path.stat().st_mode & 0o777 == 0o700
    assert not home.prepare([NOTES], QmdModels(), None)
    assert home.config_file.stat().st_ino == before.st_ino
    assert home.prepare([], QmdModels(), None)
    assert [one.name for one in home.config_file.parent.iterdir()] == ["index.yml"]


def test_the_settings_name_folders_as_they_are(home: QmdHome) -> None:
    home.prepare([NOTES], QmdModels(), None)
    text = home.config_file.read_text("utf-8")
    assert "/notes/Ü 🦓" in text
    told = {"notes-main": {"path": "/notes/Ü 🦓", "pattern": "**/*.md"}}
    assert json.loads(text)["collections"] == told


def test_a_link_in_place_of_the_settings_is_replaced_not_followed(
    home: QmdHome, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine", "utf-8")
    home.config_file.parent.mkdir(parents=True)
    home.config_file.symlink_to(victim)
    home.prepare([NOTES], QmdModels(), None)
    assert victim.read_text("utf-8") == "mine"
    assert not home.config_file.is_symlink()


def test_the_users_models_are_linked_and_own_ones_are_kept(home: QmdHome, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    theirs = cache / "qmd" / "models"
    assert user_models_of({"XDG_CACHE_HOME": str(cache)}) is None
    theirs.mkdir(parents=True)
    assert user_models_of({"XDG_CACHE_HOME": str(cache)}) == theirs
    assert user_models_of({"HOME": str(tmp_path)}) is None
    home.prepare([], QmdModels(), None)
    home.models.mkdir()
    (home.models / "own.gguf").touch()
    home.prepare([], QmdModels(), theirs)
    assert not home.models.is_symlink()
    (home.models / "own.gguf").unlink()
    for _ in range(2):
        home.prepare([], QmdModels(), theirs)
        assert home.models.resolve() == theirs.resolve()


def test_the_home_that_cannot_be_made_is_named(shared_path: Path, unprivileged: object) -> None:
    (shared_path / "state").mkdir(mode=0o555)
    with unprivileged(), pytest.raises(QmdFailed, match="permission denied"):  # type: ignore[operator]
        QmdHome(shared_path / "state" / "qmd").prepare([], QmdModels(), None)


# -- sessions ------------------------------------------------------------------------------------


def session(
    name: str = "ab12", text: str = "User: hi\nAssistant: ho\n", days: float = 0
) -> SessionText:
    return SessionText(f"sessions/{name}.jsonl", name, text, NOW - timedelta(days=days))


def export(
    folder: Path, *sessions: SessionText, days: int | None = None, **more: bool
) -> ExportCounts:
    return export_sessions(folder, sessions, now=NOW, retention_days=days, **more)


def test_a_session_is_a_page_with_a_paragraph_a_message(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    assert export(folder, session()) == ExportCounts(1, 0, 0)
    [file] = folder.iterdir()
    assert file.name == export_name("sessions/ab12.jsonl")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text("utf-8") == (
        "# Session ab12\n<!-- notewell: sessions/ab12.jsonl -->\n\nUser: hi\n\nAssistant: ho\n"
    )


def test_a_page_that_says_the_same_is_not_written_again(tmp_path: Path) -> None:
    export(tmp_path, session())
    [file] = tmp_path.iterdir()
    before = file.stat()
    assert export(tmp_path, session()) == ExportCounts(0, 1, 0)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert export(tmp_path, session(text="User: more\n")) == ExportCounts(1, 0, 0)


def test_what_is_too_old_goes_and_what_is_not_ours_stays(tmp_path: Path) -> None:
    export(tmp_path, session("old", days=40), session("new", days=2))
    strangers = {
        "notes.md": "# Session mine\n\nnot an export\n",
        "copy.md": (tmp_path / export_name("sessions/old.jsonl")).read_text("utf-8"),
        "other.txt": "# Session x\n<!-- notewell: y -->\n",
        "empty.md": "",
    }
    for name, text in strangers.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "folder.md").mkdir()
    told = export(tmp_path, session("old", days=40), session("new", days=2), days=30)
    assert told == ExportCounts(0, 1, 1)
    left = {one.name for one in tmp_path.iterdir()}
    assert left == {*strangers, "folder.md", export_name("sessions/new.jsonl")}


def test_a_transcript_that_is_gone_takes_its_page_with_it_if_all_were_seen(tmp_path: Path) -> None:
    export(tmp_path, session("a"), session("b"), session("c", days=40))
    told = export(tmp_path, session("a"), session("c", days=40), days=30, are_all=False)
    assert told == ExportCounts(0, 1, 1)
    assert export(tmp_path, session("a")) == ExportCounts(0, 1, 1)
    assert [one.name for one in tmp_path.iterdir()] == [export_name("sessions/a.jsonl")]


def test_a_link_in_place_of_a_page_is_replaced_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine", "utf-8")
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / export_name("sessions/ab12.jsonl")).symlink_to(victim)
    export(folder, session())
    assert victim.read_text("utf-8") == "mine"


def test_a_session_in_which_nothing_was_said_has_no_page(tmp_path: Path) -> None:
    assert export(tmp_path, session(text="")) == ExportCounts(0, 0, 0)


def test_a_page_that_is_known_to_be_good_is_kept_unread(tmp_path: Path) -> None:
    export(tmp_path, session())
    [file] = tmp_path.iterdir()
    file.chmod(0)
    assert export(tmp_path, session()._replace(text=None)) == ExportCounts(0, 1, 0)
    assert file.exists()


@given(st.text(), st.text())
def test_every_session_has_a_file_name_of_its_own(one: str, other: str) -> None:
    names = export_name(one), export_name(other)
    assert (names[0] == names[1]) is (one == other)
    for name in names:
        assert os.sep not in name
        assert len(name.encode()) < 100
