"""The walk on a folder of Markdown: what each step takes, and how large the index gets.

    python bench/walk.py FOLDER [--files 300] [--text-only] [--json]

Copies the first files of FOLDER into a scratch workspace, indexes them, changes one, and asks.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell import NotesSettings, Settings, open_memory
from notewell.notes import ExtraPath

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell import Memory

QUESTIONS = 100
Mode: TypeAlias = Literal["keyword", "hybrid"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--text-only", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        workspace = Path(scratch) / "workspace"
        size = copy_notes(arguments.folder, workspace, arguments.files)
        figures = walk(workspace, Path(scratch) / "state", vectors=not arguments.text_only)
    figures["text, MB"] = size / 1e6
    figures["index / text"] = figures["index, MB"] / figures["text, MB"]
    if arguments.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name:32} {value:10.3f}")
    return 0


def copy_notes(folder: Path, workspace: Path, limit: int) -> int:
    """The notes are the truth and not ours to change: work on copies."""
    size = 0
    for note in sorted(folder.rglob("*.md"))[:limit]:
        target = workspace / note.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(note, target)
        size += note.stat().st_size
    return size


def walk(workspace: Path, state: Path, *, vectors: bool) -> dict[str, float]:
    figures: dict[str, float] = {}
    settings = Settings(notes=NotesSettings(extra_paths=(ExtraPath("."),)))
    with open_memory(workspace, state_dir=state, settings=settings) as memory:
        figures["text published, s"] = seconds(lambda: memory.sync(vectors=False))
        if vectors:
            figures["vectors complete, s"] = seconds(memory.sync)
        figures["nothing changed, ms"] = 1000 * seconds(memory.sync)
        edited = sorted(workspace.rglob("*.md"))[0]
        with edited.open("a", encoding="utf-8") as file:
            file.write("\n\none more line\n")
        figures["one note changed, ms"] = 1000 * seconds(memory.sync)
        modes: tuple[Mode, ...] = ("keyword", "hybrid") if vectors else ("keyword",)
        for mode in modes:
            took = ask(memory, questions(workspace), mode)
            figures[f"{mode} query p50, ms"] = 1000 * statistics.median(took)
            figures[f"{mode} query p95, ms"] = 1000 * statistics.quantiles(took, n=20)[-1]
        status = memory.status()
        figures["chunks"] = status.counts.chunks if status.counts else 0
        figures["index, MB"] = status.index_bytes / 1e6
    return figures


def questions(workspace: Path) -> list[str]:
    """A few words in a row from somewhere in the notes: always the same ones."""
    choice = random.Random(1)
    notes = sorted(workspace.rglob("*.md"))
    asked: list[str] = []
    while len(asked) < QUESTIONS:
        words = choice.choice(notes).read_text(encoding="utf-8", errors="replace").split()
        start = choice.randrange(max(1, len(words) - 8))
        if question := " ".join(words[start : start + 8]):
            asked.append(question)
    return asked


def ask(memory: Memory, asked: list[str], mode: Mode) -> list[float]:
    memory.search("warm up")
    return [seconds(partial(memory.search, question, mode=mode)) for question in asked]


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
