"""One look at the disk: which notes are there, what was ignored, what could not be listed.

A sync must tell three cases of a missing note apart:

    gone        there is no such file: the index may forget it
    ignored     it is there but is not a note; the user sees why
    unreadable  it could not be listed; nothing at or below that path counts as gone

Folders are listed by descriptor, one open for each level, and never through a link.
"""

from __future__ import annotations

import stat
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from notewell.files import LINK, NotPlain, descend, describe_os_error, note_stat, why_not_plain
from notewell.limits import MAX_NOTE_BYTES
from notewell.notes.scope import (
    IGNORED_FOLDERS,
    MAX_FOLDERS,
    TOO_LARGE,
    is_conflict_copy,
    is_note_name,
    printable,
    why_unprintable,
)
from notewell.types import FoundNote, Ignored, Scan

if TYPE_CHECKING:
    import os

    from notewell.files import Directory
    from notewell.notes.scope import NoteRoot, NoteScope


def scan_notes(scope: NoteScope, disk: Directory, root: Directory) -> Scan:
    """Scan every root of the memory; `root` is the workspace, already open."""
    scanner = _Scanner(scope)
    for place in scope.roots:
        scanner.scan(place, root if place.inside else disk)
    return scanner.result()


class _Scanner:
    def __init__(self, scope: NoteScope) -> None:
        self._root_key = scope.root.as_posix()
        self._notes: dict[str, FoundNote] = {}
        self._ignored = {entry.path: entry.why for entry in scope.ignored}
        self._unreadable: dict[str, str] = {}
        self._seen: dict[int, set[int]] = {}
        """The inodes of each device: a file with several names (hard links) is one note."""

    def result(self) -> Scan:
        return Scan(
            notes={key: self._notes[key] for key in sorted(self._notes)},
            # A conflict copy is ignored in its folder, but may be named as an extra path.
            ignored=_listed({k: v for k, v in self._ignored.items() if k not in self._notes}),
            unreadable=_listed(self._unreadable),
        )

    def scan(self, place: NoteRoot, start: Directory) -> None:
        try:
            with descend(start, place.names[:-1]) as parent:
                self._look_in(parent, place)
        except (FileNotFoundError, NotADirectoryError):
            # `MEMORY.md` and `memory/` are optional; a path that the user named is not.
            if place.configured:
                self._ignored[place.key] = "not there"
        except NotPlain as refusal:
            self._ignored[place.key] = refusal.why
        except OSError as error:
            self._could_not_look(place.key, error)

    def _look_in(self, parent: Directory, place: NoteRoot) -> None:
        if not place.names:  # the workspace itself, as an extra path
            self._walk(parent, "", place, ())
            return
        name = place.names[-1]
        status = parent.stat(name)
        if stat.S_ISDIR(status.st_mode) and place.expects != "file":
            with closing(parent.folder(name)) as folder:
                self._walk(folder, self._prefix(place.key), place, ())
        elif is_note_name(name):
            self._take(place.key, status)
        elif why := why_not_plain(status):
            self._ignored[place.key] = why
        elif place.configured:
            self._ignored[place.key] = "not a Markdown file; its name must end in .md"

    def _walk(
        self, folder: Directory, prefix: str, place: NoteRoot, below: tuple[str, ...]
    ) -> None:
        """All entries of a folder; keys begin with `prefix`, `below` is the path from `place`."""
        for entry in folder.entries():
            name = entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    if name not in IGNORED_FOLDERS:
                        self._step_down(folder, name, prefix, place, below)
                elif is_note_name(name):
                    self._meet(folder, name, prefix + name, place, below)
                # The user may expect the notes behind it, so it is reported.
                elif entry.is_symlink() and _leads_to_folder(entry):
                    self._ignored[printable(prefix + name)] = LINK
            except (FileNotFoundError, NotADirectoryError):
                continue  # It was removed during the scan.
            except NotPlain as refusal:
                self._ignored[printable(prefix + name)] = refusal.why
            except OSError as error:
                self._could_not_look(prefix + name, error)

    def _step_down(
        self, parent: Directory, name: str, prefix: str, place: NoteRoot, below: tuple[str, ...]
    ) -> None:
        key = prefix + name
        if why := why_unprintable(name):
            self._ignored[printable(key)] = why
        # This folder and a file in it are two more names; `NoteRoot.admits` has the same limit.
        elif len(below) + 2 > MAX_FOLDERS:
            self._ignored[key] = f"more than {MAX_FOLDERS} folders deep"
        else:
            with closing(parent.folder(name)) as folder:
                self._walk(folder, self._prefix(key), place, (*below, name))

    def _meet(
        self, folder: Directory, name: str, key: str, place: NoteRoot, below: tuple[str, ...]
    ) -> None:
        if not place.wants((*below, name)):
            return
        if why := why_unprintable(name):
            self._ignored[printable(key)] = why
        elif is_conflict_copy(name):
            self._ignored[key] = "a sync-conflict copy; merge it into its original"
        else:
            self._take(key, folder.stat(name))

    def _take(self, key: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._ignored[key] = why_not_plain(status) or "a folder, not a file"
            return
        seen = self._seen.setdefault(status.st_dev, set())
        # The first name wins: where case does not matter, `memory.md` is `MEMORY.md` again.
        if status.st_ino in seen:
            return
        if status.st_size > MAX_NOTE_BYTES:
            self._ignored[key] = TOO_LARGE
            return
        if status.st_ino:  # 0 on a file system without inodes
            seen.add(status.st_ino)
        self._notes[key] = FoundNote(key, note_stat(status))

    def _could_not_look(self, key: str, error: OSError) -> None:
        self._unreadable[printable(key)] = describe_os_error(error)
        if self._root_key.startswith(self._prefix(key)):
            # An extra path above the workspace also covers notes whose keys are relative.
            self._unreadable["."] = describe_os_error(error)

    def _prefix(self, key: str) -> str:
        """An extra path may be above the workspace; below the workspace keys are relative."""
        if key == self._root_key:
            return ""
        return key if key.endswith("/") else f"{key}/"


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):  # a loop of links, or no permission
        return entry.is_dir()
    return False


def _listed(reasons: dict[str, str]) -> tuple[Ignored, ...]:
    return tuple(Ignored(path, why) for path, why in sorted(reasons.items()))
