"""Copies of a host's file from before our changes, beside it: `settings.json.notewell-backup`.

They have two uses. The user can go back, and `uninstall` reads in them what the file had before
us. So all of them stay while something of ours is in the file. Then a copy goes if it has nothing
that the file lacks, except entries and hooks of ours. A copy with anything else stays: the user or
the host has changed that since, and nobody else may have it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from notewell.clients.merge import CannotMerge
from notewell.clients.ours import our_commands, without_ours
from notewell.files import create_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from notewell.clients.formats import FileFormat

MAX_BACKUPS = 1000
EARLIER_TEXTS = 6
"""How many backups are read before something is taken out: entry and hooks, installed and taken
out one by one, make four. A file of 5 MB takes a second each."""
_BACKUP = ".notewell-backup"
BACKUP_ENDS = re.compile(rf"(?:{re.escape(_BACKUP)}(?:-\d+)?)?")
"""Of names: the file itself, and its backups."""


def back_up(file: Path, data: bytes, mode: int, owner: tuple[int, int]) -> Path | None:
    """A copy in the same folder, under a name that is free; None if there is no such name. One
    with this content, which a killed process or an earlier change has made, is taken as it is."""
    for existing in backups_of(file)[:1]:
        with suppress(OSError):
            if existing.read_bytes() == data:
                return existing
    for number in range(MAX_BACKUPS):
        backup = file.with_name(f"{file.name}{_BACKUP}{f'-{number}' if number else ''}")
        if create_file(backup, data, durable=True, mode=mode, owner=owner):
            return backup
    return None


def backups_of(file: Path) -> list[Path]:
    """The backups of a file, the latest first."""
    start = file.name + _BACKUP
    try:
        numbers = [
            (int(end[1:] or 0), name)
            for name in (one.name for one in file.parent.iterdir())
            if name.startswith(start) and _is_number(end := name.removeprefix(start))
        ]
    except OSError:
        return []
    return [file.with_name(name) for _, name in sorted(numbers, reverse=True)]


def _is_number(end: str) -> bool:
    return not end or (end[0] == "-" and end[1:].isdecimal() and end.isascii())


def remove_spare_backups(
    file: Path, text: str, form: FileFormat, read: Callable[[Path], str | None]
) -> tuple[Path, ...]:
    """Remove the backups that have nothing that the file's text lacks. Returns those that stay,
    the oldest first; none while something of ours is in the file."""
    backups = backups_of(file)
    try:
        document, comments = form.parse(text), form.comments(text)
        if not backups or our_commands(document):
            return ()
    except CannotMerge:
        return ()
    kept, known = [], [(document, comments)]
    # The oldest first: of two with the same settings, it is the one before our first change.
    for backup in reversed(backups):
        content = _content(read(backup), form)
        if content is not None and any(_covers(one, content) for one in known):
            with suppress(OSError):
                backup.unlink()
                continue
        elif content is not None:
            known.append(content)
        kept.append(backup)
    return tuple(kept)


def _content(text: str | None, form: FileFormat) -> tuple[dict[str, Any], set[str]] | None:
    """What a backup has that is not ours; None if it cannot be read."""
    if text is None:
        return None
    try:
        return without_ours(form.parse(text)), form.comments(text)
    except CannotMerge:
        return None


def _covers(whole: tuple[dict[str, Any], set[str]], part: tuple[dict[str, Any], set[str]]) -> bool:
    try:
        return _includes(whole[0], part[0]) and part[1] <= whole[1]
    except RecursionError:  # It is nested a thousand deep.
        return False


def _includes(whole: Any, part: Any) -> bool:
    """Whether a value has each member of another one; items of a list are in the same order."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and _includes(whole[key], value) for key, value in part.items()
        )
    if isinstance(part, list):
        if not isinstance(whole, list):
            return False
        rest = iter(whole)
        return all(any(_includes(other, item) for other in rest) for item in part)
    # `1 == True` in Python.
    return type(whole) is type(part) and bool(whole == part)
