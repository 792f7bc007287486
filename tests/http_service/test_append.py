"""Writing an entry over HTTP: once, whatever happens to the request, and known to the audit."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.http_service.served import Served, serving

from notewell.capture import writes
from notewell.http_service.idempotency import (
    FOLDER,
    MAX_RECORDS,
    TTL,
    Completed,
    IdempotencyStore,
    IdempotentRequest,
    Pending,
)
from notewell.http_service.problems import Problem
from notewell.http_service.schemas import AppendBody

ENTRY = {"text": "The giraffe is called Tom."}


def append(served: Served, body: Any, key: str | None = None, token: str = "append") -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return served.ask("POST", "/v1/append", token, json=body, headers=headers)


def today(served: Served, agent: str = "main") -> str:
    day = datetime.now().astimezone().date().isoformat()
    path = served.workspaces[agent] / "memory" / f"{day}.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_an_entry_is_found_by_the_next_search_and_stands_once(served: Served) -> None:
    first = append(served, ENTRY)
    assert first.status_code == 201
    told = first.json()
    assert told["added"] is True
    assert told["startLine"] == told["endLine"] == 1
    again = append(served, ENTRY)
    assert again.status_code == 200
    assert again.json() == {**told, "added": False}
    assert today(served).count("giraffe") == 1
    assert served.search("giraffe")["results"][0]["path"] == told["path"]


def test_under_a_heading_of_memory(served: Served) -> None:
    answer = append(served, {"text": "Tea, not coffee.", "section": "Likes"})
    assert answer.json()["path"] == "MEMORY.md"
    text = (served.workspaces["main"] / "MEMORY.md").read_text(encoding="utf-8")
    assert "Likes\n" in text
    assert "Tea, not coffee." in text


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": ""},
        {"text": "   "},
        {"text": "x" * 70_000},
        {"text": "a\0b"},
        {"text": "x", "section": ""},
        {"text": "x", "section": "y" * 300},
        {"text": "x", "path": "memory/other.md"},
        {"text": 1},
    ],
)
def test_what_cannot_be_an_entry_is_refused_and_nothing_is_written(
    served: Served, body: Any
) -> None:
    answer = append(served, body)
    assert answer.status_code == 422, answer.text
    assert today(served) == ""
    assert served.audit() == []


def test_the_audit_says_who_and_where_but_not_what(served: Served) -> None:
    append(served, ENTRY)
    append(served, ENTRY)  # Nothing was written, so nothing is noted.
    (line,) = served.audit()
    assert line["what"] == "append"
    assert line["agent"] == "main"
    assert line["name"] == "append"
    assert line["path"].startswith("memory/")
    text = (served.state / "audit.jsonl").read_text(encoding="utf-8")
    assert "giraffe" not in text
    assert (served.state / "audit.jsonl").stat().st_mode & 0o777 == 0o600


def test_it_can_be_undone_as_any_other_write(served: Served) -> None:
    append(served, ENTRY)
    memory = served.agents.memory("main")
    (recorded,) = writes(memory.journal.folder, memory.notes)
    assert recorded.write.origin == "http"
    assert b"giraffe" in (served.workspaces["main"] / recorded.write.path).read_bytes()


# -- made twice ----------------------------------------------------------------------------------


def test_a_request_that_is_made_again_gets_the_first_answer(served: Served) -> None:
    first = append(served, ENTRY, "k1")
    assert first.status_code == 201
    assert "idempotent-replayed" not in first.headers
    again = append(served, ENTRY, "k1")
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["idempotent-replayed"] == "true"
    assert len(served.audit()) == 1


def test_the_same_key_for_something_else_is_a_mistake(served: Served) -> None:
    append(served, ENTRY, "k1")
    other = append(served, {"text": "Something else."}, "k1")
    assert other.status_code == 409
    assert other.json()["type"].endswith("key-used")
    assert "Something else" not in today(served)


def test_keys_of_different_tokens_agents_and_routes_do_not_meet(served: Served) -> None:
    append(served, ENTRY, "k1")
    assert append(served, {"text": "By an admin."}, "k1", "admin").status_code == 201
    assert append(served, {"text": "At work."}, "k1", "other").status_code == 201
    turns = {"turns": [{"role": "user", "content": "hello"}]}
    answer = served.ask(
        "POST", "/v1/sessions/s/turns", "append", json=turns, headers={"Idempotency-Key": "k1"}
    )
    assert answer.status_code == 201


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "\x7f", "é"])
def test_what_is_no_key(served: Served, key: str) -> None:
    headers = [(b"Idempotency-Key", key.encode("latin-1"))]

    async def asked() -> Any:
        token = (b"Authorization", f"Bearer {served.tokens['append']}".encode())
        return await served.client.post("/v1/append", json=ENTRY, headers=[token, *headers])

    answer = served.portal.call(asked)
    assert answer.status_code == 422, answer.text
    assert today(served) == ""


def test_a_refused_request_does_not_use_up_its_key(served: Served) -> None:
    bad, good = {"text": "a\0b"}, {"text": "a b"}
    assert append(served, bad, "k1").status_code == 422
    assert append(served, good, "k1").status_code == 201


def test_many_at_once_with_one_key_write_once(served: Served) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: append(served, ENTRY, "k1"), range(16)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert 201 in {answer.status_code for answer in answers}
    assert today(served).count("giraffe") == 1
    assert len(served.audit()) == 1


def test_many_at_once_with_keys_of_their_own_all_stand_there(served: Served) -> None:
    texts = [f"The zebra of stable {number}." for number in range(24)]

    def one(number: int) -> Any:
        return append(served, {"text": texts[number]}, f"key-{number}")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, range(24)))
    assert {answer.status_code for answer in answers} == {201}
    assert all(today(served).count(text) == 1 for text in texts)


def test_after_a_restart_the_answer_is_still_known(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        first = append(served, ENTRY, "k1")
    with serving(tmp_path, tokens=served.tokens) as again:
        answer = append(again, ENTRY, "k1")
        assert (answer.status_code, answer.json()) == (201, first.json())
        assert answer.headers["idempotent-replayed"] == "true"
        assert len(again.audit()) == 1


# -- a server that died --------------------------------------------------------------------------

NOW = datetime(2026, 11, 15, 23, 59, tzinfo=UTC)
REQUEST = IdempotentRequest("token", "main", "append", "key", "digest")
ANSWER = Completed(201, {"path": "memory/2026-11-15.md"})


def test_what_was_begun_and_not_finished_is_done_as_of_then(tmp_path: Path) -> None:
    now = [NOW]
    first = IdempotencyStore(tmp_path / FOLDER, lambda: now[0])
    assert first.begin(REQUEST) == Pending(NOW)
    now[0] += timedelta(minutes=5)  # Another server; it is tomorrow.
    second = IdempotencyStore(tmp_path / FOLDER, lambda: now[0])
    assert second.begin(REQUEST) == Pending(NOW)
    second.complete(REQUEST, Pending(NOW), ANSWER)
    assert second.begin(REQUEST) == ANSWER
    assert IdempotencyStore(tmp_path / FOLDER, lambda: now[0]).begin(REQUEST) == ANSWER


def test_the_retry_of_yesterdays_entry_goes_to_yesterdays_note(served: Served) -> None:
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    yesterday = midnight - timedelta(milliseconds=1)
    token = served.book.find(served.tokens["append"])
    assert token is not None
    digest = hashlib.sha256(AppendBody(**ENTRY).model_dump_json().encode()).hexdigest()
    request = IdempotentRequest(token.id, "main", "append", "k1", digest)
    IdempotencyStore(served.state / FOLDER, lambda: yesterday).begin(request)  # And then it died.
    answer = append(served, ENTRY, "k1")
    assert answer.status_code == 201
    day = yesterday.astimezone().date().isoformat()
    assert answer.json()["path"] == f"memory/{day}.md"
    assert today(served) == ""
    assert served.search("giraffe")["results"][0]["path"] == f"memory/{day}.md"


def test_keys_are_forgotten_after_a_day_and_when_there_are_too_many(tmp_path: Path) -> None:
    now = [datetime.now(UTC)]
    kept = IdempotencyStore(tmp_path / FOLDER, lambda: now[0])
    kept.begin(REQUEST)
    kept.complete(REQUEST, Pending(now[0]), ANSWER)
    now[0] += TTL + timedelta(seconds=1)
    assert kept.begin(REQUEST) == Pending(now[0])
    kept.complete(REQUEST, Pending(now[0]), ANSWER)
    folder = tmp_path / FOLDER
    for number in range(MAX_RECORDS + 50):
        (folder / f"old-{number}.json").touch()
    again = IdempotencyStore(tmp_path / FOLDER, lambda: now[0])
    again.begin(IdempotentRequest("token", "main", "append", "another", "digest"))
    assert len(list(folder.iterdir())) <= MAX_RECORDS + 1


def test_a_file_that_is_torn_counts_as_not_there(tmp_path: Path) -> None:
    kept = IdempotencyStore(tmp_path / FOLDER, lambda: NOW)
    kept.begin(REQUEST)
    (file,) = (tmp_path / FOLDER).iterdir()
    for text in ("", "{", "[]", '{"begun": 1}', '{"begun": "nonsense"}'):
        file.write_text(text, encoding="utf-8")
        assert IdempotencyStore(tmp_path / FOLDER, lambda: NOW).begin(REQUEST) == Pending(NOW)


def test_one_that_is_under_way_is_not_begun_again(tmp_path: Path) -> None:
    kept = IdempotencyStore(tmp_path / FOLDER, lambda: NOW)
    kept.begin(REQUEST)
    with pytest.raises(Problem) as found:
        kept.begin(REQUEST)
    assert found.value.status == 409
    kept.discard(REQUEST)
    assert kept.begin(REQUEST) == Pending(NOW)
