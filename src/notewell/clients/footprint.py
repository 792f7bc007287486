"""Which files have something of ours, and which folders the installer made: so that `uninstall`
removes an empty folder that was not there before, and no other one.

    <state>/installed.json   {"files": ["~/.claude.json", …], "folders": ["~/.claude", …]}

The record is in the state folder that the entry names. Two installations at the same moment may
lose one of two lines; then an empty folder stays. A lock would itself be a file that stays.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.files import read_json, write_json
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

RECORD = "installed.json"


@dataclass(frozen=True, slots=True)
class Footprint:
    """What the record has."""

    files: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()


def missing_folders(folder: Path) -> tuple[Path, ...]:
    """This folder and those above it that do not exist, the outermost first."""
    missing = [one for one in (folder, *folder.parents) if not os.path.lexists(one)]
    return tuple(reversed(missing))


def record_install(state: Path, file: Path, made: Iterable[Path]) -> None:
    """Record that the file has something of ours, and folders that were made for it. Raises
    `StateNotWritable`."""
    made = (*made, *missing_folders(state))
    known = _read(state)
    files, folders = dict.fromkeys((*known.files, file)), dict.fromkeys((*known.folders, *made))
    _write(state, Footprint(tuple(files), tuple(folders)))


def record_removal(state: Path, file: Path) -> None:
    """Record that nothing of ours is in the file, and remove the folders that were made for it
    and are empty. Raises `StateNotWritable`."""
    known = _read(state)
    if file not in known.files:
        return  # Installed before there was a record: nobody knows who made the folders.
    files = tuple(one for one in known.files if one != file)
    if not files:
        with suppress(OSError):  # Then it has files that are no longer ours, and does no harm.
            (state / RECORD).unlink()
    for folder in sorted(known.folders, key=lambda one: len(one.parts), reverse=True):
        with suppress(OSError):  # It is not empty, or it is gone.
            folder.rmdir()
    if files:
        there = tuple(one for one in known.folders if one.is_dir())
        _write(state, Footprint(files, there))


def _read(state: Path) -> Footprint:
    record = read_json(state / RECORD)

    def paths(key: str) -> tuple[Path, ...]:
        values = record.get(key)
        values = values if isinstance(values, list) else []
        return tuple(Path(one) for one in values if isinstance(one, str) and one)

    return Footprint(paths("files"), paths("folders"))


def _write(state: Path, footprint: Footprint) -> None:
    files, folders = map(str, footprint.files), map(str, footprint.folders)
    write_json(state / RECORD, {"files": list(files), "folders": list(folders)})
