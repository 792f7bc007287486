"""One look at the disk: which notes are there, what was left out, what could not be listed.

Three ways not to be in the answer, because a sync must tell them apart:

    gone        there is no such file: what the index knows of it may be forgotten
    ignored     it is there and we do not take it; the user hears why
    unreadable  we could not look; nothing at or below that path may be taken for gone

Folders are listed by descriptor, one open for each level, and never through a link.
"""

from __future__ import annotations

import stat
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from notewell.files import LINK, NotPlain, descend, describe_os_error, why_not_plain
from notewell.limits import MAX_NOTE_BYTES
from notewell.notes.names import (
    IGNORED_FOLDERS,
    is_conflict_copy,
    is_note_name,
    shown,
    untellable,
)
from notewell.notes.note_file import TOO_LARGE, note_stat
from notewell.notes.scope import MAX_FOLDERS
from notewell.types import FoundNote, Ignored, Scan

if TYPE_CHECKING:
    import os

    from notewell.files import Directory
    from notewell.notes.scope import Place, Scope


def find_notes(scope: Scope, disk: Directory, root: Directory) -> Scan:
    """Look through every place of the memory; `root` is the workspace, already open."""
    look = _Look(scope)
    for place in scope.places:
        look.at(place, root if place.inside else disk)
    return look.result()


class _Look:
    def __init__(self, scope: Scope) -> None:
        self._root_key = scope.root.as_posix()
        self._notes: dict[str, FoundNote] = {}
        self._ignored = {entry.path: entry.why for entry in scope.ignored}
        self._unreadable: dict[str, str] = {}
        self._seen: dict[int, set[int]] = {}
        """The inodes of each device: one entry a real file, however many names lead to it."""

    def result(self) -> Scan:
        return Scan(
            notes={key: self._notes[key] for key in sorted(self._notes)},
            # A conflict copy may be ignored in its folder and yet be named as an extra path.
            ignored=_listed({k: v for k, v in self._ignored.items() if k not in self._notes}),
            unreadable=_listed(self._unreadable),
        )

    def at(self, place: Place, start: Directory) -> None:
        try:
            with descend(start, place.names[:-1]) as parent:
                self._look_in(parent, place)
        except (FileNotFoundError, NotADirectoryError):
            if place.configured:
                self._ignored[place.key] = "not there"
        except NotPlain as found:
            self._ignored[place.key] = found.why
        except OSError as error:
            self._could_not_look(place.key, error)

    def _look_in(self, parent: Directory, place: Place) -> None:
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

    def _walk(self, folder: Directory, prefix: str, place: Place, below: tuple[str, ...]) -> None:
        """Everything in this folder; `prefix` begins the keys, `below` is the way from `place`."""
        for entry in folder.entries():
            name = entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    if name not in IGNORED_FOLDERS:
                        self._step_down(folder, name, prefix, place, below)
                elif is_note_name(name):
                    self._meet(folder, name, prefix + name, place, below)
                elif entry.is_symlink() and _leads_to_folder(entry):
                    self._ignored[shown(prefix + name)] = LINK
            except (FileNotFoundError, NotADirectoryError):
                continue  # it went while we looked
            except NotPlain as found:
                self._ignored[shown(prefix + name)] = found.why
            except OSError as error:
                self._could_not_look(prefix + name, error)

    def _step_down(
        self, parent: Directory, name: str, prefix: str, place: Place, below: tuple[str, ...]
    ) -> None:
        key = prefix + name
        if why := untellable(name):
            self._ignored[shown(key)] = why
        elif len(below) + 2 > MAX_FOLDERS:
            self._ignored[key] = f"more than {MAX_FOLDERS} folders deep"
        else:
            with closing(parent.folder(name)) as folder:
                self._walk(folder, self._prefix(key), place, (*below, name))

    def _meet(
        self, folder: Directory, name: str, key: str, place: Place, below: tuple[str, ...]
    ) -> None:
        if not place.wants((*below, name)):
            return
        if why := untellable(name):
            self._ignored[shown(key)] = why
        elif is_conflict_copy(name):
            self._ignored[key] = "a sync-conflict copy; merge it into its original"
        else:
            self._take(key, folder.stat(name))

    def _take(self, key: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._ignored[key] = why_not_plain(status) or "a folder, not a file"
            return
        seen = self._seen.setdefault(status.st_dev, set())
        if status.st_ino in seen:
            return
        if status.st_size > MAX_NOTE_BYTES:
            self._ignored[key] = TOO_LARGE
            return
        if status.st_ino:  # 0 where the file system has no such number
            seen.add(status.st_ino)
        self._notes[key] = FoundNote(key, note_stat(status))

    def _could_not_look(self, key: str, error: OSError) -> None:
        self._unreadable[shown(key)] = describe_os_error(error)
        if self._root_key.startswith(self._prefix(key)):
            # An extra path above the workspace: it covers notes whose keys do not begin with it.
            self._unreadable["."] = describe_os_error(error)

    def _prefix(self, key: str) -> str:
        """An extra path may lie above the workspace; below that, keys are relative again."""
        if key == self._root_key:
            return ""
        return key if key.endswith("/") else f"{key}/"


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):  # a loop, or a way we may not go
        return entry.is_dir()
    return False


def _listed(reasons: dict[str, str]) -> tuple[Ignored, ...]:
    return tuple(Ignored(path, why) for path, why in sorted(reasons.items()))
