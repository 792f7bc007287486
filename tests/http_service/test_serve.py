"""`notewell serve` as a process: how it starts, whom it refuses to serve, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from notewell.cli import main
from notewell.http_service.tokens import OWNER_NAME, TOKENS_FILE, TokenRequest, TokenStore

WAIT_S = 60


class Running(NamedTuple):
    process: subprocess.Popen[str]
    told: dict[str, Any]
    state: Path
    workspace: Path

    @property
    def url(self) -> str:
        return str(self.told["url"])

    @property
    def token(self) -> str:
        return (self.state / "owner.token").read_text(encoding="utf-8").strip()

    def ask(self, method: str, path: str, **options: Any) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        return httpx2.request(
            method, f"{self.url}{path}", headers=headers, timeout=WAIT_S, **options
        )

    def end(self, number: int = signal.SIGTERM) -> list[dict[str, Any]]:
        """Its log."""
        self.process.send_signal(number)
        out, errors = self.process.communicate(timeout=WAIT_S)
        assert self.process.returncode == 0, errors
        assert out == ""
        assert self.token not in errors
        return [json.loads(line) for line in errors.splitlines()]


@contextmanager
def started(tmp_path: Path, *options: str) -> Iterator[Running]:
    workspace, state = tmp_path / "workspace", tmp_path / "state"
    (workspace / "memory").mkdir(parents=True, exist_ok=True)
    (workspace / "MEMORY.md").write_text("We store readings in SQLite.\n", encoding="utf-8")
    command = [sys.executable, "-W", "error", "-m", "notewell", "serve", "--json", "--port", "0"]
    place = ["-w", str(workspace), "--state-dir", str(state)]
    with subprocess.Popen(
        [*command, *place, *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)},
    ) as process:
        assert process.stdout
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line == "}\n":
                break
        assert lines, process.stderr.read() if process.stderr else ""
        try:
            yield Running(process, json.loads("".join(lines)), state, workspace)
        finally:
            process.kill()


def test_it_starts_with_a_token_and_a_link_and_ends_well(tmp_path: Path) -> None:
    with started(tmp_path) as served:
        assert served.told["agents"] == ["main"]
        file = Path(served.told["ownerTokenFile"])
        assert file == served.state / "owner.token"
        assert file.stat().st_mode & 0o777 == 0o600
        assert served.token not in json.dumps(served.told)
        found = served.ask("POST", "/v1/search", json={"query": "Where are readings?"})
        assert found.json()["results"][0]["path"] == "MEMORY.md"
        with httpx2.Client(timeout=WAIT_S) as browser:
            opened = browser.get(served.told["page"])
            assert opened.status_code == 303
            assert browser.get(f"{served.url}/v1/status").status_code == 200
            assert browser.get(f"{served.url}/").status_code == 200
        log = served.end()
    assert {line["status"] for line in log if line["event"] == "request"} == {200, 303}
    assert not (served.state / "serve.json").exists()
    # The second time there is a token already.
    with started(tmp_path) as again:
        assert again.told["ownerTokenFile"] is None
        assert again.ask("GET", "/v1/status").status_code == 200
        again.end(signal.SIGINT)


def test_a_token_made_or_revoked_meanwhile_counts_at_once(tmp_path: Path) -> None:
    with started(tmp_path) as served:
        book = TokenStore(served.state / TOKENS_FILE)
        token, secret = book.create(TokenRequest("new", ("main",)))
        shown = {"Authorization": f"Bearer {secret}"}
        assert served.ask("GET", "/v1/status", headers=shown).status_code == 200
        book.revoke(token.id)
        assert served.ask("GET", "/v1/status", headers=shown).status_code == 401
        served.end()


def test_another_link_can_be_made_for_a_running_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with started(tmp_path) as served:
        assert main(["token", "link", "--state-dir", str(served.state)]) == 0
        link = capsys.readouterr().out.strip()
        assert link.startswith(served.url)
        assert httpx2.get(link, timeout=WAIT_S).status_code == 303
        assert httpx2.get(link, timeout=WAIT_S).status_code == 403
        served.end()
    assert main(["token", "link", "--state-dir", str(served.state)]) == 2


def test_what_is_under_way_is_finished_and_streams_end(tmp_path: Path) -> None:
    """An entry that is being written when the signal comes is answered and stands in the note."""
    import fcntl

    with started(tmp_path) as served:
        first = served.ask("POST", "/v1/append", json={"text": "The first."})
        note = served.workspace / str(first.json()["path"])
        answers: list[httpx2.Response] = []

        def writing() -> None:
            answers.append(served.ask("POST", "/v1/append", json={"text": "The last."}))

        streaming = httpx2.Client(timeout=WAIT_S)
        headers = {"Authorization": f"Bearer {served.token}"}
        with (
            streaming,
            streaming.stream("GET", f"{served.url}/v1/page/events", headers=headers) as stream,
        ):
            assert stream.status_code == 200
            with note.open("rb") as held:
                fcntl.flock(held, fcntl.LOCK_EX)  # The writer has to wait for it.
                thread = threading.Thread(target=writing)
                thread.start()
                _until_waited_for(note)
                served.process.send_signal(signal.SIGTERM)
                _until_refused(served.url)
            thread.join(WAIT_S)
            for _ in stream.iter_bytes():
                pass  # It ends.
        served.process.wait(WAIT_S)
        assert served.process.returncode == 0
        (answer,) = answers
        assert answer.status_code == 201
        assert "The last." in note.read_text(encoding="utf-8")


def _until_waited_for(note: Path) -> None:
    """Until somebody has opened the note besides us; /proc says who."""
    if not Path("/proc/locks").exists():
        pytest.skip("no /proc")
    for _ in range(WAIT_S * 100):
        opened = 0
        for link in Path("/proc").glob("[0-9]*/fd/*"):
            try:
                opened += link.readlink() == note
            except OSError:
                continue
        if opened > 1:
            return
        threading.Event().wait(0.01)
    raise AssertionError("nobody opened it")


def _until_refused(url: str) -> None:
    host, port = url.removeprefix("http://").split(":")
    for _ in range(WAIT_S * 100):
        try:
            socket.create_connection((host, int(port)), 1).close()
        except OSError:
            return
        threading.Event().wait(0.01)
    raise AssertionError("it still listens")


@pytest.mark.parametrize(
    ("options", "todo"),
    [
        (["--host", "0.0.0.0"], "--public"),
        (["--host", "0.0.0.0", "--public"], "--allow-host"),
        (["--host", "0.0.0.0", "--public", "--allow-host", "m.example"], "notewell token create"),
        (["--host", "0.0.0.0", "--allow-host", "m.example"], "--public"),
        (["--port", "70000"], "65535"),
        (["--agent", "a b"], "agent"),
    ],
)
def test_it_refuses_to_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], todo: str
) -> None:
    place = ["-w", str(tmp_path), "--state-dir", str(tmp_path / "state")]
    TokenStore(tmp_path / "state" / TOKENS_FILE).create(
        TokenRequest(OWNER_NAME, ("main",), ("admin",))
    )
    assert main(["serve", *place, "--port", "0", *options]) == 2
    assert todo in capsys.readouterr().err


def test_it_refuses_a_book_of_tokens_that_others_can_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    TokenStore(tmp_path / TOKENS_FILE).create(TokenRequest("x", ("main",)))
    (tmp_path / TOKENS_FILE).chmod(0o644)
    place = ["-w", str(tmp_path), "--state-dir", str(tmp_path)]
    assert main(["serve", *place, "--port", "0"]) == 2
    assert "chmod 600" in capsys.readouterr().err


def test_for_other_machines_it_answers_to_the_names_it_was_given(tmp_path: Path) -> None:
    TokenStore(tmp_path / "state" / TOKENS_FILE).create(TokenRequest("phone", ("main",)))
    options = ("--host", "0.0.0.0", "--public", "--allow-host", "memory.example")
    with started(tmp_path, *options) as served:
        assert served.url == "https://memory.example"
        assert served.told["ownerTokenFile"] is None
        (served.state / "owner.token").write_text("unused", encoding="utf-8")
        served.end()


def test_the_agents_of_the_settings_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import argparse

    from notewell.cli.served_agents import agents_of

    told = {
        "agents": {
            "list": [
                {"id": "work", "workspace": str(tmp_path / "w")},
                {"id": "home", "workspace": str(tmp_path / "h"), "default": True},
                {"id": "nowhere"},
            ]
        }
    }
    file = tmp_path / "config.json"
    file.write_text(json.dumps(told), encoding="utf-8")
    monkeypatch.setenv("NOTEWELL_CONFIG", str(file))
    monkeypatch.chdir(tmp_path)
    nothing = argparse.Namespace(workspace=None, agent=None, openclaw=False)
    places = agents_of(nothing)[0].agents
    assert list(places) == ["home", "work"]
    assert places["work"].workspace == str(tmp_path / "w")
    one = argparse.Namespace(workspace=None, agent="work", openclaw=False)
    assert list(agents_of(one)[0].agents) == ["work"]
    here = argparse.Namespace(workspace=str(tmp_path), agent=None, openclaw=False)
    assert list(agents_of(here)[0].agents) == ["main"]


def test_a_folder_that_is_not_there_is_not_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["serve", "-w", str(tmp_path / "none"), "--state-dir", str(tmp_path / "state")]
    assert main(told) == 1
    assert "no such folder" in capsys.readouterr().err
