from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.http_service.served import Served, serving
from tests.postgres_server import PostgresServer

from notewell.postgres.address import VARIABLE


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as one:
        yield one


@pytest.fixture
def tenant(
    postgres_server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """A tenant that no other test has: the settings and the environment name it."""
    name = f"tenant-{uuid.uuid4()}"
    whole = {"agents": {"defaults": {"memorySearch": {"store": {"tenant": name}}}}}
    (tmp_path / "own.json").write_text(json.dumps(whole), encoding="utf-8")
    monkeypatch.setenv("NOTEWELL_CONFIG", str(tmp_path / "own.json"))
    monkeypatch.setenv("NOTEWELL_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv(VARIABLE, postgres_server.login_url("notewell"))
    return name
