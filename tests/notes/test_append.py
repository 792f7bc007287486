from __future__ import annotations

import codecs
import hashlib
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from notewell.errors import BadEntry, NoteBusy, NoteNotWritable, WorkspaceMissing
from notewell.limits import MAX_NOTE_BYTES
from notewell.notes import Entry, Section, user_day
from notewell.notes.append import _take_back
from notewell.notes.entry import MAX_ENTRY_BYTES
from notewell.notes.workspace import Workspace
from notewell.types import Span

DAY = date(2026, 11, 15)
KEY = "memory/2026-11-15.md"
LINK = "a symbolic link; links are not followed"

OpenWorkspace = Callable[..., Workspace]


@pytest.fixture
def note(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    return tmp_path / KEY


# -- where it goes -------------------------------------------------------------------------------


def test_the_first_entry_of_a_day_makes_its_note(
    tmp_path: Path, open_workspace: OpenWorkspace
) -> None:
    done = open_workspace(tmp_path).append(Entry("We ship on Friday.", "flush"), DAY)
    assert (tmp_path / KEY).read_bytes() == b"- We ship on Friday. <!-- @flush -->\n"
    assert (done.path, done.span, done.added) == (KEY, Span(1, 1), True)
    assert list(open_workspace(tmp_path).scan().notes) == [KEY]  # and no lock file beside it


def test_a_result_says_what_it_takes_to_undo_it(tmp_path: Path, note: Path) -> None:
    note.write_bytes(b"# Sunday\r\n\r\nIt rained")
    done = Workspace.open(tmp_path).append(Entry("So\nwe stayed.", "mcp"), DAY)
    data = note.read_bytes()
    assert data[: done.start_byte] == b"# Sunday\r\n\r\nIt rained"
    assert data[done.start_byte :] == b"\r\n\r\n- So\r\n  we stayed.\r\n  <!-- @mcp -->\r\n"
    assert done.end_byte == len(data)
    assert done.span == Span(5, 7)
    assert done.digest_before == hashlib.sha256(data[: done.start_byte]).hexdigest()
    assert done.digest_after == hashlib.sha256(data).hexdigest()


def test_the_file_stays_the_one_it_was(tmp_path: Path, note: Path) -> None:
    note.write_text("- one\n", encoding="utf-8")
    note.chmod(0o640)
    before = note.stat()
    Workspace.open(tmp_path).append(Entry("two", "mcp"), DAY)
    after = note.stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)


def test_a_moment_with_a_time_of_day_is_taken_for_its_day(tmp_path: Path) -> None:
    moment = datetime(2026, 11, 15, 23, 59, 59, tzinfo=UTC)
    assert Workspace.open(tmp_path).append(Entry("late", "mcp"), moment).path == KEY


