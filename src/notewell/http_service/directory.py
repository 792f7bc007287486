"""Follows an `AgentDirectory` while the service runs: an agent that is added to it is served a
second later, and one that is removed is not.

A directory that cannot be read changes nothing: the agents stay as they are until it can.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from notewell.errors import NotewellError

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.http_service.agents import AgentDirectory, Agents, Roster

POLL_S = 1.0

_log = logging.getLogger(__name__)


class DirectoryFollower:
    """Looks at the directory in a thread of its own."""

    def __init__(
        self,
        directory: AgentDirectory,
        agents: Agents,
        *,
        before_update: Callable[[Roster], None] = lambda _: None,
        poll_s: float = POLL_S,
    ) -> None:
        """`agents` serves what the directory has said a moment ago."""
        self._directory = directory
        self._agents = agents
        self._before_update = before_update
        self._poll_s = poll_s
        self._mark: object = None
        self._turn = threading.Lock()
        self._trouble = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notewell-agents", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns at once: an update that waits for requests must not hold up the shutdown."""
        self._stop.set()

    def look(self) -> bool:
        """Whether the agents are others now."""
        # In turn: an older roster must not replace a newer one.
        with self._turn:
            return self._look()

    def _look(self) -> bool:
        try:
            mark = self._directory.mark()
            if mark == self._mark:
                self._trouble = ""
                return False
            # Before it is read: what changes meanwhile is read again.
            self._mark = mark
            roster = self._directory.read()
            self._before_update(roster)
            change = self._agents.update(roster)
        except NotewellError as error:
            # Once, not every second of an outage.
            if str(error) != self._trouble:
                self._trouble = str(error)
                _log.error("the agents stay as they are: %s", error)
            return False
        if not any(change):
            return False
        _log.info(
            "agents added: %s; removed: %s; with other settings: %s",
            *(", ".join(agents) or "none" for agents in change),
        )
        self._agents.open_all()
        return True

    def _run(self) -> None:
        while not self._stop.wait(self._poll_s):
            try:
                self.look()
            except Exception:  # noqa: BLE001
                # The root of a thread. The next change may be a good one.
                _log.exception("the agents stay as they are")
