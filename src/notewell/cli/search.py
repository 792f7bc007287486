"""`notewell search`: the hits, or the reason why there are none."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from notewell.cli.output import ProgressBar, print_json, say, tell
from notewell.cli.place import memory_of
from notewell.tools import ask_memory

if TYPE_CHECKING:
    import argparse

    from notewell.types import Answer, ScoreParts

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
            return _show_why(
                memory.inspect.why_absent(question, arguments.why, **options), arguments
            )
        bar = ProgressBar()  # For the first index; a search itself shows no progress.
        try:
            # The owner's own questions are not recorded as recalls of an agent, hence
            # journal_as=None.
            answer, _ = ask_memory(
                memory, question, **options, journal_as=None, progress=bar.update
            )
        finally:
            bar.done()
    if arguments.json:
        # Imported here: most searches print text, and start-up time counts.
        from notewell.tools import answer_json, hit_json

        hits = [hit_json(hit, explain=arguments.explain) for hit in answer.hits]
        print_json({"results": hits, **answer_json(answer)})
    else:
        _show(answer, explain=arguments.explain)
    # Before the hits: with vectors the answer might have been another one.
    if answer.degraded:
        return DEGRADED
    return 0 if answer.hits else NOTHING_FOUND


def _show_why(reason: str, arguments: argparse.Namespace) -> int:
    if arguments.json:
        print_json({"path": arguments.why, "why": reason})
    else:
        say(reason)
    return 0


def _show(answer: Answer, *, explain: bool) -> None:
    # The only two escape sequences that `output` lets through to a terminal.
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
    texts = [
        f"{name} {score:.2f} (place {rank})" if score is not None else f"{name} –"
        for name, score, rank in legs
    ]
    if parts.decay < 1:
        texts.append(f"age × {parts.decay:.2f}")
    if parts.recency > 1:
        texts.append(f"time match × {parts.recency:.2f}")
    if parts.rerank is not None:
        texts.append(f"reranker {parts.rerank:.2f}")
    return ", ".join(texts)
