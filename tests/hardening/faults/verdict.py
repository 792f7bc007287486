"""What is wrong after a fault, decided from what was seen alone.

    old     before the action            broken    after the fault, in a fresh process
    new     after it, without a fault    mended    after the same action once more

Right is: `broken` shows old or new and nothing else, `mended` is `new`, and nothing was paid for
twice but what was under way when the process ended.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from tests.hardening.faults.scene import Case, Seen
from tests.hardening.faults.shim import DEADLY, Fault

_GENERATION = re.compile(r"index-\d+\.sqlite")
# A reader that was last leaves the first two, and they hold nothing. The third is the record of a
# sync that failed: it stays, and says that the next one has worked.
_SIDE_FILE = re.compile(r"\.sqlite-(wal|shm)$|/sync\.json(\.lock)?$")
_HOLDER = re.compile(r'(?:\{"pid": .*)?')
"""A lease of the index says who has it, for those who wait; a full disk may cut that short. The
lock itself is the kernel's, and a second run that could not take it would not have ended."""
_TRASHED = re.compile(r"\.trash/\d{8}T\d{6}Z-\d+/")
_APPENDING = ("append", "flush", "review")


@dataclass(frozen=True, slots=True)
class Run:
    """One action that met a fault, and what was seen around it."""

    case: Case
    fault: Fault
    old: Seen
    new: Seen
    ended: dict[str, Any]
    aftermath: dict[str, Any]
    """The report of who came afterwards."""
    folder: str


def problems(run: Run) -> list[str]:
    """Empty where everything is as it must be."""
    found = list(_ending(run))
    if run.aftermath["ended"] != "done":
        told = run.aftermath
        return [*found, f"done again, it {told['ended']}: {told.get('trace', '')}"]
    broken, mended = run.aftermath["value"]["before"], run.aftermath["value"]["after"]
    return [
        *found,
        *_reported(run, broken),
        *_recovered(run, broken, mended),
        *_answers(run, broken),
        *_notes(run, broken),
        *_mended(run, broken, mended),
        *_paid_twice(run, broken, mended),
    ]


def _ending(run: Run) -> Iterator[str]:
    told = run.ended
    if run.fault.kind in DEADLY:
        if told["ended"] != "killed":
            yield f"it was to be killed and {told['ended']}: {told.get('trace', '')}"
        return
    if told["ended"] not in ("done", "raised"):
        yield f"it {told['ended']}"
    if told["ended"] == "done" and told["value"] < run.fault.at:
        yield f"there were only {told['value']} operations: nothing went wrong, nothing is shown"
    if told["ended"] == "raised" and not told["ours"]:
        yield f"it raised {told['type']}, not an error of ours: {told['trace']}"
    elif told["ended"] == "raised" and not _names_a_path(told["message"], run):
        yield f"its message names no path: {told['message']}"


def _names_a_path(message: str, run: Run) -> bool:
    """A file or folder of ours in full, or a note as users know it, or one of its folders."""
    notes = [PurePosixPath(note) for note in (*run.old["notes"], *run.new["notes"])]
    known = {str(one) for note in notes for one in (note, *note.parents)}
    own = {name.removeprefix("memory/claude/") for name in known}
    return run.folder in message or any(repr(name) in message for name in known | own)


# -- after the fault -----------------------------------------------------------------------------


def _reported(run: Run, broken: Seen) -> Iterator[str]:
    if run.ended["ended"] == "done":
        for name, right in run.new["reported"].items():
            if broken["reported"][name] != right:
                found = broken["reported"][name]
                yield f"reported as done, but {name} is {found!r:.600}, not {right!r:.600}"


def _recovered(run: Run, broken: Seen, mended: Seen) -> Iterator[str]:
    """An error has said what is not recorded; a process that was killed could say nothing."""
    if run.ended["ended"] == "killed" and not _is_torn(run, broken):
        for name, right in run.new["recovered"].items():
            if mended["recovered"][name] != right:
                found = mended["recovered"][name]
                yield f"killed and done again, {name} is {found!r:.600}, not {right!r:.600}"


def _answers(run: Run, broken: Seen) -> Iterator[str]:
    old, new, now = run.old["parts"], run.new["parts"], broken["parts"]
    for name in sorted({*old, *new, *now}):
        if now.get(name) not in (old.get(name), new.get(name)) or now.get(name) == "silence":
            yield f"{name!r} is answered with neither the old nor the new: {now.get(name)!r:.300}"


def _notes(run: Run, broken: Seen) -> Iterator[str]:
    old, new, now = run.old["notes"], run.new["notes"], broken["notes"]
    for path in sorted({*old, *new, *now}):
        before, after, found = old.get(path), new.get(path), now.get(path)
        if found in (before, after):
            continue
        if before is None and _is_hidden(path):
            continue  # A temporary file; that it does not stay is seen below.
        if not path.startswith(run.case.writes_to):
            yield f"{path!r} is not what it was: {found!r:.300}"
        elif not _is_longer(run, before or "", after or "", found):
            yield f"{path!r} is neither old nor new: {found!r:.300}"


