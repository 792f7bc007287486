"""Compare Notewell with other memory programs: `python -m bench.peers [ROW …]`.

Installs each program into a cache, gives it the same notes and the same 200 questions, and prints
a table. A program that cannot be installed or fails is named, has no row, and does not stop the
others. What was measured is kept in the cache, so single rows can be repeated: `--table` prints
what is there. Nothing leaves the machine: embeddings come from a server on loopback with
Notewell's own model, and telemetry is switched off where a program has a switch.

Needs Linux, npm, and for basic-memory Python 3.12. The first run takes an hour or more on two
cores, and 4 GB of disk.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from bench.peers.measure import Measuring, load
from bench.peers.offline import offline_hits
from bench.peers.processes import free_port
from bench.peers.questions import load_sets
from bench.peers.rows import ROWS
from bench.peers.runs import install_rows, measure_rows, result_file, time_rows
from bench.peers.service import ROOT, embedding_service
from bench.peers.table import set_table, table, versions


def main() -> int:
    options = _options()
    failures = {} if options.table else _run(options)
    files = [result_file(options.cache, name) for name in ROWS]
    results = [load(file) for file in files if file.exists()]
    for lines in (table, set_table, versions) if results else ():
        print("\n".join(lines(results)), end="\n\n")
    for name, reason in failures.items():
        print(f"{name} was not measured: {reason}", file=sys.stderr)
    return 1 if failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of: {', '.join(ROWS)}")
    data = (ROOT / ".." / "shared" / "data").resolve()
    parser.add_argument("--data", type=Path, default=data, help="the sets, or their archive")
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache" / "peers")
    parser.add_argument("--table", action="store_true", help="only print what was measured")
    parser.add_argument("--times", action="store_true", help="only take the times again")
    options = parser.parse_args()
    if unknown := set(options.rows) - set(ROWS):
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    options.cache = options.cache.resolve()
    return options


def _run(options: argparse.Namespace) -> dict[str, str]:
    """The reasons, by row, why some could not be measured."""
    cache: Path = options.cache
    peers = {name: ROWS[name]() for name in options.rows or ROWS}
    sets = load_sets(options.data, cache / "scratch")
    queries = [question.text for each in sets for question in each.questions]
    with embedding_service(cache / "embeddings", queries, _port(cache)) as service:
        measuring = Measuring(sets, service, datetime.now(UTC).date().isoformat())
        if options.times:
            _, failures = install_rows(peers, cache)
        else:
            failures = measure_rows(
                peers, cache, measuring, lambda name: offline_hits(name, cache, options.data)
            )
        timed = {name: peer for name, peer in peers.items() if name not in failures}
        return failures | time_rows(timed, cache, measuring)


def _port(cache: Path) -> int:
    """The same in every run: a peer may take another address for another model."""
    file = cache / "port"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(str(free_port()), encoding="utf-8")
    return int(file.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
