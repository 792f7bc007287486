"""`notewell search` and `notewell get`: find the lines that answer a question, and read on."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from notewell.cli.output import ProgressBar, flush, print_json, say, tell, tell_ignored
from notewell.cli.place import memory_of
from notewell.errors import BadRequest, IndexTrouble, NotANote
from notewell.records import replace
from notewell.types import counted

if TYPE_CHECKING:
    import argparse

    from notewell.core import Filters
    from notewell.memory import Memory
    from notewell.sync import Progress
    from notewell.types import Answer, ScoreParts

NOTHING_FOUND = 3
DEGRADED = 5
INDEXED_NOW = "the notes were indexed just now; vectors are computed after this answer"
VECTORS_WITHIN_S = 30.0
"""After a first search. Most folders need less; a prompt should not stay away for minutes."""


def run(arguments: argparse.Namespace) -> int:
    from notewell.sync import LOOK_WAIT_S

    question = " ".join(arguments.question)
    options: dict[str, Any] = {
        "max_results": arguments.max_results,
        "min_score": arguments.min_score,
        "mode": arguments.mode,
        "folder": arguments.folder,
        "filters": _filters(arguments),
    }
    if not question and not options["filters"]:
        arguments.refuse("name what to look for, or a filter such as --tag")
    with memory_of(arguments) as memory:
        if arguments.why:
            return _show_why(
                memory.inspect.why_absent(question, arguments.why, **options), arguments
            )
        # This process answers once: it does not wait for a comparison of very many notes.
        memory.indexer.looks.wait_s = LOOK_WAIT_S
        answer = _ask(memory, question, options)
        # It may be empty because it is old: better late than wrong.
        if not answer.hits and memory.indexer.looks.wait():
            answer = _ask(memory, question, options)
        # An answer by words is all that a first search can give, and all that an agent gets over
        # MCP. It is not degraded, if the vectors for the next search can be computed.
        vectors_follow = answer.degraded and answer.indexed_words
        if vectors_follow:
            answer = replace(answer, notice=INDEXED_NOW, public_notice=INDEXED_NOW)
        _print(answer, arguments)
        tell_ignored(memory.settings)
        if memory.indexer.looks.is_due:
            _look_follows(memory)
        is_degraded = not _vectors_follow(memory) if vectors_follow else answer.degraded
        # The file may say which notes are searched, and how.
        is_degraded = is_degraded or memory.settings.workspace_errors > 0
    if is_degraded:
        # Before the hits: with vectors the answer might have been another one.
        return DEGRADED
    return 0 if answer.hits else NOTHING_FOUND


def _filters(arguments: argparse.Namespace) -> Filters | None:
    given = (arguments.tag, arguments.path, arguments.after, arguments.before)
    if not any(given):
        return None
    from notewell.core import Filters

    return Filters.of(*given)


def _ask(memory: Memory, question: str, options: dict[str, Any]) -> Answer:
    from notewell.tools import ask_memory

    bar = ProgressBar()  # For the first index; a search itself shows no progress.
    try:
        # The owner's own questions are not recorded as recalls of an agent, hence journal_as=None.
        return ask_memory(memory, question, **options, journal_as=None, progress=bar.update).answer
    finally:
        bar.done()


def _print(answer: Answer, arguments: argparse.Namespace) -> None:
    if arguments.json:
        # Imported here: most searches print text, and start-up time counts.
        from notewell.tools import answer_json, hit_json

        hits = [hit_json(hit, explain=arguments.explain) for hit in answer.hits]
        print_json({"results": hits, **answer_json(answer)})
    else:
        _show(answer, explain=arguments.explain)


def _look_follows(memory: Memory) -> None:
    """Compare the notes with the index after the answer, for the next search."""
    flush()  # A reader of the output need not wait for the comparison.
    changed, notice = memory.indexer.look(vectors=False)
    if notice is not None:
        tell(notice.text)
    elif changed:
        tell(f"{counted(changed, 'note')} had changed; now indexed, search again")


def _vectors_follow(memory: Memory) -> bool:
    """Compute the vectors of a first index, after the answer; whether all of them are there."""
    from notewell.tools import OutOfTime, stop_after

    flush()  # A reader of the output need not wait for the vectors.
    tell("computing vectors for the next search; Ctrl-C stops this, `notewell index` continues")
    bar, limit = ProgressBar(), stop_after(VECTORS_WITHIN_S)

    def on_progress(progress: Progress) -> None:
        bar.update(progress)
        limit(progress)

    try:
        report = memory.sync(progress=on_progress)
    except OutOfTime:
        tell("not all vectors are computed yet: run `notewell index`")
        return False
    except IndexTrouble as trouble:  # The answer is printed already: only the vectors are missing.
        tell(str(trouble))
        return False
    finally:
        bar.done()
    if report.trouble:
        tell(str(report.trouble))
    return not report.is_degraded


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
        said = f"  {hit.said.label(whole_folder=True)}" if hit.said else ""
        say(f"{bold}{hit.citation}{plain}  {hit.score:.2f}{said}{heading}")
        if explain:
            say(f"    {_explained(hit.parts)}")
            if len(hit.shown) > 1:
                lines = ", ".join(f"{shown.span} {shown.score:.2f}" for shown in hit.shown)
                say(f"    best lines {lines}")
        say("".join(f"    {line}\n" for line in hit.shown_text.split("\n")))
    if explain and answer.nearness and answer.nearness.limit is not None:
        near = answer.nearness
        say(f"nearness {near.value:.2f}; below {near.limit:.2f} nothing would be shown")
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
    if parts.window is not None:
        texts.insert(1, f"nearest lines {parts.window.span} {parts.window.vector:.2f}")
    if parts.decay < 1:
        texts.append(f"age × {parts.decay:.2f}")
    if parts.recency > 1:
        texts.append(f"time match × {parts.recency:.2f}")
    if parts.speaker != 1:
        who = "the user" if parts.speaker > 1 else "the assistant"
        texts.append(f"{who} speaks × {parts.speaker:.2f}")
    if parts.echo < 1:
        texts.append(f"asked before × {parts.echo:.2f}")
    if parts.rerank is not None:
        texts.append(f"reranker {parts.rerank:.2f}")
    return ", ".join(texts)


# -- get -----------------------------------------------------------------------------------------


def get(arguments: argparse.Namespace) -> int:
    path, first, count, char = _range(arguments)
    with memory_of(arguments) as memory:
        try:
            excerpt = memory.get(path, from_line=first, from_char=char, lines=count)
        except NotANote:
            tell_ignored(memory.settings)  # It may be what the file would have taken in.
            raise
    if arguments.json:
        from notewell.tools import excerpt_json

        print_json(excerpt_json(excerpt))
        return 0 if excerpt.end_line >= excerpt.start_line else NOTHING_FOUND
    if excerpt.end_line < excerpt.start_line:
        total = counted(excerpt.total_lines, "line")
        tell(f"{excerpt.path} has {total}; there is no line {excerpt.start_line}")
        return NOTHING_FOUND
    say(excerpt.text)
    if excerpt.cut:
        place = f"{excerpt.path}#L{excerpt.next_from}C{excerpt.next_char}"
        tell(f"line {excerpt.end_line} is too long to show whole: read on with {place!r}")
        return 0
    # A user who named the lines knows that the note goes on.
    if excerpt.next_from and not count:
        tell(f"read on with --from {excerpt.next_from} ({excerpt.total_lines} lines in all)")
    return 0


def _range(arguments: argparse.Namespace) -> tuple[str, int, int | None, int]:
    """The path and the lines. Options take precedence over the lines of a citation."""
    # A path may itself contain `#L`; only the last one starts the lines.
    path, _, lines = arguments.path.rpartition("#L")
    cited = re.fullmatch(r"(?P<first>\d+)(?:-L(?P<last>\d+)|C(?P<char>\d+))?", lines)
    if not path or not cited:
        return arguments.path, _or(arguments.from_line, 1), arguments.lines, 1
    if cited["char"] and arguments.from_line is None:
        return path, int(cited["first"]), arguments.lines, int(cited["char"])
    first = int(cited["first"])
    last = int(cited["last"] or first)
    if last < first:
        raise BadRequest(f"{arguments.path!r} ends before it begins")
    count = arguments.lines if arguments.lines is not None else last - first + 1
    return path, _or(arguments.from_line, first), count, 1


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
