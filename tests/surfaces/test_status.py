"""`status` says what is wrong, also if it went wrong in another process, until it works again."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.embedders.fake_batch import FakeBatches, batch_api
from tests.embedders.fake_server import FakeProvider

from notewell.assembly import open_memory
from notewell.cli import main
from notewell.embedders.api_keys import KeySources
from notewell.embedders.batch import BatchEmbedder, JobFolder
from notewell.embedders.registry import REMOTE_PROVIDERS
from notewell.embedders.remote import RemoteEmbedder, open_remote
from notewell.embedders.remote_plan import DimsCache, Runtime
from notewell.embedders.settings import BatchSettings, EmbedderSettings, RemoteSettings
from notewell.http_service.schemas_status import status_answer
from notewell.memory import Memory
from notewell.testing import HashEmbedder
from notewell.tools import CallContext, call, status_json

REFUSED = "the key is not accepted"


class StatusCli:
    """The command line with a settings file of its own; each call opens the memory anew."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.workspace = root / "workspace"
        self.capsys = capsys
        self.out = ""

    def configure(self, **search: Any) -> None:
        settings = {"agents": {"defaults": {"memorySearch": search}}}
        (self.root / "mine.json").write_text(json.dumps(settings), encoding="utf-8")

    def __call__(self, *arguments: str) -> int:
        command, *rest = arguments
        place = ["-w", str(self.workspace), "--state-dir", str(self.root / "state")]
        code = main([command, *place, *rest])
        captured = self.capsys.readouterr()
        self.out = captured.out + captured.err
        return code

    def json(self, *arguments: str) -> dict[str, Any]:
        self("status", "--json", *arguments)
        payload: dict[str, Any] = json.loads(self.out)
        return payload


