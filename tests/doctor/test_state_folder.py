"""Findings about the state folder: who can read it, what is left in it, who holds it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.doctor.conftest import told

from notewell.capture import capture_dir
from notewell.doctor import Finding, Subject, examine, state_dir
from notewell.index.sqlite import leases_in, writer_lease
from notewell.index.sqlite.maintenance import lease_findings
from notewell.stores import index_dir, store_at

if TYPE_CHECKING:
    from tests.doctor.conftest import Ward

WRITERS_PID = "import os, sys; sys.stdout.write(str(os.getpid()))"


def dead_pid() -> int:
    done = subprocess.run([sys.executable, "-c", WRITERS_PID], capture_output=True, check=True)
    return int(done.stdout)


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "9p"])
def test_a_network_file_system_under_the_state_is_told(tmp_path: Path, kind: str) -> None:
    state = tmp_path / "with space"
    state.mkdir()
    escaped = str(state).replace(" ", "\\040")
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
        f"40 22 0:41 / {escaped} rw shared:1 - {kind} host:/export rw\n",
        encoding="utf-8",
    )
    (finding,) = state_dir.file_system(state / "not" / "there", mounts)
    assert kind in finding.message
    assert finding.todo
    (finding,) = state_dir.file_system(tmp_path, mounts)
    assert finding == Finding("state", f"{tmp_path} is on ext4")


def test_files_that_others_can_read_are_told(ward: Ward) -> None:
    ward.sync()
    ward.current.chmod(0o644)
    finding = told(ward.examine(), "state", "other users can read 1 of our files")
    assert finding.todo
    assert finding.is_fixable


def test_a_folder_that_others_can_write_to_is_told(ward: Ward) -> None:
    ward.sync()
    ward.index.chmod(0o777)
    assert told(ward.examine(), "state", "other users can write to").todo
    ward.index.chmod(0o700)
    ward.state.chmod(0o777)
    finding = told(ward.examine(), "state", "replace our index by theirs")
    assert finding.todo
    assert not finding.is_fixable  # It may hold other things than ours.


def test_files_of_another_user_are_told(ward: Ward) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    ward.sync()
    os.chown(ward.current, 1234, -1)
    assert told(ward.examine(), "state", "belong to user 1234").todo


def test_a_state_folder_that_is_closed_to_us_is_told(
    ward: Ward,
    shared_path: Path,
    unprivileged: Callable[[], AbstractContextManager[None]],
) -> None:
    shutil.copytree(ward.workspace, shared_path / "workspace")
    ward.workspace, ward.state = shared_path / "workspace", shared_path / "state"
    ward.sync()
    ward.state.chmod(0o000)
    with unprivileged():
        findings = ward.examine()
    assert told(findings, "state", "cannot be read: nothing in it").todo
    told(findings, "notes", "2 notes in")


def test_too_little_room_for_a_rebuild_is_told(ward: Ward) -> None:
    ward.sync()
    with ward.current.open("ab") as generation:
        os.truncate(generation.fileno(), 2**43)  # A hole: it takes no room itself.
    findings = list(state_dir.room(store_at(ward.index), ward.index, 0))
    assert told(findings, "disk", "a rebuild needs about 8796.1 GB").todo


FULL_DISK = """
import subprocess, sys
from pathlib import Path
disk = Path(sys.argv[1]) / "disk"
disk.mkdir()
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", disk]).returncode:
    sys.exit(77)
from notewell.cli import main
place = ["-w", sys.argv[2], "--state-dir", str(disk)]
main(["index", "--text-only", *place])
with (disk / "filler").open("wb", buffering=0) as filler:
    try:
        while True:
            filler.write(bytes(4096))
    except OSError:
        pass