def test_the_day_is_the_one_on_the_wall_of_the_user() -> None:
    berlin, auckland = ZoneInfo("Europe/Berlin"), ZoneInfo("Pacific/Auckland")
    last = datetime(2026, 12, 31, 23, 59, 59, 900_000, tzinfo=berlin)
    assert user_day(last.astimezone(UTC), berlin) == date(2026, 12, 31)
    assert user_day(last.astimezone(UTC) + timedelta(seconds=0.1), berlin) == date(2027, 1, 1)
    assert user_day(last, auckland) == date(2027, 1, 1)
    # The nights in which clocks jump: 2026-03-29 has 23 hours there, 2026-10-25 has 25.
    for day, hours in ((date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (DAY, 24)):
        midnight = datetime(day.year, day.month, day.day, tzinfo=berlin).astimezone(UTC)
        instants = [midnight + timedelta(minutes=half) for half in range(-30, hours * 60, 30)]
        days = [user_day(instant, berlin) for instant in instants]
        assert days == [day - timedelta(days=1)] + [day] * hours * 2
        assert user_day(midnight + timedelta(hours=hours), berlin) == day + timedelta(days=1)
    with pytest.raises(ValueError, match="no time zone"):
        user_day(last.replace(tzinfo=None), berlin)


# -- what is written -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("  one line \n\n", ["- one line <!-- @mcp -->"]),
        ("two\r\nlines", ["- two", "  lines", "  <!-- @mcp -->"]),
        ("a\n\n  \n# Title", ["- a", "", "", "  # Title", "  <!-- @mcp -->"]),
        ("\n    def f():\n        pass", ["- def f():", "      pass", "  <!-- @mcp -->"]),
        ("- a\n- b\n  c", ["- a", "- b", "  c", "  <!-- @mcp -->"]),
        ("- a\nb", ["- - a", "  b", "  <!-- @mcp -->"]),
        ("-    a\n  # b", ["- -    a", "    # b", "  <!-- @mcp -->"]),
        ("---\nk: v", ["* ---", "  k: v", "  <!-- @mcp -->"]),
        ("- a\n- - -", ["- - a", "  - - -", "  <!-- @mcp -->"]),
        ("10%\r20%", ["- 10% 20% <!-- @mcp -->"]),
        ("索引 😀", ["- 索引 😀 <!-- @mcp -->"]),
        ("copied <!-- @flush #7f3a -->", ["- copied <!-- @mcp -->"]),
    ],
)
def test_a_text_becomes_one_entry_whatever_its_shape(
    tmp_path: Path, text: str, lines: list[str]
) -> None:
    done = Workspace.open(tmp_path).append(Entry(text, "mcp"), DAY)
    assert (tmp_path / KEY).read_text(encoding="utf-8") == "\n".join([*lines, ""])
    assert done.span == Span(1, len(lines))


@pytest.mark.parametrize(
    ("before", "lead"),
    [
        (b"", b""),
        (b"- a\n", b""),
        (b"* a\n  b\n", b""),
        (b"- a <!-- @mcp -->", b"\n"),
        (b"- a\r\n- half an ent", b"\r\n"),
        (b"- a\r\n- half a line break\r", b"\n"),
        (b"- half a character \xe7\xb4", b"\n"),
        (b"# Title\n", b"\n"),
        (b"prose", b"\n\n"),
        (b"prose\n\n", b""),
        (b"prose\r\n\r\n", b""),
        (b"---\n", b"\n"),
        (codecs.BOM_UTF8, b""),
    ],
)
def test_an_entry_begins_below_whatever_the_last_writer_left(
    tmp_path: Path, note: Path, before: bytes, lead: bytes
) -> None:
    note.write_bytes(before)
    eol = b"\r\n" if b"\r\n" in before else b"\n"
    workspace = Workspace.open(tmp_path)
    assert workspace.append(Entry("new", "mcp"), DAY).added
    assert note.read_bytes() == before + lead + b"- new <!-- @mcp -->" + eol
    assert not workspace.append(Entry("new", "mcp"), DAY).added


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (Entry("", "mcp"), "it is empty"),
        (Entry(" \n\t ", "mcp"), "it is empty"),
        (Entry("<!-- @mcp -->", "mcp"), "it is empty"),
        (Entry("a\0b", "mcp"), "it contains a NUL"),
        (Entry("ab\ud800", "mcp"), "character 3 is half of a pair"),
        (Entry("ä" * MAX_ENTRY_BYTES, "mcp"), "it has 131072 bytes, an entry at most 65536"),
        (Entry("a", ""), "its origin ''"),
        (Entry("a", "x --> y"), "its origin 'x --> y'"),
        (Entry("a", "a--b"), "its origin"),
        (Entry("a", "a" * 101), "its origin"),
        (Entry("a", "mcp", "a b"), "its id 'a b'"),
        (Entry("a", "mcp", "a\n"), "its id"),
    ],
)
def test_what_cannot_be_an_entry_is_refused_before_anything_is_made(
    tmp_path: Path, entry: Entry, why: str
) -> None:
    with pytest.raises(BadEntry, match=f"^cannot append this entry: {why}"):
        Workspace.open(tmp_path).append(entry, DAY)
    assert list(tmp_path.iterdir()) == []


