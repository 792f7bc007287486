"""Which files in the state folder are ours, by their names alone.

The user may choose any folder as the state folder, the home folder included, and `memory/` in it
may hold the user's notes. So a file is not ours because of where it is, but because of its name.

    <state>/memory/<agent>-<12 hex>/    an index; its store knows the files in it
    <state>/capture/<agent>-<12 hex>/   what captures remember
    <state>/models/                     model files, which are no secret, and batch jobs
    <state>/redaction.key
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

from notewell.capture import ENTRIES_DUE
from notewell.doctor.finding import FIX, Finding, RemoveFiles
from notewell.files import is_alive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_AGENT_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}-[0-9a-f]{12}")
_CAPTURE_FILE = re.compile(
    r"(?:captured|entries|flush|heartbeat|pending|declined|sync)\.json(?:\.lock)?"
    r"|(?:history|flush|recalled|asked)\.jsonl(?:\.lock)?"
)
_KEY = re.compile(r"redaction\.key")
_JOB = re.compile(r"[0-9a-f]{32}\.json")
# `.history.jsonl-4711-0a1b2c3d`, `.redaction.key-…`: written beside a file, then renamed.
_BESIDE = re.compile(r"\.(?P<name>.+)-(?P<pid>\d{1,10})-[0-9a-f]{8}")
_MODEL_STATE = re.compile(r"dims\.json|[0-9a-f]{32}\.json")
_FETCHING = re.compile(r"\.fetching-\w+")

LEFT_BEHIND_S = 24 * 3600
"""No process writes a small file for a day, or downloads a model without changing a file."""


def index_folders(state: Path, index: Path) -> list[Path]:
    """The index folders of all agents, and the examined one, wherever it is."""
    found = [
        folder for folder in _folders(state / "memory") if _AGENT_FOLDER.fullmatch(folder.name)
    ]
    # A store on another machine has no folder; then `index` is the state folder.
    is_apart = index not in (*found, state) and os.path.isdir(index)  # noqa: PTH112 - it never raises
    named = [index] if is_apart else []
    return [*named, *found]


def capture_folders(state: Path) -> list[Path]:
    """One for each agent and workspace, and in some of them one of sessions that wait."""
    folders = _folders(state / "capture")
    own = [folder for folder in folders if _AGENT_FOLDER.fullmatch(folder.name)]
    inner = [folder for each in own for folder in _folders(each) if folder.name == ENTRIES_DUE]
    return [*own, *inner]


def is_capture_file(name: str) -> bool:
    return bool(_CAPTURE_FILE.fullmatch(name)) and not name.endswith(".lock")


def own_files(state: Path, index: Path) -> Iterator[Path]:
    """Files that reveal something of the notes, or that nobody else may change."""
    from notewell.stores import store_at

    for folder in index_folders(state, index):
        yield from store_at(folder).local_files()
    for folder in capture_folders(state):
        yield from (file for file in files(folder) if _CAPTURE_FILE.fullmatch(file.name))
    for file in files(state / "models" / "batch-jobs"):
        if _JOB.fullmatch(file.name):
            yield file
    # With the key, masked secrets could be confirmed by guessing.
    yield from (file for file in files(state) if file.name == "redaction.key")


def leftover_findings(state: Path, now_s: float) -> Iterator[Finding]:
    left = tuple(leftovers(state, now_s))
    if left:
        message = f"{len(left)} temporary files whose writers have ended, first {left[0]}"
        yield Finding("orphans", message, FIX, RemoveFiles(left))


def leftovers(state: Path, now_s: float) -> list[Path]:
    """Temporary files and folders whose writers have ended, or that are older than a day."""
    captures = [file for folder in capture_folders(state) for file in files(folder)]
    scratch = [*files(state / "models"), *files(state / "models" / "batch-jobs")]
    left = [file for file in captures if _is_left(_BESIDE, file, _CAPTURE_FILE, now_s)]
    left += [file for file in files(state) if _is_left(_BESIDE, file, _KEY, now_s)]
    left += [file for file in scratch if _is_left(_BESIDE, file, _MODEL_STATE, now_s)]
    folders = _folders(state / "models")
    fetching = (folder for folder in folders if _FETCHING.fullmatch(folder.name))
    return left + [folder for folder in fetching if age_s(folder, now_s) > LEFT_BEHIND_S]


def _is_left(shape: re.Pattern[str], file: Path, of: re.Pattern[str] | None, now_s: float) -> bool:
    found = shape.fullmatch(file.name)
    if not found or (of and not of.fullmatch(found["name"])):
        return False
    # A process id may be reused, so age decides where the process seems alive.
    return is_alive(int(found["pid"])) is False or age_s(file, now_s) > LEFT_BEHIND_S


def age_s(path: Path, now_s: float) -> float:
    try:
        return now_s - path.lstat().st_mtime
    except OSError:
        # Gone, or not accessible: young, so that it is never counted as left behind.
        return 0.0


def files(folder: Path) -> list[Path]:
    """The plain files in a folder, without links; empty if we may not read it, which another check
    reports."""
    return [path for path, mode in _entries(folder) if stat.S_ISREG(mode)]


def _folders(folder: Path) -> list[Path]:
    return [path for path, mode in _entries(folder) if stat.S_ISDIR(mode)]


def _entries(folder: Path) -> list[tuple[Path, int]]:
    found = []
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - only names are wanted
    except OSError:
        return []
    for name in names:
        try:
            found.append((folder / name, os.lstat(folder / name).st_mode))
        except OSError:
            continue  # It vanished meanwhile.
    return found
