"""Files made in an open directory, on a file system that has no unnamed files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from notewell.files import descend
from notewell.files.writable_dir import WritableDir

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="directories have no descriptors")


class WithoutUnnamedFiles(WritableDir):
    """As on a network drive: O_TMPFILE is refused."""

    __slots__ = ()

    def _unnamed_file(self, mode: int) -> None:
        return None


def test_a_new_file_is_on_disk_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    sync, link = os.fsync, os.link

    def noted_sync(fd: int) -> None:
        sync(fd)
        steps.append(f"synced {os.fstat(fd).st_size} bytes")

    def noted_link(*names: str, **folders: Any) -> None:
        link(*names, **folders)
        steps.append(f"named {names[1]}")

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "link", noted_link)
    with descend(WithoutUnnamedFiles(None), [str(tmp_path)]) as folder:
        os.close(folder.new_file("note.md", b"tea is green\n"))
    assert steps == ["synced 13 bytes", "named note.md"]
    assert [file.name for file in tmp_path.iterdir()] == ["note.md"]
    assert (tmp_path / "note.md").read_bytes() == b"tea is green\n"
