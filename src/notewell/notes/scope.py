"""Which paths belong to a memory: decided from names alone, before the disk is asked.

A memory is a list of places, in this order: `MEMORY.md`, `memory.md`, `memory/`, and the extra
paths. A note's key is relative to the workspace when it lies inside, absolute when it does not;
every note has one key, so an absolute path into the workspace is not one.

Invariant: every key that a scan gives is located here, and whatever `locate` refuses was refused
without looking, so a refusal tells nothing about what lies outside.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.notes.names import (
    IGNORED_FOLDERS,
    is_conflict_copy,
    is_note_name,
    matches,
    shown,
    untellable,
)
from notewell.types import Ignored

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_FOLDERS = 64
"""Nobody nests notes this deep; a mount that contains itself does. Bounds open descriptors too."""

Expects: TypeAlias = Literal["file", "folder", "either"]


@dataclass(frozen=True, slots=True)
class ExtraPath:
    """More notes, as configured."""

    path: str
    """Absolute, `~`, or relative to the workspace; a folder or one `.md` file."""
    pattern: str | None = None
    """Of a folder, only the files whose path below it matches, `**` included."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder where notes are looked for."""

    key: str
    """As a note's key: relative inside the workspace, absolute outside."""
    names: tuple[str, ...]
    """The way to it: component by component from the workspace, or one absolute path."""
    inside: bool
    parts: tuple[str, ...]
    """Its absolute path, cut up, to compare with others."""
    expects: Expects = "either"
    glob: tuple[str, ...] | None = None
    configured: bool = False
    """The user named it, so its absence is worth a word."""

    def wants(self, below: Sequence[str]) -> bool:
        """Whether a file so far below this folder fits the pattern."""
        return self.glob is None or matches(below, self.glob)

    def admits(self, parts: tuple[str, ...]) -> bool:
        """Whether a scan of this place could give the file with this absolute path."""
        if parts[: len(self.parts)] != self.parts:
            return False
        below = parts[len(self.parts) :]
        if not below:
            return self.expects != "folder"
        return (
            self.expects != "file"
            and len(below) <= MAX_FOLDERS
            and IGNORED_FOLDERS.isdisjoint(below[:-1])
            and not is_conflict_copy(below[-1])
            and self.wants(below)
        )


@dataclass(frozen=True, slots=True)
class Scope:
    root: Path
    places: tuple[Place, ...]
    ignored: tuple[Ignored, ...] = ()
    """Extra paths that cannot be used however the disk looks."""

    def locate(self, key: str) -> tuple[str, ...] | None:
        """The way to a note, its first name absolute; None for whatever is not of this memory."""
        if untellable(key) or not is_note_name(key) or (os.sep != "/" and _is_windows_trick(key)):
            return None
        path = Path(key)
        segments = key.split("/")
        if not {"", ".", ".."}.isdisjoint(segments[1:] if path.is_absolute() else segments):
            return None
        if path.is_absolute() and path.is_relative_to(self.root):
            return None
        parts = (self.root / path).parts
        for place in self.places:
            if place.admits(parts):
                if not path.is_absolute():
                    return (str(self.root), *segments)
                return (*place.names, *parts[len(place.parts) :])
        return None


def scope_of(root: Path, given: Path, extra_paths: Sequence[ExtraPath]) -> Scope:
    """`root` is the real path of the workspace, `given` the absolute one the user wrote."""
    places = [
        _inside(root, root / "MEMORY.md", expects="file"),
        _inside(root, root / "memory.md", expects="file"),
        _inside(root, root / "memory", expects="folder"),
    ]
    ignored = []
    for extra in extra_paths:
        place = _place_of(extra, root, given)
        if isinstance(place, Place):
            places.append(place)
        else:
            ignored.append(place)
    return Scope(root, tuple(places), tuple(ignored))


def _place_of(extra: ExtraPath, root: Path, given: Path) -> Place | Ignored:
    if not extra.path.strip():
        return Ignored(extra.path, "an empty extra path; write `.` for the whole workspace")
    if why := untellable(extra.path):
        return Ignored(shown(extra.path), why)
    try:
        expanded = Path(extra.path).expanduser()
    except RuntimeError:
        return Ignored(extra.path, "no such home folder")
    path = Path(os.path.normpath(root / expanded))
    glob = None if extra.pattern is None else tuple(extra.pattern.split("/"))
    for workspace in (root, given):
        # What is written as inside is walked from the workspace, links on the way refused.
        if path.is_relative_to(workspace):
            return _inside(root, root / path.relative_to(workspace), "either", glob)
    # Outside, the folders above the named one are the user's own choice: /tmp is a link on macOS.
    real = Path(os.path.realpath(path.parent)) / path.name
    if why := untellable(str(real)):
        return Ignored(shown(str(real)), why)
    if real.is_relative_to(root):
        return _inside(root, real, "either", glob)
    return Place(
        key=real.as_posix(),
        names=(str(real),),
        inside=False,
        parts=real.parts,
        glob=glob,
        configured=True,
    )


def _inside(
    root: Path, path: Path, expects: Expects, glob: tuple[str, ...] | None = None
) -> Place:
    relative = path.relative_to(root)
    return Place(
        key=relative.as_posix(),
        names=relative.parts,
        inside=True,
        parts=path.parts,
        expects=expects,
        glob=glob,
        configured=expects == "either",
    )


def _is_windows_trick(key: str) -> bool:
    """`a\\b` climbs into folders, and `note.md:hidden.md` names a stream inside a file."""
    return "\\" in key or ":" in key[2:] or (":" in key and not Path(key).is_absolute())
