"""Which paths belong to a memory: decided from names alone, without touching the disk.

A memory is a list of roots, in this order: `MEMORY.md`, `memory.md`, `USER.md`, `memory/`, and
the extra paths. The key of a note is relative to the workspace if the note is inside, otherwise
absolute. Every note has one key, so an absolute path into the workspace is not a key.

Invariant: `locate` accepts every key that a scan returns. What it refuses, it refuses without a
look at the disk, so a refusal reveals nothing about files outside.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.limits import MAX_NOTE_BYTES
from notewell.records import dataclass
from notewell.types import Ignored

if TYPE_CHECKING:
    from collections.abc import Sequence

IGNORED_FOLDERS = frozenset(
    {".git", "node_modules", ".venv", "venv", "__pycache__", ".obsidian", ".trash"}
)
"""Tools and trash: never notes, and too many files to report one by one."""

_CONFLICT = r"""
      \( [^()]* conflicted\ copy                    # Dropbox, Nextcloud, Obsidian Sync
    | \( (?: sf | case\ | selective\ sync\ )?       # Seafile, Dropbox
         conflict (?: \) | [^()]*\d )               # the rest: a date or nothing must follow,
                                                    # so "(conflict with Bob)" stays a note
    | \.sync-conflict-\d                            # Syncthing
    | _conflict-\d{8}                               # ownCloud
    """

# Unicode does not count line separators as control characters, but they break a listing too.
# Not compiled at import: hardly any name needs them (`re` caches the patterns).
_CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029]"
_SURROGATE = "[\ud800-\udfff]"

_DEVICES = frozenset({"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"})

MAX_FOLDERS = 64
"""Nobody nests notes this deep; a mount that contains itself does. Limits open descriptors too."""

TOO_LARGE = f"larger than {MAX_NOTE_BYTES // 2**20} MiB, the most a note may have"

Expects: TypeAlias = Literal["file", "folder", "either"]


@dataclass(frozen=True, slots=True)
class ExtraPath:
    """More notes, from the settings."""

    path: str
    """Absolute, `~`, or relative to the workspace; a folder or one `.md` file."""
    pattern: str | None = None
    """For a folder: only files whose path below it matches; `**` is any number of folders."""


@dataclass(frozen=True, slots=True)
class NotesSettings:
    """Which notes belong to a memory besides those of its workspace."""

    enabled: bool = True
    """Notes are indexed and searched; without them, transcripts alone are."""
    extra_paths: tuple[ExtraPath, ...] = ()
    redact: bool = False
    """Mask secrets in notes, too. Secrets in transcripts are always masked."""


@dataclass(frozen=True, slots=True)
class NoteRoot:
    """A file or folder where notes are looked for."""

    key: str
    """Like the key of a note: relative inside the workspace, absolute outside."""
    names: tuple[str, ...]
    """Its path: one name after another from the workspace, or one absolute path."""
    inside: bool
    parts: tuple[str, ...]
    """The parts of its absolute path, to compare with others."""
    expects: Expects = "either"
    glob: tuple[str, ...] | None = None
    configured: bool = False
    """The user named it, so a scan reports if it is missing."""

    def wants(self, below: Sequence[str]) -> bool:
        """Whether a file with this path below the folder matches the pattern."""
        return self.glob is None or matches(below, self.glob)

    def admits(self, parts: tuple[str, ...]) -> bool:
        """Whether a scan of this root could return the file with this absolute path."""
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
class NoteScope:
    root: Path
    roots: tuple[NoteRoot, ...]
    ignored: tuple[Ignored, ...] = ()
    """Extra paths that can never be used, and why."""

    def locate(self, key: str) -> tuple[str, ...] | None:
        """The names that lead to a note, the first one absolute; None if it is not in scope."""
        if (
            why_unprintable(key)
            or not is_note_name(key)
            or (os.sep != "/" and _is_windows_trick(key))
        ):
            return None
        path = Path(key)
        segments = key.split("/")
        if not {"", ".", ".."}.isdisjoint(segments[1:] if path.is_absolute() else segments):
            return None
        # Its key is the relative path; with a second key the index would hold the note twice.
        if path.is_absolute() and path.is_relative_to(self.root):
            return None
        parts = (self.root / path).parts
        for place in self.roots:
            if place.admits(parts):
                if not path.is_absolute():
                    return (str(self.root), *segments)
                return (*place.names, *parts[len(place.parts) :])
        return None


def scope_of(root: Path, given: Path, extra_paths: Sequence[ExtraPath]) -> NoteScope:
    """`root` is the real path of the workspace, `given` the absolute one the user wrote."""
    roots = [
        _inside(root, root / "MEMORY.md", expects="file"),
        _inside(root, root / "memory.md", expects="file"),
        # What OpenClaw keeps about the user.
        _inside(root, root / "USER.md", expects="file"),
        _inside(root, root / "memory", expects="folder"),
    ]
    ignored = []
    for extra in extra_paths:
        place = _place_of(extra, root, given)
        if isinstance(place, NoteRoot):
            roots.append(place)
        else:
            ignored.append(place)
    return NoteScope(root, tuple(roots), tuple(ignored))


def _place_of(extra: ExtraPath, root: Path, given: Path) -> NoteRoot | Ignored:
    if not extra.path.strip():
        return Ignored(extra.path, "an empty extra path; write `.` for the whole workspace")
    if why := why_unprintable(extra.path):
        return Ignored(printable(extra.path), why)
    try:
        expanded = Path(extra.path).expanduser()
    except RuntimeError:
        return Ignored(extra.path, "no such home folder")
    # Not `resolve`: it follows links, and inside the workspace they must be refused.
    path = Path(os.path.normpath(root / expanded))
    glob = None if extra.pattern is None else tuple(extra.pattern.split("/"))
    # The workspace may be a link; the user writes extra paths with either of its names.
    for workspace in (root, given):
        # A path that is written as inside is opened from the workspace, and links are refused.
        if path.is_relative_to(workspace):
            return _inside(root, root / path.relative_to(workspace), "either", glob)
    # Outside, links in the folders above it are followed: /tmp is a link on macOS.
    real = Path(os.path.realpath(path.parent)) / path.name
    if why := why_unprintable(str(real)):
        return Ignored(printable(str(real)), why)
    if real.is_relative_to(root):
        return _inside(root, real, "either", glob)
    return NoteRoot(
        key=real.as_posix(),
        names=(str(real),),
        inside=False,
        parts=real.parts,
        glob=glob,
        configured=True,
    )


def _inside(
    root: Path, path: Path, expects: Expects, glob: tuple[str, ...] | None = None
) -> NoteRoot:
    relative = path.relative_to(root)
    return NoteRoot(
        key=relative.as_posix(),
        names=relative.parts,
        inside=True,
        parts=path.parts,
        expects=expects,
        glob=glob,
        configured=expects == "either",
    )


def _is_windows_trick(key: str) -> bool:
    """On Windows `a\\b` is a path, and `note.md:hidden.md` names a stream inside a file."""
    is_stream = ":" in key[2:] or (":" in key and not Path(key).is_absolute())
    return "\\" in key or is_stream or any(map(is_windows_device, key.split("/")))


def is_windows_device(name: str) -> bool:
    """Whether Windows takes the name for another one: `con.md` is the terminal, in every folder,
    and dots and blanks at the end are cut off."""
    stem = name.partition(".")[0].rstrip().upper()
    is_numbered = stem[:-1] in ("COM", "LPT") and stem[-1:] in "123456789¹²³"
    return stem in _DEVICES or is_numbered or (name not in (".", "..") and name[-1:] in (".", " "))


# -- names ---------------------------------------------------------------------------------------


def is_note_name(name: str) -> bool:
    # The first test is the fast one: a scan asks this for every file.
    return name.endswith(".md") or name[-3:].lower() == ".md"


def is_conflict_copy(name: str) -> bool:
    # Not compiled at import: hardly any workspace has such a name (`re` caches the pattern).
    return "conflict" in name.lower() and bool(re.search(_CONFLICT, name, re.I | re.X))


def why_unprintable(name: str) -> str | None:
    """Why a name cannot be used in a listing, an index or a citation; None if it can."""
    if name.isprintable():  # No control character, line separator or surrogate is.
        return None
    if re.search(_SURROGATE, name):
        return "its name is not valid UTF-8"
    if re.search(_CONTROL, name):
        return "its name contains control characters"
    return None


def printable(name: str) -> str:
    """The name with each unprintable character as an escape, `caf\\xe9.md`."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return re.sub(_CONTROL, lambda found: ascii(found[0])[1:-1], text)


def matches(parts: Sequence[str], glob: Sequence[str]) -> bool:
    """Whether a path matches a glob, both split at `/`; `**` is any number of folders."""
    if not glob:
        return not parts
    if glob[0] == "**":
        return any(matches(parts[skip:], glob[1:]) for skip in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], glob[0]) and matches(parts[1:], glob[1:])
