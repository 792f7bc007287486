"""An import of conversations, once they are found: show them, ask, keep each as a hook would (see
`capture.importing`). Then words are indexed; vectors follow as after any change."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.cli.output import ProgressBar, print_json, say, tell
from notewell.errors import NotewellError
from notewell.types import Ignored, counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from notewell.capture import ImportedTranscript, KeptImport
    from notewell.cli.session_places import Destination
    from notewell.sessions import FoundTranscripts

NOT_CONFIRMED = 4
DEGRADED = 5
SHOWN = 20
"""A longer list is for --json."""


class FoundPlace(NamedTuple):
    """A folder or a file with transcripts."""

    title: str
    host: str | None
    path: Path
    found: FoundTranscripts


class Batch(NamedTuple):
    """What is imported into one memory."""

    destination: Destination
    transcripts: list[ImportedTranscript]


def keep_batches(
    arguments: argparse.Namespace,
    places: list[FoundPlace],
    batches: list[Batch],
    failed: list[Ignored],
    what: str = "sessions",
) -> int:
    """The exit code. It reads `dry_run`, `yes` and `json` of the arguments; `what` is part of the
    name by which the import can be undone."""
    if not arguments.json or not (arguments.yes or arguments.dry_run):
        _show(places, batches)
    if arguments.dry_run:
        return _preview(arguments, places, batches, failed)
    if not arguments.yes and not _confirmed():
        return NOT_CONFIRMED
    return _run(arguments, places, batches, failed, what)


# -- what is done --------------------------------------------------------------------------------


def _preview(
    arguments: argparse.Namespace,
    places: list[FoundPlace],
    batches: list[Batch],
    failed: list[Ignored],
) -> int:
    """Count what an import would do, and change nothing."""
    done = [_imported(batch) for batch in batches]
    failed = [*failed, *(one for counts in done for one in counts.failed)]
    if arguments.json:
        print_json({**import_fields(places, batches, done, failed), "dryRun": True})
    else:
        for batch, counts in zip(batches, done, strict=True):
            say(f"would keep {_counts(batch, counts)}")
            _tell_no_place(counts)
    tell_problems([*unreadable(places), *failed])
    stopped = [counts.trouble for counts in done if counts.trouble]
    for stop in stopped:
        tell(f"stopped: {stop}")
    return stopped[0].exit_code if stopped else 0


def _run(
    arguments: argparse.Namespace,
    places: list[FoundPlace],
    batches: list[Batch],
    failed: list[Ignored],
    what: str,
) -> int:
    from notewell.capture import import_origin

    origin = import_origin(what, datetime.now(UTC))
    done = [_imported(batch, origin) for batch in batches]
    troubles = [index_words(batch.destination.arguments) for batch in batches]
    failed = [*failed, *(one for counts in done for one in counts.failed)]
    if arguments.json:
        print_json(import_fields(places, batches, done, failed, origin))
    else:
        for batch, counts, trouble in zip(batches, done, troubles, strict=True):
            _report(batch, counts, is_searchable=trouble is None)
        if any(counts.has_begun for counts in done):
            tell(f"`notewell undo {origin}` takes the new conversations back")
    tell_problems([*unreadable(places), *failed])
    stopped = [counts.trouble for counts in done if counts.trouble]
    for stop in stopped:
        tell(f"stopped: {stop}. What was kept stays; run it again to go on")
    for index_trouble in filter(None, troubles):
        tell(f"the words are not searchable yet: {index_trouble}")
    if stopped:
        return stopped[0].exit_code
    return DEGRADED if failed or any(troubles) else 0


def _imported(batch: Batch, origin: str = "") -> KeptImport:
    """Under this name; without one, only count what would be done."""
    from notewell.capture import capture_dir, import_transcripts, record_begun
    from notewell.redaction import DeferredRedactor
    from notewell.sync import Progress

    memory, bar, number = batch.destination, ProgressBar(), 0

    def count() -> None:
        nonlocal number
        number += 1
        bar.update(Progress(number, len(batch.transcripts), "conversations"))

    now = datetime.now(UTC)
    history = capture_dir(memory.state, memory.agent, memory.workspace)
    try:
        return import_transcripts(
            memory.folder,
            batch.transcripts,
            DeferredRedactor(memory.state),
            settings=memory.keep,
            now=now,
            on_progress=count,
            on_begun=lambda file: record_begun(history, origin, file, now),
            is_dry_run=not origin,
        )
    finally:
        bar.done()


def index_words(arguments: argparse.Namespace) -> NotewellError | None:
    """Make the words searchable; the reason if it is not possible now."""
    from notewell.cli.place import memory_of

    bar = ProgressBar()
    try:
        with memory_of(arguments) as memory:
            return memory.sync(vectors=False, progress=bar.update).trouble
    except NotewellError as error:
        return error
    finally:
        bar.done()


# -- what is said --------------------------------------------------------------------------------


def _show(places: Iterable[FoundPlace], batches: Iterable[Batch]) -> None:
    for place in places:
        if place.found.transcripts:
            tell(f"{place.title}: {_amount(place)}, in {place.path}")
    for batch in batches:
        memory = batch.destination
        who = "" if memory.agent == "main" else f" of agent {memory.agent}"
        count = counted(len(batch.transcripts), "conversation")
        tell(f"{count} for the memory{who} in {memory.workspace}; kept in {memory.folder}")


def _amount(place: FoundPlace) -> str:
    days = [datetime.fromtimestamp(one.mtime_ns / 1e9, UTC) for one in place.found.transcripts]
    first, last = min(days).astimezone(), max(days).astimezone()
    size = f"{place.found.bytes / 1e6:.1f} MB"
    count = counted(len(days), "conversation")
    return f"{count}, {size}, {first:%Y-%m-%d} to {last:%Y-%m-%d}"


def _confirmed() -> bool:
    from notewell.cli.install import asks

    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        tell("nothing was kept; `--yes` imports this without a question")
        return False
    tell("kept is what you and the assistant said, with secrets masked; no output of tools")
    return asks("Import? [y/N] ")


def _report(batch: Batch, counts: KeptImport, *, is_searchable: bool) -> None:
    say(f"kept {_counts(batch, counts)}")
    _tell_no_place(counts)
    if counts.messages and is_searchable:
        tell("found by their words now; vectors follow with `notewell index`, or the next server")


def _counts(batch: Batch, counts: KeptImport) -> str:
    messages = counted(counts.messages, "message")
    conversations = counted(counts.conversations, "conversation")
    where = batch.destination.workspace
    return f"{messages} of {conversations} for {where}; {counts.unchanged} with nothing new"


def _tell_no_place(counts: KeptImport) -> None:
    if counts.no_place:
        older = counted(counts.no_place, "older conversation")
        tell(f"{older} left out: sessions.keep.megabytes allows no more")


def unreadable(places: Iterable[FoundPlace]) -> list[Ignored]:
    return [one for place in places for one in place.found.unreadable]


def tell_problems(problems: Sequence[Ignored]) -> None:
    for problem in problems[:SHOWN]:
        tell(f"left out: {problem.path}: {problem.why}")
    if len(problems) > SHOWN:
        tell(f"left out: {len(problems) - SHOWN} more (--json lists them)")


def problem_fields(
    places: Iterable[FoundPlace], failed: Iterable[Ignored]
) -> list[dict[str, str]]:
    return [{"path": one.path, "why": one.why} for one in (*unreadable(places), *failed)]


def import_fields(
    places: list[FoundPlace],
    batches: list[Batch],
    done: list[KeptImport],
    failed: list[Ignored],
    origin: str = "",
) -> dict[str, Any]:
    found = [
        {
            "host": place.host,
            "path": str(place.path),
            "conversations": len(place.found.transcripts),
            "bytes": place.found.bytes,
        }
        for place in places
    ]
    memories = [_memory_fields(*both, origin) for both in zip(batches, done, strict=True)]
    return {"found": found, "memories": memories, "failed": problem_fields(places, failed)}


def _memory_fields(batch: Batch, counts: KeptImport, origin: str) -> dict[str, Any]:
    memory = batch.destination
    return {
        "workspace": memory.workspace,
        "agent": memory.agent,
        "folder": str(memory.folder),
        "found": len(batch.transcripts),
        "conversations": counts.conversations,
        "messages": counts.messages,
        "unchanged": counts.unchanged,
        "noPlace": counts.no_place,
        "undo": origin if counts.has_begun else None,
    }
