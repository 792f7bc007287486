"""Runs with strangers' questions as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.evals.report import short_number
from notewell.evals.strangers import UNKNOWABLE, refused_share, share_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notewell.evals.strangers import NearnessResult, StrangersRun

WIDTH = 34
HEADINGS = {"strangers": "strangers", "words": "mixed words", "letters": "letters"}


def strangers_lines(run: StrangersRun) -> Iterator[str]:
    """How many questions got no hit, by kind; then what other limits would do."""
    yield f"{run.dataset}, {run.system}: {len(run.results)} questions"
    yield f"{'':{WIDTH}} {'n':>5}  no hit"
    for label, results in _rows(run):
        if not results:
            continue
        yield f"{label:{WIDTH}} {len(results):5}  {short_number(refused_share(results))}"
    curve = run.curve()
    if not curve:
        yield f"no question has its evidence among the first {run.k} hits, so nothing can be lost"
        return
    kinds = [HEADINGS[kind] for kind in curve[0].refused]
    yield "".join(("  lost  below", *(f"  {heading:>11}" for heading in kinds)))
    for point in curve:
        shares = "".join(f"  {short_number(share):>11}" for share in point.refused.values())
        yield f"  {short_number(point.loss)}  {point.limit:.3f}{shares}"


def _rows(run: StrangersRun) -> Iterator[tuple[str, Sequence[NearnessResult]]]:
    yield f"own, evidence in the first {run.k}", run.found
    yield "own, others", [result for result in run.of("own") if not result.is_found]
    for source in run.sources():
        yield f"strangers of {source}", run.of("strangers", source)
    yield HEADINGS["words"], run.of("words")
    yield HEADINGS["letters"], run.of("letters")


def strangers_json(run: StrangersRun) -> dict[str, Any]:
    return {
        "dataset": run.dataset,
        "system": run.system,
        "k": run.k,
        "found": {"questions": len(run.found), "noHit": refused_share(run.found)},
        "kinds": {
            kind: {"questions": len(run.of(kind)), "noHit": refused_share(run.of(kind))}
            for kind in ("own", *UNKNOWABLE)
        },
        "strangers": {
            source: refused_share(run.of("strangers", source)) for source in run.sources()
        },
        "degraded": share_of(result.degraded for result in run.results),
        "curve": [point._asdict() for point in run.curve()],
    }
