"""The harness sees what it must see: operations, faults, and ways of writing that lose data."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from tests.hardening.faults import shim
from tests.hardening.faults.campaign import Campaign, all_points, some_points
from tests.hardening.faults.shim import FAULTS, Operation

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD is Linux's")


def test_a_swap_by_three_renames_is_caught(faults: Campaign) -> None:
    caught = [
        problem
        for case in ("publish", "rebuild")
        for problem in problems_of(faults, case, "swap by renames", {"rename"})
    ]
    lost = [problem for problem in caught if "neither the old nor the new: 'nothing'" in problem]
    assert lost


def test_an_append_that_writes_the_whole_note_anew_is_caught(faults: Campaign) -> None:
    whats = {"write", "truncate"}
    caught = problems_of(faults, "append to a day", "overwrite on append", whats)
    assert any("'memory/2026-11-15.md' is neither old nor new: ''" in one for one in caught)


def problems_of(faults: Campaign, case: str, planted_bug: str, whats: set[str]) -> list[str]:
    operations = faults.operations(case, planted_bug)
    points = [at for at, one in enumerate(operations, 1) if one.what in whats]
    tally = faults.run(case, "kill", points, planted_bug)
    return [problem for problems in tally.bad.values() for problem in problems]


def test_publishing_shows_its_pointer_and_its_syncs(faults: Campaign) -> None:
    operations = faults.operations("publish")
    renamed = [Path(one.path).name for one in operations if one.what == "rename"]
    assert renamed == ["CURRENT"]
    turn = next(at for at, one in enumerate(operations) if one.what == "rename")
    before = [(one.what, Path(one.path).name) for one in operations[:turn]]
    assert ("fsync", "CURRENT.tmp") in before
    assert any(what == "fsync" and name.endswith(".sqlite") for what, name in before)
    assert operations[turn + 1].what == "fsync"


def test_a_sample_has_every_turning_point_and_forty_more() -> None:
    operations = [Operation("write", "w")] * 300 + [Operation("fsync", "f")] * 50
    operations += [Operation("rename", "r"), *[Operation("unlink", "u")] * 50]
    for kind in FAULTS:
        points = some_points(operations, kind, 40)
        assert points == some_points(operations, kind, 40)
        assert len(points) >= 40
        if shim.suits(kind, "rename"):
            assert 351 in points
    assert len(some_points(operations, "kill", 40)) == 40 + 50 + 1
    few = operations[290:310]
    assert some_points(few, "torn", 40) == all_points(few, "torn")


def test_without_a_compiler_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(RuntimeError, match="install gcc"):
        shim.build(tmp_path)
