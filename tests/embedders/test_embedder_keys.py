"""Settings of embedders that were once read by nobody, each seen from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.embedders.fake_server import FakeProvider, Seen
from tests.embedders.machine import Machine
from tests.embedders.test_local import CONTEXT, make_gguf

LONG = "The router was shipped on Monday and the boat is green. "


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


def configure(machine: Machine, server: FakeProvider, provider: str, **search: Any) -> None:
    remote = {"baseUrl": server.url(provider), "apiKey": "key"}
    machine.configure({"provider": provider, "model": "e5-model", "remote": remote, **search})


def answer_of(machine: Machine, question: str = "router") -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(machine.run("search", question, "--json").stdout)
    return answer


# -- input types ---------------------------------------------------------------------------------


def input_types(seen: Seen) -> set[str | None]:
    requests = seen.body.get("requests", [seen.body])
    return {one.get("input_type", one.get("taskType")) for one in requests}


@pytest.mark.parametrize("provider", ["openai-compatible", "openai", "voyage", "gemini"])
def test_input_types_are_sent(machine: Machine, server: FakeProvider, provider: str) -> None:
    configure(machine, server, provider, queryInputType="question", inputType="passage")
    machine.run("index")
    # The first request may be a short query that measures the length of the vectors.
    indexed = [seen for seen in server.seen if "router" in " ".join(seen.texts)]
    assert {kind for seen in indexed for kind in input_types(seen)} == {"passage"}
    # The server adds the prompt of the model, so we add none.
    assert not any(text.startswith("passage: ") for seen in indexed for text in seen.texts)
    server.seen.clear()
    assert answer_of(machine)["mode"] == "hybrid"
    assert {kind for seen in server.seen for kind in input_types(seen)} == {"question"}


def test_an_input_type_without_effect_is_named_by_the_check(
    machine: Machine, server: FakeProvider
) -> None:
    configure(machine, server, "ollama", documentInputType="passage")
    checked = machine.run("config", "check")
    assert "documentInputType" in checked.stdout
    assert "has no input types" in checked.stdout


# -- time limits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["ollama", "openai-compatible", "voyage"])
def test_a_question_waits_for_a_slow_provider(
    machine: Machine, server: FakeProvider, provider: str
) -> None:
    configure(machine, server, provider)
    machine.run("index")
    server.latency_s = 2.0
    assert answer_of(machine)["mode"] == "hybrid"


def test_how_long_a_question_waits_is_a_setting(machine: Machine, server: FakeProvider) -> None:
    # Indexed with the default: a sync asks for the length of the vectors, which is a question too.
    configure(machine, server, "ollama")
    assert machine.run("index").returncode == 0
    configure(machine, server, "ollama", query={"embeddingTimeoutSeconds": 0.3})
    server.always("hang")
    answer = answer_of(machine)
    assert answer["mode"] == "keyword"
    assert "timeout" in answer["notice"]
    assert answer["results"]


def test_how_long_a_request_with_notes_may_take_is_a_setting(
    machine: Machine, server: FakeProvider
) -> None:
    # Without the setting, this test runs into the time limit of the process.
    configure(
        machine,
        server,
        "openai-compatible",
        sync={"embeddingBatchTimeoutSeconds": 1},
        query={"embeddingTimeoutSeconds": 1},
        outputDimensionality=8,
    )
    server.always("hang")
    indexed = machine.run("index")
    assert indexed.returncode == 5
    assert "timeout" in indexed.stderr


# -- models on this machine ----------------------------------------------------------------------


def chunks_with(machine: Machine, model: Path, **local: Any) -> int:
    settings = {"modelPath": str(model), **local}
    machine.configure({"provider": "local", "local": settings, "chunking": {"tokens": 400}})
    indexed = machine.run("index")
    assert indexed.returncode == 0, indexed.stderr
    status: dict[str, Any] = json.loads(machine.run("status", "--json").stdout)
    chunks: int = status["chunks"]
    return chunks


def test_the_context_size_bounds_the_chunks(machine: Machine, tmp_path: Path) -> None:
    model = make_gguf(tmp_path / "tiny.gguf")
    machine.write_note("long.md", LONG * 60)
    whole = chunks_with(machine, model)
    assert chunks_with(machine, model, contextSize=CONTEXT // 2) > whole


def test_model_means_the_folder_of_the_settings(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "my models"
    (folder / "someone" / "tiny").mkdir(parents=True)
    path = make_gguf(folder / "someone" / "tiny" / "tiny.gguf")
    uri = "hf:someone/tiny/tiny.gguf"
    local = {"modelPath": uri, "modelCacheDir": str(folder)}
    machine.configure({"provider": "local", "local": local})
    models = json.loads(machine.run("model", "list", "--json").stdout)["models"]
    assert {"name": uri, "path": str(path)} in [
        {"name": model["name"], "path": model["path"]} for model in models
    ]
    assert str(path) in machine.run("model", "pull", uri).stdout
    assert machine.run("index").returncode == 0


def test_a_server_that_is_slow_at_first_needs_one_index_run(
    machine: Machine, server: FakeProvider
) -> None:
    configure(machine, server, "ollama", query={"embeddingTimeoutSeconds": 0.3})
    # The question for the length of the vectors; the texts of the notes are answered.
    server.misbehave("hang")
    indexed = machine.run("index", "--json")
    assert indexed.returncode == 0, indexed.stderr
    report = json.loads(indexed.stdout)
    assert (report["vectorsWaiting"], report["trouble"]) == (0, None)
    assert report["chunks"] == 1
