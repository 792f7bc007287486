"""Turns of a conversation, written down as a transcript that our own readers read."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.http_service.served import Served, serving

from notewell import SessionSettings
from notewell.capture import CaptureSettings, KeepSettings
from notewell.config import Settings
from notewell.errors import NoteNotWritable
from notewell.http_service.transcripts import NewTurn, add_turns, transcript_file
from notewell.sessions import TranscriptFolder, Transcripts

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
HELLO = {
    "turns": [
        {"role": "user", "content": "When do we ship?", "at": "2026-11-15T09:00:00Z"},
        {"role": "assistant", "content": "On Friday."},
    ]
}


def tell(
    served: Served, id_: str, body: Any, key: str | None = None, token: str = "append"
) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return served.ask("POST", f"/v1/sessions/{id_}/turns", token, json=body, headers=headers)


def file_of(served: Served, id_: str = "s1", agent: str = "main") -> Path:
    return served.state / "agents" / agent / "sessions" / f"{id_}.jsonl"


def read(file: Path) -> str:
    folder = Transcripts([TranscriptFolder(file.parent)], lambda text: text)
    return folder.open(f"sessions/{file.name}").text


def test_what_was_said_can_be_read_as_any_transcript(served: Served) -> None:
    answer = tell(served, "s1", HELLO)
    assert answer.status_code == 201
    assert answer.json() == {"id": "s1", "turns": 2, "kept": 0}
    assert read(file_of(served)) == "User: When do we ship?\nAssistant: On Friday.\n"
    more = {"turns": [{"role": "user", "content": "Thank\nyou."}]}
    tell(served, "s1", more)
    assert read(file_of(served)).endswith("User: Thank you.\n")
    first = json.loads(file_of(served).read_text(encoding="utf-8").splitlines()[0])
    assert (first["type"], first["id"]) == ("session", "s1")
    assert file_of(served).stat().st_mode & 0o777 == 0o600
    assert [line["turns"] for line in served.audit()] == [2, 1]
    assert "ship" not in (served.state / "audit.jsonl").read_text(encoding="utf-8")


def test_the_same_words_said_twice_stand_there_twice_unless_it_is_a_retry(served: Served) -> None:
    yes = {"turns": [{"role": "user", "content": "Yes."}]}
    for key in (None, None, "k1", "k1", "k2"):
        assert tell(served, "s1", yes, key).status_code == 201
    assert read(file_of(served)).count("Yes.") == 4


def test_a_retry_after_a_crash_adds_what_is_missing(tmp_path: Path) -> None:
    file = transcript_file(tmp_path, "main", "s1")
    turns = [NewTurn("user", f"number {number}") for number in range(4)]
    assert add_turns(file, turns, "key", NOW) == 4
    whole = file.read_bytes()
    for cut in (len(whole) - 1, len(whole) - 20, whole.index(b"number 2"), 30, 0):
        file.write_bytes(whole[:cut])  # What a power cut left.
        add_turns(file, turns, "key", NOW)
        lines = read(file).splitlines()
        assert sorted(set(lines)) == [f"User: number {number}" for number in range(4)]
        assert len(lines) == 4, cut
    assert add_turns(file, turns, "key", NOW) == 0


def test_after_a_restart_a_retry_adds_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        tell(served, "s1", HELLO, "k1")
        before = file_of(served).read_bytes()
    with serving(tmp_path, tokens=served.tokens) as again:
        answer = tell(again, "s1", HELLO, "k1")
        assert answer.headers["idempotent-replayed"] == "true"
        assert file_of(again).read_bytes() == before
        # And without what is remembered, by the ids of the turns.
        for file in (again.state / "idempotency").iterdir():
            file.unlink()
        assert tell(again, "s1", HELLO, "k1").status_code == 201
        assert file_of(again).read_bytes() == before


@pytest.mark.parametrize(
    "id_", ["..", ".", "a.b", "%2e%2e", "a%2fb", "x" * 129, "-a", "a%00", "ä", "a%5cb", "a%0a"]
)
def test_an_id_leads_nowhere_else(served: Served, id_: str) -> None:
    assert tell(served, id_, HELLO).status_code in (404, 405, 422)
    assert not (served.state / "agents" / "main").exists()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"turns": []},
        {"turns": [{"role": "system", "content": "x"}]},
        {"turns": [{"role": "user", "content": ""}]},
        {"turns": [{"role": "user"}]},
        {"turns": [{"role": "user", "content": "x", "id": "mine"}]},
        {"turns": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]},
        {"turns": [{"role": "user", "content": "x", "at": "yesterday"}]},
        {"turns": [{"role": "user", "content": "x"}] * 501},
    ],
)
def test_what_is_no_turn_is_refused(served: Served, body: Any) -> None:
    assert tell(served, "s1", body).status_code == 422
    assert not file_of(served).exists()


def test_a_link_or_a_pipe_in_its_place_is_not_written_to(served: Served, tmp_path: Path) -> None:
    tell(served, "s0", HELLO)
    (tmp_path / "victim").write_text("mine\n", encoding="utf-8")
    file_of(served).symlink_to(tmp_path / "victim")
    os.mkfifo(file_of(served, "s2"))
    for id_ in ("s1", "s2"):
        answer = tell(served, id_, HELLO)
        assert answer.status_code == 507, answer.text
        assert str(tmp_path) not in answer.text
    assert (tmp_path / "victim").read_text(encoding="utf-8") == "mine\n"


def test_agents_write_into_folders_of_their_own(served: Served) -> None:
    tell(served, "s1", HELLO, token="other")
    assert file_of(served, agent="work").exists()
    assert not file_of(served).exists()


def test_many_at_once_do_not_mix(served: Served) -> None:
    def one(number: int) -> int:
        body = {"turns": [{"role": "user", "content": f"a{number} " + "x" * 5000}] * 3}
        status: int = tell(served, "s1", body).status_code
        return status

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(one, range(16))) == {201}
    lines = read(file_of(served)).splitlines()
    assert len(lines) == 48
    starts = [line.split(" ")[1] for line in lines]
    assert all(len(set(starts[at : at + 3])) == 1 for at in range(0, 48, 3))


def test_a_disk_without_room_leaves_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = transcript_file(tmp_path, "main", "s1")
    add_turns(file, [NewTurn("user", "first")], "k1", NOW)
    before = file.read_bytes()
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:10]))
    with pytest.raises(NoteNotWritable, match="full"):
        add_turns(file, [NewTurn("user", "second")], "k2", NOW)
    assert file.read_bytes() == before


def test_where_sessions_are_searched_a_turn_is_found(tmp_path: Path) -> None:
    settings = Settings(sessions=SessionSettings(enabled=True))
    with serving(tmp_path, settings=settings) as served:
        body = {"turns": [{"role": "user", "content": "The okapi eats at nine."}]}
        tell(served, "s1", body)
        served.ask("POST", "/v1/sync", "append")
        (hit, *_) = served.search("okapi")["results"]
        assert (hit["path"], hit["source"]) == ("sessions/s1.jsonl", "sessions")
        said = hit["said"]
        assert (said["speaker"], said["host"], said["folder"]) == ("User", "http", None)
        assert said["at"].endswith("Z")
        note = served.ask("GET", f"/v1/notes/{hit['path']}").json()
        assert "okapi" in note["text"]
        compared = {"query": "okapi", "a": {}}
        shown = served.ask("POST", "/v1/page/search", "admin", json=compared).json()
        assert shown["a"]["results"][0]["said"]["at"] == said["at"]
        narrowed = served.search("okapi", folder="zoo")
        assert narrowed["results"] == []
        assert "no conversation is from that folder" in narrowed["notice"]
        refused = served.ask("POST", "/v1/search", json={"query": "okapi", "folder": " "})
        assert refused.status_code == 422


KEY = "AKIAZ7QX4NPLM2WVB3TD"


def keeping(**keep: Any) -> Settings:
    return Settings(capture=CaptureSettings(keep=KeepSettings(enabled=True, **keep)))


def kept_texts(served: Served, pattern: str = "*.jsonl") -> list[str]:
    files = sorted((served.state / "agents" / "main" / "sessions").glob(f"*/{pattern}"))
    lines = [json.loads(line) for file in files for line in file.read_bytes().splitlines()]
    return [line["message"]["content"] for line in lines if line["type"] == "message"]


def test_with_the_setting_each_message_is_kept_once_redacted_and_found(tmp_path: Path) -> None:
    with serving(tmp_path, settings=keeping()) as served:
        okapi = {"turns": [{"role": "user", "content": f"The okapi eats at nine. {KEY}"}]}
        assert tell(served, "s1", okapi, "k1").json() == {"id": "s1", "turns": 1, "kept": 1}
        tell(served, "s1", okapi, "k1")
        assert tell(served, "s1", HELLO).json()["kept"] == 2
        first, *others = kept_texts(served)
        assert others == ["When do we ship?", "On Friday."]
        assert KEY not in first
        assert first.startswith("The okapi eats at nine. [redacted:")
        # The server was running before the folder was there.
        (hit, *_) = served.search("okapi")["results"]
        assert hit["path"] == "sessions/kept/http-s1.jsonl"
        assert hit["said"]["host"] == "http"


def test_what_could_not_be_kept_is_reported_and_kept_by_the_next_request(tmp_path: Path) -> None:
    with serving(tmp_path, settings=keeping()) as served:
        tell(served, "s1", HELLO)
        (folder,) = (served.state / "agents" / "main" / "sessions").glob("*/")
        moved = folder.rename(folder.with_name("elsewhere"))
        folder.write_text("in the way", encoding="utf-8")
        answer = tell(served, "s1", {"turns": [{"role": "user", "content": "And now?"}]}).json()
        assert (answer["turns"], answer["kept"]) == (1, 0)
        assert answer["notice"].startswith("not kept: ")
        folder.unlink()
        moved.rename(folder)
        answer = tell(served, "s1", {"turns": [{"role": "assistant", "content": "Soon."}]}).json()
        assert answer == {"id": "s1", "turns": 1, "kept": 2}
        assert kept_texts(served)[2:] == ["And now?", "Soon."]


def test_a_service_without_hooks_removes_what_is_past_its_days(tmp_path: Path) -> None:
    with serving(tmp_path, settings=keeping(days=30)) as served:
        tell(served, "old", HELLO)
        (file,) = (served.state / "agents" / "main" / "sessions").glob("*/http-old.jsonl")
        os.utime(file, (1e9, 1e9))
        tell(served, "new", {"turns": [{"role": "user", "content": "Hello."}]})
        assert kept_texts(served) == ["Hello."]
