"""How long a question takes: measured when all peers are indexed, in rounds.

The machine may be busier in one minute than in the next, so the peers take turns: each is started
cold for one question and then asked a few, and so on for some rounds.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, NamedTuple

from bench.peers.peer import PeerFailed
from bench.peers.processes import cpu_s

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.peers.peer import Peer, PeerHome
    from bench.peers.service import EmbeddingService

ROUNDS = 2
QUESTIONS = 20


class PeerTimes(NamedTuple):
    warm_ms: float
    """Median of the questions of all rounds, by the clock."""
    warm_cpu_ms: float
    """CPU time of a question, with the embedding server's part: of the calmest round."""
    cold_ms: float
    """Median of the rounds."""


class _Round(NamedTuple):
    cold_ms: float
    warm_ms: list[float]
    cpu_ms: float


def take_times(
    peers: Mapping[str, tuple[Peer, PeerHome]], questions: Sequence[str], service: EmbeddingService
) -> dict[str, PeerTimes | str]:
    """By name; the reason, if a peer failed in a round."""
    rounds: dict[str, list[_Round]] = {name: [] for name in peers}
    failures: dict[str, str] = {}
    for number in range(ROUNDS):
        asked = questions[number * QUESTIONS :][:QUESTIONS] or questions[:QUESTIONS]
        for name, (peer, home) in peers.items():
            if name not in failures:
                try:
                    rounds[name].append(_round(peer, home, asked, service))
                except PeerFailed as error:
                    failures[name] = str(error)
    return {name: failures.get(name) or _summed(rounds[name]) for name in peers}


def _round(
    peer: Peer, home: PeerHome, questions: Sequence[str], service: EmbeddingService
) -> _Round:
    began_s = time.monotonic()
    peer.ask_once(home, questions[0])
    cold_ms = 1000 * (time.monotonic() - began_s)
    warm_ms = []
    with peer.serve(home) as serving:
        serving.ask(questions[0])  # Loads what is loaded on demand.
        before_s = cpu_s(serving.pid) + service.cpu_s()
        for question in questions:
            began_s = time.monotonic()
            serving.ask(question)
            warm_ms.append(1000 * (time.monotonic() - began_s))
        used_s = cpu_s(serving.pid) + service.cpu_s() - before_s
    return _Round(cold_ms, warm_ms, 1000 * used_s / len(questions))


def _summed(rounds: Sequence[_Round]) -> PeerTimes:
    return PeerTimes(
        statistics.median(ms for each in rounds for ms in each.warm_ms),
        min(each.cpu_ms for each in rounds),
        statistics.median(each.cold_ms for each in rounds),
    )