def test_the_largest_entry_is_written_whole(tmp_path: Path) -> None:
    Workspace.open(tmp_path).append(Entry("x" * MAX_ENTRY_BYTES, "mcp"), DAY)
    assert (tmp_path / KEY).read_text(encoding="utf-8").count("x") == MAX_ENTRY_BYTES


# -- not twice -----------------------------------------------------------------------------------


def test_an_identical_entry_is_not_doubled(tmp_path: Path, open_workspace: OpenWorkspace) -> None:
    workspace = open_workspace(tmp_path)
    first = workspace.append(Entry("same\n# text", "mcp"), DAY)
    workspace.append(Entry("other", "mcp"), DAY)
    data = (tmp_path / KEY).read_bytes()
    for entry in (Entry("same\r\n# text\n", "mcp"), Entry("same\n# text", "mcp", "new-id")):
        again = workspace.append(entry, DAY)
        assert (again.added, again.span) == (False, first.span)
        assert again.start_byte == again.end_byte == len(data)
        assert again.digest_before == again.digest_after == hashlib.sha256(data).hexdigest()
    assert (tmp_path / KEY).read_bytes() == data


def test_the_same_words_elsewhere_are_another_entry(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path)
    texts = ["yes and - no", "yes", "no", "yes and"]
    for entry in [*(Entry(text, "mcp") for text in texts), Entry("no", "flush")]:
        assert workspace.append(entry, DAY).added
    assert workspace.append(Entry("no", "mcp"), date(2026, 11, 16)).added


def test_an_entry_that_was_edited_since_is_written_again(tmp_path: Path) -> None:
    """The user has corrected it, and now it is said once more: that is news."""
    workspace = Workspace.open(tmp_path)
    workspace.append(Entry("we use MySQL", "mcp"), DAY)
    note = tmp_path / KEY
    note.write_text(note.read_text(encoding="utf-8").replace("MySQL", "SQLite"), encoding="utf-8")
    assert workspace.append(Entry("we use MySQL", "mcp"), DAY).added


def test_an_id_is_written_once_whatever_became_of_its_text(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path)
    workspace.append(Entry("before", "mcp"), DAY)
    first = workspace.append(Entry("one\n\ntwo", "flush", "session:1/3"), DAY)
    note = tmp_path / KEY
    note.write_text(note.read_text(encoding="utf-8").replace("one", "1"), encoding="utf-8")
    again = workspace.append(Entry("one\n\ntwo", "mcp", "session:1/3"), DAY)
    assert (again.added, again.span) == (False, first.span)
    assert workspace.append(Entry("one\n\ntwo", "flush", "session:1/30"), DAY).added


# -- what stands in the way ----------------------------------------------------------------------


def stand_in(kind: str, at: Path, outside: Path) -> None:
    if kind == "pipe":
        os.mkfifo(at)
    elif kind == "folder":
        at.mkdir()
    elif kind == "link":
        at.symlink_to(outside)
    else:
        at.symlink_to(outside / "missing")


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("link", LINK),
        ("dangling", LINK),
        ("pipe", "a named pipe, not a file"),
        ("folder", "a folder, not a file"),
    ],
)
def test_only_a_plain_file_is_written_to(
    tmp_path: Path, open_workspace: OpenWorkspace, kind: str, why: str
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("theirs", encoding="utf-8")
    (tmp_path / "ws/memory").mkdir(parents=True)
    stand_in(kind, tmp_path / "ws" / KEY, outside)
    with pytest.raises(NoteNotWritable) as caught:
        open_workspace(tmp_path / "ws").append(Entry("mine", "mcp"), DAY)
    assert (caught.value.path, caught.value.why) == (KEY, why)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside.md", "ws"]
    assert outside.read_text(encoding="utf-8") == "theirs"


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe"])
def test_only_a_plain_folder_is_written_into(
    tmp_path: Path, open_workspace: OpenWorkspace, kind: str
) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "outside").mkdir()
    stand_in(kind, tmp_path / "ws/memory", tmp_path / "outside")
    with pytest.raises(NoteNotWritable):
        open_workspace(tmp_path / "ws").append(Entry("mine", "mcp"), DAY)
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_file_in_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "memory").touch()
    with pytest.raises(NoteNotWritable, match="move that file away"):
        Workspace.open(tmp_path).append(Entry("mine", "mcp"), DAY)


