"""What a note may be called, and which names only look like one. Nothing here touches the disk."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

IGNORED_FOLDERS = frozenset(
    {".git", "node_modules", ".venv", "venv", "__pycache__", ".obsidian", ".trash"}
)
"""Machinery and bins: never notes, and too many files to mention."""

_CONFLICT = r"""
      \( [^()]* conflicted\ copy                    # Dropbox, Nextcloud, Obsidian Sync
    | \( (?: sf | case\ | selective\ sync\ )?       # Seafile, Dropbox
         conflict (?: \) | [^()]*\d )               # the rest: a date or nothing must follow,
                                                    # so "(conflict with Bob)" stays a note
    | \.sync-conflict-\d                            # Syncthing
    | _conflict-\d{8}                               # ownCloud
    """

# A line separator is not a control character to Unicode, but breaks a listing just as well.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def is_note_name(name: str) -> bool:
    return name.endswith(".md") or name[-3:].lower() == ".md"


def is_conflict_copy(name: str) -> bool:
    # Compiled by the first name that needs it (`re` keeps it): hardly any workspace has one.
    return "conflict" in name.lower() and bool(re.search(_CONFLICT, name, re.I | re.X))


def untellable(name: str) -> str | None:
    """Why this name cannot stand in a listing, an index or a citation; None when it can."""
    if name.isascii() and name.isprintable():
        return None
    if _SURROGATE.search(name):
        return "its name is not valid UTF-8"
    if _CONTROL.search(name):
        return "its name contains control characters"
    return None


def shown(name: str) -> str:
    """The name with every character that cannot be shown spelled out, `caf\\xe9.md`."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def matches(parts: Sequence[str], glob: Sequence[str]) -> bool:
    """Whether a path fits a glob, both cut at `/`; `**` stands for any number of folders."""
    if not glob:
        return not parts
    if glob[0] == "**":
        return any(matches(parts[skip:], glob[1:]) for skip in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], glob[0]) and matches(parts[1:], glob[1:])
