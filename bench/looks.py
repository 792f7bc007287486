"""A keyword search in a new process over very many notes that have not changed.

    python -m bench.looks [--notes 100000]

Time until the answer is printed, and until the process ends. A search compares the notes with the
index; if that is slow, it answers first and says so, and the comparison follows (`sync.look`). The
floors: `python -c pass`, and one `stat` of every note, which a comparison cannot do without.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.rows import Row

NOTES = 100_000
NOTES_A_FOLDER = 1000
ROUNDS = 5
DEGRADED = 5
"""The exit status of a search that answers before it has compared the notes."""
ANSWER_LIMIT = 30.0
"""0.35 s where `python -c pass` takes 12 ms."""
LOOK_LIMIT = 8.0


def rows(notes: int = NOTES) -> list[Row]:
    with tempfile.TemporaryDirectory() as scratch:
        workspace = Path(scratch) / "workspace"
        write_notes(workspace, notes)
        place = ["-w", str(workspace), "--state-dir", str(Path(scratch) / "state")]
        notewell = [str(Path(sys.executable).parent / "notewell")]
        subprocess.run(
            [*notewell, "index", "--text-only", *place], check=True, capture_output=True
        )
        search = [*notewell, "search", *place, "--mode", "keyword", "number7"]
        # The first one waits for the comparison, and records how long it took.
        waiting = timed(search)[0]
        answers, stats, bare = [], [], []
        for _ in range(ROUNDS):
            answers.append(timed(search)[1])
            stats.append(stat_all(workspace))
            bare.append(timed([sys.executable, "-c", "pass"])[0])
    count = f"{notes:,}".replace(",", " ")
    return [
        Row(f"cold: answer over {count} notes", min(answers), min(bare), ANSWER_LIMIT, "ms wall"),
        Row(f"cold: comparison of {count} notes", waiting, min(stats), LOOK_LIMIT, "ms wall"),
    ]


def write_notes(workspace: Path, notes: int) -> None:
    for number in range(notes):
        folder = workspace / "memory" / f"p{number // NOTES_A_FOLDER:03}"
        if number % NOTES_A_FOLDER == 0:
            folder.mkdir(parents=True)
        text = f"# Note {number}\n\nIt has the word number{number % 1000} and the day {number}.\n"
        (folder / f"n{number:06}.md").write_text(text, encoding="utf-8")


def timed(command: list[str]) -> tuple[float, float]:
    """Milliseconds until the process ends, and until its first line."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        answered = time.perf_counter()
        _, errors = process.communicate()
    ended = time.perf_counter()
    if process.returncode not in (0, DEGRADED):
        raise SystemExit(errors.decode())
    return (ended - started) * 1000, (answered - started) * 1000


def stat_all(workspace: Path) -> float:
    started = time.perf_counter()
    for folder in os.scandir(workspace / "memory"):
        with os.scandir(folder.path) as entries:
            for entry in entries:
                entry.stat(follow_symlinks=False)
    return (time.perf_counter() - started) * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=NOTES)
    found = rows(parser.parse_args().notes)
    print(*found, sep="\n")
    return 0 if all(row.is_kept for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
