"""Conversations and what agents asked: what was said and asked, never with a secret in it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.http_service.served import Served, serving

from notewell import CaptureSettings, Settings
from notewell.assembly import open_memory
from notewell.capture import SearchRecord, ShownLines, record_search, recorded_searches
from notewell.capture.search_journal import MAX_QUERY_CHARS, SEARCHES
from notewell.config import load_settings
from notewell.files import read_json_lines
from notewell.memory import Memory
from notewell.testing import HashEmbedder
from notewell.tools import SearchInput, memory_search

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SESSIONS = {
    "agents": {
        "defaults": {
            "memorySearch": {
                "sources": ["memory", "sessions"],
                "experimental": {"sessionMemory": True},
            }
        }
    }
}


def talk(state: Path, name: str, *said: str, at: int = 0) -> Path:
    folder = state / "agents" / "main" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.jsonl"
    lines = [
        {
            "type": "message",
            "timestamp": "2026-03-01T10:00:00Z",
            "message": {"role": ("user", "assistant")[number % 2], "content": text},
        }
        for number, text in enumerate(said)
    ]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    if at:
        os.utime(file, (at, at))
    return file


@pytest.fixture
def talking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(SESSIONS), encoding="utf-8")
    monkeypatch.setenv("NOTEWELL_CONFIG", str(config))
    with serving(tmp_path) as served:
        yield served


def get(served: Served, path: str, token: str = "read") -> Any:
    answer = served.ask("GET", f"/v1/page/{path}", token)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_conversations_are_listed_the_newest_first(talking: Served) -> None:
    for number in range(3):
        talk(talking.state, f"s{number}", "**Hello?**", "Hello.", at=1_700_000_000 + number)
    talking.agents.memory("main").sync()
    told = get(talking, "sessions")
    assert [one["id"] for one in told["sessions"]] == ["s2", "s1", "s0"]
    first = told["sessions"][0]
    assert (first["day"], first["turns"], first["folder"]) == ("2026-03-01", 2, "")
    assert first["path"] == "sessions/s2.jsonl"
    assert first["title"] == "Hello?"
    assert "next" not in told


def test_every_conversation_is_on_one_page_of_the_list(talking: Served) -> None:
    names = {f"s{number:03}" for number in range(130)}
    for number, name in enumerate(sorted(names)):
        talk(talking.state, name, "Hello?", at=1_700_000_000 + number // 3)
    first = get(talking, "sessions")
    second = get(talking, f"sessions?cursor={first['next']}")
    listed = [one["id"] for one in (*first["sessions"], *second["sessions"])]
    assert (sorted(listed), "next" in second) == (sorted(names), False)


def test_secrets_are_masked_and_the_masks_are_marked(talking: Served) -> None:
    talk(talking.state, "a", f"🔑 use {SECRET} please", "I will.")
    turns = get(talking, "session/a")["turns"]
    assert [one["role"] for one in turns] == ["user", "assistant"]
    assert SECRET not in json.dumps(turns)
    (start, end), *more = turns[0]["redactions"]
    assert (turns[0]["text"][start:end][:10], more) == ("[redacted:", [])
    assert turns[0]["text"][end - 1] == "]"
    assert [one["line"] for one in turns] == [1, 2]
    assert turns[1]["redactions"] == []


@pytest.mark.parametrize("id_", ["none", "../../../tokens", "..%2F..%2Fx", "a/b/c", ".jsonl"])
def test_what_is_no_conversation_is_not_shown(talking: Served, id_: str) -> None:
    talk(talking.state, "a", "Hello?")
    assert talking.ask("GET", f"/v1/page/session/{id_}").status_code == 404


def test_without_transcripts_the_page_says_how_to_have_them(served: Served) -> None:
    talk(served.state, "a", "Hello?")
    told = get(served, "sessions")
    assert told["sessions"] == []
    assert "memorySearch.sources" in told["notice"]
    assert served.ask("GET", "/v1/page/session/a").status_code == 404


# -- recalls -------------------------------------------------------------------------------------

RECALLS = "timeline?kind=recalled"


def recalls(served: Served, token: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = get(served, RECALLS, token)["events"]
    return events


def test_what_agents_asked_is_kept_with_what_they_got(served: Served) -> None:
    memory = served.agents.memory("main")
    memory.sync()
    served.search(f"SQLite readings {SECRET}")
    memory_search(memory, SearchInput("readings"))
    newest, oldest = recalls(served, "admin")
    assert (newest["query"], newest["who"]) == ("readings", "memory_search")
    assert "[redacted:" in oldest["query"]
    assert oldest["hits"][0]["path"] == "MEMORY.md"
    assert oldest["tookMs"] >= 0
    assert SECRET.encode() not in (memory.journal.folder / SEARCHES).read_bytes()
    assert stat.S_IMODE((memory.journal.folder / SEARCHES).stat().st_mode) == 0o600


def test_a_token_sees_its_own_questions_and_an_admin_sees_who_asked(served: Served) -> None:
    memory = served.agents.memory("main")
    served.search("readings of mine", "read")
    served.search("readings of another", "append")
    memory_search(memory, SearchInput("readings of this machine"))

    def seen(token: str) -> list[tuple[str, str | None]]:
        return [(one["query"], one.get("by")) for one in recalls(served, token)]

    assert seen("read") == [("readings of mine", "read")]
    assert seen("append") == [("readings of another", "append")]
    assert seen("both") == []
    assert seen("admin") == [
        ("readings of this machine", None),
        ("readings of another", "append"),
        ("readings of mine", "read"),
    ]


def test_recalls_are_paged_from_the_newest(served: Served) -> None:
    memory = served.agents.memory("main")
    start = datetime(2026, 3, 1, tzinfo=UTC)
    for number in range(150):
        at = start + timedelta(seconds=number)
        record_search(
            memory.journal.folder, SearchRecord(at, f"q{number}", "mcp", "hybrid", 1.0, ())
        )
    asked, path = [], RECALLS
    while path:
        page = get(served, path, "admin")
        asked += [one["query"] for one in page["events"]]
        path = f"{RECALLS}&before={quote(page['next'])}" if "next" in page else ""
    assert asked == [f"q{number}" for number in reversed(range(150))]


def test_only_the_users_own_file_switches_the_log(tmp_path: Path) -> None:
    own = tmp_path / "config.json"
    own.write_text('{"recallLog": {"enabled": false}}', encoding="utf-8")
    environment = {"NOTEWELL_CONFIG": str(own)}
    workspace = tmp_path / "notes"
    workspace.mkdir()
    assert load_settings(workspace, "main", environment).capture.recall_log is False
    assert load_settings(workspace, "main", {"HOME": str(tmp_path)}).capture.recall_log is True
    (workspace / "notewell.json").write_text('{"recallLog": {"enabled": true}}', encoding="utf-8")
    assert load_settings(workspace, "main", environment).capture.recall_log is False


def opened(tmp_path: Path, *, recall_log: bool = True) -> Memory:
    workspace = tmp_path / "notes"
    workspace.mkdir(exist_ok=True)
    (workspace / "MEMORY.md").write_text("We use SQLite.\n", encoding="utf-8")
    return open_memory(
        workspace,
        state_dir=tmp_path / "state",
        settings=Settings(capture=CaptureSettings(recall_log=recall_log)),
        embedder=HashEmbedder(),
    )


def test_switched_off_nothing_is_kept_and_what_was_kept_goes(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.sync()
        memory_search(memory, SearchInput("SQLite"))
        assert recorded_searches(memory.journal.folder)
    with opened(tmp_path, recall_log=False) as memory:
        memory_search(memory, SearchInput("SQLite"))
        assert not (memory.journal.folder / SEARCHES).exists()
        # A lock is never removed: a process that waits for it would exclude nobody.
        assert (memory.journal.folder / f"{SEARCHES}.lock").exists()


def test_a_log_that_cannot_be_written_costs_no_answer(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.sync()
        memory.journal.folder.parent.mkdir(parents=True, exist_ok=True)
        memory.journal.folder.write_text("in the way", encoding="utf-8")
        assert memory_search(memory, SearchInput("SQLite")).to_json()["results"]


def test_a_long_question_is_cut_and_half_a_character_does_no_harm(tmp_path: Path) -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    place = ShownLines("MEMORY.md", 1, 2, 0.5)
    record_search(
        tmp_path, SearchRecord(at, "x" * 9000 + "\ud800", "mcp", "hybrid", 1.0, (place,) * 50)
    )
    (one,) = recorded_searches(tmp_path)
    assert len(one.query) == MAX_QUERY_CHARS
    assert len(one.places) == 20


def test_what_is_no_line_of_ours_is_passed_over(tmp_path: Path) -> None:
    good = {
        "at": "2026-03-01T10:00:00+00:00",
        "query": "q",
        "tool": "t",
        "mode": "m",
        "tookMs": 1,
        "hits": [["a", 1, 2, 0.5]],
    }
    lines = [{}, {**good, "at": 5}, {**good, "at": "2026-03-01"}, {**good, "hits": [["a"]]}, good]
    (tmp_path / SEARCHES).write_text(
        "not json\n[]\n" + "".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8"
    )
    assert [one.places[0].path for one in recorded_searches(tmp_path)] == ["a"]


def test_the_log_never_outgrows_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("notewell.capture.search_journal.MAX_BYTES", 2000)
    at = datetime(2026, 3, 1, tzinfo=UTC)
    for number in range(100):
        record_search(tmp_path, SearchRecord(at, f"question {number}", "mcp", "hybrid", 1.0, ()))
        assert (tmp_path / SEARCHES).stat().st_size <= 2000
    assert next(iter(read_json_lines(tmp_path / SEARCHES)))["query"] != "question 0"
    assert recorded_searches(tmp_path)[0].query == "question 99"
