"""Which files are transcripts; they are found and opened without following symbolic links.

The agent's own folder is flat; the folder of another host is a tree and has a name:

    sessions/<file>.jsonl                  the agent's own
    sessions/<name>/<folder>/<file>.jsonl  of a host, for example `claude` or `codex`

A host that rotates a transcript renames it (`….jsonl.reset.…`): the old file no longer has the
suffix of a transcript, and the new one has another inode and is read from its start.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from notewell.errors import NoteUnreadable
from notewell.files import (
    NotPlain,
    descend,
    describe_os_error,
    note_stat,
    open_resolved,
    why_not_plain,
)
from notewell.hosts import TRANSCRIPT_FORMATS
from notewell.records import dataclass
from notewell.types import FoundNote, Ignored, Scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from notewell.files import Directory
    from notewell.hosts import TranscriptFormat

PREFIX = "sessions"
SUFFIX = ".jsonl"
"""Of the transcripts that Notewell itself writes, and of most hosts."""

MAX_TRANSCRIPT_BYTES = 512 * 1024 * 1024
"""Weeks of one conversation with its images; a larger file is something else."""

MAX_FOLDERS = 8
"""Codex nests three deep (year, month, day)."""

BLOCK_BYTES = 1024 * 1024
LINE_BYTES = 64 * 1024
"""Most lines are shorter."""

_TOO_LARGE = f"larger than {MAX_TRANSCRIPT_BYTES // 2**20} MiB, the most a transcript may have"


def transcript_suffixes(
    formats: Iterable[TranscriptFormat] = TRANSCRIPT_FORMATS,
) -> tuple[str, ...]:
    """The suffixes of files that may be transcripts, each once."""
    return tuple(dict.fromkeys(format_.suffix for format_ in formats))


def is_transcript_name(
    name: str, formats: Iterable[TranscriptFormat] = TRANSCRIPT_FORMATS
) -> bool:
    return any(format_.is_name(name) for format_ in formats)


def path_of_session(id_: str) -> str:
    """The path of a session by its id. The most common suffix is not part of an id; others are,
    since two files may differ in the suffix only."""
    has_suffix = not id_.endswith(SUFFIX) and is_transcript_name(id_.rsplit("/", 1)[-1])
    return f"{PREFIX}/{id_}" if has_suffix else f"{PREFIX}/{id_}{SUFFIX}"


def session_of_path(path: str) -> str:
    """The id of a session by its path; the inverse of `path_of_session`."""
    return path.removeprefix(f"{PREFIX}/").removesuffix(SUFFIX)


@dataclass(frozen=True, slots=True)
class TranscriptFolder:
    """A folder of transcripts."""

    path: Path
    name: str = ""
    """The name of another host's folder; the agent's own folder has none."""
    appears_later: bool = False
    """Nothing is wrong if the folder is not there: it appears with its first conversation."""

    @property
    def key(self) -> str:
        return f"{PREFIX}/{self.name}" if self.name else PREFIX

    @property
    def max_depth(self) -> int:
        return MAX_FOLDERS if self.name else 0

    def accepts(self, name: str, formats: Iterable[TranscriptFormat]) -> bool:
        """Whether a file of this name is a transcript. The agent's own folder has JSON lines only:
        OpenClaw also keeps `sessions.json` there, which is no transcript."""
        return is_transcript_name(name, formats) if self.name else name.endswith(SUFFIX)

    def locate(
        self, path: str, formats: Iterable[TranscriptFormat] = TRANSCRIPT_FORMATS
    ) -> tuple[str, ...] | None:
        """The names from this folder down to a transcript; None if it cannot be in the folder."""
        if not path.startswith(f"{self.key}/"):
            return None
        names = tuple(path[len(self.key) + 1 :].split("/"))
        if not self.accepts(names[-1], formats):
            return None
        # Empty names and dots never come from a scan; `..` would leave the folder.
        if len(names) - 1 > self.max_depth or not {"", ".", ".."}.isdisjoint(names):
            return None
        # On Windows these characters separate folders and name drives and streams.
        if os.sep != "/" and ("\\" in path or ":" in path):
            return None
        return None if _why_not_printable(path) else names


def find_transcripts(
    folders: Iterable[TranscriptFolder],
    formats: Sequence[TranscriptFormat] = TRANSCRIPT_FORMATS,
) -> Scan:
    """One scan of the disk; a folder that does not exist has no transcripts."""
    scanner = _Scanner(formats)
    for folder in folders:
        scanner.add(folder)
    return Scan(
        notes=dict(sorted(scanner.notes.items())),
        ignored=tuple(Ignored(*item) for item in sorted(scanner.ignored.items())),
        unreadable=tuple(Ignored(*item) for item in sorted(scanner.unreadable.items())),
    )


class _Scanner:
    def __init__(self, formats: Sequence[TranscriptFormat]) -> None:
        self._formats = formats
        self.notes: dict[str, FoundNote] = {}
        self.ignored: dict[str, str] = {}
        self.unreadable: dict[str, str] = {}

    def add(self, folder: TranscriptFolder) -> None:
        try:
            # Links on the way to the folder are followed: the user configured that path.
            with closing(open_resolved(folder.path)) as directory:
                self._scan(directory, folder.key, folder.max_depth, folder)
        except (FileNotFoundError, NotADirectoryError):
            # The user named the folder of a host; the agent's own appears with its first session.
            if folder.name and not folder.appears_later:
                self.ignored[folder.key] = "not there"
        except NotPlain as error:
            self.unreadable[folder.key] = error.why
        except OSError as error:
            self.unreadable[folder.key] = describe_os_error(error)

    def _scan(self, directory: Directory, path: str, depth: int, folder: TranscriptFolder) -> None:
        for entry in directory.entries():
            entry_path = f"{path}/{entry.name}"
            try:
                if entry.is_dir(follow_symlinks=False):
                    if depth:
                        with closing(directory.folder(entry.name)) as below:
                            self._scan(below, entry_path, depth - 1, folder)
                elif folder.accepts(entry.name, self._formats):
                    self._add_file(entry_path, directory.stat(entry.name))
            except (FileNotFoundError, NotADirectoryError, NotPlain):
                continue  # Removed, or replaced by a link, since the folder was listed.
            except OSError as error:
                self.unreadable[_printable(entry_path)] = describe_os_error(error)

    def _add_file(self, path: str, status: os.stat_result) -> None:
        why = _why_not_printable(path) or why_not_plain(status) or _why_too_large(status)
        if why:
            self.ignored[_printable(path)] = why
        else:
            self.notes[path] = FoundNote(path, note_stat(status))


def open_transcript(path: str, folder: TranscriptFolder, names: tuple[str, ...]) -> int:
    """The descriptor of a regular file. Raises `NoteUnreadable` with `path` in its message."""
    try:
        with (
            closing(open_resolved(folder.path)) as directory,
            descend(directory, names[:-1]) as parent,
        ):
            fd = parent.file(names[-1])
    except NotPlain as error:
        raise NoteUnreadable(path, error.why) from error
    except OSError as error:
        raise NoteUnreadable(path, describe_os_error(error)) from error
    if why := _why_too_large(os.fstat(fd)):
        os.close(fd)
        raise NoteUnreadable(path, why)
    return fd


def read_blocks(
    fd: int, start: int = 0, end: int | None = None, block_bytes: int = BLOCK_BYTES
) -> Iterator[bytes]:
    """The bytes of a file from `start` up to `end`, or up to the size limit."""
    os.lseek(fd, start, os.SEEK_SET)
    # A bound even without `end`: the host may write faster than we read.
    left = MAX_TRANSCRIPT_BYTES if end is None else end - start
    while left > 0 and (block := os.read(fd, min(left, block_bytes))):
        left -= len(block)
        yield block


def next_line(fd: int, start: int, end: int) -> int:
    """The first byte of a line, at `start` or after it; `end` if no line begins before it."""
    if not start:
        return 0
    at = start - 1
    for block in read_blocks(fd, at, end, LINE_BYTES):
        if (found := block.find(b"\n")) >= 0:
            return at + found + 1
        at += len(block)
    return end


def _why_too_large(status: os.stat_result) -> str | None:
    return _TOO_LARGE if status.st_size > MAX_TRANSCRIPT_BYTES else None


def _why_not_printable(name: str) -> str | None:
    """Why a name cannot be used in a listing, an index or a citation."""
    with suppress(UnicodeEncodeError):
        name.encode()
        return None if name.isprintable() else "its name has characters that cannot be shown"
    return "its name is not valid UTF-8"


def _printable(name: str) -> str:
    # Bytes that are not UTF-8 arrive as surrogates; show them as `\\xff`.
    return os.fsencode(name).decode("utf-8", "backslashreplace")
