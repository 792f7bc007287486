"""Syncs on request, and that nobody waits behind one."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.http_service.served import Served, serving

from notewell import Settings, SyncSettings
from notewell.ports import Kind
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from notewell.ports import Vectors

WAIT_S = 30.0


class Held(HashEmbedder):
    """Embeds one kind of text only when it is let go."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self._kind = kind
        self.asked = threading.Event()
        self.let_go = threading.Event()

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        if kind == self._kind:
            self.asked.set()
            assert self.let_go.wait(WAIT_S)
        return super().embed(texts, kind)


def sync(served: Served, token: str = "append", *, wait: float = 30, **body: Any) -> Any:
    return served.ask("POST", f"/v1/sync?wait={wait}", token, json=body)


def test_a_sync_tells_what_it_did(served: Served) -> None:
    told = sync(served).json()
    assert (told["notes"], told["chunks"], told["vectorsAdded"]) == (1, 1, 1)
    assert told["rebuilt"]
    again = sync(served).json()
    assert (again["written"], again["rebuilt"]) == (0, None)
    without_body = served.ask("POST", "/v1/sync", "append")
    assert without_body.status_code == 200


def test_a_forced_one_is_for_admins_and_audited(served: Served) -> None:
    sync(served)
    refused = sync(served, force=True)
    assert refused.status_code == 403
    assert served.audit() == []
    assert sync(served, "admin", force=True).json()["rebuilt"] == "it was asked for"
    assert [line["what"] for line in served.audit()] == ["rebuild"]


def test_what_is_no_wait_and_no_body(served: Served) -> None:
    for wait in ("-1", "301", "x", "nan", "inf"):
        assert served.ask("POST", f"/v1/sync?wait={wait}", "append").status_code == 422, wait
    assert served.ask("POST", "/v1/sync", "append", json={"force": 1}).status_code == 422
    assert served.ask("POST", "/v1/sync", "append", json={"all": True}).status_code == 422


def test_a_long_one_goes_on_is_shared_and_nobody_waits_behind_it(tmp_path: Path) -> None:
    embedder = Held("document")
    with serving(tmp_path, embedder=embedder) as served:
        answer = sync(served, wait=0)
        assert answer.status_code == 202
        assert answer.json() == {"state": "running"}
        assert embedder.asked.wait(WAIT_S)
        # The words are there already, and so is everything else.
        found = served.search("readings")
        assert found["results"]
        assert found["notice"]
        assert served.ask("POST", "/v1/append", "append", json={"text": "New."}).status_code == 201
        assert served.ask("GET", "/v1/status").json()["chunks"] >= 1
        assert served.ask("GET", "/readyz", "").status_code == 200
        assert served.ask("GET", "/metrics").status_code == 200
        assert sync(served, wait=0).status_code == 202
        with ThreadPoolExecutor(4) as pool:
            waiting = [pool.submit(sync, served) for _ in range(4)]
            embedder.let_go.set()
            reports = [one.result(WAIT_S).json() for one in waiting]
        assert all(report["vectorsWaiting"] <= 1 for report in reports)
        assert sync(served).json()["vectorsWaiting"] == 0


def test_behind_a_slow_embedder_words_and_the_other_agent_go_on(tmp_path: Path) -> None:
    embedder = Held("query")
    with serving(tmp_path, embedder=embedder) as served:
        sync(served)
        sync(served, "other")
        # More searches than there are seats, all waiting for the embedder.
        with ThreadPoolExecutor(12) as pool:
            stuck = [pool.submit(served.search, "readings") for _ in range(12)]
            assert embedder.asked.wait(WAIT_S)
            assert served.search("readings", mode="keyword")["results"]
            assert served.ask("GET", "/v1/notes/MEMORY.md").status_code == 200
            assert served.ask("GET", "/v1/notes").status_code == 200
            assert served.ask("GET", "/v1/status", "other").status_code == 200
            assert served.search("readings", "other", mode="keyword")["results"]
            embedder.let_go.set()
            assert all(one.result(WAIT_S)["results"] for one in stuck)


def test_sixteen_threads_search_while_the_index_is_rebuilt_and_notes_are_written(
    tmp_path: Path,
) -> None:
    with serving(tmp_path) as served:
        folder = served.workspaces["main"] / "memory"
        for number in range(200):
            text = "\n\n".join(f"Paragraph {n} of note {number}." for n in range(10))
            (folder / f"note-{number}.md").write_text(f"# Note {number}\n\n{text}\n", "utf-8")
        sync(served)
        over = threading.Event()
        modes: set[str] = set()

        def searching(_: int) -> int:
            asked = 0
            while not over.is_set():
                found = served.search("paragraph of note 77")
                assert found["results"], found
                assert found["mode"] in ("hybrid", "partial", "keyword")
                modes.add(found["mode"])
                asked += 1
            return asked

        def writing(number: int) -> int:
            status: int = served.ask(
                "POST", "/v1/append", "append", json={"text": f"Fact {number}."}
            ).status_code
            return status

        with ThreadPoolExecutor(20) as pool:
            searches = [pool.submit(searching, number) for number in range(16)]
            writes = [pool.submit(writing, number) for number in range(20)]
            reports = [sync(served, "admin", force=True) for _ in range(2)]
            assert {one.result(WAIT_S) for one in writes} == {201}
            over.set()
            assert all(one.result(WAIT_S) > 0 for one in searches)
        assert [report.status_code for report in reports] == [200, 200]
        assert sync(served).json()["vectorsWaiting"] == 0
        assert served.search("Fact 19.")["results"][0]["path"].startswith("memory/20")
        assert "hybrid" in modes


def test_one_that_fails_is_told_to_all_who_wait_and_tried_again_by_the_next(
    served: Served, tmp_path: Path
) -> None:
    sync(served)
    served.workspaces["main"].rename(tmp_path / "moved")
    answer = sync(served)
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"
    (tmp_path / "moved").rename(served.workspaces["main"])
    assert sync(served).status_code == 200


def test_a_server_that_shuts_down_does_not_wait_for_a_long_sync(tmp_path: Path) -> None:
    embedder = Held("document")
    with serving(tmp_path, embedder=embedder) as served:
        for number in range(100):
            path = served.workspaces["main"] / "memory" / f"{number}.md"
            path.write_text(f"Note {number}.\n", encoding="utf-8")
        assert sync(served, wait=0).status_code == 202
        assert embedder.asked.wait(WAIT_S)
        embedder.let_go.set()
    assert embedder.embedded_texts <= 101
    with serving(tmp_path, tokens=served.tokens) as again:
        assert sync(again).json()["vectorsWaiting"] == 0


def test_a_watched_folder_is_taken_in_unasked(tmp_path: Path) -> None:
    heard = threading.Event()
    with serving(tmp_path, watch=True) as served:
        served.agents.listen(lambda agent, event: heard.set() if "Synced" in str(event) else None)
        served.search("readings")
        assert heard.wait(WAIT_S)


@pytest.mark.parametrize("watch", [True, False])
def test_the_service_watches_notes_unless_the_settings_say_no(tmp_path: Path, watch: bool) -> None:
    with serving(tmp_path, watch=True, settings=Settings(sync=SyncSettings(watch=watch))) as one:
        one.agents.memory("main")
        threads = {thread.name for thread in threading.enumerate()}
        assert ("notewell-main" in threads) is watch
