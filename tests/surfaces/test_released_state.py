"""What a released version has written opens in this one: `scripts/released_state.py` packs it."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from notewell.cli import main

RELEASED = sorted((Path(__file__).parents[1] / "released").glob("*.tar.gz"))
SHEARS = "- The hedge shears are in the shed."


class User:
    """Whoever has used that version, and now runs this one."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.workspace, self.state = folder / "workspace", folder / "state"
        self._capsys = capsys

    def __call__(self, command: str, *words: str) -> dict[str, Any]:
        place = ["-w", str(self.workspace), "--state-dir", str(self.state), "--json"]
        assert main([command, *place, *words]) == 0
        answer: dict[str, Any] = json.loads(self._capsys.readouterr().out)
        return answer

    def found(self, question: str) -> list[str]:
        answer = self("search", question)
        assert answer["mode"] == "hybrid"
        return [hit["path"] for hit in answer["results"]]


@pytest.fixture(params=RELEASED, ids=lambda file: file.name.removesuffix(".tar.gz"))
def user(
    request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> User:
    """Unpacked where the workspace is now: state is named by a digest of that path."""
    digest = hashlib.sha256(str((tmp_path / "workspace").resolve()).encode()).hexdigest()[:12]
    with tarfile.open(request.param) as archive:
        for entry in archive:
            entry.name = entry.name.replace("PLACE", digest)
            archive.extract(entry, tmp_path, filter="data")
    return User(tmp_path, capsys)


def test_there_is_a_state_of_a_released_version() -> None:
    assert RELEASED


def test_its_notes_and_conversations_are_found(user: User) -> None:
    user("index")  # Builds a new index if this version needs one.
    assert user.found("where is the hive?")[0] == "memory/topics/bees.md"
    assert user.found("which database for the readings?")[0] == "memory/2026-10-02.md"
    assert "s1" in user.found("where is the key of the greenhouse?")[0]


def test_a_search_answers_before_a_new_index_is_built(user: User) -> None:
    assert user("search", "--mode", "keyword", "hive")["results"][0]["path"].endswith("bees.md")


def test_it_can_be_added_to_and_its_own_writes_can_be_undone(user: User) -> None:
    memory = user.workspace / "MEMORY.md"
    assert SHEARS in memory.read_text(encoding="utf-8")
    (write,) = user("history")["writes"]
    user("append", "The pump was repaired.")
    user("index")  # Builds a new index if this version needs one.
    assert "pump" in user("search", "what about the pump?")["results"][0]["snippet"]
    user("undo", write["id"])
    assert SHEARS not in memory.read_text(encoding="utf-8")
    assert "frost alarm" in memory.read_text(encoding="utf-8")


def test_the_state_is_sound(user: User, capsys: pytest.CaptureFixture[str]) -> None:
    user("index")
    user("status")  # Its exit code would say that something is degraded.
    assert main(["token", "list", "--state-dir", str(user.state)]) == 0
    assert "laptop" in capsys.readouterr().out
    assert main(["verify", "-w", str(user.workspace), "--state-dir", str(user.state)]) == 0