sys.exit(main(["doctor", "--fix", *place]))
"""


def test_doctor_finishes_on_a_full_disk(ward: Ward, tmp_path: Path) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("a small disk of our own needs unshare")
    child = subprocess.run(
        [
            *("unshare", "--user", "--map-root-user", "--mount", sys.executable, "-c"),
            *(FULL_DISK, str(tmp_path), str(ward.workspace)),
        ],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    if child.returncode == 77 or "unshare" in child.stderr:
        pytest.skip("a small disk of our own cannot be mounted here")
    assert child.returncode == 5, child.stderr
    assert "Traceback" not in child.stderr
    assert "0 bytes free" in child.stdout
    assert "free some space" in child.stdout


def test_a_place_where_no_state_can_be_made_is_told(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    state = shared_path / "state"
    with unprivileged():
        findings = list(state_dir.permissions(state, state / "memory" / "main-0123456789ab"))
    assert told(findings, "state", "cannot be created").todo


def test_files_we_may_not_open_are_told_and_not_taken_for_damage(
    ward: Ward,
    shared_path: Path,
    unprivileged: Callable[[], AbstractContextManager[None]],
) -> None:
    shutil.copytree(ward.workspace, shared_path / "workspace")
    ward.workspace, ward.state = shared_path / "workspace", shared_path / "state"
    ward.sync()
    for folder in (ward.state, ward.state / "memory", ward.index):
        folder.chmod(0o755)  # The files are root's, and closed, but for one.
    ward.sync()
    (ward.index / "CURRENT").chmod(0o644)
    with unprivileged():
        findings = ward.examine()
        assert told(findings, "index", "cannot be opened").remedy is None
        assert told(findings, "cache", "cannot be opened").remedy is None
        assert told(findings, "state", f"{ward.index} cannot be written:").todo


def test_a_workspace_that_goes_while_we_look_is_told(ward: Ward) -> None:
    patient = ward.patient
    shutil.rmtree(ward.workspace)
    (finding,) = [one for one in examine(patient) if one.what == "notes"]
    assert "could not look: cannot use the workspace" in finding.message


# -- leases and orphans --------------------------------------------------------------------------


def test_a_lease_whose_holder_is_dead_is_harmless(ward: Ward) -> None:
    ward.sync()
    left = json.dumps({"pid": dead_pid(), "since": "2999-10-02 03:04:05 +0000"})
    (ward.index / "writer.lock").write_text(left, encoding="ascii")
    finding = told(ward.examine(), "lease", "which has ended: the file it left is harmless")
    assert finding.todo is None


def test_a_lease_that_is_held_is_told_with_its_holder(ward: Ward) -> None:
    ward.sync()
    with writer_lease(ward.index / "writer.lock", wait_s=0):
        finding = told(ward.examine(), "lease", "the writer lease is held by")
        assert f"process {os.getpid()}, since" in finding.message
        assert finding.todo is None
        late = datetime.now(UTC) + timedelta(hours=1)
        (held,) = (one for one in lease_findings(ward.index, late) if "is held" in one.message)
        assert held.action
        child = {"pid": dead_pid(), "since": "2026-10-02 03:04:05 +0000"}
        (ward.index / "writer.lock").write_text(json.dumps(child), encoding="ascii")
        (odd,) = (one for one in lease_findings(ward.index, late) if "visible" in one.message)
        assert odd.action
    assert [one.is_held for one in leases_in(ward.index)] == [False, False, False]


def test_a_lease_file_that_says_nothing_is_survived(tmp_path: Path) -> None:
    (tmp_path / "writer.lock").write_bytes(b"\xff{not json")
    (finding,) = lease_findings(tmp_path, datetime.now(UTC))
    assert "did not leave its name" in finding.message


def test_what_belongs_to_no_index_is_told(ward: Ward) -> None:
    ward.sync()
    for name in ("index-9.sqlite", "index-9.sqlite-wal", "CURRENT.tmp", "index-3.sqlite.damaged"):
        (ward.index / name).write_bytes(b"old")
    (ward.index / "SUSPECT").write_text("index-9.sqlite\n", encoding="ascii")
    findings = ward.examine()
    finding = told(findings, "orphans", "belong to no index")
    for name in ("index-9.sqlite", "index-9.sqlite-wal", "CURRENT.tmp", "SUSPECT"):
        assert name in finding.message
    assert "index-3.sqlite.damaged" not in finding.message
    assert told(findings, "orphans", "was damaged and set aside").todo is None
    with writer_lease(ward.index / "writer.lock", wait_s=0):
        assert told(ward.examine(), "orphans", "another process is writing").remedy is None


def test_temporary_files_of_dead_writers_are_told_and_of_the_living_not(
    ward: Ward,
) -> None:
    ward.sync()
    captures = capture_dir(ward.state, "main", ward.workspace.resolve())
    captures.mkdir(parents=True)
    dead = [
        captures / f".history.jsonl-{dead_pid()}-0a1b2c3d",
        ward.state / f".redaction.key-{dead_pid()}-0a1b2c3d",
    ]
    living = captures / f".history.jsonl-{os.getpid()}-0a1b2c3d"
    strange = captures / f".mine-{dead_pid()}-0a1b2c3d"
    for file in (*dead, living, strange):
        file.touch()
    assert told(ward.examine(), "orphans", "2 temporary files").is_fixable
    ward.later = timedelta(days=2)
    told(ward.examine(), "orphans", "3 temporary files")


def test_the_index_of_a_workspace_that_is_gone_is_told(
    ward: Ward,
    tmp_path: Path,
) -> None:
    ward.sync()
    shutil.rmtree(ward.workspace)
    patient = Subject.without_memory("main", ward.workspace, ward.state, "no such folder")
    findings = examine(patient)
    finding = told(findings, "orphans", "is gone, its index")
    assert str(ward.index) in (finding.todo or "")
    assert not finding.is_fixable  # A drive may come back.
    other = Subject.without_memory("main", tmp_path, ward.state, "switched off")
    assert told(examine(other), "indexes", "1 index (").todo is None


def test_the_index_of_an_agent_whose_workspace_is_gone_is_told(ward: Ward, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    agents = {"agents": {"list": [{"id": "work", "workspace": str(gone)}]}}
    config = ward.state / "home" / ".config" / "notewell" / "config.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps(agents), encoding="utf-8")
    index_dir(ward.state, "work", gone.resolve()).mkdir(parents=True)
    ward.sync()
    assert told(ward.todo(), "orphans", f"the workspace {gone} is gone").todo
