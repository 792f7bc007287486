"""Many agents in one service: what they share, what they never share, and when they are opened."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import threading
from collections import defaultdict
from pathlib import Path

import pytest
from tests.embedders.fake_server import FakeProvider
from tests.http_service.served import serving
from tests.sync.test_shared_notifier import instances

from notewell.cli.serve import ARENAS
from notewell.cli.served_agents import agents_of
from notewell.config import Settings, load_settings
from notewell.core import Secret
from notewell.embedders import EmbedderSettings, LocalSettings, RemoteSettings
from notewell.errors import NotewellError
from notewell.http_service import routes_status
from notewell.http_service.agents import Agents, Event, ServedAgent
from notewell.http_service.routes_status import OPENING_S, Readiness, ReadyCount
from notewell.sync import Synced

WAIT_S = 60


def workspaces(folder: Path, *agents: str) -> dict[str, Path]:
    for agent in agents:
        (folder / agent).mkdir()
        text = f"# Storage\n\nThe agent {agent} keeps its readings in SQLite.\n"
        (folder / agent / "MEMORY.md").write_text(text, encoding="utf-8")
    return {agent: folder / agent for agent in agents}


def opened(
    folder: Path, settings: dict[str, EmbedderSettings | None], *, watch: bool = False
) -> Agents:
    places = workspaces(folder, *settings)
    served = {
        agent: ServedAgent(str(places[agent]), Settings(embedder=embedder))
        for agent, embedder in settings.items()
    }
    return Agents(served, folder / "state", watch=watch)


# -- models --------------------------------------------------------------------------------------


def test_agents_with_the_same_model_of_this_machine_share_it(tmp_path: Path) -> None:
    embedded = EmbedderSettings(provider="embedded")
    agents = opened(tmp_path, {"a": embedded, "b": embedded, "c": None, "d": None})
    models = {agent: agents.memory(agent).indexer.embedder for agent in agents.ids}
    assert models["a"] is models["b"]
    assert models["c"] is models["d"]
    agents.close()


def test_a_local_model_is_shared_by_agents_that_run_it_alike(tmp_path: Path) -> None:
    def local(context_size: int) -> EmbedderSettings:
        own = LocalSettings(str(tmp_path / "model.gguf"), context_size=context_size)
        return EmbedderSettings(provider="local", local=own)

    agents = opened(tmp_path, {"a": local(512), "b": local(512), "c": local(256)})
    models = {agent: agents.memory(agent).indexer.embedder for agent in agents.ids}
    assert models["a"] is models["b"]
    assert models["a"] is not models["c"]
    agents.close()


def test_a_shared_model_outlives_the_memory_of_one_agent(tmp_path: Path) -> None:
    embedded = EmbedderSettings(provider="embedded")
    agents = opened(tmp_path, {"a": embedded, "b": embedded})
    agents.memory("a").sync()
    agents.memory("a").close()
    agents.memory("b").sync()
    assert agents.memory("b").search("Where are the readings?").mode == "hybrid"
    agents.close()


def test_keys_of_agents_stay_apart(tmp_path: Path) -> None:
    with FakeProvider() as provider:

        def remote(key: str) -> EmbedderSettings:
            at = RemoteSettings(provider.url("openai-compatible"), Secret(key))
            return EmbedderSettings(provider="openai-compatible", model="m", remote=at)

        agents = opened(tmp_path, {"a": remote("key-of-a"), "b": remote("key-of-b")})
        for agent in agents.ids:
            agents.memory(agent).sync()
        keys = defaultdict(set)
        for seen in provider.seen:
            text = json.dumps(seen.body)
            for agent in agents.ids:
                if f"agent {agent} keeps" in text:
                    keys[agent].add(seen.headers["authorization"])
        agents.close()
    assert keys == {"a": {"Bearer key-of-a"}, "b": {"Bearer key-of-b"}}


# -- watches -------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="inotify")
def test_one_instance_of_inotify_watches_all_agents(tmp_path: Path) -> None:
    synced: dict[str, threading.Semaphore] = defaultdict(lambda: threading.Semaphore(0))

    def on_event(agent: str, event: Event) -> None:
        if isinstance(event, Synced) and event.why in ("start", "change"):
            synced[agent].release()

    before = instances()
    none = EmbedderSettings(provider="none")
    agents = opened(tmp_path, dict.fromkeys(("a", "b", "c"), none), watch=True)
    agents.listen(on_event)
    agents.open_all()
    for agent in agents.ids:
        assert synced[agent].acquire(timeout=WAIT_S)
    assert instances() == before + 1
    for agent in agents.ids:
        (tmp_path / agent / "MEMORY.md").write_text(f"News of {agent}.\n", encoding="utf-8")
        assert synced[agent].acquire(timeout=WAIT_S)
        assert agents.memory(agent).inspect.notes()[0].path == "MEMORY.md"
    agents.close()
    assert instances() == before
    names = {thread.name for thread in threading.enumerate()}
    assert not names & {"notewell-a", "notewell-b", "notewell-c", "notewell-notices"}


# -- the start -----------------------------------------------------------------------------------


def test_readiness_says_how_many_memories_are_not_open_yet(tmp_path: Path) -> None:
    none = EmbedderSettings(provider="none")
    agents = opened(tmp_path, dict.fromkeys(("a", "b", "c", "d"), none))
    now = [0.0]

    def clock() -> float:
        now[0] += OPENING_S * 0.4  # Time for two of them.
        return now[0]

    readiness = Readiness(agents, clock)
    assert readiness.count() == ReadyCount(ready=2, opening=2)
    # Not cached: the others are opened by the next one.
    assert readiness.count() == ReadyCount(ready=4, opening=0)
    agents.close()


def test_a_service_that_is_still_opening_memories_is_not_ready_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A load balancer must not end the old service before the new one is known to work."""
    monkeypatch.setattr(routes_status, "OPENING_S", -1.0)  # No time to open one.
    with serving(tmp_path) as served:
        first = served.ask("GET", "/readyz", "")
        counts = {"agents": 2, "ready": 0, "opening": 2, "indexing": 0, "failed": 0}
        assert (first.status_code, first.json()) == (503, {"status": "opening", **counts})
        assert first.headers["retry-after"] == "1"
        # Searches do not wait for that: the first one opens the memory.
        assert served.search("readings")["results"]
        served.agents.open_all()
        assert served.ask("GET", "/readyz", "").json()["status"] == "ready"


