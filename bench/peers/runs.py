"""All rows of one run, one after the other: what one peer cannot do does not stop the others."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from bench.peers.measure import home_of, load, measure, save
from bench.peers.peer import PeerFailed
from bench.peers.times import take_times

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from bench.peers.measure import Measuring, PeerResult
    from bench.peers.peer import Peer


def result_file(cache: Path, name: str) -> Path:
    return cache / f"{name}.json"


def install_rows(
    peers: Mapping[str, Peer], cache: Path
) -> tuple[dict[str, tuple[Path, ...]], dict[str, str]]:
    """The folders of each installation, and the reasons of those that failed."""
    folders: dict[str, tuple[Path, ...]] = {}
    failures: dict[str, str] = {}
    for name, peer in peers.items():
        say(f"{name}: installing")
        try:
            folders[name] = peer.install(cache)
        except PeerFailed as error:
            failures[name] = str(error)
    return folders, failures


def measure_rows(
    peers: Mapping[str, Peer], cache: Path, measuring: Measuring,
    offline_hits: Callable[[str], int | None],
) -> dict[str, str]:  # fmt: skip
    """Writes a result for each row; returns the reasons of those that failed."""
    folders, failures = install_rows(peers, cache)
    for name, taken in folders.items():
        say(f"{name}: indexing and asking")
        try:
            result = measure(peers[name], taken, cache / "runs" / name, measuring)
        except PeerFailed as error:
            failures[name] = str(error)
            continue
        say(f"{name}: offline")
        save(_with_offline(result, name, offline_hits), result_file(cache, name))
    return failures


def _with_offline(
    result: PeerResult, name: str, offline_hits: Callable[[str], int | None]
) -> PeerResult:
    """A peer that finds nothing at all need not find anything offline, but it must answer."""
    try:
        hits = offline_hits(name)
    except PeerFailed as error:
        say(f"{name}: offline: {error}")
        return result._replace(works_offline=False)
    if hits is None:
        return result
    finds = any(verdict.hits for each in result.sets for verdict in each.verdicts)
    return result._replace(works_offline=hits > 0 or not finds)


def time_rows(peers: Mapping[str, Peer], cache: Path, measuring: Measuring) -> dict[str, str]:
    """Adds the times to the results that are there. Of the set with the fewest workspaces: its
    notes are the most that a peer has in one index."""
    asked = min(measuring.sets, key=lambda each: len(each.workspaces))
    workspace = next(iter(asked.workspaces))
    homes = {
        name: (peer, home_of(cache / "runs" / name, workspace, measuring.service.url))
        for name, peer in peers.items()
        if result_file(cache, name).exists()
    }
    say("times")
    questions = [question.text for question in asked.questions if question.workspace == workspace]
    failures: dict[str, str] = {}
    for name, times in take_times(homes, questions, measuring.service).items():
        if isinstance(times, str):
            failures[name] = times
        else:
            file = result_file(cache, name)
            save(load(file)._replace(times=times), file)
    return failures


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