def test_a_workspace_that_went_is_told(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    workspace = Workspace.open(tmp_path / "ws")
    (tmp_path / "ws").rmdir()
    for to in (DAY, Section("Decisions")):
        with pytest.raises(WorkspaceMissing):
            workspace.append(Entry("mine", "mcp"), to)


@pytest.mark.parametrize("closed", ["ws", "ws/memory", f"ws/{KEY}"])
def test_a_place_we_may_not_write_to_is_told_and_left_as_it_is(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]], closed: str
) -> None:
    note = shared_path / "ws" / KEY
    note.parent.mkdir(parents=True)
    if closed.endswith(".md"):
        note.write_text("- old\n", encoding="utf-8")
    elif closed == "ws":
        note.parent.rmdir()
    (shared_path / closed).chmod(0o555)
    workspace = Workspace.open(shared_path / "ws")
    with unprivileged(), pytest.raises(NoteNotWritable) as caught:
        workspace.append(Entry("new", "mcp"), DAY)
    assert caught.value.why == "permission denied"
    assert caught.value.action == "allow writing to it and to its folder"
    assert not note.exists() or note.read_text(encoding="utf-8") == "- old\n"


def test_a_note_in_utf16_is_left_alone(tmp_path: Path, note: Path) -> None:
    note.write_bytes("- old\n".encode("utf-16"))
    with pytest.raises(NoteNotWritable, match="it is UTF-16; save it as UTF-8 first"):
        Workspace.open(tmp_path).append(Entry("new", "mcp"), DAY)
    assert note.read_bytes() == "- old\n".encode("utf-16")


@pytest.mark.parametrize("over", [0, 1])
def test_a_note_does_not_grow_beyond_what_can_be_found(
    tmp_path: Path, note: Path, over: int
) -> None:
    note.touch()
    os.truncate(note, MAX_NOTE_BYTES + over)
    with pytest.raises(NoteNotWritable, match="it would be larger than 32 MiB"):
        Workspace.open(tmp_path).append(Entry("new", "mcp"), DAY)
    assert note.stat().st_size == MAX_NOTE_BYTES + over


def test_waiting_for_somebody_who_does_not_let_go_has_an_end(tmp_path: Path, note: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    workspace = Workspace.open(tmp_path)
    with note.open("w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(NoteBusy, match="waited 0 s; append again when it is done"):
            workspace.append(Entry("new", "mcp"), DAY, wait_s=0.02)
    assert workspace.append(Entry("new", "mcp"), DAY, wait_s=0).added


# -- no room -------------------------------------------------------------------------------------


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Writes stop at this size: short first, then with an error, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [0, 1, 10, 24])
def test_an_entry_for_which_there_is_no_room_leaves_nothing_behind(
    tmp_path: Path, note: Path, room: int
) -> None:
    note.write_bytes(b"- half a li")
    workspace = Workspace.open(tmp_path)
    with largest_file(11 + room), pytest.raises(NoteNotWritable) as caught:
        workspace.append(Entry("an entry", "mcp"), DAY)
    told = f"there was room for {room} of 26 bytes" if room else "the system allows no larger file"
    assert caught.value.why == told
    assert caught.value.action.endswith("what is there already is not doubled")
    assert note.read_bytes() == b"- half a li"
    assert workspace.append(Entry("an entry", "mcp"), DAY).added


def test_only_what_is_ours_is_taken_back(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    for data in (b"old\n- hal- theirs\n", b"old\n- ha", b"old\n- HAL"):
        file.write_bytes(data)
        fd = os.open(file, os.O_RDWR)
        assert not _take_back(fd, 4, b"- hal")
        os.close(fd)
        assert file.read_bytes() == data
