"""The table, as Markdown: only of what was measured."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bench.peers.evidence import Verdict
    from bench.peers.measure import PeerResult

NOT_MEASURED = "–"


def table(results: Sequence[PeerResult]) -> Iterator[str]:
    """What was found and what it cost, all questions together."""
    yield from _rows(
        (
            "", "found any@6", "all@6", "seen any", "all", "characters", "index s (CPU)",
            "warm ms (CPU)", "cold ms", "install MB", "memory MB", "offline", "written to notes",
        ),
        map(_row, results),
    )  # fmt: skip


def set_table(results: Sequence[PeerResult]) -> Iterator[str]:
    """What was found, for each set on its own."""
    names = [each.name for each in results[0].sets]
    heads = [head for name in names for head in (f"{name} any@6", "all@6", "seen any", "no hit")]
    rows = ([result.name, *_set_cells(result)] for result in results)
    yield from _rows(["", *heads], rows)


def versions(results: Sequence[PeerResult]) -> Iterator[str]:
    """Versions and how each one was run."""
    rows = (
        (
            result.name,
            ", ".join(f"{name} {version}" for name, version in result.packages.items()),
            result.day,
            result.about,
        )
        for result in results
    )
    yield from _rows(("row", "version", "run on", "how it was run"), rows)


def _rows(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _row(result: PeerResult) -> list[str]:
    verdicts = [verdict for each in result.sets for verdict in each.verdicts]
    times = result.times
    return [
        result.name,
        *_found(verdicts),
        _share(verdict.any_seen for verdict in verdicts),
        _share(verdict.all_seen for verdict in verdicts),
        f"{statistics.mean(verdict.chars for verdict in verdicts):.0f}",
        f"{result.index_s:.0f} ({result.index_cpu_s:.0f})",
        f"{times.warm_ms:.0f} ({times.warm_cpu_ms:.0f})" if times else NOT_MEASURED,
        f"{times.cold_ms:.0f}" if times else NOT_MEASURED,
        f"{result.install_mb:.0f}",
        f"{result.rss_mb:.0f}",
        _offline(result),
        _written(result),
    ]


def _found(verdicts: Sequence[Verdict]) -> tuple[str, str]:
    return (
        _share(verdict.any_found for verdict in verdicts),
        _share(verdict.all_found for verdict in verdicts),
    )


def _set_cells(result: PeerResult) -> Iterator[str]:
    for each in result.sets:
        yield from _found(each.verdicts)
        yield _share(verdict.any_seen for verdict in each.verdicts)
        yield str(sum(not verdict.hits for verdict in each.verdicts))


def _share(values: Iterable[bool | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{statistics.mean(known):.3f}".removeprefix("0") if known else NOT_MEASURED


def _offline(result: PeerResult) -> str:
    if result.works_offline is None:
        return NOT_MEASURED
    if not result.works_offline:
        return "no"
    return "yes" if result.has_own_vectors else "with an embedding server"


def _written(result: PeerResult) -> str:
    if not result.written.files:
        return "nothing"
    return f"{result.written.bytes} bytes, {result.written.files} files"
