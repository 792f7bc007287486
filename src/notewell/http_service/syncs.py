"""Syncs that somebody asked for: one at a time for each agent, shared by all who ask meanwhile."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import anyio

from notewell.errors import BadRequest

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from notewell.http_service.agents import Agents
    from notewell.http_service.limits import Pools
    from notewell.sync import SyncReport


class _Sync:
    def __init__(self) -> None:
        self.over = anyio.Event()
        self.report: SyncReport | None = None
        self.error: Exception | None = None


class Syncs:
    """They belong to the server, not to who asked: a caller who leaves does not end one."""

    def __init__(self, agents: Agents, pools: Pools) -> None:
        self._agents = agents
        self._pools = pools
        self._running: dict[tuple[str, bool], _Sync] = {}
        self._group: TaskGroup | None = None

    def begin(self, group: TaskGroup) -> None:
        """Called when the application starts."""
        self._group = group

    async def run(self, agent: str, *, force: bool, wait_s: float) -> SyncReport | None:
        """What it did; None if it goes on after `wait_s` seconds."""
        if self._group is None:
            raise BadRequest("the server is not running yet")
        key = (agent, force)
        one = self._running.get(key)
        if one is None:
            one = self._running[key] = _Sync()
            self._group.start_soon(self._carry_out, key, one)
        with anyio.move_on_after(wait_s):
            await one.over.wait()
        if not one.over.is_set():
            return None
        if one.error is not None:
            raise one.error
        return one.report

    async def _carry_out(self, key: tuple[str, bool], one: _Sync) -> None:
        agent, force = key
        try:
            work = partial(self._agents.sync, agent, force=force)
            one.report = await self._pools.run("slow", agent, work)
        except Exception as error:  # noqa: BLE001 - told to whoever waits, as it is
            one.error = error
        finally:
            del self._running[key]
            one.over.set()
