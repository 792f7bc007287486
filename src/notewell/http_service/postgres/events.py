"""Events of the other replicas: an open page learns at once what was written through another one.

    an event here  ──▶  its topic and a digest of its agent, as a hint  ──▶  ChangedElsewhere there

Topics are collected for a moment, so that a busy replica sends a few hints a second. A page that
misses one polls a few seconds later.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from notewell.errors import NotewellError
from notewell.http_service.agents import ChangedElsewhere
from notewell.http_service.ui.events import topic_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.http_service.agents import Agents, Event
    from notewell.postgres import Hints

COLLECT_S = 0.1

_log = logging.getLogger(__name__)


class SharedEvents:
    """Sends the events of this replica and publishes those of the others."""

    def __init__(self, agents: Agents, hints: Hints, *, collect_s: float = COLLECT_S) -> None:
        self._agents = agents
        self._hints = hints
        self._collect_s = collect_s
        self._own = secrets.token_hex(8)
        self._lock = threading.Lock()
        self._topics: set[tuple[str, str]] = set()
        """Agent and topic of what is to be sent."""
        self._has_topics = threading.Event()
        self._stop = threading.Event()
        self.is_listening = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        unsubscribe = self._agents.listen(self._on_event)
        for work in (self._send_topics, self._receive):
            threading.Thread(target=work, name="notewell-events", daemon=True).start()
        try:
            yield
        finally:
            unsubscribe()
            self._stop.set()
            self._has_topics.set()

    # -- sending ---------------------------------------------------------------------------------

    def _on_event(self, agent: str, event: Event) -> None:
        topic = None if isinstance(event, ChangedElsewhere) else topic_of(event)
        if topic:
            with self._lock:
                self._topics.add((agent, topic))
            self._has_topics.set()

    def _send_topics(self) -> None:
        trouble = ""
        while True:
            self._has_topics.wait()
            if self._stop.wait(self._collect_s):
                return
            with self._lock:
                self._has_topics.clear()
                topics, self._topics = self._topics, set()
            try:
                self._hints.send(
                    f"{self._own} {agent_digest(agent)} {topic}" for agent, topic in sorted(topics)
                )
                trouble = ""
            except NotewellError as error:
                if str(error) != trouble:  # Once, not with every event of an outage.
                    trouble = str(error)
                    _log.warning("other replicas get no hints: %s", error)

    # -- receiving -------------------------------------------------------------------------------

    def _receive(self) -> None:
        self._hints.listen(self._on_hint, self._stop, self.is_listening.set)

    def _on_hint(self, hint: str) -> None:
        sender, _, rest = hint.partition(" ")
        digest, _, topic = rest.partition(" ")
        if sender == self._own:
            return
        # Only agents that are open here can have a page.
        for agent in self._agents.opened():
            if agent_digest(agent) == digest:
                self._agents.publish(agent, ChangedElsewhere(topic))


def agent_digest(agent: str) -> str:
    return hashlib.sha256(agent.encode()).hexdigest()[:16]
