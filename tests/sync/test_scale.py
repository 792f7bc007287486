"""What the cosines of a model mean is measured from the index, where nobody has measured it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from notewell import Memory, Settings, open_memory
from notewell.core import LEAST_CHUNKS, PROBES
from notewell.embedders import EmbedderSettings, RemoteSettings, open_embedded
from notewell.errors import EmbedderFailed

FACTS = (
    "The boiler in the cellar is from 1998 and is serviced every autumn.",
    "Nina plants garlic in the second bed before the first frost.",
    "The tap in the kitchen leaks, and a new washer is ordered.",
    "We paint the garden fence green next spring.",
    "The dentist moved to the new house beside the station.",
    "Our neighbour feeds the cat while we are at the sea.",
    "The bicycle needs new brake pads and a longer chain.",
    "The school choir sings in the town hall in December.",
    "The bread dough rests for eighteen hours in the fridge.",
    "The insurance of the car ends in March.",
    "Grandmother's recipe for plum cake needs a kilo of plums.",
)
KNOWN = "when is the heating maintained?"
UNKNOWN = "which compiler flag disables exceptions in C++?"


class VectorServer(ThreadingHTTPServer):
    """An OpenAI-compatible provider with vectors of the embedded model, which knows no kinds."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Embeddings)
        self.model = open_embedded()
        self.texts: list[str] = []
        self.refuses_probes = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Embeddings(BaseHTTPRequestHandler):
    server: VectorServer

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
        self.server.texts += texts
        if self.server.refuses_probes and set(texts) & set(PROBES):
            self.send_error(400)
            return
        rows = self.server.model.embed(texts, "document").tolist()
        data = [{"index": number, "embedding": row} for number, row in enumerate(rows)]
        body = json.dumps({"data": data, "usage": {"total_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def server() -> Iterator[VectorServer]:
    with VectorServer() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def settings(server: VectorServer) -> Settings:
    remote = RemoteSettings(base_url=server.url)
    return Settings(
        embedder=EmbedderSettings(provider="openai-compatible", model="some", remote=remote)
    )


def write_notes(workspace: Path, count: int) -> Path:
    (workspace / "memory").mkdir(parents=True, exist_ok=True)
    for number in range(count):
        first, second = FACTS[number % 11], FACTS[(number // 11 + number + 1) % 11]
        note = workspace / "memory" / f"note-{number}.md"
        note.write_text(f"- {first}\n- {second}\n", encoding="utf-8")
    return workspace


def opened(tmp_path: Path, settings: Settings, notes: int) -> Memory:
    workspace = write_notes(tmp_path / "workspace", notes)
    return open_memory(workspace, state_dir=tmp_path / "state", settings=settings)


def test_a_remote_model_is_measured_and_knows_when_nothing_is_near(
    tmp_path: Path, server: VectorServer, settings: Settings
) -> None:
    with opened(tmp_path, settings, LEAST_CHUNKS) as memory:
        assert not memory.sync().trouble
        facts = memory.indexer.index_facts()
        assert facts
        assert facts.scale
        assert 0 < facts.scale.floor < facts.scale.ceiling < 1
        known, unknown = memory.search(KNOWN), memory.search(UNKNOWN)
        assert "boiler" in known.hits[0].snippet
        assert unknown.hits == ()
        assert unknown.nearness
        assert unknown.nearness.is_far
        assert memory.search(UNKNOWN, min_score=0).hits


def test_an_index_is_measured_once(
    tmp_path: Path, server: VectorServer, settings: Settings
) -> None:
    with opened(tmp_path, settings, LEAST_CHUNKS) as memory:
        memory.sync()
        assert [text for text in server.texts if text in PROBES] == list(PROBES)
        write_notes(memory.workspace, LEAST_CHUNKS + 3)
        memory.sync()
        assert len([text for text in server.texts if text in PROBES]) == len(PROBES)


def test_a_rebuilt_index_is_measured_again(
    tmp_path: Path, server: VectorServer, settings: Settings
) -> None:
    with opened(tmp_path, settings, LEAST_CHUNKS) as memory:
        memory.sync()
        before = memory.indexer.index_facts()
        memory.sync(force=True)
        after = memory.indexer.index_facts()
        assert before
        assert after
        assert after.generation != before.generation
        assert after.scale == before.scale


def test_a_small_index_is_not_measured_and_hides_nothing(
    tmp_path: Path, server: VectorServer, settings: Settings
) -> None:
    with opened(tmp_path, settings, 5) as memory:
        memory.sync()
        assert not set(server.texts) & set(PROBES)
        answer = memory.search(UNKNOWN, min_score=None)
        assert answer.nearness
        assert answer.nearness.limit is None


def test_a_measurement_that_fails_is_reported_and_loses_nothing(
    tmp_path: Path, server: VectorServer, settings: Settings
) -> None:
    server.refuses_probes = True
    with opened(tmp_path, settings, LEAST_CHUNKS) as memory:
        report = memory.sync()
        assert isinstance(report.trouble, EmbedderFailed)
        counts = memory.status().counts
        assert counts
        assert counts.waiting == 0
        assert memory.search(KNOWN).hits
        server.refuses_probes = False
        assert not memory.sync().trouble
        facts = memory.indexer.index_facts()
        assert facts
        assert facts.scale
