"""Edit the configuration file of another program: read it, decide, keep a backup, replace it.

The file is replaced by a rename, so its program sees the old file or the new one. If another
program changed the file in between, nothing is written.
"""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.clients.backups import (
    BACKUP_ENDS,
    EARLIER_TEXTS,
    MAX_BACKUPS,
    back_up,
    backups_of,
    remove_spare_backups,
)
from notewell.clients.footprint import missing_folders
from notewell.clients.formats import format_of, parsed
from notewell.clients.merge import CannotMerge, file_with, merged
from notewell.clients.ours import state_dirs
from notewell.errors import BadRequest, NotewellError
from notewell.files import PRIVATE_FILE, remove_left_behind, replace_file
from notewell.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from notewell.clients.formats import FileFormat
    from notewell.hosts import McpFile

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Claude Code has more than settings in its file; some have a few megabytes."""
_BOM = b"\xef\xbb\xbf"
_NOT_TEXT = "the workspace's path cannot be written as UTF-8"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class FileNotWritten(NotewellError):
    """The file is as it was."""

    def __init__(self, file: Path, why: str) -> None:
        super().__init__(f"cannot write {str(file)!r}: {why}; nothing was changed")
        self.file = file
        self.why = why


@dataclass(frozen=True, slots=True)
class Installed:
    """The result of an installation."""

    file: Path
    changed: bool
    """False if the file had the same entry already."""
    backup: Path | None
    """A copy of the file as it was, if there was one and it is still needed."""
    made: tuple[Path, ...] = ()
    """Folders that were made for the file, the outermost first."""
    kept_backups: tuple[Path, ...] = ()
    """Copies that have something besides our entries that the file lacks."""
    left_states: tuple[Path, ...] = ()
    """State folders that something of ours in the file named before, and nothing does now."""


@dataclass(frozen=True, slots=True)
class _Before:
    data: bytes
    stat: os.stat_result

    @property
    def mode(self) -> int:
        return stat.S_IMODE(self.stat.st_mode)

    @property
    def owner(self) -> tuple[int, int]:
        return self.stat.st_uid, self.stat.st_gid


def entry_text(mcp: McpFile, name: str, entry: dict[str, Any]) -> str:
    """The entry as text that the user can paste."""
    _require_name(name)
    return file_with(mcp, name, entry)


def install_entry(mcp: McpFile, file: Path, name: str, entry: dict[str, Any]) -> Installed:
    """Add an MCP entry to the host's file. Raises `CannotMerge` or `FileNotWritten`."""
    _require_name(name)
    _require_text(entry)
    return update_file(file, lambda text: merged(text, mcp, name, entry))


def remove_entry(mcp: McpFile, file: Path, name: str) -> Installed:
    """Take the MCP entry out again. Raises `CannotMerge` or `FileNotWritten`."""
    from notewell.clients.remove import without_entry

    def edit(text: str, earlier: Sequence[str]) -> str | None:
        return without_entry(text, mcp, name, earlier)

    return take_out(file, edit, format_of(mcp))


def has_entry(mcp: McpFile, file: Path, name: str) -> bool:
    """Whether `remove_entry` would take something out."""
    from notewell.clients.remove import without_entry

    return would_change(file, lambda text: without_entry(text, mcp, name))


def would_change(file: Path, edit: Callable[[str], str | None]) -> bool:
    """Whether `update_file` would change the file. One that cannot be read, or is not valid, has
    nothing that could be taken out."""
    try:
        return _edited(_read(file), edit) is not None
    except (OSError, CannotMerge):
        return False


def take_out(
    file: Path, edit: Callable[[str, Sequence[str]], str | None], form: FileFormat
) -> Installed:
    """Like `update_file`. `edit` also gets what the file contained before earlier changes, the
    latest first: text that was there then is not ours. The backups that are of no use then go."""
    file = Path(os.path.realpath(file))
    texts = (_text_of(backup) for backup in backups_of(file)[:EARLIER_TEXTS])
    earlier = [text for text in texts if text is not None]
    states = _states(_text_of(file), form)
    done = update_file(file, lambda text: edit(text, earlier), had_empty_file="" in earlier)
    text = _text_of(file) if file.exists() else ""
    if text is None:
        return done
    kept = remove_spare_backups(file, text or form.new_file, form, _text_of)
    is_there = done.backup is not None and done.backup.exists()
    return replace(
        done,
        backup=done.backup if is_there else None,
        kept_backups=kept,
        left_states=tuple(sorted(states - _states(text, form))),
    )


