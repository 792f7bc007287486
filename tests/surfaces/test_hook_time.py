"""Hooks answer before their host ends them, and they say why there is no answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from notewell import open_memory
from notewell.capture import CaptureSettings
from notewell.cli.hook import LEASE_WAIT_S
from notewell.cli.hook_call import time_of
from notewell.hosts import HOOK_FILES, HOOK_TIMEOUT_S

WAIT_S = 120
"""For a whole process on a busy machine. Without the limits of a hook it would not end at all."""

PATIENT_HOST = """
import sys
from notewell.cli import hook_call, main
hook_call.END_SHARE = hook_call.WORK_SHARE = 60
sys.exit(main(sys.argv[1:]))
"""
"""As if a host granted ten minutes: of the 10 s that they grant, a busy machine needs more."""
AMPLE = {"recallSeconds": 100, "workSeconds": 100}


class Silent(ThreadingHTTPServer):
    """A provider that accepts requests and does not answer them before `over` is set."""

    daemon_threads = True

    def __init__(self) -> None:
        over = self.over = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                over.wait(WAIT_S)

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.fixture
def silent() -> Iterator[Silent]:
    server = Silent()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    thread.join()
    server.server_close()


class Machine:
    """A workspace and the settings of a user; hooks run as processes, as a host starts them."""

    def __init__(self, folder: Path) -> None:
        self.workspace, self.state = folder / "workspace", folder / "state"
        self.workspace.mkdir()
        self.transcript = folder / "cc-1.jsonl"
        self.config = folder / "own.json"

    def configure(self, settings: object) -> None:
        text = settings if isinstance(settings, str) else json.dumps(settings)
        self.config.write_text(text, encoding="utf-8")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        place = ["-w", str(self.workspace), "--state-dir", str(self.state)]
        call = {
            "session_id": "cc-1",
            "transcript_path": str(self.transcript),
            "prompt": "Which router do we have?",
        }
        return subprocess.run(
            [sys.executable, "-c", PATIENT_HOST, *words, *place],
            input=json.dumps(call),
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "NOTEWELL_CONFIG": str(self.config)},
            timeout=WAIT_S,
            check=False,
        )

    def hook(self, *words: str) -> str:
        """What the model sees; the host goes on in any case."""
        done = self.run("hook", *words)
        assert done.returncode == 0, done.stderr
        if not done.stdout:
            return ""
        context: str = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
        return context


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    (made.workspace / "MEMORY.md").write_text("- the router is a Fritzbox\n", encoding="utf-8")
    return made


# -- why there is no answer ----------------------------------------------------------------------


@pytest.mark.parametrize("event", [("prompt", "--recall"), ("session-start",)])
def test_settings_that_cannot_be_read_are_the_reason(
    machine: Machine, event: tuple[str, ...]
) -> None:
    machine.configure('{"memory": {"backend": "elsewhere"}}')
    context = machine.hook(*event)
    assert context.startswith("(Memory could not be searched: a setting of this memory")
    assert "notewell config check" in context
    assert str(machine.config) not in context
    assert "Fritzbox" not in context


def test_an_engine_that_is_missing_is_the_reason(machine: Machine) -> None:
    qmd = {"command": "no-such-program-here"}
    memory = {"backend": "qmd", "fallback": "none", "qmd": qmd}
    machine.configure({"memory": memory, "hooks": AMPLE})
    context = machine.hook("prompt", "--recall")
    assert context.startswith("(Memory could not be searched: ")
    assert "qmd did not answer (binary-missing)" in context
    assert context.count("\n") == 0


def test_a_prompt_that_is_searched_by_a_second_choice_hears_of_no_failure(
    machine: Machine,
) -> None:
    remote = {"baseUrl": "http://127.0.0.1:9/v1", "apiKey": "k"}
    search = {"provider": "openai", "fallback": "embedded", "remote": remote}
    qmd = {"backend": "qmd", "qmd": {"command": "no-such-program-here"}}
    for memory in ({}, qmd):
        agents = {"defaults": {"memorySearch": search}}
        machine.configure({"agents": agents, "memory": memory, "hooks": AMPLE})
        machine.run("index")
        assert machine.hook("prompt", "--recall").endswith("Fritzbox\n</recalled>")
        (machine.workspace / "MEMORY.md").write_text("- the tap leaks\n", encoding="utf-8")
        machine.run("index")
        assert machine.hook("prompt", "--recall") == ""
        (machine.workspace / "MEMORY.md").write_text("- the router is a Fritzbox\n", "utf-8")


def test_a_prompt_that_asked_for_nothing_hears_of_no_failure(machine: Machine) -> None:
    machine.configure('{"memory": {"backend": "elsewhere"}}')
    assert machine.hook("prompt") == ""


# -- the time of a hook --------------------------------------------------------------------------


def lancedb(silent: Silent | None, **hooks: float) -> dict[str, Any]:
    config = {"autoCapture": True, "autoRecall": True}
    settings: dict[str, Any] = {
        "hooks": hooks,
        "plugins": {"entries": {"memory-lancedb": {"enabled": True, "config": config}}},
    }
    if silent is not None:
        search = {
            "provider": "openai-compatible",
            "model": "m",
            "remote": {"baseUrl": f"http://127.0.0.1:{silent.server_port}/v1", "apiKey": "k"},
            # Longer than any host waits, and than this test.
            "query": {"embeddingTimeoutSeconds": 600},
            "sync": {"embeddingBatchTimeoutSeconds": 600},
        }
        settings["agents"] = {"defaults": {"memorySearch": search}}
    return settings


def test_a_prompt_goes_on_when_the_embedder_is_late(machine: Machine, silent: Silent) -> None:
    machine.configure(lancedb(None))
    said = ("entries", "store", "the router in the office is a Fritzbox")
    assert machine.run(*said).returncode == 0
    machine.configure(lancedb(silent, workSeconds=5))  # There is no index yet: this time counts.
    context = machine.hook("prompt", "--recall")
    # The notes need no embedder. The entries are found by their words, or the reason is there.
    assert "- the router is a Fritzbox" in context


def test_a_recall_that_takes_too_long_says_so(machine: Machine, silent: Silent) -> None:
    machine.configure(lancedb(None))
    assert machine.run("entries", "store", "the office has a Fritzbox").returncode == 0
    machine.configure(lancedb(silent, recallSeconds=0.1))
    context = machine.hook("prompt")
    assert context == "(Memory could not be searched: not finished after 0.1 s)"


def test_the_first_prompt_waits_until_the_notes_are_indexed(machine: Machine) -> None:
    """Also if the start of the session, which runs at the same time, is indexing them."""
    machine.configure({"hooks": {**AMPLE, "recallSeconds": 0.1}})
    with ThreadPoolExecutor() as pool:
        start = pool.submit(machine.hook, "session-start")
        prompt = pool.submit(machine.hook, "prompt", "--recall")
        assert "Fritzbox" in start.result()
        assert prompt.result().endswith("Fritzbox\n</recalled>")


def test_the_first_prompt_waits_for_another_process_that_indexes_the_notes(
    machine: Machine,
) -> None:
    machine.configure({"hooks": {"workSeconds": 100}})
    with (
        ThreadPoolExecutor() as pool,
        open_memory(machine.workspace, state_dir=machine.state) as other,
    ):
        with other.indexer.store.writing(wait_s=0):
            prompt = pool.submit(machine.hook, "prompt", "--recall")
            time.sleep(3 * LEASE_WAIT_S)  # Longer than other hooks wait for it.
        assert prompt.result().endswith("Fritzbox\n</recalled>")


def test_a_prompt_that_recalls_entries_alone_does_not_index_the_notes(
    machine: Machine, silent: Silent
) -> None:
    machine.configure(lancedb(silent, **AMPLE))
    assert machine.hook("prompt") == ""  # No entries are stored yet.
    assert not list(machine.state.rglob("*.sqlite"))


def test_a_late_embedder_costs_the_entry_and_not_the_note(
    machine: Machine, silent: Silent
) -> None:
    machine.configure(lancedb(silent, workSeconds=1))
    said = {"type": "user", "sessionId": "cc-1", "message": {"content": "I prefer dark mode"}}
    machine.transcript.write_text(json.dumps(said) + "\n", encoding="utf-8")
    assert machine.hook("session-end") == ""
    (note,) = (machine.workspace / "memory").glob("*.md")
    assert "I prefer dark mode" in note.read_text(encoding="utf-8")
    # No position is kept for the session: the next hook looks at the message again.
    assert not list(machine.state.rglob("entries.json"))
    (due,) = machine.state.rglob("entries-due/pending.json")
    assert "cc-1" in json.loads(due.read_text(encoding="utf-8"))


@pytest.mark.parametrize("host", HOOK_FILES)
@pytest.mark.parametrize(
    "event", ["prompt", "session-start", "pre-compact", "stop", "session-end"]
)
def test_every_limit_is_below_what_the_host_grants(host: str, event: str) -> None:
    generous = CaptureSettings(hook_recall_s=600, hook_work_s=600)
    granted = HOOK_FILES[host].limit_s(event)
    assert granted == (3 if (host, event) == ("codex", "session-end") else HOOK_TIMEOUT_S)
    for settings in (CaptureSettings(), generous):
        for indexes_first in (False, True):
            work, end = time_of(event, host, settings, indexes_first=indexes_first)
            assert work < end < granted
    assert time_of("prompt", host, CaptureSettings()).end <= 2.5
