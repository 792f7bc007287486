"""`notewell review`: what of the daily notes could go to MEMORY.md, if you accept it."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.cli.history import folder_of
from notewell.cli.output import flush, print_json, say, tell
from notewell.cli.place import add_place
from notewell.errors import BadRequest

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from notewell.capture import Place, Proposal

NOTHING_FOUND = 3
SECTION = "Remembered"


def add_options(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument(
        "--accept", nargs="+", default=[], metavar="ID", help="write these, ask nothing"
    )
    parser.add_argument(
        "--section",
        default=SECTION,
        metavar="HEADING",
        help=f"under this heading of MEMORY.md (default: {SECTION})",
    )


def run(arguments: argparse.Namespace) -> int:
    from notewell.capture import Place, propose
    from notewell.notes import Workspace

    root, folder = folder_of(arguments)
    # What the user has read and accepts is written as it was read.
    place = Place(Workspace.open(root), folder, lambda text: text)
    proposals = propose(place.notes, folder)
    if arguments.accept:
        return _accept(arguments, place, _chosen(proposals, arguments.accept))
    if arguments.json:
        print_json({"proposals": [_as_json(place, one, arguments.section) for one in proposals]})
    elif not proposals:
        tell("nothing to propose: nothing was asked to be remembered, repeated or recalled often")
    elif sys.stdin.isatty():
        return _ask(arguments, place, proposals)
    else:
        for one in proposals:
            _show(place, one, arguments.section)
        tell("nothing was written; `notewell review --accept ID` writes one")
    return 0 if proposals else NOTHING_FOUND


def _chosen(proposals: Sequence[Proposal], ids: Sequence[str]) -> list[Proposal]:
    by_id = {one.id: one for one in proposals}
    unknown = [id_ for id_ in ids if id_ not in by_id]
    if unknown:
        raise BadRequest(f"{unknown[0]!r} is not proposed: `notewell review` lists what is")
    return [by_id[id_] for id_ in ids]


def _accept(arguments: argparse.Namespace, place: Place, chosen: Sequence[Proposal]) -> int:
    from notewell.capture import accept

    written = [accept(place, one, arguments.section, now=datetime.now(UTC)) for one in chosen]
    if arguments.json:
        told = [{"citation": f"{one.path}#{one.span}", "added": one.added} for one in written]
        print_json({"written": told})
    else:
        for done in written:
            say(f"wrote {done.path}#{done.span}")
        tell("`notewell history` lists it, `notewell undo ID` takes it back")
    return 0


def _ask(arguments: argparse.Namespace, place: Place, proposals: Sequence[Proposal]) -> int:
    from notewell.capture import decline

    taken = 0
    for one in proposals:
        _show(place, one, arguments.section)
        said = _said()
        if said == "q":
            break
        if said == "y":
            taken += 1
            _accept(arguments, place, [one])
        elif said == "n":
            decline(place.folder, [one.id], now=datetime.now(UTC))
    say(f"{taken} {'entry' if taken == 1 else 'entries'} written to MEMORY.md")
    return 0


def _said() -> str:
    """y, n or q; whatever else is neither accepted nor declined. An end of input ends it."""
    sys.stdout.write("write this to MEMORY.md? [y]es, [n]ever, [s]kip, [q]uit: ")
    flush()
    line = sys.stdin.readline()
    return line.strip().lower()[:1] if line else "q"


def _show(place: Place, one: Proposal, section: str) -> None:
    say(f"{one.id}  {', '.join(one.why)}  {' '.join(one.sources[:3])}")
    for line in _diff(place, one, section).split("\n"):
        say(f"    {line}")


def _diff(place: Place, one: Proposal, section: str) -> str:
    from notewell.capture import preview, read_bytes
    from notewell.errors import NoteUnreadable

    for name in ("MEMORY.md", "memory.md"):
        try:
            return preview(read_bytes(place.notes.root, name), one, section)
        except NoteUnreadable:
            continue
    return preview(b"", one, section)


def _as_json(place: Place, one: Proposal, section: str) -> dict[str, object]:
    return {
        "id": one.id,
        "text": one.text,
        "why": list(one.why),
        "sources": list(one.sources),
        "diff": _diff(place, one, section),
    }
