"""Each program's files, as it writes them, in one form."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.imports import written
from tests.imports.written import FILES

from notewell.cli.imports import OPENCLAW, WHAT
from notewell.errors import BadRequest
from notewell.imports import PROGRAMS, Reading


def read(program: str, path: Path) -> Reading:
    return PROGRAMS[program].read(path)


def left_out(reading: Reading) -> list[str]:
    return [one.path for one in reading.left_out]


def test_the_command_knows_every_program() -> None:
    assert (*PROGRAMS, OPENCLAW) == WHAT


def test_claude_mem_has_observations_and_summaries(tmp_path: Path) -> None:
    reading = read("claude-mem", written.claude_mem(tmp_path / "claude-mem.db"))
    assert [entry.key for entry in reading.entries] == [
        "observation/1",
        "observation/2",
        "summary/1",
    ]
    saved, fixed, summary = reading.entries
    assert saved.text == (
        "**Build cache — Manual memory** (discovery, harbour)\n"
        "The build cache lives on the second disk."
    )
    assert fixed.at == datetime(2026, 10, 2, 8, 5, tzinfo=UTC)
    assert fixed.text.split("\n")[2:] == [
        "- idle timeout is 60 s",
        "- set in router.toml",
        "Files: `router.toml`",
    ]
    assert "Learned: Idle connections were closed after 5 s." in summary.text
    assert (summary.group, left_out(reading)) == ("lighthouse", ["2 prompts"])


def test_an_older_claude_mem_lacks_columns(tmp_path: Path) -> None:
    path = written.claude_mem(tmp_path / "claude-mem.db")
    with sqlite3.connect(path) as database:
        database.execute("ALTER TABLE observations DROP COLUMN files_modified")
    database.close()
    assert len(read("claude-mem", path).entries) == 3


def test_a_claude_mem_that_is_writing_is_read(tmp_path: Path) -> None:
    path = written.claude_mem(tmp_path / "claude-mem.db")
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = wal")
    database.execute("UPDATE observations SET narrative = 'Moved to the third disk.' WHERE id = 1")
    database.commit()
    assert "Moved to the third disk." in read("claude-mem", path).entries[0].text
    database.close()


def test_mem0_has_the_same_memories_in_its_store_and_its_export(tmp_path: Path) -> None:
    stored = read("mem0", written.mem0_store(tmp_path / "qdrant")).entries
    exported = {entry.key: entry for entry in read("mem0", FILES / "mem0-export.json").entries}
    assert len(exported) == 3
    assert stored == tuple(exported[entry.key] for entry in stored)
    assert {entry.group for entry in stored} == {"user-1"}
    assert stored[-1].text == "The team prefers tabs in Makefiles and spaces in Python."
    assert stored[-1].at == datetime(2026, 11, 18, 10, 2, 11, 747773, UTC)


def test_mem0s_history_has_the_last_text_of_what_was_not_deleted(tmp_path: Path) -> None:
    (entry,) = read("mem0", written.mem0_history(tmp_path / "history.db")).entries
    assert (entry.key, entry.text) == ("m-1", "Spaces in Python.")
    assert read("mem0", tmp_path).entries == (entry,)


class Evil:
    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return (os.mkdir, (str(self.target),))


def test_a_point_of_mem0_runs_nothing(tmp_path: Path) -> None:
    target = tmp_path / "made-by-the-pickle"
    evil = pickle.dumps(Evil(target))
    reading = read("mem0", written.mem0_store(tmp_path / "qdrant", evil, b"\x80", b""))
    assert len(reading.entries) == 2
    assert left_out(reading) == ["more-0", "more-1", "more-2"]
    assert not target.exists()


def test_basic_memorys_notes_are_taken_as_they_are() -> None:
    notes = {note.path: note for note in read("basic-memory", FILES / "harbour").notes}
    assert list(notes) == ["harbour/projects/Harbour project.md", "harbour/specs/Search design.md"]
    file = FILES / "harbour" / "specs" / "Search design.md"
    assert notes["harbour/specs/Search design.md"].text == file.read_text(encoding="utf-8")


def test_memsearchs_days_have_one_name_whichever_folder_is_given() -> None:
    project = FILES / "memsearch"
    folders = (project, project / ".memsearch", project / ".memsearch" / "memory")
    assert {read("memsearch", folder).notes[0].path for folder in folders} == {
        "memsearch/2026-11-03.md"
    }
    assert read("memsearch", project / "memory").notes[0].path == "memsearch/2026-11-18.md"


def test_server_memorys_entities_have_their_observations_and_relations() -> None:
    entries = read("server-memory", FILES / "server-memory.jsonl").entries
    assert [(entry.subject, entry.text) for entry in entries] == [
        ("Harbour project", "type: project"),
        ("Harbour project", "Ships on the first Monday of the month."),
        ("Harbour project", "Uses PostgreSQL 17."),
        ("Router", "type: component"),
        ("Router", "Listens on port 8443."),
        ("Router", "is part of [[Harbour project]]"),
    ]


def test_chatgpts_conversation_is_the_branch_that_it_ended_with(tmp_path: Path) -> None:
    path = written.archive(
        tmp_path / "export.zip",
        conversations=[written.chatgpt("Why does it drop?", "The timeout is 5 s.")],
        user={"id": "user-1"},
    )
    reading = read("chatgpt", path)
    (conversation,) = reading.conversations
    assert [(said.turn.speaker, said.turn.text) for said in conversation.messages] == [
        ("User", "Why does it drop?"),
        ("Assistant", "The timeout is 5 s."),
    ]
    assert conversation.messages[0].at == datetime(2026, 10, 2, 8, 0, tzinfo=UTC)
    assert left_out(reading) == ["user.json", "1 message"]


def test_chatgpts_large_export_has_several_files(tmp_path: Path) -> None:
    path = written.archive(
        tmp_path / "export.zip",
        conversations__000=[written.chatgpt("One.")],
        conversations__001=[written.chatgpt("Two.", id_="conv-9")],
    )
    assert [one.id for one in read("chatgpt", path).conversations] == ["conv-1", "conv-9"]


def test_a_tree_that_leads_back_to_itself_ends(tmp_path: Path) -> None:
    conversation = written.chatgpt("One.", "Two.")
    conversation["mapping"]["conv-1-0"]["parent"] = "conv-1-1"
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([conversation]), encoding="utf-8")
    assert len(read("chatgpt", path).conversations[0].messages) == 2


def test_claudes_conversations_have_what_was_said(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    empty = {**written.claude(), "uuid": "conv-3"}
    path.write_text(json.dumps([written.claude("Why?", "The timeout."), empty]), encoding="utf-8")
    reading = read("claude", tmp_path)
    (conversation,) = reading.conversations
    assert [said.turn.text for said in conversation.messages] == ["Why?", "The timeout."]
    assert left_out(reading) == ["1 attached file", "1 conversation"]


# -- what is not the program's -------------------------------------------------------------------


def refused(program: str, path: Path) -> str:
    with pytest.raises(BadRequest) as error:
        read(program, path)
    return str(error.value)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_refuses_what_is_not_there(program: str, tmp_path: Path) -> None:
    assert "cannot be imported" in refused(program, tmp_path / "missing")


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_refuses_a_file_of_something_else(program: str, tmp_path: Path) -> None:
    path = tmp_path / "photo.db"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    assert "cannot be imported" in refused(program, path)


@pytest.mark.parametrize("program", ["claude-mem", "mem0", "server-memory", "chatgpt", "claude"])
def test_a_link_is_not_followed(program: str, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(FILES / "server-memory.jsonl")
    assert "name the file itself" in refused(program, tmp_path / "link.json")


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_pipe_is_not_waited_for(program: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "cannot be imported" in refused(program, tmp_path / "pipe")


def test_links_among_markdown_are_named(tmp_path: Path) -> None:
    shutil.copytree(FILES / "harbour", tmp_path / "harbour")
    (tmp_path / "harbour" / "secret.md").symlink_to("/etc/hostname")
    (tmp_path / "harbour" / "folder").symlink_to(tmp_path)
    reading = read("basic-memory", tmp_path / "harbour")
    assert (len(reading.notes), left_out(reading)) == (2, ["secret.md"])


def test_another_programs_database_is_refused_by_its_tables(tmp_path: Path) -> None:
    history = written.mem0_history(tmp_path / "history.db")
    assert "no database of claude-mem that Notewell knows: no table 'observations'" in refused(
        "claude-mem", history
    )
    with sqlite3.connect(tmp_path / "newer.db") as database:
        database.execute("CREATE TABLE observations (uid TEXT)")
    database.close()
    assert "no column 'created_at'" in refused("claude-mem", tmp_path / "newer.db")


LOCKED = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("PRAGMA locking_mode = exclusive")
database.execute("UPDATE observations SET title = 'x'")
database.commit()
print("locked", flush=True)
sys.stdin.read()
"""


