"""A full, closed or limited disk stops writing and nothing else, and all is well once it is over.

Each case is one process that lives through it (see `story`), on a disk of its own where that
takes one. Where none can be mounted these tests fail: they are of no use unless they run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.hardening.damage import story

Told = dict[str, Any]
SCRIPT = str(Path(story.__file__).resolve())
WRAPPERS = (("unshare", "--mount"), ("unshare", "--user", "--map-root-user", "--mount"))
WAIT_S = 120.0
MOUNT = (
    'mount -t tmpfs -o "$1" none "$2" && mkdir -p "$3" "$4" && shift && shift && shift && shift'
)


def told(*words: str, wrapper: tuple[str, ...] = ()) -> Told:
    child = subprocess.run(
        [*wrapper, *words], capture_output=True, encoding="utf-8", timeout=WAIT_S, check=False
    )
    assert child.returncode == 0, child.stderr[-2_000:]
    assert child.stderr == ""
    found: Told = json.loads(child.stdout)
    return found


def mounting() -> tuple[str, ...]:
    """What gives us a place to mount in: being root will do, else a user namespace."""
    for wrapper in WRAPPERS:
        if shutil.which(wrapper[0]):
            probe = [*wrapper, "sh", "-c", "mount -t tmpfs none /mnt"]
            if not subprocess.run(probe, capture_output=True, check=False).returncode:
                return wrapper
    pytest.fail("no small disk can be mounted here: run as root, or allow user namespaces")


@dataclass(frozen=True)
class Place:
    """Where the notes and the state lie, and the disk that goes bad."""

    root: Path
    alone: bool
    """Whether the state is alone on that disk."""

    def __post_init__(self) -> None:
        for path in (self.disk, self.workspace, self.state):
            path.mkdir(parents=True, exist_ok=True)

    @property
    def disk(self) -> Path:
        return self.root / "disk"

    @property
    def workspace(self) -> Path:
        return (self.root if self.alone else self.disk) / "workspace"

    @property
    def state(self) -> Path:
        return self.disk / "state"

    def lived_through(self, condition: str, options: str = "") -> Told:
        words = [sys.executable, SCRIPT, condition]
        words += [str(self.workspace), str(self.state), str(self.disk)]
        if not options:
            return told(*words)
        made = [options, str(self.disk), str(self.workspace), str(self.state)]
        return told("sh", "-c", f'{MOUNT} && exec "$@"', "sh", *made, *words, wrapper=mounting())


@pytest.fixture
def root(quick_path: Path) -> Path:
    """Others may enter: one of the stories is that of another user."""
    quick_path.chmod(0o755)
    root = Path(tempfile.mkdtemp(dir=quick_path))
    root.chmod(0o755)
    return root


@pytest.fixture(params=[True, False], ids=["state alone", "notes too"])
def place(root: Path, request: pytest.FixtureRequest) -> Place:
    return Place(root, alone=request.param)


@pytest.fixture
def anywhere(root: Path) -> Place:
    """A limit of the process is the same on every disk."""
    return Place(root, alone=False)


# -- what must hold ------------------------------------------------------------------------------

WRITES = ("append", "long append", "flush", "hook", "undo")


def is_ours_alone(deeds: Told) -> None:
    foreign = {name: one for name, one in deeds.items() if "foreign" in one}
    assert foreign == {}
    assert deeds["damaged"] == []  # a bad disk is no bad index


def goes_on_answering(deeds: Told) -> None:
    for name in ("search before", "search anew", "search"):
        assert deeds[name]["hits"] in (["the router"], ["the router moved"]), deeds[name]
        if deeds[name]["hits"] == ["the router"]:
            assert "could not be indexed: cannot write to" in deeds[name]["notice"]
    assert "the router" in deeds["notewell search router --mode keyword"]["out"]
    assert "state='ready'" in deeds["status"]["told"]
    assert deeds["notewell status"]["code"] in (0, 5)
    assert "notes" in deeds["notewell doctor"]["out"]


def says_what_failed(deeds: Told) -> None:
    """What changed a note says that it did, what says that it failed changed none."""
    for name in WRITES:
        one = deeds[name]
        failed = "error" in one or bool(one.get("err")) or one.get("entries") == 0
        assert failed != one["notes changed"] or one.get("added") is False, (name, one)
        if "error" in one:
            assert "/" in one["message"]
    for name in ("sync", "rebuild"):
        if "error" in deeds[name]:
            assert deeds[name]["error"] == "StateNotWritable", deeds[name]
            assert "/disk/state/memory/main-" in deeds[name]["message"]
            assert "Fix that, or choose another folder" in deeds[name]["message"]


def all_is_well(deeds: Told) -> None:
    is_ours_alone(deeds)
    assert not [name for name in deeds if "error" in deeds[name]], deeds
    for name in ("search anew", "search"):
        assert deeds[name]["hits"] == ["the router moved"]
    assert deeds["search"]["notice"] is None or "no vector yet" in deeds["search"]["notice"]
    assert deeds["hook"]["err"] == ""
    assert deeds["sync"]["trouble"] == deeds["rebuild"]["trouble"] == ""
    assert "1 of 1" not in deeds["status"]["told"]


def lived(found: Told) -> Told:
    is_ours_alone(found["bad"])
    goes_on_answering(found["bad"])
    says_what_failed(found["bad"])
    all_is_well(found["after"])
    bad: Told = found["bad"]
    return bad


# -- disks of our own ----------------------------------------------------------------------------


def test_a_full_disk(place: Place) -> None:
    bad = lived(place.lived_through("full", "size=2m"))
    assert "the disk is full" in bad["sync"]["message"]
    assert "the disk is full" in bad["rebuild"]["message"]
    assert "no space left on device" in bad["flush"]["message"]
    assert "no space left on device" in bad["hook"]["err"]
    if not place.alone:
        assert "there was room for" in bad["long append"]["message"]


def test_a_disk_without_inodes(place: Place) -> None:
    bad = lived(place.lived_through("no inodes", "size=20m,nr_inodes=60"))
    assert "no room for another file" in bad["rebuild"]["message"]
    assert "no space left on device" in bad["hook"]["err"]


def test_a_read_only_disk(place: Place) -> None:
    bad = lived(place.lived_through("read-only", "size=20m"))
    assert "writer.lock': Read-only file system" in bad["sync"]["message"]
    if not place.alone:
        assert "its file system is read-only; choose" in bad["append"]["message"]
        assert bad["undo"]["message"].endswith("nothing was changed")


# -- limits, for everybody -----------------------------------------------------------------------


def test_a_limit_on_the_size_of_files(anywhere: Place) -> None:
    found = anywhere.lived_through("no larger files")
    bad = lived(found)
    assert "input/output error" in bad["sync"]["message"]
    assert "raise the limit (ulimit -f)" in bad["append"]["message"]
    assert "file too large" in bad["undo"]["message"]


def test_a_process_with_few_descriptors_left_sets_no_index_aside(anywhere: Place) -> None:
    """SQLite opens its log late: in the middle of reading there was no descriptor for it, and the
    index was taken for damaged."""
    for condition in ("few descriptors", "some descriptors"):
        found = anywhere.lived_through(condition)
        is_ours_alone(found["bad"])
        assert found["bad"]["search before"]["hits"]
        says_what_failed(found["bad"])
        all_is_well(found["after"])


def test_a_process_without_descriptors_says_so_and_goes_on_afterwards(anywhere: Place) -> None:
    found = anywhere.lived_through("no descriptors")
    bad = found["bad"]
    is_ours_alone({name: one for name, one in bad.items() if name != "hook"})
    for name in (*WRITES, "sync", "rebuild", "search anew"):
        words = bad[name].get("message") or bad[name]["err"]
        assert "too many open files" in words.lower(), (name, bad[name])
        assert not bad[name].get("notes changed")
    assert bad["notewell doctor"]["code"] == 5
    all_is_well(found["after"])


# -- permission ----------------------------------------------------------------------------------


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_folders_that_may_not_be_written_to(place: Place) -> None:
    bad = lived(place.lived_through("closed"))
    assert "writer.lock': Permission denied" in bad["sync"]["message"]
    if not place.alone:
        assert "permission denied; allow writing to it" in bad["append"]["message"]
        assert "permission denied; nothing was changed" in bad["undo"]["message"]
