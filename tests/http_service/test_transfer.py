"""What goes over the wire: HEAD, ETags, gzip, and what a wrong body is told."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.http_service.served import PLENTY, Served, serving

from notewell.http_service.note_listing import TTL_S, NoteListings

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("path", ["/v1/notes", "/v1/notes/MEMORY.md", "/healthz", "/", "/metrics"])
def test_head_says_what_get_would(served: Served, path: str) -> None:
    head, get = served.ask("HEAD", path), served.ask("GET", path)
    assert head.status_code == get.status_code == 200
    assert head.headers["content-type"] == get.headers["content-type"]


def test_head_needs_a_token_as_get_does(served: Served) -> None:
    assert served.ask("HEAD", "/v1/notes", "").status_code == 401
    assert served.ask("HEAD", "/v1/search").status_code == 405
    assert served.ask("HEAD", "/v1/page/events").status_code == 405
    assert served.ask("HEAD", "/v1/notes/none.md").status_code == 404


def test_what_a_client_has_is_not_sent_again(served: Served) -> None:
    first = served.ask("GET", "/v1/notes/MEMORY.md")
    tag = first.headers["etag"]
    for known in (tag, f'"x", {tag}', tag.removeprefix("W/"), "*"):
        again = served.ask("GET", "/v1/notes/MEMORY.md", headers={"If-None-Match": known})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
    (served.workspaces["main"] / "MEMORY.md").write_text("Something else.\n", encoding="utf-8")
    changed = served.ask("GET", "/v1/notes/MEMORY.md", headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert "Something else" in changed.json()["text"]
    # Neither a problem nor a question has one.
    assert "etag" not in served.ask("GET", "/v1/notes/none.md").headers
    assert "etag" not in served.ask("POST", "/v1/search", json={"query": "x"}).headers


def test_long_answers_are_compressed_for_those_who_can_read_that(served: Served) -> None:
    text = "A reading of the sensor.\n" * 100
    (served.workspaces["main"] / "MEMORY.md").write_text(text, encoding="utf-8")
    long, short = "/v1/notes/MEMORY.md", "/healthz"
    plain = served.ask("GET", long, headers={"Accept-Encoding": "identity"})
    packed = served.ask("GET", long, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(plain.content) / 4
    assert packed.json() == plain.json()
    assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"
    little = served.ask("GET", short, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in little.headers


def test_the_same_body_is_compressed_to_the_same_bytes() -> None:
    from notewell.http_service.compression import _compressed

    assert gzip.decompress(_compressed(b"x" * 5000)) == b"x" * 5000
    assert _compressed(b"x" * 5000) == _compressed(b"x" * 5000)


# -- what a wrong body is told -------------------------------------------------------------------


def mistakes(served: Served, body: Any) -> list[dict[str, str]]:
    answer = served.ask("POST", "/v1/search", json=body)
    assert answer.status_code == 422
    errors: list[dict[str, str]] = answer.json()["errors"]
    return errors


@pytest.mark.parametrize(
    ("field", "hint"),
    [
        ("max_results", "unknown field: did you mean 'maxResults'?"),
        ("maxresults", "unknown field: did you mean 'maxResults'?"),
        ("zzzzzzzz", "unknown field"),
    ],
)
def test_an_unknown_field_is_told_which_one_may_be_meant(
    served: Served, field: str, hint: str
) -> None:
    (mistake,) = mistakes(served, {"query": "x", field: 1})
    assert mistake == {"where": f"body.{field}", "what": hint}


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", ""])
def test_a_body_that_is_not_sent_as_json_is_told_how(served: Served, kind: str) -> None:
    headers = {"Content-Type": kind} if kind else {}
    body = json.dumps({"query": "x"}).encode()
    answer = served.ask("POST", "/v1/search", content=body, headers=headers)
    assert answer.status_code == 415
    assert "Content-Type: application/json" in answer.json()["action"]
    # A request whose body may be left out is not asked for its type.
    assert served.ask("POST", "/v1/sync", "append").status_code == 200


# -- the list of notes ---------------------------------------------------------------------------


def test_turning_the_pages_of_a_list_scans_the_notes_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    with serving(tmp_path, limits=PLENTY) as served:
        memory = served.agents.memory("main")
        listings = NoteListings(served.agents, lambda: now[0])
        first = listings.listing("main", memory)
        assert listings.listing("main", memory) is first
        served.ask("POST", "/v1/append", "append", json={"text": "A fact."})
        second = listings.listing("main", memory)
        assert len(second.paths) == len(first.paths) + 1, "a write is seen at once"
        (served.workspaces["main"] / "memory" / "by-hand.md").write_text("x", encoding="utf-8")
        now[0] += TTL_S
        assert "memory/by-hand.md" in listings.listing("main", memory).paths
