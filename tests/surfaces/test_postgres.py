"""A folder of notes that is indexed into PostgreSQL, through the command line and the library."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from tests.postgres_server import PASSWORD, PostgresServer, running_server

from notewell import Settings, StoreSettings, open_memory
from notewell.cli import main
from notewell.core import Secret
from notewell.errors import IndexUnavailable
from notewell.postgres.address import VARIABLE
from notewell.postgres.database import close_shared
from notewell.testing import HashEmbedder

EXAMPLE = Path(__file__).parents[2] / "examples" / "workspace"


class Place:
    """A copy of the example, a state folder, and settings that name the server."""

    def __init__(self, root: Path, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.workspace = root / "workspace"
        shutil.copytree(EXAMPLE, self.workspace)
        self.root, self._url, self._capsys = root, url, capsys
        self.tenant = f"tenant-{uuid.uuid4()}"
        self.set()

    def set(self, **store: object) -> None:
        values = {"driver": "postgres", "url": self._url, "tenant": self.tenant, **store}
        whole = {"agents": {"defaults": {"memorySearch": {"store": values}}}}
        (self.root / "own.json").write_text(json.dumps(whole), encoding="utf-8")

    def run(self, command: str, *words: str, expected: int = 0) -> dict[str, Any]:
        place = ["-w", str(self.workspace), "--state-dir", str(self.root / "state"), "--json"]
        code = main([command, *place, *words])
        output = self._capsys.readouterr()
        assert code == expected, output
        assert PASSWORD not in output.out + output.err
        answer: dict[str, Any] = json.loads(output.out)
        return answer


@pytest.fixture
def place(
    postgres_server: PostgresServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Place:
    monkeypatch.setenv("NOTEWELL_CONFIG", str(tmp_path / "own.json"))
    monkeypatch.delenv(VARIABLE, raising=False)
    return Place(tmp_path, postgres_server.login_url("notewell"), capsys)


def test_a_folder_of_notes_is_indexed_into_the_shared_store(place: Place) -> None:
    report = place.run("index")
    assert report["chunks"] > 5
    answer = place.run("search", "Which database did we choose?")
    assert answer["mode"] == "hybrid"
    assert not (place.root / "state" / "memory").exists()  # Nothing of the index is a file.
    # Another machine has its own state folder, and the same store.
    shutil.rmtree(place.root / "state", ignore_errors=True)
    assert place.run("search", "Which database did we choose?") == answer
    status = place.run("status")
    assert "postgresql://" in json.dumps(status)
    assert place.run("verify")["chunks"] == report["chunks"]


def test_tenants_do_not_see_each_other(place: Place) -> None:
    place.run("index")
    mine = place.tenant
    place.tenant = f"tenant-{uuid.uuid4()}"
    place.set()
    assert place.run("status")["chunks"] == 0
    place.tenant = mine
    place.set()
    assert place.run("status")["chunks"] > 0


def test_the_variable_wins_over_the_setting(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.set(url="postgresql://nobody@127.0.0.1:1/nothing")
    monkeypatch.setenv(VARIABLE, place._url)
    place.run("index")


def test_no_output_has_the_password(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["config", "show", "-w", str(place.workspace)]) == 0
    shown = capsys.readouterr()
    assert "store.url" in shown.out
    assert PASSWORD not in shown.out + shown.err
    monkeypatch.setenv(VARIABLE, f"postgresql://u:{PASSWORD}@127.0.0.1:1/x")
    assert "refuses the connection" in json.dumps(place.run("search", "router", expected=75))


def test_a_workspace_cannot_name_a_database(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    (place.root / "own.json").write_text("{}", encoding="utf-8")
    values = {"driver": "postgres", "url": "postgresql://evil.example/x", "tenant": "theirs"}
    own = {"memorySearch": {"store": values}}
    (place.workspace / "notewell.json").write_text(json.dumps(own), encoding="utf-8")
    place.run("index", expected=5)  # The settings of the workspace are refused.
    assert (place.root / "state" / "memory").exists()  # Our own store, in files.


def test_the_doctor_examines_the_server(place: Place) -> None:
    place.run("index")
    found = place.run("doctor")
    text = json.dumps(found)
    assert "PostgreSQL 18" in text
    assert "row-level security is forced" in text


def program(place: Place, code: str, *words: str) -> str:
    """What a new process prints on both streams."""
    arguments = [*words, "-w", str(place.workspace), "--state-dir", str(place.root / "state")]
    script = f"import sys\n{code}\nfrom notewell.cli import main\ncode = main({arguments!r})\n"
    script += "print('loaded', sorted(one for one in sys.modules if 'postgres' in one))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("words", [("index",), ("append", "A word."), ("forget", "x", "--yes")])
def test_nothing_of_it_is_imported_without_the_setting(
    place: Place, words: tuple[str, ...]
) -> None:
    (place.root / "own.json").write_text("{}", encoding="utf-8")
    assert "loaded []" in program(place, "", *words)


def test_a_missing_package_is_named(place: Place) -> None:
    text = program(place, "sys.modules['psycopg'] = None", "status")
    assert "install notewell[postgres]" in text
    assert "Traceback" not in text


def test_a_server_that_is_gone_gives_a_clear_answer_and_comes_back_by_itself(
    place: Place, tmp_path: Path
) -> None:
    with running_server() as server:
        server.create_database("notewell")
        url = Secret(server.login_url("notewell"))
        memory = open_memory(
            place.workspace,
            settings=Settings(store=StoreSettings(driver="postgres", url=url)),
            state_dir=tmp_path / "state",
            embedder=HashEmbedder(),
            environment={},
        )
        with memory:
            memory.sync()
            before = memory.search("database").hits
            assert before
            server.stop(kill=True)
            with pytest.raises(IndexUnavailable) as raised:
                memory.search("database")
            assert PASSWORD not in str(raised.value)
            server.start()
            assert memory.search("database").hits == before
            close_shared()
