"""`notewell search`: the hits, or the reason why there are none."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from notewell.cli.output import print_json, say, tell
from notewell.cli.place import memory_of

if TYPE_CHECKING:
    import argparse

    from notewell.types import Answer, Hit, ScoreParts

NOTHING_FOUND = 3
DEGRADED = 5


def run(arguments: argparse.Namespace) -> int:
    question = " ".join(arguments.question)
    options: dict[str, Any] = {
        "max_results": arguments.max_results,
        "min_score": arguments.min_score,
        "mode": arguments.mode,
    }
    with memory_of(arguments) as memory:
        if arguments.why:
            return _show_why(memory.why_absent(question, arguments.why, **options), arguments)
        answer = memory.search(question, **options)
    if arguments.json:
        print_json(as_json(answer, explain=arguments.explain))
    else:
        _show(answer, explain=arguments.explain)
    if answer.degraded:
        return DEGRADED
    return 0 if answer.hits else NOTHING_FOUND


def _show_why(told: str, arguments: argparse.Namespace) -> int:
    if arguments.json:
        print_json({"path": arguments.why, "why": told})
    else:
        say(told)
    return 0


def as_json(answer: Answer, *, explain: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "results": [_hit_json(hit, explain=explain) for hit in answer.hits],
        "mode": answer.mode,
        "provider": answer.provider,
        "model": answer.model,
    }
    if answer.reason:
        told["reason"] = answer.reason
    if answer.notice:
        told["notice"] = answer.notice
    return told


def _hit_json(hit: Hit, *, explain: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "path": hit.path,
        "startLine": hit.span.start_line,
        "endLine": hit.span.end_line,
        "score": hit.score,
        "snippet": hit.snippet,
        "source": hit.source,
        "citation": hit.citation,
        "heading": hit.heading,
        "id": hit.id,
    }
    if explain:
        parts = hit.parts
        told["parts"] = {
            "vector": parts.vector,
            "text": parts.text,
            "vectorRank": parts.vector_rank,
            "textRank": parts.text_rank,
            "decay": parts.decay,
            "recency": parts.recency,
            "rerank": parts.rerank,
        }
    return told


def _show(answer: Answer, *, explain: bool) -> None:
    bold, plain = ("\x1b[1m", "\x1b[0m") if sys.stdout.isatty() else ("", "")
    for hit in answer.hits:
        heading = f"  {hit.heading}" if hit.heading else ""
        say(f"{bold}{hit.citation}{plain}  {hit.score:.2f}{heading}")
        if explain:
            say(f"    {_explained(hit.parts)}")
        say("".join(f"    {line}\n" for line in hit.snippet.split("\n")))
    if answer.reason:
        tell(f"nothing found: {answer.reason}")
    if answer.notice:
        tell(f"{answer.mode}: {answer.notice}")


def _explained(parts: ScoreParts) -> str:
    legs = (("meaning", parts.vector, parts.vector_rank), ("words", parts.text, parts.text_rank))
    told = [
        f"{name} {score:.2f} (place {rank})" if score is not None else f"{name} –"
        for name, score, rank in legs
    ]
    if parts.decay < 1:
        told.append(f"age × {parts.decay:.2f}")
    if parts.recency > 1:
        told.append(f"time asked for × {parts.recency:.2f}")
    if parts.rerank is not None:
        told.append(f"second look {parts.rerank:.2f}")
    return ", ".join(told)
