"""Agents that come and go while the service runs, and who may ask them then."""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.http_service.served import COOKIE, Served, serving

from notewell.cli.served_agents import agents_of
from notewell.errors import BadRequest
from notewell.http_service.agents import Agents, Roster, RosterChange, ServedAgent
from notewell.http_service.directory import DirectoryFollower
from notewell.http_service.tokens import LINKS_FILE, LoginLinks, TokenRequest
from notewell.testing import HashEmbedder

WAIT_S = 60


def workspace(folder: Path, agent: str) -> ServedAgent:
    (folder / agent).mkdir(exist_ok=True)
    text = f"# Storage\n\nThe {agent} agent keeps its readings in SQLite.\n"
    (folder / agent / "MEMORY.md").write_text(text, encoding="utf-8")
    return ServedAgent(str(folder / agent))


@pytest.fixture
def roster(tmp_path: Path) -> dict[str, ServedAgent]:
    return {agent: workspace(tmp_path, agent) for agent in ("main", "work")}


@pytest.fixture
def served(tmp_path: Path, roster: dict[str, ServedAgent]) -> Iterator[Served]:
    with serving(tmp_path) as one:
        # What `serving` made of the same folders, with settings of its own.
        one.agents.update(Roster(roster))
        request = TokenRequest("all", ("*",), ("admin",))
        one.tokens["all"] = one.book.create(request)[1]
        yield one


def test_a_token_for_all_agents_opens_one_that_was_added_later(
    served: Served, roster: dict[str, ServedAgent], tmp_path: Path
) -> None:
    header = {"Notewell-Agent": "late"}
    early = served.ask("GET", "/v1/notes/MEMORY.md", "all", headers=header)
    assert early.status_code == 403
    assert early.json()["detail"] == "this server has no such agent"
    change = served.agents.update(Roster(roster | {"late": workspace(tmp_path, "late")}))
    assert change == RosterChange(added=("late",))
    answer = served.ask("GET", "/v1/notes/MEMORY.md", "all", headers=header)
    assert "late agent" in answer.json()["text"]
    assert served.ask("GET", "/v1/page/me", "all").json()["agents"] == ["main", "work", "late"]


def test_a_browser_that_is_logged_in_sees_an_agent_that_is_added(
    served: Served, roster: dict[str, ServedAgent], tmp_path: Path
) -> None:
    code = LoginLinks(served.state / LINKS_FILE).make()
    cookie = served.ask("GET", f"/open?code={code}", "").headers["set-cookie"].split(";")[0]
    assert cookie.startswith(f"{COOKIE}=nwt_")
    served.agents.update(Roster(roster | {"late": workspace(tmp_path, "late")}))
    answer = served.ask("GET", "/v1/page/me?agent=late", "", headers={"Cookie": cookie})
    assert answer.json()["agent"] == "late"


def test_a_token_for_other_agents_is_told_why_it_does_not_open_a_new_one(
    served: Served, roster: dict[str, ServedAgent], tmp_path: Path
) -> None:
    header = {"Notewell-Agent": "late"}
    before = served.ask("GET", "/v1/status", "both", headers=header)
    served.agents.update(Roster(roster | {"late": workspace(tmp_path, "late")}))
    refused = served.ask("GET", "/v1/status", "both", headers=header)
    # The same words: they do not say which agents there are.
    assert refused.json() == before.json()
    told = refused.json()
    assert told["detail"] == "the token was made for main, work and not for the requested agent"
    assert "notewell token create --agent '*'" in told["action"]


def test_a_removed_agent_is_closed_and_its_token_is_told(
    served: Served, roster: dict[str, ServedAgent]
) -> None:
    assert served.ask("GET", "/v1/status", "other").status_code == 200
    change = served.agents.update(Roster({"main": roster["main"]}))
    assert change == RosterChange(removed=("work",))
    assert "work" not in served.agents.opened()
    refused = served.ask("GET", "/v1/status", "other")
    assert refused.status_code == 403
    assert "none of the token's agents (work)" in refused.json()["detail"]
    assert served.search("readings", "both")["results"]


def test_requests_that_run_are_answered_before_a_removed_memory_is_closed(
    served: Served, roster: dict[str, ServedAgent]
) -> None:
    begun, may_end = threading.Event(), threading.Event()
    order: list[object] = []

    def use() -> None:
        with served.agents.using("work") as memory:
            begun.set()
            assert may_end.wait(WAIT_S)
            order.append(bool(memory.search("readings").hits))

    def update() -> None:
        served.agents.update(Roster({"main": roster["main"]}))
        order.append("closed")

    with ThreadPoolExecutor(2) as pool:
        used = pool.submit(use)
        assert begun.wait(WAIT_S)
        updated = pool.submit(update)
        while "work" in served.agents.ids:
            assert not updated.done()
        may_end.set()
        used.result(WAIT_S)
        updated.result(WAIT_S)
    assert order == [True, "closed"]


def test_an_agent_with_another_folder_is_opened_anew(
    served: Served, roster: dict[str, ServedAgent], tmp_path: Path
) -> None:
    assert "work agent" in served.ask("GET", "/v1/notes/MEMORY.md", "other").json()["text"]
    moved = roster | {"work": workspace(tmp_path, "moved")}
    assert served.agents.update(Roster(moved)) == RosterChange(changed=("work",))
    assert "moved agent" in served.ask("GET", "/v1/notes/MEMORY.md", "other").json()["text"]


def test_there_is_always_somebody_to_serve(served: Served) -> None:
    with pytest.raises(BadRequest, match="no agent"):
        served.agents.update(Roster({}))
    assert served.agents.ids == ("main", "work")


# -- the settings file ---------------------------------------------------------------------------


def write(config: Path, *ids: str) -> None:
    agents = [{"id": id_, "workspace": str(config.parent / id_)} for id_ in ids]
    config.write_text(json.dumps({"agents": {"list": agents}}), encoding="utf-8")


def test_the_agents_follow_the_settings_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for agent in ("a", "b", "c"):
        workspace(tmp_path, agent)
    config = tmp_path / "config.json"
    monkeypatch.setenv("NOTEWELL_CONFIG", str(config))
    write(config, "a", "b")
    nothing = argparse.Namespace(workspace=None, agent=None, openclaw=False)
    roster, directory = agents_of(nothing)
    assert directory is not None
    agents = Agents(roster.agents, tmp_path / "state", watch=False, embedder=HashEmbedder())
    agents.open_all()
    memory = agents.memory("a")
    follower = DirectoryFollower(directory, agents)
    assert not follower.look(), "nothing has changed"
    write(config, "a", "c")
    assert follower.look()
    assert agents.ids == ("a", "c")
    assert set(agents.opened()) == {"a", "c"}, "an agent that is added is watched at once"
    assert agents.memory("a") is memory, "others are left alone"
    config.write_text("{", encoding="utf-8")
    assert not follower.look()
    assert "the agents stay as they are" in caplog.text
    assert agents.ids == ("a", "c")
    write(config, "b", "c", "a")
    assert follower.look()
    assert list(agents.ids) == ["b", "c", "a"]
    agents.close()


def test_an_agent_that_options_name_stays(tmp_path: Path) -> None:
    here = argparse.Namespace(workspace=str(tmp_path), agent=None, openclaw=False)
    assert agents_of(here)[1] is None