def test_a_locked_database_says_what_to_do(tmp_path: Path) -> None:
    path = written.claude_mem(tmp_path / "claude-mem.db")
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = wal")
    database.close()
    # Another process: within one, SQLite's locks do not exclude anybody.
    with subprocess.Popen(
        [sys.executable, "-c", LOCKED, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as program:
        assert program.stdout
        assert program.stdout.readline() == b"locked\n"
        assert "close the program that uses it" in refused("claude-mem", path)
        program.communicate(b"")


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    path = written.claude_mem(tmp_path / "claude-mem.db")
    path.write_bytes(path.read_bytes()[:5000])
    assert "cannot be read" in refused("claude-mem", path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[{"mapping": {', "it ends early"),
        ("[1, oops]", "line 1 is not JSON"),
        ("{}", "no list of conversations"),
        ("[1]", "no export of ChatGPT"),
        ('[{"chat_messages": []}]', "`notewell import claude`"),
        ("[" * 100_000, "nested too deeply"),
        ("\ud800", "not UTF-8"),
    ],
)
def test_a_broken_export_is_refused_with_the_reason(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert why in refused("chatgpt", path)


def test_names_in_an_archive_lead_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../conversations.json", json.dumps([written.claude("Why?")]))
        archive.writestr("../evil.sh", "x")
    reading = read("claude", path)
    assert (len(reading.conversations), left_out(reading)[0]) == (1, "evil.sh")
    assert [entry.name for entry in tmp_path.iterdir()] == ["export.zip"]


def test_an_archive_without_conversations_is_refused(tmp_path: Path) -> None:
    assert "no conversations.json" in refused("claude", written.archive(tmp_path / "x.zip", a=1))


def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.imports.files.MAX_JSON_BYTES", 100)
    path = written.archive(tmp_path / "x.zip", conversations=[written.claude("word " * 1000)])
    assert "the most is" in refused("claude", path)


def test_a_torn_archive_is_refused(tmp_path: Path) -> None:
    path = written.archive(tmp_path / "x.zip", conversations=[written.claude("Why? " * 99)])
    path.write_bytes(path.read_bytes().replace(b"Why?", b"Who?", 1))
    assert "damaged or encrypted" in refused("claude", path)


def test_a_torn_line_of_server_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes((FILES / "server-memory.jsonl").read_bytes()[:-20])
    assert "memory.jsonl:3" in refused("server-memory", path)
