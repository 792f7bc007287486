"""Taking a write back: exactly its bytes, or nothing at all."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notewell.capture import Conversation, NoteWriter, Saved, save_session
from notewell.capture.history import Write, record, writes
from notewell.capture.undo import CannotUndo, undo_write
from notewell.errors import BadEntry, BadRequest, NoteBusy, NoteNotWritable
from notewell.notes import Appended, Entry, Section, locked_note
from notewell.notes.workspace import Workspace

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = date(2026, 11, 15)


def note(place: NoteWriter) -> Path:
    return Path(place.notes.location) / "memory" / "2026-11-15.md"


def append(place: NoteWriter, text: str, to: date | Section = DAY) -> str:
    place.append(Entry(text, "test"), to, now=NOW)
    return writes(place.folder, place.notes)[-1].id


def take_back(place: NoteWriter, id_: str) -> None:
    undo_write(place.notes, place.folder, id_, now=NOW)


LINES = st.lists(
    st.one_of(
        st.sampled_from(["# Title", "- an entry", "", "text", "  indented", "```", "<!-- open"]),
        st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=12),
    ),
    max_size=8,
)
BREAKS = st.sampled_from(["\n", "\r\n"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """As editors leave them: any line breaks, with or without the last, sometimes torn."""
    eol = draw(BREAKS)
    data = eol.join(draw(LINES)).encode() + draw(st.sampled_from([b"", eol.encode()]))
    return data + draw(st.sampled_from([b"", b"\r", b"\xe4\xb8"]))


@settings(max_examples=150, deadline=None)
@given(
    before=files(),
    text=st.text(st.characters(codec="utf-8"), min_size=1, max_size=60),
    section=st.none() | st.just(Section("Facts")),
)
def test_what_was_appended_last_is_taken_back_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, text: str, section: Section | None
) -> None:
    root = tmp_path_factory.mktemp("w")
    place = NoteWriter(Workspace.open(root), root / "state", str)
    path = root / "MEMORY.md" if section else root / "memory" / "2026-11-15.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(before)
    try:
        id_ = append(place, text, section or DAY)
    except (BadEntry, NoteNotWritable):
        return
    except IndexError:  # It stood there already, so nothing was written.
        return
    assert path.read_bytes() != before
    take_back(place, id_)
    assert path.read_bytes() == before


@settings(max_examples=100, deadline=None)
@given(before=LINES, above=LINES, behind=LINES, entries=st.integers(1, 4), which=st.integers(0, 3))
def test_edits_above_and_below_stay_as_they_are(
    tmp_path_factory: pytest.TempPathFactory,
    before: list[str],
    above: list[str],
    behind: list[str],
    entries: int,
    which: int,
) -> None:
    root = tmp_path_factory.mktemp("w")
    place = NoteWriter(Workspace.open(root), root / "state", str)
    (root / "memory").mkdir()
    path = note(place)
    path.write_bytes("".join(f"{line}\n" for line in before).encode())
    ids = [append(place, f"unique entry number {n}") for n in range(entries)]
    added = path.read_bytes()
    path.write_bytes(
        "".join(f"{line}\n" for line in above).encode()
        + added
        + "".join(f"{line}\n" for line in behind).encode()
    )
    ours = f"- unique entry number {which % entries} <!-- @test -->\n".encode()
    now = path.read_bytes()
    try:
        take_back(place, ids[which % entries])
    except CannotUndo:
        assert path.read_bytes() == now
        return
    after = path.read_bytes()
    at = now.index(ours)
    # Besides the entry at most the blank line that was put before it goes.
    assert after in (now[:at] + now[at + len(ours) :], now[: at - 1] + now[at + len(ours) :])


def test_what_was_changed_since_is_left_alone(place: NoteWriter) -> None:
    id_ = append(place, "We ship on Friday.")
    note(place).write_bytes(note(place).read_bytes().replace(b"Friday", b"Monday"))
    before = note(place).read_bytes()
    with pytest.raises(CannotUndo, match="was changed since"):
        take_back(place, id_)
    assert note(place).read_bytes() == before
    assert not writes(place.folder, place.notes)[0].undone


def test_a_line_without_its_end_does_not_run_into_the_next_entry(place: NoteWriter) -> None:
    (Path(place.notes.location) / "memory").mkdir()
    note(place).write_bytes(b"torn")
    first = append(place, "one")
    append(place, "two")
    with pytest.raises(CannotUndo, match="run into"):
        take_back(place, first)


def test_a_heading_stays_while_later_entries_stand_below_it(place: NoteWriter) -> None:
    memory = Path(place.notes.location) / "MEMORY.md"
    memory.write_bytes(b"# Mine\n\n- tea\n")
    first, second = (append(place, text, Section("Facts")) for text in ("one", "two"))
    with pytest.raises(CannotUndo, match="undo those first"):
        take_back(place, first)
    take_back(place, second)
    take_back(place, first)
    assert memory.read_bytes() == b"# Mine\n\n- tea\n"


def test_what_stands_there_twice_is_the_users_to_remove(place: NoteWriter) -> None:
    id_ = append(place, "We ship on Friday.")
    data = note(place).read_bytes()
    note(place).write_bytes(b"x\n" + data + data)
    with pytest.raises(CannotUndo, match="more than once"):
        take_back(place, id_)


def test_once_undone_is_undone(place: NoteWriter) -> None:
    id_ = append(place, "one")
    take_back(place, id_[:4])
    with pytest.raises(BadRequest, match="undone already"):
        take_back(place, id_)
    assert note(place).read_bytes() == b""


@pytest.mark.parametrize("id_", ["", "zzzz"])
def test_an_id_that_is_none_is_refused(place: NoteWriter, id_: str) -> None:
    append(place, "one")
    with pytest.raises(BadRequest, match="notewell history"):
        take_back(place, id_)


def test_a_note_that_somebody_is_writing_to_is_waited_for(place: NoteWriter) -> None:
    id_ = append(place, "one")
    fd = os.open(note(place), os.O_RDWR)
    with locked_note(fd, "note", wait_s=1), pytest.raises(NoteBusy):
        undo_write(place.notes, place.folder, id_, now=NOW, wait_s=0.01)
    take_back(place, id_)


def test_a_link_in_the_place_of_the_note_is_not_followed(
    place: NoteWriter, tmp_path: Path
) -> None:
    id_ = append(place, "one")
    moved = tmp_path / "moved.md"
    note(place).rename(moved)
    note(place).symlink_to(moved)
    with pytest.raises(CannotUndo, match="symbolic link"):
        take_back(place, id_)
    assert moved.read_bytes() == b"- one <!-- @test -->\n"


def test_a_note_that_is_changed_while_it_is_undone_is_left_alone(place: NoteWriter) -> None:
    append(place, "one")
    (recorded,) = writes(place.folder, place.notes)

    def change(_: bytes) -> bytes:
        note(place).write_bytes(b"an editor saves\n")
        return b""

    with pytest.raises(NoteNotWritable, match="another program"):
        place.notes.rewrite(recorded.write.path, change)
    assert note(place).read_bytes() == b"an editor saves\n"
    assert len(list(note(place).parent.iterdir())) == 1


def test_a_folder_that_cannot_be_written_to_is_told(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    (shared_path / "memory").mkdir()
    place = NoteWriter(Workspace.open(shared_path), shared_path / "state", str)
    id_ = append(place, "one")
    place.folder.chmod(0o777)
    for file in place.folder.iterdir():
        file.chmod(0o666)
    for folder_mode, note_mode in ((0o555, 0o666), (0o777, 0o444)):
        note(place).parent.chmod(folder_mode)
        note(place).chmod(note_mode)
        with unprivileged(), pytest.raises(CannotUndo, match="permission denied"):
            take_back(place, id_)
    note(place).parent.chmod(0o555)
    with unprivileged(), pytest.raises(NoteNotWritable, match="permission denied"):
        save_session(place, Conversation(["User: hello there"]), now=NOW, zone=UTC)
    assert note(place).read_bytes() == b"- one <!-- @test -->\n"


def test_a_note_that_is_gone_is_not_made_anew(place: NoteWriter) -> None:
    id_ = append(place, "one")
    note(place).unlink()
    with pytest.raises(CannotUndo, match="not there"):
        take_back(place, id_)
    assert not note(place).exists()


def test_half_a_note_is_taken_back(place: NoteWriter) -> None:
    """The system allows a smaller file than the note would be."""
    (Path(place.notes.location) / "memory").mkdir()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(NoteNotWritable):
            save_session(place, Conversation(["User: hello there"]), now=NOW, zone=UTC)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list((Path(place.notes.location) / "memory").iterdir()) == []


def test_the_rights_of_a_note_stay(place: NoteWriter) -> None:
    append(place, "one")
    id_ = append(place, "two")
    note(place).chmod(0o640)
    take_back(place, id_)
    assert note(place).stat().st_mode & 0o777 == 0o640
    assert [path.name for path in note(place).parent.iterdir()] == ["2026-11-15.md"]


def test_a_note_that_we_made_is_removed_and_one_that_was_edited_is_not(place: NoteWriter) -> None:
    talk = Conversation(["User: hello there"])
    saved = [save_session(place, talk, now=NOW, zone=UTC) for _ in range(2)]
    first, second = (one.path for one in saved if isinstance(one, Saved))
    ids = {one.write.path: one.id for one in writes(place.folder, place.notes)}
    (Path(place.notes.location) / second).write_text("edited", encoding="utf-8")
    take_back(place, ids[first])
    with pytest.raises(CannotUndo):
        take_back(place, ids[second])
    assert not (Path(place.notes.location) / first).exists()
    assert (Path(place.notes.location) / second).read_text(encoding="utf-8") == "edited"


@pytest.mark.parametrize("path", ["../outside.md", "/etc/outside.md", "memory//a.md", ""])
def test_a_history_that_names_a_file_outside_is_not_believed(place: NoteWriter, path: str) -> None:
    append(place, "one")
    record(place.folder, replace(writes(place.folder, place.notes)[0].write, path=path), NOW)
    assert [one.write.path for one in writes(place.folder, place.notes)] == [
        "memory/2026-11-15.md"
    ]


def test_a_history_with_strange_lines_is_still_read(place: NoteWriter) -> None:
    append(place, "one")
    with (place.folder / "history.jsonl").open("ab") as file:
        file.write(b'not json\n[]\n{"id": "x"}\n{"undone": "nobody"}\ntorn')
    append(place, "two")
    assert len(writes(place.folder, place.notes)) == 2


def test_an_append_that_was_cut_off_counts_if_its_bytes_are_in_the_note(
    place: NoteWriter,
) -> None:
    def die(planned: Appended) -> None:
        record(place.folder, written_as(planned), NOW, is_intended=True)
        raise KeyboardInterrupt

    entry = Entry("We ship on Friday.", "test")
    with pytest.raises(KeyboardInterrupt):
        place.notes.append(entry, DAY, intend=die)
    assert writes(place.folder, place.notes) == []
    with suppress(KeyboardInterrupt):
        place.notes.append(entry, DAY, intend=die)
    done = place.notes.append(entry, DAY)  # Killed before it could be confirmed.
    assert done.added
    # Three attempts, one entry: it is listed once, and can be undone.
    (recorded,) = writes(place.folder, place.notes)
    assert recorded.write == written_as(done)
    take_back(place, recorded.id)
    assert note(place).read_bytes() == b""
    assert [one.undone for one in writes(place.folder, place.notes)] == [True]


def written_as(done: Appended) -> Write:
    return Write(
        done.path,
        done.start_byte,
        done.end_byte,
        done.digest,
        done.digest_before,
        done.digest_after,
        "test",
        "entry",
    )


def test_a_note_with_another_name_is_left_to_its_owner(place: NoteWriter, tmp_path: Path) -> None:
    id_ = append(place, "We ship on Friday.")
    os.link(note(place), tmp_path / "elsewhere.md")
    before = note(place).read_bytes()
    with pytest.raises(CannotUndo, match="hard link"):
        take_back(place, id_)
    assert note(place).read_bytes() == before
    assert note(place).samefile(tmp_path / "elsewhere.md")
