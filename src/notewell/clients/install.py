"""Telling a client about this server: read its file, decide, keep a backup, replace it whole."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.clients.merge import CannotMerge, alone, merged
from notewell.errors import BadRequest, NotewellError

if TYPE_CHECKING:
    from notewell.clients.hosts import Client

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Claude Code keeps more than settings in its file; some grow to a few megabytes."""
MAX_BACKUPS = 1000
_BOM = b"\xef\xbb\xbf"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class FileNotWritten(NotewellError):
    def __init__(self, file: Path, why: str) -> None:
        super().__init__(f"cannot write {str(file)!r}: {why}; nothing was changed")
        self.file = file
        self.why = why


@dataclass(frozen=True, slots=True)
class Installed:
    """What became of it."""

    file: Path
    changed: bool
    """False when the very same entry was there."""
    backup: Path | None
    """The file as it was, where there was one."""


@dataclass(frozen=True, slots=True)
class _Before:
    data: bytes
    stat: os.stat_result


def entry_text(client: Client, name: str, entry: dict[str, Any]) -> str:
    """What to paste."""
    _require_name(name)
    return alone(client, name, entry)


def install(client: Client, file: Path, name: str, entry: dict[str, Any]) -> Installed:
    """Put the entry into the client's file. Raises `CannotMerge` or `FileNotWritten`."""
    _require_name(name)
    _require_text(entry)
    try:
        # A link is how people keep such files in a repository: what it leads to is the file.
        file = Path(os.path.realpath(file))
        before = _read(file)
        after = _decide(before, client, name, entry)
        if after is None:
            return Installed(file, changed=False, backup=None)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        backup = None if before is None else _back_up(file, before)
        _replace(file, before, after)
    except OSError as error:
        raise FileNotWritten(file, error.strerror or str(error)) from error
    return Installed(file, changed=True, backup=backup)


def _require_text(entry: dict[str, Any]) -> None:
    """A path may be any bytes; these files are UTF-8."""
    try:
        "".join((entry["command"], *entry["args"])).encode()
    except UnicodeEncodeError:
        raise CannotMerge("the workspace's path cannot be written as UTF-8") from None


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BadRequest(
            f"{name[:80]!r} cannot be a server's name: letters, digits, `-` and `_`, up to 64"
        )


def _decide(
    before: _Before | None, client: Client, name: str, entry: dict[str, Any]
) -> bytes | None:
    data = before.data if before else b""
    bom = _BOM if data.startswith(_BOM) else b""
    try:
        text = data.removeprefix(_BOM).decode()
    except UnicodeDecodeError:
        raise CannotMerge("it is not UTF-8") from None
    after = merged(text, client, name, entry)
    return None if after is None else bom + after.encode()


def _read(file: Path) -> _Before | None:
    try:
        # A pipe of that name must not make us wait for somebody to write into it.
        fd = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    with open(fd, "rb") as opened:  # noqa: PTH123 - a descriptor has no path
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise CannotMerge("it is not a file")
        if found.st_size > MAX_FILE_BYTES:
            raise CannotMerge(f"it is larger than {MAX_FILE_BYTES} bytes")
        return _Before(opened.read(), found)


def _back_up(file: Path, before: _Before) -> Path:
    """Beside it, under a name that nothing has yet."""
    for number in range(MAX_BACKUPS):
        backup = file.with_name(f"{file.name}.notewell-backup{f'-{number}' if number else ''}")
        try:
            _write_new(backup, before.data, before.stat.st_mode)
        except FileExistsError:
            continue
        return backup
    raise FileNotWritten(file, f"there are {MAX_BACKUPS} backups beside it; remove some")


def _replace(file: Path, before: _Before | None, after: bytes) -> None:
    """All at once: whoever opens it sees the old file or the new one."""
    new = file.with_name(f"{file.name}.notewell-{os.getpid()}")
    _write_new(new, after, before.stat.st_mode if before else 0o600)
    try:
        if not _is_as_before(file, before):
            raise FileNotWritten(file, "another program changed it meanwhile: run this again")
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)


def _is_as_before(file: Path, before: _Before | None) -> bool:
    try:
        now = file.stat()
    except FileNotFoundError:
        return before is None
    return before is not None and (
        (now.st_ino, now.st_size, now.st_mtime_ns)
        == (before.stat.st_ino, before.stat.st_size, before.stat.st_mtime_ns)
    )


def _write_new(file: Path, data: bytes, mode: int) -> None:
    fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IMODE(mode))
    with open(fd, "wb") as opened:  # noqa: PTH123 - a descriptor has no path
        opened.write(data)
        opened.flush()
        os.fsync(fd)
