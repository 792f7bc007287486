"""Append one entry at the end of a note: how the user's own notes are written to.

    render ── open, lock ── still the same file? ── is it there already? ── one O_APPEND write
                   ▲                                                              │
                   └──── no: an editor has put a new file in its place ───── fsync, check again

Guarantees, and how they are kept:

* Existing bytes are never overwritten or removed: the file is opened with O_APPEND, and nothing
  here renames or rewrites it. The only truncation removes what a full disk left of our own write.
* Entries do not mix: each is one write, under a lock on the note.
* On return the entry is on disk, in the file the path leads to, with the folders above it.
* An entry is there once: after a crash or an error it is safe to append it again.

A failed append may leave a new note empty: only the user removes files. An editor that read the
note before the append and saves it afterwards writes it without the entry, and nothing can stop
it; an editor that saves during the append is noticed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import time
from contextlib import closing
from datetime import date
from typing import TYPE_CHECKING

from notewell.errors import NoteNotWritable
from notewell.files import NotPlain, descend, describe_os_error, identity, sync_file
from notewell.limits import MAX_NOTE_BYTES
from notewell.notes.append_format import Addition, add_lines, add_to_section, is_utf16
from notewell.notes.entry import Block, Entry
from notewell.notes.note_file import locked_note, read_all
from notewell.notes.ports import Appended
from notewell.notes.scope import TOO_LARGE
from notewell.notes.section import Section, headings_above
from notewell.records import dataclass
from notewell.types import Span

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from notewell.files import Directory

TRIES = 8
"""A note that is replaced during eight tries in a row is not being edited by a person."""

PLAIN = "put a plain file or folder there"
AGAIN = "append it again then: what is there already is not doubled"


def append_entry(
    disk: Directory,
    root: Path,
    entry: Entry,
    to: date | Section,
    *,
    wait_s: float,
    intend: Callable[[Appended], None] | None = None,
) -> Appended:
    """Append the entry to the note of a day, or under a heading of MEMORY.md.

    Raises `BadEntry`, `NoteBusy` or `NoteNotWritable`.
    """
    block = Block(entry)
    if isinstance(to, Section):
        to.new_headings()  # Raises before anything is created.
    path = "MEMORY.md"
    try:
        target = append_target(disk, root, to)
        path = target.path
        return _Append(target, block, to, intend).run(wait_s)
    except NotPlain as refusal:
        raise NoteNotWritable(path, refusal.why, PLAIN) from None
    except OSError as error:
        raise NoteNotWritable(path, *_why_not_writable(error)) from error


@dataclass(frozen=True, slots=True)
class _Append:
    target: AppendTarget
    block: Block
    to: date | Section
    intend: Callable[[Appended], None] | None

    def run(self, wait_s: float) -> Appended:
        deadline = time.monotonic() + wait_s
        for _ in range(TRIES):
            # Opened anew in each try: an editor that saves by renaming leaves our descriptor with
            # a file that has no name any more.
            fd = self.target.open()
            left_s = max(0.0, deadline - time.monotonic())
            with locked_note(fd, self.target.path, wait_s=left_s):
                if not self.target.is_at(fd):
                    continue  # An editor replaced it while we waited for the lock.
                done = self._once(fd)
                # If it was replaced during the write, the entry is in a file that nobody sees.
                if done is not None and self.target.is_at(fd):
                    return done
        raise NoteNotWritable(
            self.target.path,
            f"another program replaced it {TRIES} times meanwhile",
            f"wait until that is done; {AGAIN}",
        )

    def _once(self, fd: int) -> Appended | None:
        """None if the entry is not in the file as we wrote it."""
        data = self._read(fd)
        span = self._find(data)
        if span is not None:
            # The process that wrote it may have died before its fsync.
            sync_file(fd)
            return self._result(data, span, len(data), len(data))
        addition = self._plan(data)
        if not data:
            # Before the write, so that a note with content is known to have its name on disk.
            self.target.sync_folders()
        if self.intend:
            planned = planned_append(self.target.path, data, addition, self.block, self.to)
            self.intend(planned)
        start = self._write(fd, addition.lead + addition.body)
        sync_file(fd)
        return self._read_back(fd, start, addition)

    def _find(self, data: bytes) -> Span | None:
        return find_entry(data, self.block, self.to)

    def _read(self, fd: int) -> bytes:
        size = os.fstat(fd).st_size
        if size > MAX_NOTE_BYTES:
            raise _too_large(self.target.path)
        return read_all(fd, size)

    def _plan(self, data: bytes) -> Addition:
        return plan_addition(self.target.path, data, self.block, self.to)

    def _write(self, fd: int, data: bytes) -> int:
        """All of it in one write, or nothing; returns where it begins in the file."""
        written = os.write(fd, data)
        # The real end, not the one we read: other programs may append without our lock.
        end = os.lseek(fd, 0, os.SEEK_CUR)
        start = end - written
        if written == len(data):
            return start
        why = f"there was room for {written} of {len(data)} bytes"
        if not _take_back(fd, start, data[:written]):
            why += ", and they stay, because something else was written behind them"
        raise NoteNotWritable(
            self.target.path, why, f"make room (disk, quota, file size limit); {AGAIN}"
        )

    def _read_back(self, fd: int, start: int, addition: Addition) -> Appended | None:
        now = read_all(fd, os.fstat(fd).st_size)
        end = start + len(addition.lead) + len(addition.body)
        # Looked up again: a line without a break that another program left may have joined ours.
        span = self._find(now)
        if span is None or now[start:end] != addition.lead + addition.body:
            return None
        return self._result(now, span, start, end)

    def _result(self, data: bytes, span: Span, start: int, end: int) -> Appended:
        return append_result(self.target.path, data, span, start, end)


# -- which note ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AppendTarget:
    """A note that exists or will be created; opened anew each time, never through a link."""

    disk: Directory
    folders: tuple[str, ...]
    """The workspace by its absolute path, then perhaps `memory`."""
    name: str

    @property
    def path(self) -> str:
        return "/".join((*self.folders[1:], self.name))

    def open(self) -> int:
        """A descriptor to read and append; creates the file and its folder if missing."""
        with descend(self.disk, self.folders[:1]) as root:
            for name in self.folders[1:]:
                root.make_folder(name)
        with descend(self.disk, self.folders) as folder:
            return folder.file_to_append(self.name)

    def is_at(self, fd: int) -> bool:
        """Whether the path still leads to the open file."""
        try:
            with descend(self.disk, self.folders) as folder:
                status = folder.stat(self.name)
        except FileNotFoundError:
            return False
        return identity(status) == identity(os.fstat(fd))

    def sync_folders(self) -> None:
        """Force the names of the folders and of the note to disk."""
        for depth in range(1, len(self.folders) + 1):
            with descend(self.disk, self.folders[:depth]) as folder:
                folder.sync()


def append_target(disk: Directory, root: Path, to: date | Section) -> AppendTarget:
    if isinstance(to, Section):
        return AppendTarget(disk, (str(root),), _curated_name(disk, root))
    day = date(to.year, to.month, to.day)  # A datetime is a date too, and prints its time.
    return AppendTarget(disk, (str(root), "memory"), f"{day.isoformat()}.md")


def _curated_name(disk: Directory, root: Path) -> str:
    """`MEMORY.md`, unless the user has chosen `memory.md`."""
    with closing(disk.folder(str(root))) as folder:
        for name in ("MEMORY.md", "memory.md"):
            try:
                folder.stat(name)
            except FileNotFoundError:
                continue
            return name
    return "MEMORY.md"


# -- the same for every store of notes -----------------------------------------------------------


def find_entry(data: bytes, block: Block, to: date | Section) -> Span | None:
    """The lines of an entry that is there already; in a section only below its heading.

    Coffee under Likes is another fact than coffee under Dislikes.
    """
    if not isinstance(to, Section):
        return block.find(data)
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    return block.find(data, lambda line: to.is_at_end_of(headings_above(text, line)))


def plan_addition(path: str, data: bytes, block: Block, to: date | Section) -> Addition:
    """The bytes to add at the end of `data`. Raises `NoteNotWritable`."""
    if is_utf16(data):
        raise NoteNotWritable(path, "it is UTF-16", "save it as UTF-8 first")
    if isinstance(to, Section):
        addition = add_to_section(data, block.lines, to)
    else:
        addition = add_lines(data, block.lines)
    if addition is None:
        raise NoteNotWritable(
            path,
            "a code fence or comment that is open at its end would swallow the heading",
            "close it first",
        )
    if len(data) + len(addition.lead) + len(addition.body) > MAX_NOTE_BYTES:
        raise _too_large(path)
    return addition


def planned_append(
    path: str, data: bytes, addition: Addition, block: Block, to: date | Section
) -> Appended:
    """The result of an append that adds this at the end of `data`."""
    after = data + addition.lead + addition.body
    end = len(after)
    span = find_entry(after, block, to)
    # Without the end of a line above it, it may not be found: its lines are the last ones then.
    last = after.count(b"\n")
    return append_result(path, after, span or Span(last, last), len(data), end)


def append_result(path: str, data: bytes, span: Span, start: int, end: int) -> Appended:
    """The result of an append that added `data[start:end]`; nothing where the two are equal."""
    digest = hashlib.sha256(data[:start])
    digest_before = digest.hexdigest()
    digest.update(data[start:end])
    return Appended(
        path,
        span,
        start < end,
        start,
        end,
        hashlib.sha256(data[start:end]).hexdigest(),
        digest_before,
        digest.hexdigest(),
    )


def _too_large(path: str) -> NoteNotWritable:
    return NoteNotWritable(path, f"it would be {TOO_LARGE}", "move some of it to another note")


def _take_back(fd: int, start: int, ours: bytes) -> bool:
    """Truncate the part of an entry that was written, if it is the end of the file and ours."""
    os.lseek(fd, start, os.SEEK_SET)
    if os.read(fd, len(ours) + 1) != ours:  # One byte more shows that nothing follows.
        return False
    os.ftruncate(fd, start)
    sync_file(fd)
    return True


def _why_not_writable(error: OSError) -> tuple[str, str]:
    """Why, and the next step."""
    match error.errno:
        case errno.ENOSPC:
            return "no room on its disk", f"free some; {AGAIN}"
        case errno.EDQUOT:
            return "the quota of its disk is used up", f"free some room; {AGAIN}"
        case errno.EFBIG:
            return "the system allows no larger file", f"raise the limit (ulimit -f); {AGAIN}"
        case errno.EROFS:
            return "its file system is read-only", "choose a workspace that can be written to"
        case errno.EACCES | errno.EPERM:
            return "permission denied", "allow writing to it and to its folder"
        case errno.ENOTDIR:
            return "a file stands where its folder should be", "move that file away"
        case errno.EISDIR:
            return "a folder, not a file", PLAIN
        case errno.ENOLCK | errno.EOPNOTSUPP:
            return "its file system has no locks", "keep the workspace on a local disk"
    return describe_os_error(error), f"fix that; {AGAIN}"
