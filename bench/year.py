"""A year of conversations: how kept files, the index, a hook and a search grow with them.

    python bench/year.py [--sessions 100,3000] [--text DIR] [--json]

Each size has a memory of its own. Its sessions are written as transcripts of Claude Code, and the
end of each one runs the hook that the installer writes, as in `notewell eval --replay`. The words
come from the sessions of an evaluation set (`--text`, default `examples/conversations`): each
message keeps its length and most of its words, and one in four is another word of the set, so that
sessions differ. Each step then runs in a process of its own, so that its CPU time, its peak of
memory and the files it opens are its own.

Vectors come from the hash of a text: a model would take hours, and what is measured is everything
around it. Figures are CPU time; the last column is the ratio of the largest size to the smallest.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from notewell import Memory
    from notewell.evals import HostHooks, ReplayFolders
    from notewell.evals.conversations import ReplayMessage, ReplaySession

BEGIN = datetime(2025, 11, 15, 8, 0, tzinfo=UTC)
YEAR = timedelta(days=365)
SEED = 20261115
OTHER_WORDS = 0.25
DIMS = 384
QUESTIONS = 40
EXAMPLES = Path(__file__).parents[1] / "examples" / "conversations"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", default="100,3000")
    parser.add_argument("--text", type=Path, default=EXAMPLES)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        name, folder, count = arguments.step
        print(json.dumps(STEPS[name](Path(folder), int(count), arguments.text)))
        return 0
    sizes = [int(size) for size in arguments.sessions.split(",")]
    with tempfile.TemporaryDirectory(prefix="notewell-year-") as scratch:
        columns = {size: _measure(Path(scratch) / str(size), size, arguments) for size in sizes}
    if arguments.json:
        print(json.dumps({str(size): figures for size, figures in columns.items()}, indent=2))
    else:
        print(*_table(columns), sep="\n")
    return 0


def _measure(folder: Path, size: int, arguments: argparse.Namespace) -> dict[str, float]:
    figures: dict[str, float] = {}
    for step in STEPS:
        words = ["--text", str(arguments.text), "--step", step, str(folder), str(size)]
        command = [sys.executable, __file__, *words]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        figures |= json.loads(done.stdout)
    return figures


def _table(columns: dict[int, dict[str, float]]) -> Iterator[str]:
    sizes = list(columns)
    first, last = columns[sizes[0]], columns[sizes[-1]]
    yield f"{'sessions':34}" + "".join(f"{size:>12}" for size in sizes) + f"{'ratio':>10}"
    for name in last:
        cells = "".join(f"{columns[size][name]:12.2f}" for size in sizes)
        ratio = last[name] / first[name] if first[name] else float("nan")
        yield f"{name:34}{cells}{ratio:10.1f}"


# -- the sessions --------------------------------------------------------------------------------


def _sessions(text: Path, count: int) -> Iterator[ReplaySession]:
    from notewell.evals import load_replay_set
    from notewell.evals.conversations import ReplaySession

    with tempfile.TemporaryDirectory() as scratch:
        replayed = load_replay_set(text, Path(scratch))
    models = [session for one in replayed.conversations for session in one.sessions]
    words = [
        word for session in models for message in session.messages for word in message.text.split()
    ]
    dice = random.Random(SEED)
    for number in range(count):
        model = dice.choice(models)
        at = BEGIN + YEAR * number / count
        messages = [
            _varied(message, at + timedelta(minutes=place), f"{number}-{place}", words, dice)
            for place, message in enumerate(model.messages)
        ]
        cwd = f"/code/project-{number % 7}"
        yield ReplaySession(f"session-{number:05}", cwd, tuple(messages))


def _varied(
    message: ReplayMessage, at: datetime, id_: str, words: list[str], dice: random.Random
) -> ReplayMessage:
    said = message.text.split()
    other = [word if dice.random() > OTHER_WORDS else dice.choice(words) for word in said]
    return message._replace(id=id_, at=at, text=" ".join(other))


# -- the steps, each in a process of its own -----------------------------------------------------


def _folders(folder: Path) -> ReplayFolders:
    from notewell.evals import ReplayFolders

    return ReplayFolders(folder / "workspace", folder / "state", folder / "transcripts")


def _hooks(folder: Path) -> HostHooks:
    from notewell.cli.eval_replay import InstalledHooks

    return InstalledHooks(_folders(folder), notes_only=False)


def keep(folder: Path, count: int, text: Path) -> dict[str, float]:
    """The year: the end of each session runs its hook."""
    from notewell.evals.replay import append_turn

    folders = _folders(folder)
    (folders.workspace / "memory").mkdir(parents=True)
    folders.transcripts.mkdir()
    hooks, messages, spent = _hooks(folder), 0, 0.0
    for session in _sessions(text, count):
        messages += len(session.messages)
        file = folders.transcripts / f"{session.name}.jsonl"
        append_turn(file, session.name, session.cwd, session.messages)
        payload = {"session_id": session.name, "transcript_path": str(file), "cwd": session.cwd}
        at = session.messages[-1].at
        spent += _cpu_ms(partial(hooks.fire, "session-end", payload, at))
        file.unlink()  # As a host does after a while.
    return {
        "messages": messages,
        "kept, MB": _megabytes(folders.state / "agents"),
        "notes, MB": _megabytes(folders.workspace),
        "session-end hook, ms": spent / count,
    }


def hook(folder: Path, count: int, text: Path) -> dict[str, float]:
    """One more turn, in a long session, when everything else is there."""
    from notewell.evals.replay import append_turn

    folders, hooks = _folders(folder), _hooks(folder)
    file = folders.transcripts / "today.jsonl"
    payload = {"session_id": "today", "transcript_path": str(file), "cwd": "/code/shop"}
    times = []
    for session in _sessions(text, 20):
        append_turn(file, "today", "/code/shop", session.messages[:2])
        times.append(_cpu_ms(partial(hooks.fire, "stop", payload, BEGIN + YEAR)))
    start = _cpu_ms(partial(hooks.fire, "session-start", payload, BEGIN + YEAR))
    opened = _opened(partial(hooks.fire, "stop", payload, BEGIN + YEAR))
    return {
        "stop hook, ms": statistics.median(times),
        "stop hook, files opened": opened,
        "session-start hook, ms": start,
    }


def index(folder: Path, count: int, text: Path) -> dict[str, float]:
    with _memory(folder) as memory:
        words = _cpu_ms(partial(memory.sync, vectors=False))
        vectors = _cpu_ms(memory.sync)
        nothing = _cpu_ms(memory.sync)
    return {
        "index of words, s": words / 1000,
        "vectors and codes, s": vectors / 1000,
        "sync without changes, ms": nothing,
        "index: memory, MB": _peak_megabytes(),
        "index, MB": _megabytes(folder / "state" / "memory"),
    }


def search(folder: Path, count: int, text: Path) -> dict[str, float]:
    from notewell.evals import load_replay_set

    with tempfile.TemporaryDirectory() as scratch:
        replayed = load_replay_set(text, Path(scratch))
    questions = [question.text for one in replayed.conversations for question in one.questions]
    questions = random.Random(SEED).choices(questions, k=QUESTIONS)
    with _memory(folder) as memory:
        first = _cpu_ms(partial(memory.search, "when do we ship?"))
        times = [_cpu_ms(partial(memory.search, question)) for question in questions]
        opened = _opened(partial(memory.search, "which port is it?"))
    return {
        "first search of a process, ms": first,
        "search, ms": statistics.median(times),
        "search, files opened": opened,
        "search: memory, MB": _peak_megabytes(),
    }


STEPS: dict[str, Callable[[Path, int, Path], dict[str, float]]] = {
    "keep": keep,
    "index": index,
    "search": search,
    "hook": hook,
}


def _memory(folder: Path) -> Memory:
    from notewell import open_memory
    from notewell.testing import HashEmbedder

    folders = _folders(folder)
    embedder = HashEmbedder(dims=DIMS)
    return open_memory(folders.workspace, state_dir=folders.state, embedder=embedder)


def _cpu_ms(deed: Callable[[], Any]) -> float:
    started = time.process_time()
    deed()
    return (time.process_time() - started) * 1000


_counted: Counter[str] = Counter()


def _count(event: str, _: object) -> None:
    if event in ("open", "os.scandir", "os.listdir"):
        _counted[event] += 1


def _opened(deed: Callable[[], Any]) -> int:
    """How many files and folders Python opens; an audit hook stays, so it is the last step."""
    sys.addaudithook(_count)
    before = _counted.total()
    deed()
    return _counted.total() - before


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


if __name__ == "__main__":
    raise SystemExit(main())
