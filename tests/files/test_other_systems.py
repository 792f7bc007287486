"""What macOS and Windows do differently, as far as it can be simulated here."""

from __future__ import annotations

import errno
import os
import unicodedata
from pathlib import Path

import pytest

from notewell import open_memory
from notewell.cli import main
from notewell.errors import NoteNotWritable
from notewell.files import DirHandle
from notewell.files.atomic import persistently
from notewell.notes import ExtraPath
from notewell.notes.rewrite import create_note, rewrite_note
from notewell.notes.scan import scan_notes
from notewell.notes.scope import is_windows_device, scope_of
from notewell.testing import HashEmbedder
from notewell.types import Scan

COMPOSED = unicodedata.normalize("NFC", "memory/café ångström.md")
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)


# -- a file system that ignores case -------------------------------------------------------------


class FoldingDir(DirHandle):
    """A folder on the usual disk of macOS or Windows: names are found whatever their case."""

    __slots__ = ()

    def stat(self, name: str) -> os.stat_result:
        return super().stat(self._on_disk(name))

    def _open(self, name: str, flags: int) -> int:
        return super()._open(self._on_disk(name), flags)

    def _on_disk(self, name: str) -> str:
        if self._fd is None:
            return name
        folded = {one.name.casefold(): one.name for one in self.entries()}
        return folded.get(name.casefold(), name)


def scanned(root: Path, *extra: ExtraPath) -> Scan:
    folding = FoldingDir(None)
    return scan_notes(scope_of(root, root, extra), folding, folding.folder(str(root)))


@pytest.mark.parametrize("name", ["MEMORY.md", "memory.md", "Memory.MD"])
def test_a_note_is_found_once_where_case_is_ignored(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a\n", encoding="utf-8")
    assert list(scanned(tmp_path).notes) == ["MEMORY.md"]
    with_all = scanned(tmp_path, ExtraPath("."))
    assert list(with_all.notes) == ["MEMORY.md"], "not once more under the name that it has"
    assert with_all.ignored == ()


def test_a_folder_with_another_case_is_the_folder_of_notes_there(tmp_path: Path) -> None:
    (tmp_path / "Memory").mkdir()
    (tmp_path / "Memory" / "a.md").write_text("a\n", encoding="utf-8")
    assert list(scanned(tmp_path).notes) == ["memory/a.md"]


# -- names in two normal forms -------------------------------------------------------------------


@pytest.mark.parametrize("on_disk", [COMPOSED, DECOMPOSED])
@pytest.mark.parametrize("typed", [COMPOSED, DECOMPOSED])
def test_a_note_is_read_in_both_normal_forms_of_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], on_disk: str, typed: str
) -> None:
    file = tmp_path / "workspace" / on_disk
    file.parent.mkdir(parents=True)
    file.write_text("The café opens at eight.\n", encoding="utf-8")
    place = ["-w", str(tmp_path / "workspace"), "--state-dir", str(tmp_path / "state")]
    assert main(["get", typed, *place]) == 0
    assert "opens at eight" in capsys.readouterr().out
    with open_memory(
        tmp_path / "workspace", state_dir=tmp_path / "state", embedder=HashEmbedder()
    ) as memory:
        memory.sync()
        (hit,) = memory.search("when does the café open?").hits
        assert hit.path == on_disk, "as the disk has it: a citation opens the file"


def test_two_notes_that_differ_in_their_normal_form_stay_two(tmp_path: Path) -> None:
    """Linux keeps both; each one is read under its own name."""
    for number, name in enumerate((COMPOSED, DECOMPOSED)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"note {number}\n", encoding="utf-8")
    with open_memory(tmp_path, state_dir=tmp_path / "state", embedder=HashEmbedder()) as memory:
        assert memory.notes.read(COMPOSED).text == "note 0\n"
        assert memory.notes.read(DECOMPOSED).text == "note 1\n"


# -- Windows -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["con.md", "NUL", "aux.notes.md", "Com1.md", "LPT9.md", "com¹.md", "con .md", "a.md.", "a "],
)
def test_names_that_windows_takes_for_something_else_are_known(name: str) -> None:
    assert is_windows_device(name)


@pytest.mark.parametrize(
    "name",
    ["console.md", "com.md", "com10.md", "null.md", "2026-11-15-con.md", "a.b.md", ".", ".."],
)
def test_other_names_are_not(name: str) -> None:
    assert not is_windows_device(name)


def test_a_rename_waits_for_a_reader_to_close_the_file() -> None:
    tries: list[int] = []
    slept: list[float] = []

    def rename() -> None:
        tries.append(len(tries))
        if len(tries) < 3:
            raise PermissionError(errno.EACCES, "in use")

    persistently(rename, (0.1, 0.2, 0.3), slept.append)
    assert (len(tries), slept) == (3, [0.1, 0.2])


def test_a_rename_that_is_refused_for_good_raises() -> None:
    def rename() -> None:
        raise PermissionError(errno.EACCES, "in use")

    with pytest.raises(PermissionError):
        persistently(rename, (0.1,), lambda _: None)
    with pytest.raises(PermissionError):
        persistently(rename, ())


def test_a_system_without_openat_refuses_to_rewrite_and_says_what_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "MEMORY.md").write_text("a\n", encoding="utf-8")
    monkeypatch.setattr(os, "supports_dir_fd", set())
    with pytest.raises(NoteNotWritable, match=r"without following links.*appends work"):
        rewrite_note(tmp_path, "MEMORY.md", lambda data: data + b"b\n", wait_s=1)
    with pytest.raises(NoteNotWritable, match="without following links"):
        create_note(tmp_path, "2026-11-15-router", b"text\n")
    assert [one.name for one in tmp_path.iterdir()] == ["MEMORY.md"]
