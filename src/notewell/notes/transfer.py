"""Carry notes between a folder and PostgreSQL, byte for byte: `notewell push` and `pull`.

    look at both sides ── decide for each path ── write, if the target is still what was seen

A file of the state folder remembers the digest that both sides had after the last transfer (the
base). A side that still has it has not changed. Where both have changed, nothing is written and
the note is named. Nothing is ever removed. A run that was killed has written whole notes or none;
the next one finds them equal.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from notewell.errors import NoteNotWritable, NoteUnreadable, WorkspaceMissing
from notewell.files import (
    NotPlain,
    WritableDir,
    descend,
    describe_os_error,
    read_json,
    state_lock,
    write_json,
)
from notewell.notes.rewrite import rewrite_note
from notewell.notes.workspace import Workspace
from notewell.records import NamedTuple, dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from notewell.notes.postgres import PostgresNotes

Outcome: TypeAlias = Literal[
    "same", "written", "newer", "conflict", "removed", "only there", "refused", "ignored"
]
"""Of one note:

same        both sides are equal
written     the target has it now
newer       only the target has changed: the other command carries it
conflict    both sides have changed since the last transfer, or there was none
removed     the target removed it since the last transfer; it is not carried there again
only there  the target alone has it
refused     it could not be read or written, and why
ignored     it lies in the folder and is no note: a link, for example
"""
WAIT_S = 10.0


class Transferred(NamedTuple):
    path: str
    outcome: Outcome
    why: str = ""


def decide(source: str | None, target: str | None, base: str | None, *, restores: bool) -> Outcome:
    """From the digests of both sides and of the last transfer. `restores`: what the target lacks
    is written, even if it was there before."""
    if source == target:
        return "same"
    if source is None:
        return "only there"
    if target is None and (restores or base is None):
        return "written"
    if target is None:
        return "removed" if source == base else "conflict"
    if target == base:
        return "written"
    return "newer" if source == base else "conflict"


@dataclass(frozen=True, slots=True)
class Transfer:
    """One folder and the notes of one agent."""

    root: Path
    notes: PostgresNotes
    state_dir: Path
    dry_run: bool = False

    def push(self) -> list[Transferred]:
        """From the folder to the database. Raises `WorkspaceMissing` and `DatabaseTrouble`."""
        folder = Workspace.open(self.root)
        here, refused = _digests(folder)
        there = {path: note.digest for path, note in self.notes.stored().items()}

        def write(path: str) -> bool:
            data = folder.read_bytes(path)
            if data is None or _digest(data) != here[path]:
                return False
            return self.notes.put(path, data, expected=there.get(path))

        return [*refused, *self._carry(here, there, write, restores=False)]

    def pull(self) -> list[Transferred]:
        """From the database to the folder, which is made if it is missing."""
        here: dict[str, str] = {}
        refused: list[Transferred] = []
        if not self.dry_run:
            _make_folder(self.root)
        if self.root.exists():
            here, refused = _digests(Workspace.open(self.root))
        there = {path: note.digest for path, note in self.notes.stored().items()}

        def write(path: str) -> bool:
            data = self.notes.read_bytes(path)
            if data is None or _digest(data) != there[path]:
                return False
            if path in here:
                return _replace(self.root, path, data, expected=here[path])
            return _create(self.root, path, data)

        return [*refused, *self._carry(there, here, write, restores=True)]

    def _carry(
        self,
        source: Mapping[str, str],
        target: Mapping[str, str],
        write: Callable[[str], bool],
        *,
        restores: bool,
    ) -> list[Transferred]:
        file = self._base_file()
        if self.dry_run:
            bases = read_json(file).get("notes", {})
            return self._carried(source, target, bases, lambda _: True, restores=restores)
        with state_lock(file):
            bases = read_json(file).get("notes", {})
            done = self._carried(source, target, bases, write, restores=restores)
            equal = {one.path: source[one.path] for one in done if one.outcome in _EQUAL}
            if bases != bases | equal:
                write_json(file, {"notes": bases | equal})
        return done

    def _carried(
        self,
        source: Mapping[str, str],
        target: Mapping[str, str],
        bases: Mapping[str, Any],
        write: Callable[[str], bool],
        *,
        restores: bool,
    ) -> list[Transferred]:
        done = []
        for path in sorted({*source, *target}):
            base = bases.get(path) or self._older(path, source.get(path), target.get(path))
            outcome = decide(source.get(path), target.get(path), base, restores=restores)
            why = ""
            if outcome == "written":
                try:
                    # False: it has changed since we looked.
                    outcome = "written" if write(path) else "conflict"
                except (NoteNotWritable, NoteUnreadable) as error:
                    outcome, why = "refused", error.why
            done.append(Transferred(path, outcome, why))
        return done

    def _older(self, path: str, *sides: str | None) -> str | None:
        """Without a record: a side that has an earlier revision of the note was not edited."""
        if None in sides or sides[0] == sides[1]:
            return None
        earlier = self.notes.revisions(path).values()
        return next((side for side in sides if side in earlier), None)

    def _base_file(self) -> Path:
        place = f"{self.root.resolve()}\n{self.notes.location}"
        return self.state_dir / "transfers" / f"{_digest(place.encode())[:24]}.json"


_EQUAL = ("same", "written")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digests(folder: Workspace) -> tuple[dict[str, str], list[Transferred]]:
    """The notes of a folder, and what cannot be carried; links are not followed."""
    scan = folder.scan()
    refused = [Transferred(one.path, "refused", one.why) for one in scan.unreadable]
    refused += [Transferred(one.path, "ignored", one.why) for one in scan.ignored]
    digests = {}
    for path in scan.notes:
        try:
            data = folder.read_bytes(path)
        except NoteUnreadable as error:
            refused.append(Transferred(path, "refused", error.why))
            continue
        if data is not None:
            digests[path] = _digest(data)
    return digests, refused


def _make_folder(root: Path) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceMissing(str(root), describe_os_error(error)) from error


class _Changed(Exception):
    """The file is not what was seen."""


def _replace(root: Path, path: str, data: bytes, *, expected: str) -> bool:
    def change(before: bytes) -> bytes:
        if _digest(before) != expected:
            raise _Changed
        return data

    with suppress(_Changed):
        rewrite_note(root.resolve(), path, change, wait_s=WAIT_S)
        return True
    return False


def _create(root: Path, path: str, data: bytes) -> bool:
    """False if something has the name."""
    *folders, name = (str(root.resolve()), *path.split("/"))
    try:
        for depth in range(1, len(folders)):
            with descend(WritableDir(None), tuple(folders[:depth])) as above:
                above.make_folder(folders[depth])
                above.sync()
        with descend(WritableDir(None), tuple(folders)) as folder:
            os.close(folder.new_file(name, data))
            folder.sync()
    except FileExistsError:
        return False
    except NotPlain as refusal:
        raise NoteNotWritable(path, refusal.why, "put a plain folder there") from None
    except OSError as error:
        raise NoteNotWritable(path, describe_os_error(error), "fix that first") from error
    return True
