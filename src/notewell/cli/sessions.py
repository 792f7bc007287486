"""`notewell sessions import`: keep the conversations that hosts already have.

It shows what was found, asks, and keeps each conversation as a hook would (see
`capture.importing`). Then words are indexed; vectors follow as after any change.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.cli.output import ProgressBar, print_json, say, tell
from notewell.cli.place import add_place
from notewell.errors import BadRequest, NoteUnreadable, NotewellError, WorkspaceMissing
from notewell.hosts import HOSTS, Machine
from notewell.types import Ignored, counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from notewell.capture import ImportedTranscript, KeptImport
    from notewell.cli.session_places import Destination
    from notewell.sessions import FoundTranscripts

NOTHING_FOUND = 3
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


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    command = actions.add_parser("import", help="keep the conversations that hosts already have")
    command.add_argument(
        "source",
        nargs="*",
        metavar="HOST|PATH",
        help=f"{', '.join(_hosts_with_folders())}; or a folder or file of transcripts "
        "(default: every host that has some)",
    )
    command.add_argument(
        "--dry-run", action="store_true", help="show what would be kept; keep nothing"
    )
    command.add_argument(
        "--project", metavar="DIR", help="only conversations in this folder, or below it"
    )
    command.add_argument("-y", "--yes", action="store_true", help="do not ask")
    command.add_argument(
        "--since",
        metavar="DATE",
        help="only conversations that went on after this day, YYYY-MM-DD",
    )
    add_place(command)


def run(arguments: argparse.Namespace) -> int:
    since = _since(arguments.since)
    places = [_after(place, since) for place in _places(arguments.source)]
    if not any(place.found.transcripts for place in places):
        if arguments.json:
            print_json({"found": [], "memories": [], "failed": _problems(places, [])})
        _tell_problems(_unreadable(places))
        hosts = ", ".join(_hosts_with_folders())
        tell(f"no transcripts were found; name a folder, or one of: {hosts}")
        return NOTHING_FOUND
    batches, failed = _batches(places, arguments)
    if not batches and not failed:
        if arguments.json:
            print_json(_fields(places, [], [], []))
        tell(f"no conversation is from {arguments.project}")
        return NOTHING_FOUND
    if not arguments.json or not (arguments.yes or arguments.dry_run):
        _show(places, batches)
    if arguments.dry_run:
        return _preview(arguments, places, batches, failed)
    if not arguments.yes and not _confirmed():
        return NOT_CONFIRMED
    return _run(arguments, places, batches, failed)


# -- what there is -------------------------------------------------------------------------------


def _hosts_with_folders() -> list[str]:
    return [host.id for host in HOSTS.values() if host.transcript_folders]


def _places(sources: Sequence[str]) -> list[FoundPlace]:
    machine = Machine(Path.home(), os.environ, sys.platform)
    if not sources:
        return [place for id_ in _hosts_with_folders() for place in _of_host(id_, machine)]
    places = []
    for source in sources:
        if source in HOSTS and not os.path.lexists(source):
            places += _of_host(source, machine)
        else:
            places.append(_of_path(Path(source).expanduser().absolute()))
    return places


def _of_host(id_: str, machine: Machine) -> list[FoundPlace]:
    from notewell.sessions import transcripts_at

    host = HOSTS[id_]
    if host.transcript_folders is None:
        raise BadRequest(
            f"Notewell does not know where {host.title} keeps transcripts: name the folder"
        )
    folders = [folder for folder in host.transcript_folders(machine) if folder.is_dir()]
    return [FoundPlace(host.title, id_, folder, transcripts_at(folder)) for folder in folders]


def _of_path(path: Path) -> FoundPlace:
    from notewell.sessions import transcripts_at

    try:
        return FoundPlace(str(path), None, path, transcripts_at(path))
    except NoteUnreadable as error:
        raise BadRequest(f"{str(path)!r} cannot be imported: {error.why}") from error


def _since(text: str | None) -> int:
    if text is None:
        return 0
    try:
        day = datetime.fromisoformat(text)
    except ValueError:
        raise BadRequest(f"--since {text!r} is no date; write YYYY-MM-DD") from None
    return int(day.astimezone().timestamp() * 1e9)


def _after(place: FoundPlace, since_ns: int) -> FoundPlace:
    from notewell.records import replace

    newer = tuple(one for one in place.found.transcripts if one.mtime_ns >= since_ns)
    return place._replace(found=replace(place.found, transcripts=newer))


def _batches(
    places: Iterable[FoundPlace], arguments: argparse.Namespace
) -> tuple[list[Batch], list[Ignored]]:
    """The transcripts by the memory that gets them, and those that cannot be read."""
    from notewell.capture import described
    from notewell.cli.session_places import Destinations

    destinations, failed = Destinations(arguments), list[Ignored]()
    project = arguments.project and Path(arguments.project).expanduser().absolute()
    batches: dict[Path, Batch] = {}
    for place in places:
        for found in place.found.transcripts:
            try:
                transcript = described(found, place.host)
                if project and not _is_in(transcript.ended.cwd, project):
                    continue
                memory = destinations.of(transcript.ended.host, transcript.ended.cwd)
            except NoteUnreadable as error:
                failed.append(Ignored(str(found.path), error.why))
                continue
            except (BadRequest, WorkspaceMissing) as error:
                if destinations.is_named:
                    raise
                failed.append(Ignored(str(found.path), str(error)))
                continue
            _refuse_own(found.path, memory)
            batch = batches.setdefault(memory.folder, Batch(memory, []))
            batch.transcripts.append(transcript)
    return list(batches.values()), failed


def _is_in(cwd: str | None, project: Path) -> bool:
    """With and without links: the host may name the folder in either way."""
    if cwd is None or "\0" in cwd:
        return False
    folder = Path(os.path.normpath(cwd))
    return folder.is_relative_to(project) or Path(os.path.realpath(cwd)).is_relative_to(
        os.path.realpath(project)
    )


def _refuse_own(path: Path, memory: Destination) -> None:
    if path.is_relative_to(memory.state):
        raise BadRequest(f"{str(path)!r} is in the state folder of Notewell: it is kept already")


# -- what is done --------------------------------------------------------------------------------


def _preview(
    arguments: argparse.Namespace,
    places: list[FoundPlace],
    batches: list[Batch],
    failed: list[Ignored],
) -> int:
    """Count what an import would do, and change nothing."""
    done = [_imported(batch, is_dry_run=True) for batch in batches]
    failed = [*failed, *(one for counts in done for one in counts.failed)]
    if arguments.json:
        print_json({**_fields(places, batches, done, failed), "dryRun": True})
    else:
        for batch, counts in zip(batches, done, strict=True):
            say(f"would keep {_counts(batch, counts)}")
            _tell_no_place(counts)
    _tell_problems([*_unreadable(places), *failed])
    stopped = [counts.trouble for counts in done if counts.trouble]
    for stop in stopped:
        tell(f"stopped: {stop}")
    return stopped[0].exit_code if stopped else 0


def _run(
    arguments: argparse.Namespace,
    places: list[FoundPlace],
    batches: list[Batch],
    failed: list[Ignored],
) -> int:
    done = [_imported(batch) for batch in batches]
    troubles = [_index(batch) for batch in batches]
    failed = [*failed, *(one for counts in done for one in counts.failed)]
    if arguments.json:
        print_json(_fields(places, batches, done, failed))
    else:
        for batch, counts, trouble in zip(batches, done, troubles, strict=True):
            _report(batch, counts, is_searchable=trouble is None)
    _tell_problems([*_unreadable(places), *failed])
    stopped = [counts.trouble for counts in done if counts.trouble]
    for stop in stopped:
        tell(f"stopped: {stop}. What was kept stays; run it again to go on")
    for index_trouble in filter(None, troubles):
        tell(f"the words are not searchable yet: {index_trouble}")
    if stopped:
        return stopped[0].exit_code
    return DEGRADED if failed or any(troubles) else 0


def _imported(batch: Batch, *, is_dry_run: bool = False) -> KeptImport:
    from notewell.capture import import_transcripts
    from notewell.redaction import DeferredRedactor
    from notewell.sync import Progress

    memory, bar, number = batch.destination, ProgressBar(), 0

    def count() -> None:
        nonlocal number
        number += 1
        bar.update(Progress(number, len(batch.transcripts), "conversations"))

    try:
        return import_transcripts(
            memory.folder,
            batch.transcripts,
            DeferredRedactor(memory.state),
            settings=memory.keep,
            now=datetime.now(UTC),
            on_progress=count,
            is_dry_run=is_dry_run,
        )
    finally:
        bar.done()


def _index(batch: Batch) -> NotewellError | None:
    """Make the words searchable; the reason if it is not possible now."""
    from notewell.cli.place import memory_of

    bar = ProgressBar()
    try:
        with memory_of(batch.destination.arguments) as memory:
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


def _unreadable(places: Iterable[FoundPlace]) -> list[Ignored]:
    return [one for place in places for one in place.found.unreadable]


def _tell_problems(problems: Sequence[Ignored]) -> None:
    for problem in problems[:SHOWN]:
        tell(f"left out: {problem.path}: {problem.why}")
    if len(problems) > SHOWN:
        tell(f"left out: {len(problems) - SHOWN} more (--json lists them)")


def _problems(places: Iterable[FoundPlace], failed: Iterable[Ignored]) -> list[dict[str, str]]:
    return [{"path": one.path, "why": one.why} for one in (*_unreadable(places), *failed)]


def _fields(
    places: list[FoundPlace],
    batches: list[Batch],
    done: list[KeptImport],
    failed: list[Ignored],
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
    memories = [_memory_fields(*both) for both in zip(batches, done, strict=True)]
    return {"found": found, "memories": memories, "failed": _problems(places, failed)}


def _memory_fields(batch: Batch, counts: KeptImport) -> dict[str, Any]:
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
    }
