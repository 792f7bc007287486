"""A state folder that cannot be written: every surface says what is not recorded or kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.http_service.served import serving
from tests.privileges import run_unprivileged
from tests.talking_host import TalkingHost

from notewell import open_memory
from notewell.capture import capture_dir
from notewell.testing import HashEmbedder
from notewell.tools import AppendOutput, call

NOT_RECORDED = "it is saved, but the history does not have it and cannot undo it"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TalkingHost:
    host = TalkingHost(tmp_path, monkeypatch)
    (host.workspace / "MEMORY.md").write_text("The oven is hot.\n", encoding="utf-8")
    return host


def block_history(state: Path, workspace: Path) -> None:
    """A file in the place of the folder stops root, too."""
    folder = capture_dir(state, "main", workspace.resolve())
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("in the way", encoding="utf-8")


def test_append_says_that_the_history_does_not_have_it(
    host: TalkingHost, capsys: pytest.CaptureFixture[str]
) -> None:
    block_history(host.state, host.workspace)
    assert host.run("append", "the router ships in May") == 5
    shown = capsys.readouterr()
    assert shown.out.startswith("wrote memory/")
    assert f"{NOT_RECORDED}: cannot write to '{host.state}" in shown.err
    assert host.run("append", "the router ships in June", "--json") == 5
    answer = json.loads(capsys.readouterr().out)
    assert answer["added"] is True
    assert answer["notice"].startswith(NOT_RECORDED)
    (note,) = (host.workspace / "memory").glob("*.md")
    assert "June" in note.read_text(encoding="utf-8")


def test_memory_append_says_it_and_names_no_folder(host: TalkingHost) -> None:
    block_history(host.state, host.workspace)
    with open_memory(host.workspace, state_dir=host.state, embedder=HashEmbedder()) as memory:
        output = call(memory, "memory_append", {"text": "the router ships in May"})
    assert isinstance(output, AppendOutput)
    assert f"Note: {NOT_RECORDED}: " in output.to_text()
    assert output.to_json()["notice"].startswith(NOT_RECORDED)
    assert str(host.root) not in output.to_text()


def test_http_says_it(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        block_history(served.state, served.workspaces["main"])
        answer = served.ask("POST", "/v1/append", "append", json={"text": "ships in May"}).json()
        assert answer["added"] is True
        assert answer["notice"].startswith(NOT_RECORDED)
        assert str(tmp_path) not in answer["notice"]


def test_status_and_doctor_say_that_nothing_can_be_kept(host: TalkingHost) -> None:
    host.say("we ship on Friday", "good")
    host.hook("stop")
    place = ["-w", str(host.workspace), "--state-dir", str(host.state)]
    host.kept.chmod(0o500)
    try:
        doctor = run_unprivileged(["doctor", *place])
        status = run_unprivileged(["status", "--json", *place])
    finally:
        host.kept.chmod(0o700)
    said = f"nothing is kept from now on: {host.kept} is not writable"
    assert said in doctor.stdout
    assert doctor.returncode == 5
    assert json.loads(status.stdout)["kept"]["problem"] == f"{host.kept} is not writable"


@pytest.mark.parametrize("event", ["session-start", "prompt", "pre-compact", "session-end"])
def test_a_hook_says_on_standard_error_why_it_keeps_nothing(host: TalkingHost, event: str) -> None:
    host.say("we ship on Friday", "good")
    host.state.write_text("a file", encoding="utf-8")
    place = ["-w", str(host.workspace), "--state-dir", str(host.state / "below")]
    payload = {"session_id": "cc-1", "transcript_path": str(host.transcript()), "cwd": "/x"}
    words = ["hook", event, "--host", "claude", "--keep", *place]
    done = run_unprivileged(words, typed=json.dumps(payload))
    assert done.returncode == 0
    assert "cannot write to" in done.stderr
    assert str(host.state) in done.stderr


def test_a_search_says_that_a_folder_of_notes_could_not_be_listed(host: TalkingHost) -> None:
    closed = host.workspace / "memory" / "closed"
    closed.mkdir(parents=True)
    (closed / "a.md").write_text("The walrus is called Olaf.\n", encoding="utf-8")
    assert host.run("index") == 0
    closed.chmod(0)
    try:
        place = ["--workspace", str(host.workspace), "--state-dir", str(host.state)]
        done = run_unprivileged(["search", "walrus", *place])
    finally:
        closed.chmod(0o700)
    assert done.returncode == 5
    assert "walrus is called Olaf" in done.stdout
    assert "memory/closed could not be read (permission denied)" in done.stderr