def _is_longer(run: Run, before: str, after: str, found: str | None) -> bool:
    """What is appended to may show the beginning of the entry."""
    is_append = run.case.name.startswith(_APPENDING)
    return is_append and found is not None and found.startswith(before) and after.startswith(found)


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


# -- after the same action once more --------------------------------------------------------------


def _mended(run: Run, broken: Seen, mended: Seen) -> Iterator[str]:
    is_torn = _is_torn(run, broken)
    for name in sorted({*run.new["parts"], *mended["parts"]}):
        if mended["parts"].get(name) != run.new["parts"].get(name):
            yield f"done again, {name!r} is answered with {mended['parts'].get(name)!r:.300}"
    for name, right in run.new["whole"].items():
        if mended["whole"].get(name) != right and not is_torn:
            yield f"done again, {name} is {mended['whole'].get(name)!r:.600}, not {right!r:.600}"
    yield from _mended_notes(run, broken, mended)
    yield from _left_over(run, mended)


def _is_torn(run: Run, broken: Seen) -> bool:
    """Part of an entry is in a note. It stays, because what looks torn may be all that is left of
    something; the entry follows it whole."""
    if run.fault.kind != "torn" or not run.case.name.startswith(_APPENDING):
        return False
    old, new, now = run.old["notes"], run.new["notes"], broken["notes"]
    return any(
        path.startswith(run.case.writes_to)
        and len(old.get(path, "")) < len(now.get(path, "")) < len(new[path])
        for path in new
    )


def _mended_notes(run: Run, broken: Seen, mended: Seen) -> Iterator[str]:
    new, now = _timeless(run.new["notes"]), _timeless(mended["notes"])
    for path in sorted({*new, *now}):
        right, found = new.get(path), now.get(path)
        if found == right or (run.case.name == "session note" and _is_its_note(run, path)):
            continue
        if found is not None and right is not None and _is_torn(run, broken):
            yield from _healed(run, path, broken["notes"][path], found)
        else:
            yield f"done again, {path!r} is {found!r:.300}, not {right!r:.300}"


def _timeless(notes: dict[str, str]) -> dict[str, str]:
    """The trash is sorted by the time of day, and the second try comes later."""
    return {_TRASHED.sub(".trash/then/", path): text for path, text in notes.items()}


def _is_its_note(run: Run, path: str) -> bool:
    """Named by the hour; what it says is compared by the case."""
    return path.startswith(run.case.writes_to) and not _is_hidden(path)


def _healed(run: Run, path: str, torn: str, found: str) -> Iterator[str]:
    entries = _entries(run.new["notes"][path])
    if not found.startswith(torn):
        yield f"done again, {path!r} has lost what was in it: {found!r:.300}"
    for entry in entries:
        if found.count(entry) != 1:
            yield f"done again, {path!r} has {entry!r} {found.count(entry)} times"


def _entries(text: str) -> list[str]:
    """The marks at the ends of entries, each with the line it stands on."""
    return [line + "\n" for line in text.split("\n") if line.endswith("-->")]


def _left_over(run: Run, mended: Seen) -> Iterator[str]:
    right = {_GENERATION.sub("index-N.sqlite", name) for name in run.new["files"]}
    found = [_GENERATION.sub("index-N.sqlite", name) for name in mended["files"]]
    for name in sorted({name for name in found if found.count(name) > 1}):
        yield f"there is more than one {name}"
    for name in sorted({*found} - right):
        if not _SIDE_FILE.search(name):
            yield f"{name} is left over"
    for name, content in mended["files"].items():
        if not _HOLDER.fullmatch(content):
            yield f"the lock {name} holds {content!r}"


# -- what it cost --------------------------------------------------------------------------------


def _paid_twice(run: Run, broken: Seen, mended: Seen) -> Iterator[str]:
    first, second = broken["bill"], mended["bill"][len(broken["bill"]) :]
    calls = first[len(run.old["bill"]) :]
    # The last call may have been under way: asked for, and not kept when everything ended.
    lost = _items(calls[-1:]) if run.ended["ended"] != "done" else set()
    for model, text in sorted(_items(second)):
        if (model, text) in _items(first) - lost:
            yield f"paid for twice: {text!r:.80}"
        elif hashlib.sha256(text.encode()).hexdigest() in broken["cached"]:
            yield f"paid for, though it was kept: {text!r:.80}"


def _items(calls: list[list[list[str]]]) -> set[tuple[str, str]]:
    return {(model, text) for call in calls for model, text in call}
