"""Transcripts on disk, in the shapes a sync knows from notes."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random

import pytest
from tests.redaction.made_up import private_key
from tests.sessions.made_up import claude_code, codex, line, openclaw, openclaw_message

from notewell.errors import NotANote, NoteUnreadable
from notewell.index import IndexedNote
from notewell.redaction import Redactor
from notewell.sessions import DeltaLimits, TranscriptFolder, Transcripts, hold_back, why_take
from notewell.sessions.folders import MAX_TRANSCRIPT_BYTES
from notewell.sync.plan import plan_sync
from notewell.types import NoteStat

HELLO = [("user", "When do we ship?"), ("assistant", "On Friday.")]


def opened(folder: Path, **hosts: Path) -> Transcripts:
    named = [TranscriptFolder(path, name) for name, path in hosts.items()]
    return Transcripts([TranscriptFolder(folder), *named], Redactor())


def write(path: Path, lines: list[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path


def test_a_transcript_is_found_and_read_like_a_note(tmp_path: Path) -> None:
    write(tmp_path / "ab12.jsonl", openclaw(HELLO))
    transcripts = opened(tmp_path)
    scan = transcripts.scan()
    assert list(scan.notes) == ["sessions/ab12.jsonl"]
    note = transcripts.read("sessions/ab12.jsonl")
    assert note.text == "User: When do we ship?\nAssistant: On Friday.\n"
    assert note.stat == scan.notes["sessions/ab12.jsonl"].stat
    assert transcripts.open(note.path).session.id == "oc-1"


def test_folders_of_other_hosts_go_by_their_names(tmp_path: Path) -> None:
    write(tmp_path / "own" / "a.jsonl", openclaw(HELLO))
    write(tmp_path / "claude" / "-code" / "b.jsonl", claude_code(HELLO))
    write(tmp_path / "codex" / "2026" / "10" / "04" / "rollout-c.jsonl", codex(HELLO))
    transcripts = opened(tmp_path / "own", claude=tmp_path / "claude", codex=tmp_path / "codex")
    found = transcripts.scan().notes
    assert list(found) == [
        "sessions/a.jsonl",
        "sessions/claude/-code/b.jsonl",
        "sessions/codex/2026/10/04/rollout-c.jsonl",
    ]
    assert len({transcripts.read(path).digest for path in found}) == 1


def test_only_plain_files_that_end_in_jsonl_are_transcripts(tmp_path: Path) -> None:
    target = write(tmp_path / "elsewhere" / "x.jsonl", openclaw(HELLO))
    own = tmp_path / "own"
    for name in ("sessions.json", "a.jsonl.lock", "a.jsonl.reset.2026-10-02", "notes.md"):
        write(own / name, openclaw(HELLO))
    (own / "link.jsonl").symlink_to(target)
    (own / "folder.jsonl").mkdir()
    os.mkfifo(own / "pipe.jsonl")
    scan = opened(own).scan()
    assert scan.notes == {}
    assert {one.path: one.why for one in scan.ignored} == {
        "sessions/link.jsonl": "a symbolic link; links are not followed",
        "sessions/pipe.jsonl": "a named pipe, not a file",
    }


@pytest.mark.parametrize(
    "path",
    [
        "sessions/../own.jsonl",
        "sessions/./a.jsonl",
        "sessions//a.jsonl",
        "sessions/below/a.jsonl",
        "sessions/a.json",
        "a.jsonl",
        "/etc/a.jsonl",
        "sessions/claude/../../a.jsonl",
        "sessions/other/a.jsonl",
        "sessions/\0.jsonl",
        "sessions/\udcff.jsonl",
        "memory/2026-10-02.md",
    ],
)
def test_no_path_leads_out_of_the_folders(tmp_path: Path, path: str) -> None:
    write(tmp_path / "own" / "below" / "a.jsonl", openclaw(HELLO))
    with pytest.raises(NotANote):
        opened(tmp_path / "own", claude=tmp_path / "own" / "below").read(path)


def test_no_link_is_followed_on_the_way(tmp_path: Path) -> None:
    write(tmp_path / "secret" / "a.jsonl", openclaw(HELLO))
    host = tmp_path / "host"
    host.mkdir()
    (host / "below").symlink_to(tmp_path / "secret")
    (host / "b.jsonl").symlink_to(tmp_path / "secret" / "a.jsonl")
    transcripts = opened(tmp_path / "own", host=host)
    for path in ("sessions/host/below/a.jsonl", "sessions/host/b.jsonl"):
        with pytest.raises(NoteUnreadable):
            transcripts.read(path)


def test_a_transcript_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoteUnreadable, match="not there"):
        opened(tmp_path).read("sessions/gone.jsonl")


def test_a_folder_that_is_not_there_holds_none(tmp_path: Path) -> None:
    scan = opened(tmp_path / "own", codex=tmp_path / "codex").scan()
    assert (scan.notes, scan.unreadable) == ({}, ())
    assert [(one.path, one.why) for one in scan.ignored] == [("sessions/codex", "not there")]


def test_what_cannot_be_listed_is_not_taken_for_gone(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    write(shared_path / "host" / "closed" / "a.jsonl", openclaw(HELLO))
    (shared_path / "host" / "closed").chmod(0)
    with unprivileged():
        scan = opened(shared_path / "own", host=shared_path / "host").scan()
    assert [one.path for one in scan.unreadable] == ["sessions/host/closed"]
    known = IndexedNote(NoteStat(1, 1, 1, 1), "d")
    assert plan_sync(scan, {"sessions/host/closed/a.jsonl": known}).forget == ()


def test_a_transcript_that_may_not_be_read_is_told(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    write(shared_path / "a.jsonl", openclaw(HELLO)).chmod(0)
    (shared_path / "own").mkdir(0)
    with unprivileged():
        with pytest.raises(NoteUnreadable, match="permission denied"):
            opened(shared_path).read("sessions/a.jsonl")
        scan = opened(shared_path / "own").scan()
    assert [(one.path, one.why) for one in scan.unreadable] == [("sessions", "permission denied")]


def test_what_is_too_large_is_no_transcript(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    os.truncate(path, MAX_TRANSCRIPT_BYTES + 1)  # a hole: it takes no room
    transcripts = opened(tmp_path)
    assert [one.why for one in transcripts.scan().ignored] == [
        "larger than 512 MiB, the most a transcript may have"
    ]
    with pytest.raises(NoteUnreadable, match="larger than 512 MiB"):
        transcripts.read("sessions/a.jsonl")


def test_a_name_that_cannot_be_shown_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "a\nb.jsonl", openclaw(HELLO))
    scan = opened(tmp_path).scan()
    assert (scan.notes, len(scan.ignored)) == ({}, 1)


def test_secrets_leave_the_text_and_stay_in_the_file(tmp_path: Path) -> None:
    key = private_key("RSA PRIVATE KEY", 4)(Random(1))
    path = write(tmp_path / "a.jsonl", openclaw([("user", f"my key:\n{key}\nkeep it safe")]))
    before = path.read_bytes()
    text = opened(tmp_path).read("sessions/a.jsonl").text
    assert text == "User: my key: [redacted:private-key] keep it safe\n"
    assert path.read_bytes() == before


def test_a_file_that_was_replaced_or_cut_is_read_from_its_start(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", openclaw([*HELLO, *HELLO]))
    transcripts = opened(tmp_path)
    first = transcripts.scan().notes["sessions/a.jsonl"].stat
    write(path, openclaw([("user", "Again.")]))  # cut and written anew, in place
    cut = transcripts.scan().notes["sessions/a.jsonl"].stat
    assert why_take(first, cut, 0, DeltaLimits()) == "shrunk"
    path.rename(tmp_path / "a.jsonl.reset.1")  # rotated away; the old inode lives on
    write(path, openclaw([*HELLO, ("user", "New.")]))
    replaced = transcripts.scan().notes["sessions/a.jsonl"].stat
    assert why_take(cut, replaced, 0, DeltaLimits()) == "replaced"
    assert transcripts.read("sessions/a.jsonl").text.endswith("User: New.\n")
    assert list(transcripts.scan().notes) == ["sessions/a.jsonl"]


KNOWN = NoteStat(size=1000, mtime_ns=1, ctime_ns=1, inode=7)


@pytest.mark.parametrize(
    ("indexed", "size", "inode", "messages", "compacted", "reason"),
    [
        (None, 10, 7, 0, False, "new"),
        (KNOWN, 1000, 7, 0, False, None),
        (KNOWN, 1000, 7, 0, True, None),
        (KNOWN, 1001, 7, 49, False, None),
        (KNOWN, 1001, 7, 50, False, "messages"),
        (KNOWN, 100_999, 7, 0, False, None),
        (KNOWN, 101_000, 7, 0, False, "bytes"),
        (KNOWN, 1001, 7, 1, True, "compacted"),
        (KNOWN, 999, 7, 0, False, "shrunk"),
        (KNOWN, 1000, 8, 0, False, "replaced"),
    ],
)
def test_when_enough_is_new(
    indexed: NoteStat | None,
    size: int,
    inode: int,
    messages: int,
    compacted: bool,
    reason: str | None,
) -> None:
    found = NoteStat(size, 2, 2, inode)
    assert why_take(indexed, found, messages, DeltaLimits(), compacted=compacted) == reason


def test_no_limit_takes_every_change() -> None:
    found = KNOWN._replace(size=1001)
    assert why_take(KNOWN, found, 0, DeltaLimits(bytes=0)) == "bytes"
    assert why_take(KNOWN, found, 0, DeltaLimits(messages=0)) == "messages"


def test_a_sync_leaves_alone_what_grew_too_little(tmp_path: Path) -> None:
    more = line(openclaw_message("user", "One more."))
    paths = [write(tmp_path / f"{name}.jsonl", openclaw(HELLO)) for name in "abc"]
    transcripts = opened(tmp_path)
    indexed = {path: found.stat for path, found in transcripts.scan().notes.items()}
    for path, count in zip(paths, (0, 49, 50), strict=True):
        with path.open("ab") as file:
            file.write(more * count)
    scan = transcripts.scan()
    known = {path: IndexedNote(stat, "d") for path, stat in indexed.items()}
    limits = DeltaLimits()

    seen = hold_back(scan, indexed, transcripts.new_messages, limits)
    assert plan_sync(seen, known).read == ("sessions/c.jsonl",)
    assert plan_sync(seen, known).forget == ()
    forced = hold_back(
        scan, indexed, transcripts.new_messages, limits, compacted={"sessions/b.jsonl"}
    )
    assert plan_sync(forced, known).read == ("sessions/b.jsonl", "sessions/c.jsonl")


def test_counting_what_is_new_reads_nothing_else(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", openclaw(HELLO))
    transcripts = opened(tmp_path)
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(line(openclaw_message("user", "x")) * 3 + b'{"type"')
    found = transcripts.scan().notes["sessions/a.jsonl"]
    assert transcripts.new_messages(found, size) == 3
    path.unlink()
    assert transcripts.new_messages(found, size) == 0
