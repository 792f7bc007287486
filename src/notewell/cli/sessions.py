"""`notewell sessions import`: keep the conversations that hosts already have.

It finds the transcripts and the memory of each; `kept_import` does the rest.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.kept_import import (
    Batch,
    FoundPlace,
    import_fields,
    keep_batches,
    problem_fields,
    tell_problems,
    unreadable,
)
from notewell.cli.output import print_json, tell
from notewell.cli.place import add_place
from notewell.errors import BadRequest, NoteUnreadable, WorkspaceMissing
from notewell.hosts import HOSTS, Machine
from notewell.types import Ignored

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from notewell.cli.session_places import Destination

NOTHING_FOUND = 3


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(
        title="actions", description="", metavar="ACTION", required=True
    )
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
            print_json({"found": [], "memories": [], "failed": problem_fields(places, [])})
        tell_problems(unreadable(places))
        hosts = ", ".join(_hosts_with_folders())
        tell(f"no transcripts were found; name a folder, or one of: {hosts}")
        return NOTHING_FOUND
    batches, failed = _batches(places, arguments)
    if not batches and not failed:
        if arguments.json:
            print_json(import_fields(places, [], [], []))
        tell(f"no conversation is from {arguments.project}")
        return NOTHING_FOUND
    return keep_batches(arguments, places, batches, failed)


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
