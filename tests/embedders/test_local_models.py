"""What `notewell model` knows: the models by name, here or not, and fetching them."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from notewell.cli import model as command
from notewell.embedders import weights
from notewell.embedders.local import DEFAULT_MODEL
from notewell.embedders.models import list_models, pull_model
from notewell.errors import BadRequest, EmbedderMissing

CONTENT = b"GGUF" + bytes(1000)
URI = "hf:someone/tiny/tiny.gguf"


class _Hub(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.send_header("ETag", f'"{hashlib.sha256(CONTENT).hexdigest()}"')
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(CONTENT)


@pytest.fixture
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No package index can be reached."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")


def test_every_model_is_listed_whether_it_is_here_or_not(hub: str, tmp_path: Path) -> None:
    pull_model(tmp_path, URI + "#v2", hub=hub)
    states = {state.name: state for state in list_models(tmp_path)}
    assert set(states) == {
        *(model.name for model in weights.MODELS),
        DEFAULT_MODEL,
        URI + "#v2",
    }
    assert states["notewell-embed"].path == weights.IN_PACKAGE
    assert states[DEFAULT_MODEL].path is None
    here = states[URI + "#v2"]
    assert here.path is not None
    assert here.path.read_bytes() == CONTENT
    assert here.bytes == len(CONTENT)


def test_a_model_of_the_hub_is_pulled_once_and_progress_is_told(hub: str, tmp_path: Path) -> None:
    seen: list[int] = []
    done = pull_model(tmp_path, URI, hub=hub, progress=lambda have, _: seen.append(have))
    assert done == f"put {URI} into {tmp_path / 'someone' / 'tiny' / 'tiny.gguf'}"
    assert seen[-1] == len(CONTENT)
    assert "already there" in pull_model(tmp_path, URI, hub=hub)


def test_without_a_name_the_model_of_the_package_is_meant(
    tmp_path: Path, weights_folder: Path
) -> None:
    assert pull_model(tmp_path) == f"notewell-embed is already there and sound: {weights_folder}"


@pytest.mark.usefixtures("nowhere")
def test_a_model_that_cannot_be_had_is_told_with_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(
        EmbedderMissing, match=r"use-multilingual-v3.*try again with a network connection"
    ):
        pull_model(tmp_path, "use-multilingual-v3")
    with pytest.raises(EmbedderMissing, match="embeddinggemma"):
        pull_model(tmp_path, "local", hub="http://127.0.0.1:1")


def test_an_unknown_name_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="known: notewell-embed, use-multilingual-v3, local, hf:"):
        pull_model(tmp_path, "gpt")


def _arguments(tmp_path: Path, **more: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"state_dir": str(tmp_path), "json": False, "name": None, **more})


def test_the_command_lists_models_for_people_and_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.run(_arguments(tmp_path, action="list")) == 0
    output = capsys.readouterr().out
    assert f"not here: notewell model pull {DEFAULT_MODEL}" in output
    assert command.run(_arguments(tmp_path, action="list", json=True)) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    assert {model["name"] for model in models} >= {"notewell-embed", "use-multilingual-v3"}


def test_the_list_does_not_propose_to_pull_what_is_part_of_the_package(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "IN_PACKAGE", tmp_path / "bundled" / "notewell-embed")
    assert command.run(_arguments(tmp_path, action="list")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("notewell-embed ")
    assert lines[1].strip() == "not here, or damaged: reinstall notewell"


@pytest.mark.usefixtures("nowhere")
def test_the_command_says_what_it_did_or_could_not_do(
    tmp_path: Path, weights_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.run(_arguments(tmp_path, action="pull", json=True)) == 0
    assert str(weights_folder) in json.loads(capsys.readouterr().out)["did"]
    (tmp_path / "models").write_text("in the way", encoding="utf-8")
    assert command.run(_arguments(tmp_path, action="pull", name="use-multilingual-v3")) == 1
    assert "notewell: the 'embedded' embedder is not available" in capsys.readouterr().err
