"""Files that other programs wrote, opened without trust: no links, no devices, limited sizes."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.errors import BadRequest, NoteUnreadable
from notewell.files import describe_os_error, why_not_plain
from notewell.notes import IGNORED_FOLDERS, is_conflict_copy
from notewell.sessions import database_rows
from notewell.types import Ignored

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator

MAX_JSON_BYTES = 1024 * 1024 * 1024
"""A parsed export takes about five times as much memory."""
LOCKED = "close the program that uses it, then try again"


def unusable(path: Path | str, why: str) -> BadRequest:
    return BadRequest(f"{str(path)!r} cannot be imported: {why}")


def require_file(path: Path) -> os.stat_result:
    """Raises `BadRequest` unless it is a plain file; its stat."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError) as error:
        why = describe_os_error(error) if isinstance(error, OSError) else str(error)
        raise unusable(path, why) from error
    if why_link := why_not_plain(status):
        raise unusable(path, f"it is {why_link}; name the file itself")
    if path.is_dir():
        raise unusable(path, "it is a folder; name the file")
    return status


def read_bytes(path: Path, limit: int = MAX_JSON_BYTES) -> bytes:
    status = require_file(path)
    if status.st_size > limit:
        raise unusable(path, _too_large(status.st_size, limit))
    try:
        return path.read_bytes()
    except OSError as error:
        raise unusable(path, describe_os_error(error)) from error


def parse_json(path: Path | str, data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise unusable(path, f"it is not UTF-8 (byte {error.start + 1})") from None
    except json.JSONDecodeError as error:
        is_cut = error.pos >= len(error.doc.rstrip())
        why = "it ends early" if is_cut else f"line {error.lineno} is not JSON ({error.msg})"
        raise unusable(path, f"{why}; is the download complete?") from None
    except RecursionError:
        raise unusable(path, "it is nested too deeply") from None


def read_json_files(path: Path, is_wanted: re.Pattern[str]) -> tuple[list[Any], list[Ignored]]:
    """The JSON documents with such names in a folder, in a zip, or the file itself; and what else
    is there."""
    if path.is_dir():
        names = sorted(entry.name for entry in os.scandir(path))
        wanted = [name for name in names if is_wanted.fullmatch(name)]
        documents = [parse_json(path / name, read_bytes(path / name)) for name in wanted]
        return documents, _others(set(names).difference(wanted))
    require_file(path)
    if not zipfile.is_zipfile(path):
        return [parse_json(path, read_bytes(path))], []
    try:
        with zipfile.ZipFile(path) as archive:
            return _in_archive(path, archive, is_wanted)
    # `RuntimeError` is what `zipfile` raises for an encrypted member.
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise unusable(path, f"the archive is damaged or encrypted ({error})") from error


def _in_archive(
    path: Path, archive: zipfile.ZipFile, is_wanted: re.Pattern[str]
) -> tuple[list[Any], list[Ignored]]:
    documents, others = [], set[str]()
    for member in archive.infolist():
        # Only the last name is looked at, and nothing is extracted: a name such as `../x` has no
        # effect.
        name = member.filename.rpartition("/")[2]
        if not is_wanted.fullmatch(name):
            others.add(name)
            continue
        if member.file_size > MAX_JSON_BYTES:
            raise unusable(path, f"{name}: {_too_large(member.file_size, MAX_JSON_BYTES)}")
        with archive.open(member) as opened:
            # The size in the directory of the archive may be wrong.
            data = opened.read(MAX_JSON_BYTES + 1)
        if len(data) > MAX_JSON_BYTES:
            raise unusable(path, f"{name}: {_too_large(len(data), MAX_JSON_BYTES)}")
        documents.append(parse_json(f"{path}/{name}", data))
    return documents, _others(others)


def _others(names: Iterable[str]) -> list[Ignored]:
    return [
        Ignored(name, "only conversations are imported") for name in sorted(filter(None, names))
    ]


def _too_large(size: int, limit: int) -> str:
    return f"{size // 2**20} MB, the most is {limit // 2**20} MB; split it"


def table_rows(
    path: Path, table: str, needed: tuple[str, ...], optional: tuple[str, ...], program: str
) -> Iterator[dict[str, Any]]:
    """The rows of a table, in the order of their numbers. A column that another version of the
    program does not have is None."""
    require_file(path)
    rows = _rows(path, f"SELECT name FROM pragma_table_info('{table}')")  # noqa: S608 - our own
    columns = {name for (name,) in rows}
    if missing := sorted(set(needed).difference(columns)):
        what = f"column {missing[0]!r} in its table {table!r}" if columns else f"table {table!r}"
        raise unusable(path, f"it is no database of {program} that Notewell knows: no {what}")
    names = [*needed, *(name for name in optional if name in columns)]
    absent = dict.fromkeys(optional)
    # Names of columns and tables are our own; none comes from the database.
    for row in _rows(path, f"SELECT {', '.join(names)} FROM {table} ORDER BY rowid"):  # noqa: S608
        yield {**absent, **dict(zip(names, row, strict=True))}


def _rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    try:
        return database_rows(str(path), path, query)
    except NoteUnreadable as error:
        next_step = f"; {LOCKED}" if "locked" in error.why else ""
        raise unusable(path, f"{error.why}{next_step}") from error


def markdown_files(
    path: Path, is_wanted: Callable[[str], bool] = lambda _: True
) -> tuple[list[tuple[str, Path]], list[Ignored]]:
    """The Markdown below a folder, with their paths there; hidden folders and links are not
    followed."""
    if not path.is_dir():
        raise unusable(path, "it is no folder" if path.exists() else "no such folder")
    found, ignored = list[tuple[str, Path]](), list[Ignored]()

    def note(error: OSError) -> None:
        ignored.append(Ignored(str(error.filename), describe_os_error(error)))

    for root, folders, names in os.walk(path, onerror=note):
        kept = (name for name in folders if name not in IGNORED_FOLDERS and name[0] != ".")
        folders[:] = sorted(kept)
        for name in sorted(names):
            file = path / root / name
            relative = file.relative_to(path).as_posix()
            if not name.endswith(".md") or name.startswith(".") or not is_wanted(relative):
                continue
            why = why_not_plain(os.lstat(file))
            if why or is_conflict_copy(name):
                ignored.append(Ignored(relative, why or "a copy that a sync program made"))
            else:
                found.append((relative, file))
    return found, ignored