@pytest.fixture
def cli(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> StatusCli:
    (tmp_path / "workspace" / "memory").mkdir(parents=True)
    for number in range(3):
        note = tmp_path / "workspace" / "memory" / f"2026-11-0{number + 1}.md"
        note.write_text(f"# Day {number}\n\nRouter {number} was shipped.\n", encoding="utf-8")
    monkeypatch.setenv("NOTEWELL_CONFIG", str(tmp_path / "mine.json"))
    cli = StatusCli(tmp_path, capsys)
    cli.configure()
    return cli


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


def remote(server: FakeProvider) -> dict[str, Any]:
    address = server.url("openai-compatible")
    return {
        "provider": "openai-compatible",
        "model": "some-model",
        "remote": {"baseUrl": address, "apiKey": "sk-0123456789"},
    }


def test_every_part_is_in_the_json(cli: StatusCli) -> None:
    cli.configure(provider="embedded", cache={"maxEntries": 77})
    before = cli.json()
    assert (before["indexAge"], before["lastError"], before["fallback"]) == (None, None, None)
    assert before["vector"]["available"] is False  # There are no vectors yet.
    cli("index")
    status = cli.json()
    assert status["sources"] == ["memory"]
    assert status["sourceCounts"] == [{"source": "memory", "eligible": 3, "files": 3, "chunks": 3}]
    assert status["cache"] == {"enabled": True, "maxEntries": 77, "entries": 3}
    assert status["fts"] == {"enabled": True, "available": True, "error": None}
    assert status["vector"] == {
        "enabled": True,
        "available": True,
        "driver": "segments",
        "loadError": None,
        "dims": 384,
        "embedded": 3,
    }
    assert (status["batch"]["enabled"], status["batch"]["failures"]) == (False, 0)
    assert status["indexAge"] >= 0
    assert (status["eligible"], status["files"]) == (3, 3)


def test_a_refused_key_is_seen_by_status_and_by_the_next_process(
    cli: StatusCli, server: FakeProvider
) -> None:
    cli.configure(**remote(server))
    server.always("401")
    assert cli("status", "--index") == 5
    assert "last sync   failed at " in cli.out
    assert REFUSED in cli.out
    assert cli("status") == 5  # Nothing is asked now; the file remembers.
    error = cli.json()["lastError"]
    assert error["kind"] == "embedder"
    assert REFUSED in error["message"]
    cli("index", "--text-only")
    assert cli.json()["lastError"] == error  # Words alone prove nothing about the key.
    server.always(None)
    assert cli("index") == 0
    assert cli.json()["lastError"] is None
    assert cli("status") == 0


def test_a_refused_key_is_seen_although_nothing_is_to_be_indexed(
    cli: StatusCli, server: FakeProvider
) -> None:
    cli.configure(**remote(server))
    assert cli("index") == 0
    server.always("401")
    before = len(server.seen)
    assert cli("status", "--index") == 5
    assert len(server.seen) == before + 1
    assert REFUSED in cli.out
    assert cli("status") == 5  # Nothing is asked now; the file remembers.
    server.always(None)
    assert cli("status", "--index") == 0
    (cli.workspace / "MEMORY.md").write_text("The sail is white.\n", encoding="utf-8")
    before = len(server.seen)
    assert cli("status", "--index") == 0
    assert len(server.seen) == before + 1  # The run itself has asked.


def test_index_reports_a_refused_key_although_nothing_is_to_be_embedded(
    cli: StatusCli, server: FakeProvider
) -> None:
    cli.configure(**remote(server))
    assert cli("index") == 0
    server.always("401")
    before = len(server.seen)
    assert cli("index") == 5
    assert REFUSED in cli.out
    assert "remote.apiKey" in cli.out
    assert len(server.seen) == before + 1  # One question, and not one per note.
    assert cli("index", "--text-only") == 0
    assert len(server.seen) == before + 1
    server.always(None)
    assert cli("index") == 0


def test_index_falls_back_if_the_key_is_refused_and_nothing_is_to_be_embedded(
    cli: StatusCli, server: FakeProvider
) -> None:
    cli.configure(**remote(server), fallback="embedded")
    assert cli("index") == 0
    server.misbehave("400")  # One failure is no reason to build a new index.
    assert cli("index") == 0
    server.always("401")
    assert cli("index") == 5
    assert cli.json()["provider"] == "embedded"
    server.always(None)
    assert cli("index") == 0
    assert cli.json()["provider"] == "openai-compatible"


def test_index_asks_no_embedder_of_this_machine(cli: StatusCli) -> None:
    cli.configure(provider="embedded")
    assert cli("index") == 0
    with pytest.MonkeyPatch.context() as patch:
        # As if the package had been removed: the model cannot be loaded.
        patch.setitem(sys.modules, "onnxruntime", None)
        assert cli("index") == 0
        assert cli("status", "--deep") == 5


def test_keywords_alone_ask_no_embedder(cli: StatusCli) -> None:
    cli.configure(provider="none")
    assert cli("status", "--index") == 0


def test_deep_asks_the_embedder_and_the_vectors(cli: StatusCli, server: FakeProvider) -> None:
    cli.configure(**remote(server))
    assert cli.json("--deep")["probe"]["vectors"] is None  # Nothing is indexed.
    cli("index")
    probe = cli.json("--deep")["probe"]
    assert (probe["ok"], probe["dims"]) == (True, 8)
    assert (probe["vectors"]["ok"], probe["vectors"]["found"]) == (True, 3)
    server.always("401")
    assert cli("status", "--deep") == 5
    assert REFUSED in cli.out
    # The index is asked with a stored vector: it works although the embedder does not.
    assert "a vector search found 3 chunks" in cli.out


def test_deep_shows_vectors_that_cannot_be_searched(cli: StatusCli) -> None:
    cli.configure(provider="embedded", store={"vector": {"driver": "sqlite-vec"}})
    cli("index")
    assert cli("status", "--deep") == 0
    with pytest.MonkeyPatch.context() as patch:
        # As if the package had been removed.
        patch.setitem(sys.modules, "sqlite_vec", None)
        assert cli("status") == 5
        assert "vectors     sqlite-vec is not used, segments is: " in cli.out
        vector = cli.json()["vector"]
        assert (vector["available"], vector["driver"]) == (False, "segments")
        assert "sqlite-vec" in vector["loadError"]
        assert cli.json("--deep")["probe"]["vectors"]["ok"] is False


def test_the_reason_for_the_fallback_outlives_the_process(
    cli: StatusCli, server: FakeProvider
) -> None:
    cli.configure(**remote(server), fallback="embedded")
    server.always("401")
    assert cli("index") == 5
    first = cli.json()["fallback"]
    assert (first["part"], first["from"], first["to"]) == (
        "embedder",
        "openai-compatible",
        "embedded",
    )
    assert REFUSED in first["reason"]
    assert cli("status") == 5
    assert f"in place of openai-compatible since {first['since']}: " in cli.out
    assert cli("search", "--json", "router") == 0
    assert "openai-compatible is not used, embedded is: " in json.loads(cli.out)["notice"]
    assert json.loads(cli.out)["fallback"] == first
    assert cli("search", "router") == 0  # The answer has everything, and the notice says the rest.
    assert REFUSED in cli.out
    cli("index", "--json")
    assert json.loads(cli.out)["fallback"] == first
    assert cli.json()["fallback"] == first
    server.always(None)
    cli("index")
    assert cli.json()["fallback"] is None
    assert cli("status") == 0


def test_deep_asks_the_first_provider_too_while_the_fallback_is_in_use(
    cli: StatusCli, server: FakeProvider
) -> None:
    cli.configure(**remote(server), fallback="embedded")
    assert cli.json("--deep")["probe"]["requested"] is None
    server.always("401")
    cli("index")
    before = len(server.seen)
    probe = cli.json("--deep")["probe"]
    assert len(server.seen) == before + 1
    assert (probe["ok"], probe["dims"]) == (True, 384)
    first = probe["requested"]
    assert (first["provider"], first["ok"], first["dims"]) == ("openai-compatible", False, 0)
    assert REFUSED in first["trouble"]
    assert cli("status", "--deep") == 5
    assert "openai-compatible: failed after " in cli.out
    server.always(None)
    assert cli("status", "--deep") == 5
    assert "openai-compatible: a vector of 8 dimensions in " in cli.out
    assert "`notewell index` goes back to it" in cli.out
    assert cli.json("--deep")["probe"]["requested"]["ok"] is True


# -- what a search says after a sync that failed -------------------------------------------------


def test_a_search_names_the_refused_key_and_where_it_is_set(
    cli: StatusCli, server: FakeProvider
) -> None:
    cli.configure(**remote(server))
    server.always("401")
    cli("index")
    assert cli("search", "router") == 5
    assert "none of 3 chunks has a vector yet: the last sync failed: " in cli.out
    assert REFUSED in cli.out
    assert "remote.apiKey" in cli.out
    assert "; then run `notewell index`" in cli.out
    server.always(None)
    cli("index", "--text-only")  # Words alone prove nothing about the key.
    assert cli("search", "router") == 5
    assert REFUSED in cli.out
    cli("index")
    assert cli("search", "router") == 0


def test_a_model_with_other_vectors_is_named_with_both_lengths(
    cli: StatusCli, server: FakeProvider
) -> None:
    cli.configure(**remote(server))
    assert cli("index") == 0
    server.dims = 16
    (cli.workspace / "MEMORY.md").write_text("The sail is white.\n", encoding="utf-8")
    assert cli("index") == 5
    assert "it gave vectors of 16 dimensions, and not of 8 as before; if the model" in cli.out
    assert "?" not in cli.out
    assert cli("search", "router") == 5
    text = "the index holds vectors of 8 dimensions, and some-model now gives 16: "
    assert text in cli.out
    assert cli("index") == 0
    assert cli("search", "router") == 0


def test_a_damaged_record_is_no_failure(cli: StatusCli) -> None:
    cli.configure(provider="embedded")
    cli("index")
    with opened(cli, HashEmbedder()) as memory:
        folder = memory.journal.folder
    folder.mkdir(parents=True, exist_ok=True)
    for text in ("{", "[]", '{"failure": 3}', '{"failure": {"kind": 1}, "batch": {"x": "y"}}'):
        (folder / "sync.json").write_text(text, encoding="utf-8")
        assert cli("status") == 0


# -- the other surfaces --------------------------------------------------------------------------


def plain_embedder(server: FakeProvider) -> RemoteEmbedder:
    settings = EmbedderSettings(
        provider="openai", dims=8, remote=RemoteSettings(base_url=server.url("openai"))
    )
    runtime = Runtime(sleep=lambda _: None, dims_cache=DimsCache(None), cooldown_s=0.0)
    provider = REMOTE_PROVIDERS["openai"]
    return open_remote(provider, settings, KeySources(), runtime, model="some-model").embedder


def opened(cli: StatusCli, embedder: RemoteEmbedder | BatchEmbedder | HashEmbedder) -> Memory:
    return open_memory(cli.workspace, state_dir=cli.root / "state", embedder=embedder)


def test_failed_batch_jobs_are_told_after_the_process_has_ended(cli: StatusCli) -> None:
    def embedder(server: FakeBatches) -> BatchEmbedder:
        jobs = JobFolder(cli.root / "jobs")
        settings = BatchSettings(enabled=True)
        return BatchEmbedder(
            plain_embedder(server), batch_api("openai"), jobs, settings, min_texts=2
        )

    server = FakeBatches()
    server.ending = "failed"
    with server:
        with opened(cli, embedder(server)) as memory:
            assert memory.sync().trouble is None  # Plain requests did the work.
        with opened(cli, embedder(server)) as memory:
            status = memory.status()
            batch = status_json(status)["batch"]
            assert (batch["enabled"], batch["failures"], batch["jobs"]) == (True, 1, [])
            assert "failed" in batch["lastError"]
            assert status.is_degraded


def test_agents_and_remote_readers_get_the_same_without_folders(
    cli: StatusCli, server: FakeProvider
) -> None:
    server.always("401")
    with opened(cli, plain_embedder(server)) as memory:
        memory.sync()
        answer = call(memory, "memory_status", {}, CallContext())
        payload = answer.to_json()
        assert payload["lastError"]["kind"] == "embedder"
        assert (payload["sources"], payload["files"]) == (["memory"], 3)
        assert payload["vector"]["available"] is False
        assert payload["indexAge"] >= 0
        assert "The last sync failed: " in answer.to_text()
        public = status_answer(memory.status(), admin=False, sees_private=True).model_dump_json(
            by_alias=True
        )
        for text in (json.dumps(payload), answer.to_text(), public):
            assert str(cli.root) not in text
        assert json.loads(public)["lastError"]["kind"] == "embedder"


def test_a_state_folder_that_cannot_be_written_is_named(cli: StatusCli) -> None:
    """A path below a file: root may write to every folder."""
    (cli.root / "state").write_text("a file", encoding="utf-8")
    below = ("--state-dir", str(cli.root / "state" / "below"))
    why = f"{cli.root / 'state'} is not a folder"
    assert cli("status", *below) == 5
    assert f"cannot be written: {why}" in cli.out
    assert cli.json(*below)["stateNotWritable"] == why
    assert cli("doctor", *below) != 0
    assert f"cannot be created: {why}" in cli.out
    (cli.root / "state").unlink()
    assert cli.json()["stateNotWritable"] is None