def test_a_memory_that_failed_is_not_counted_as_one_that_is_not_open_yet(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.workspaces["work"].rename(tmp_path / "moved")
        answer = served.ask("GET", "/readyz", "")
        assert answer.status_code == 503
        counts = {"agents": 2, "ready": 1, "opening": 0, "indexing": 0, "failed": 1}
        assert answer.json() == {"status": "not ready", **counts}


def test_the_settings_of_all_agents_are_read_once_and_again_after_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import argparse

    places = workspaces(tmp_path, "a", "b", "c")
    (places["c"] / "notewell.json").write_text(
        '{"agents": {"defaults": {"memorySearch": {"query": {"maxResults": 3}}}}}',
        encoding="utf-8",
    )
    config = tmp_path / "config.json"
    monkeypatch.setenv("NOTEWELL_CONFIG", str(config))

    def write(max_results: int) -> None:
        ids = [{"id": agent, "workspace": str(place)} for agent, place in places.items()]
        search = {"query": {"maxResults": max_results}, "provider": "none"}
        told = {"agents": {"defaults": {"memorySearch": search}, "list": ids}}
        config.write_text(json.dumps(told), encoding="utf-8")

    write(7)
    nothing = argparse.Namespace(workspace=None, agent=None, openclaw=None)
    served = agents_of(nothing)[0].agents
    assert served["a"].preloaded == load_settings(places["a"], "a")
    agents = Agents(served, tmp_path / "state", watch=False)
    places["b"].rename(tmp_path / "moved")
    with pytest.raises(NotewellError):
        agents.memory("b")
    write(9)
    (tmp_path / "moved").rename(places["b"])
    limits = {agent: agents.memory(agent).settings.search.max_results for agent in agents.ids}
    agents.close()
    assert limits["a"] == 7
    assert limits["b"] == 9, "after a failure, the files are read again"
    own = load_settings(places["c"], "c").search.max_results
    assert limits["c"] == own, "a workspace with a file of its own is read when it is opened"


def test_a_service_starts_without_the_mcp_sdk() -> None:
    program = (
        "import sys, notewell.cli.serve, notewell.http_service.app\n"
        "from notewell.mcp_server import is_loopback, listen\n"
        "print('mcp' in sys.modules)"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, encoding="utf-8"
    )
    assert out.stdout.strip() == "False"


@pytest.mark.skipif(os.name == "nt", reason="no such limit")
def test_a_process_may_open_the_files_of_all_its_agents() -> None:
    program = (
        "import resource\n"
        "from notewell.cli.serve import allow_files\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 4000))\n"
        "allow_files(100)\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE))\n"
        "allow_files(1000)\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE))\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, encoding="utf-8"
    )
    assert out.stdout.splitlines() == ["(1824, 4000)", "(4000, 4000)"]
    assert "1000 agents may need 9024 open files, and the limit is 4000" in out.stderr


HEAPS = """
import ctypes, sys, threading
from notewell.cli.serve import limit_arenas
if sys.argv[1] == "limited":
    limit_arenas()
together = threading.Barrier(17)
def hold():
    held = bytearray(20_000)
    together.wait()
    together.wait()
for _ in range(16):
    threading.Thread(target=hold, daemon=True).start()
together.wait()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
libc.malloc_info(0, stream)
libc.fclose(stream)
together.wait()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc")
def test_the_threads_of_a_service_share_their_heaps(tmp_path: Path) -> None:
    def heaps(how: str) -> int:
        file = tmp_path / how
        environment = {k: v for k, v in os.environ.items() if k != "MALLOC_ARENA_MAX"}
        subprocess.run([sys.executable, "-c", HEAPS, how, str(file)], check=True, env=environment)
        return file.read_text(encoding="utf-8").count("<heap nr")

    assert heaps("limited") <= ARENAS < heaps("free")
