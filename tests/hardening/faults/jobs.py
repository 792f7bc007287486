"""What a forked child is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.hardening.faults.cases import CASES
from tests.hardening.faults.cases_entries import ENTRY_CASES
from tests.hardening.faults.planted_bugs import PLANTED_BUGS
from tests.hardening.faults.scene import LATER_S, Scene
from tests.hardening.faults.shim import Fault, Kind, Shim


def prepare(case: str, folder: str, planted_bug: str | None = None) -> None:
    _be_mischievous(planted_bug)
    scene = Scene(Path(folder))
    scene.make()
    CASES[case].prepare(scene)


def act(
    case: str,
    folder: str,
    kind: Kind,
    at: int,
    log: str | None = None,
    planted_bug: str | None = None,
) -> int:
    """The number of operations there were, if the process lives to tell it."""
    _be_mischievous(planted_bug)
    scene, shim = Scene(Path(folder)), Shim()
    try:
        CASES[case].act(
            scene,
            lambda: shim.arm(scene.inside, Fault(kind, at), Path(log) if log else None),
        )
    finally:
        operations = shim.disarm()
    return operations


def look(case: str, folder: str, planted_bug: str | None = None) -> dict[str, Any]:
    _be_mischievous(planted_bug)
    return _seen(case, Scene(Path(folder)))


def aftermath(case: str, folder: str, planted_bug: str | None = None) -> dict[str, Any]:
    """What is there after the fault, then the same action once more, and what is there then."""
    _be_mischievous(planted_bug)
    before = _seen(case, Scene(Path(folder)))
    scene = Scene(Path(folder), later_s=LATER_S)
    CASES[case].act(scene, lambda: None)
    return {"before": before, "after": _seen(case, scene)}


def _seen(case: str, scene: Scene) -> dict[str, Any]:
    seen = CASES[case].look(scene)
    return {
        "parts": seen.get("parts", {}),
        "whole": seen.get("whole", {}),
        "reported": seen.get("reported", {}),
        "recovered": seen.get("recovered", {}),
        "cached": seen.get("cached", []),
        "notes": scene.notes(),
        "files": scene.state_files(),
        "bill": scene.bill_lines(),
    }


def _be_mischievous(name: str | None) -> None:
    if name is not None:
        PLANTED_BUGS[name]()


def warm_up(folder: Path) -> None:
    """Everything is imported once, before the first fork; nothing stays open. But LanceDB has
    threads, which a fork does not copy: each child that needs it loads it by itself."""
    for name, case in CASES.items():
        if case in ENTRY_CASES:
            continue
        scene = Scene(folder / name.replace(" ", "-"))
        scene.make()
        case.prepare(scene)
        case.act(scene, lambda: None)
        case.look(scene)


JOBS: dict[str, Callable[..., Any]] = {
    "prepare": prepare,
    "act": act,
    "look": look,
    "aftermath": aftermath,
}
