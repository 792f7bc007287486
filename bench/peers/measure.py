"""One peer on all workspaces: index, ask, and look at the notes again."""

from __future__ import annotations

import difflib
import json
import os
import resource
import shutil
import time
from typing import TYPE_CHECKING, NamedTuple

from bench.peers.evidence import Judge, Verdict
from bench.peers.installs import installed_mb
from bench.peers.peer import PeerHome
from bench.peers.processes import rss_mb
from bench.peers.times import PeerTimes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bench.peers.peer import Peer
    from bench.peers.questions import AskedSet
    from bench.peers.service import EmbeddingService


class Written(NamedTuple):
    """What a peer changed in the folder of the notes."""

    files: int = 0
    bytes: int = 0


class SetResult(NamedTuple):
    """The answers to the questions of one set."""

    name: str
    verdicts: list[Verdict]


class PeerResult(NamedTuple):
    """All that is measured of one peer."""

    name: str
    packages: dict[str, str]
    about: str
    day: str
    has_own_vectors: bool
    install_mb: float
    index_s: float
    index_cpu_s: float
    """Of the peer and of the embedding server."""
    rss_mb: float
    """Of what answers, after the questions; without the embedding server."""
    written: Written
    sets: list[SetResult]
    works_offline: bool | None = None
    """None: not tried."""
    times: PeerTimes | None = None


class Measuring(NamedTuple):
    """What is the same for all peers."""

    sets: Sequence[AskedSet]
    service: EmbeddingService
    day: str

    def workspaces(self) -> Iterator[tuple[str, Path]]:
        for each in self.sets:
            yield from each.workspaces.items()


def measure(peer: Peer, folders: Sequence[Path], place: Path, measuring: Measuring) -> PeerResult:
    """`place` is emptied first; `folders` are those of the installation."""
    shutil.rmtree(place, ignore_errors=True)
    service = measuring.service
    homes = {
        name: make_home(peer, notes, place / name, service.url)
        for name, notes in measuring.workspaces()
    }
    before_s, began_s = _cpu_s(service), time.monotonic()
    for home in homes.values():
        peer.index(home)
    index_s, index_cpu_s = time.monotonic() - began_s, _cpu_s(service) - before_s
    asked = [_ask_set(peer, homes, each) for each in measuring.sets]
    copies = [(notes, homes[name].notes) for name, notes in measuring.workspaces()]
    return PeerResult(
        peer.name, dict(peer.packages), peer.about, measuring.day, peer.has_own_vectors,
        installed_mb(folders), index_s, index_cpu_s, max(each.rss_mb for each in asked),
        written(peer, copies), [each.result for each in asked],
    )  # fmt: skip


def make_home(peer: Peer, notes: Path, place: Path, url: str) -> PeerHome:
    """A copy of the Markdown files, under the names that the peer is to see."""
    for file in notes.rglob("*.md"):
        target = place / "notes" / peer.note_path(file.relative_to(notes).as_posix())
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    home = home_of(place.parent, place.name, url)
    home.state.mkdir(parents=True)
    return home


def home_of(place: Path, workspace: str, url: str) -> PeerHome:
    return PeerHome(place / workspace / "state", place / workspace / "notes", url)


# -- questions -----------------------------------------------------------------------------------


class _Asked(NamedTuple):
    result: SetResult
    rss_mb: float


def _ask_set(peer: Peer, homes: dict[str, PeerHome], asked: AskedSet) -> _Asked:
    verdicts: list[Verdict] = []
    memory_mb = 0.0
    for name, notes in asked.workspaces.items():
        judge = Judge(notes)
        with peer.serve(homes[name]) as serving:
            verdicts += (
                judge.verdict(question, serving.ask(question.text))
                for question in asked.questions
                if question.workspace == name
            )
            memory_mb = max(memory_mb, rss_mb(serving.pid))
    return _Asked(SetResult(asked.name, verdicts), memory_mb)


def _cpu_s(service: EmbeddingService) -> float:
    """Of the service and of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime + service.cpu_s()


# -- notes ---------------------------------------------------------------------------------------


def written(peer: Peer, copies: Sequence[tuple[Path, Path]]) -> Written:
    """Compare the notes with the copies that the peer had: new, changed and missing files."""
    files = changed = 0
    for notes, copy in copies:
        was = {
            peer.note_path(file.relative_to(notes).as_posix()): file.read_bytes()
            for file in notes.rglob("*.md")
        }
        found = (path for path in copy.rglob("*") if path.is_file())
        now = {file.relative_to(copy).as_posix(): file.read_bytes() for file in found}
        for path in was.keys() | now.keys():
            if count := _changed_bytes(was.get(path, b""), now.get(path, b"")):
                files, changed = files + 1, changed + count
    return Written(files, changed)


def _changed_bytes(before: bytes, after: bytes) -> int:
    """The bytes of lines that were added or removed."""
    if before == after:
        return 0
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return sum(
        sum(map(len, old[a:b])) + sum(map(len, new[c:d]))
        for step, a, b, c, d in steps
        if step != "equal"
    )


# -- files ---------------------------------------------------------------------------------------


def save(result: PeerResult, file: Path) -> None:
    payload = result._asdict() | {"sets": [each._asdict() for each in result.sets]}
    part = file.with_suffix(".part")
    part.write_text(json.dumps(payload, indent=1), encoding="utf-8")
    os.replace(part, file)  # noqa: PTH105 - Path.replace returns a path nobody needs


def load(file: Path) -> PeerResult:
    payload = json.loads(file.read_text(encoding="utf-8"))
    sets = [
        SetResult(each["name"], [Verdict(*verdict) for verdict in each["verdicts"]])
        for each in payload["sets"]
    ]
    written_ = Written(*payload["written"])
    times = PeerTimes(*payload["times"]) if payload["times"] else None
    return PeerResult(**payload | {"sets": sets, "written": written_, "times": times})