def _states(text: str | None, form: FileFormat) -> set[Path]:
    document = parsed(form.parse, text) if text else None
    return {Path(one) for one in state_dirs(document or {})}


def update_file(
    file: Path, edit: Callable[[str], str | None], *, had_empty_file: bool = False
) -> Installed:
    """Replace a file by its edited text; `edit` returns None to leave the file as it is, and an
    empty text to remove it, unless the user had an empty file."""
    try:
        # People keep such files in a repository and link to them: edit the target of the link.
        file = Path(os.path.realpath(file))
        remove_left_behind(file, BACKUP_ENDS)
        before = _read(file)
        after = _edited(before, edit)
        if after is None:
            return Installed(file, changed=False, backup=None)
        made = missing_folders(file.parent)
        # A host that never ran has no folder yet. Its settings may contain keys, hence 0700.
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        backup = None if before is None else _backup(file, before)
        _replace(file, before, after, removes=not after and not had_empty_file)
    except OSError as error:
        raise FileNotWritten(file, error.strerror or str(error)) from error
    return Installed(file, changed=True, backup=backup, made=made)


def _require_text(entry: dict[str, Any]) -> None:
    """A path on Linux may have any bytes; these files are UTF-8."""
    try:
        json.dumps(entry, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise CannotMerge(_NOT_TEXT) from None


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BadRequest(
            f"{name[:80]!r} cannot be a server's name: use up to 64 letters, digits, `-` and `_`"
        )


def _edited(before: _Before | None, edit: Callable[[str], str | None]) -> bytes | None:
    data = before.data if before else b""
    # The byte order mark is no part of the JSON, but of the file: it is written back.
    bom = _BOM if data.startswith(_BOM) else b""
    try:
        text = data.removeprefix(_BOM).decode()
    except UnicodeDecodeError:
        raise CannotMerge("it is not UTF-8") from None
    after = edit(text)
    try:
        return None if after is None else bom + after.encode()
    except UnicodeEncodeError:
        raise CannotMerge(_NOT_TEXT) from None


def _read(file: Path) -> _Before | None:
    try:
        # O_NONBLOCK: the open of a named pipe would wait for a writer.
        fd = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    with open(fd, "rb") as opened:  # noqa: PTH123 - a descriptor has no path
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise CannotMerge("it is not a file")
        if status.st_size > MAX_FILE_BYTES:
            raise CannotMerge(f"it is larger than {MAX_FILE_BYTES} bytes")
        return _Before(opened.read(), status)


def _backup(file: Path, before: _Before) -> Path:
    backup = back_up(file, before.data, before.mode, before.owner)
    if backup is None:
        raise FileNotWritten(file, f"there are {MAX_BACKUPS} backups beside it; remove some")
    return backup


def _text_of(file: Path) -> str | None:
    try:
        before = _read(file)
        return before.data.removeprefix(_BOM).decode() if before else None
    except (OSError, CannotMerge, UnicodeDecodeError):
        return None


def _replace(file: Path, before: _Before | None, after: bytes, *, removes: bool) -> None:
    """An atomic replace, unless the file changed since it was read."""

    def require_unchanged() -> None:
        if not _is_as_before(file, before):
            raise FileNotWritten(file, "another program changed it meanwhile: run this again")

    if removes:
        require_unchanged()
        file.unlink()
        return
    replace_file(
        file,
        after,
        durable=True,
        mode=before.mode if before else PRIVATE_FILE,
        owner=before.owner if before else None,
        before_rename=require_unchanged,
    )


def _is_as_before(file: Path, before: _Before | None) -> bool:
    try:
        now = file.stat()
    except FileNotFoundError:
        return before is None
    # Inode, size and time instead of the content: the file may have megabytes.
    return before is not None and (
        (now.st_ino, now.st_size, now.st_mtime_ns)
        == (before.stat.st_ino, before.stat.st_size, before.stat.st_mtime_ns)
    )
