"""`notewell review`: proposals from daily notes and conversations for MEMORY.md; only the user
accepts."""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.cli.history import logs_of, notes_of
from notewell.cli.output import flush, print_json, say, tell
from notewell.cli.place import add_place, location_of
from notewell.errors import BadRequest
from notewell.notes import NOT_RECORDED

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from notewell.capture import NoteWriter, Proposal
    from notewell.notes import Appended

NOTHING_FOUND = 3
DEGRADED = 5
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
    from notewell.capture import ForgetPlace, NoteWriter, acceptable, propose, said_messages
    from notewell.databases import stored_conversations
    from notewell.sessions import is_kept, kept_dir

    notes, folder = notes_of(arguments)
    agent = location_of(arguments).agent
    kept = kept_dir(folder.parent.parent, agent, notes.location)
    # Not redacted: the user has read the text and accepts it as it is.
    logs = logs_of(notes)
    writer = NoteWriter(notes, folder, lambda text: text, logs)
    stored = stored_conversations(notes, folder.parent.parent)
    place = ForgetPlace(kept, kept.parent, folder, logs, stored)
    # Those that programs sent over HTTP belong to all workspaces of the agent.
    said = (message for message in said_messages(place) if is_kept(message.path))
    if arguments.accept:
        chosen = _chosen(acceptable(notes, folder, said, logs), arguments.accept)
        return _accept(arguments, writer, chosen)
    proposals = propose(notes, folder, said, logs)
    if arguments.json:
        print_json(
            {
                "proposals": [
                    _as_json(writer, proposal, arguments.section) for proposal in proposals
                ]
            }
        )
    elif not proposals:
        tell(
            "nothing to propose: nothing was asked to be remembered, decided, repeated or recalled"
        )
    # Questions need a user who can answer: in a pipe the proposals are only listed.
    elif sys.stdin.isatty():
        return _ask(arguments, writer, proposals)
    else:
        for proposal in proposals:
            _show(writer, proposal, arguments.section)
        tell("nothing was written; `notewell review --accept ID` writes one")
    return 0 if proposals else NOTHING_FOUND


def _chosen(proposals: Sequence[Proposal], ids: Sequence[str]) -> list[Proposal]:
    by_id = {proposal.id: proposal for proposal in proposals}
    unknown = [id_ for id_ in ids if id_ not in by_id]
    # Checked before the first write: a mistyped id must not leave half of the work done.
    if unknown:
        raise BadRequest(f"{unknown[0]!r} is not proposed: `notewell review` lists what is")
    return [by_id[id_] for id_ in ids]


def _accept(arguments: argparse.Namespace, writer: NoteWriter, chosen: Sequence[Proposal]) -> int:
    from notewell.capture import accept

    written: list[Appended] = []
    try:
        for proposal in chosen:
            done = accept(writer, proposal, arguments.section, now=datetime.now(UTC))
            written.append(done)
    finally:
        # Also if a later one cannot be written: these are.
        _show_written(arguments, written)
    return DEGRADED if any(done.unrecorded for done in written) else 0


def _show_written(arguments: argparse.Namespace, written: Sequence[Appended]) -> None:
    if arguments.json:
        rows = [{"citation": f"{done.path}#{done.span}", "added": done.added} for done in written]
        print_json({"written": rows})
    for done in written:
        if not arguments.json:
            how = "wrote" if done.added else "it is there already:"
            say(f"{how} {done.path}#{done.span}")
        if done.unrecorded:
            tell(f"{NOT_RECORDED}: {done.unrecorded.reason}")
    if not arguments.json and any(done.added and not done.unrecorded for done in written):
        tell("`notewell history` lists it, `notewell undo ID` takes it back")


def _ask(arguments: argparse.Namespace, writer: NoteWriter, proposals: Sequence[Proposal]) -> int:
    from notewell.capture import decline

    taken = code = 0
    for proposal in proposals:
        _show(writer, proposal, arguments.section)
        answer = _answer()
        if answer == "q":
            break
        if answer == "y":
            taken += 1
            # Written at once, so that a user who stops later keeps what was accepted.
            code = _accept(arguments, writer, [proposal]) or code
        elif answer == "n":
            # Only "never" is remembered; a skipped proposal comes again next time.
            decline(writer.folder, [proposal.id], now=datetime.now(UTC))
    say(f"{taken} {'entry' if taken == 1 else 'entries'} written to MEMORY.md")
    return code


def _answer() -> str:
    """The first letter the user typed; every letter but y, n and q skips. End of input is q."""
    sys.stdout.write("write this to MEMORY.md? [y]es, [n]ever, [s]kip, [q]uit: ")
    flush()
    line = sys.stdin.readline()
    return line.strip().lower()[:1] if line else "q"


def _show(writer: NoteWriter, proposal: Proposal, section: str) -> None:
    say(f"{proposal.id}  {', '.join(proposal.why)}  {' '.join(proposal.sources[:3])}")
    for line in _diff(writer, proposal, section).split("\n"):
        say(f"    {line}")


def _diff(writer: NoteWriter, proposal: Proposal, section: str) -> str:
    from notewell.capture import preview
    from notewell.errors import NoteUnreadable

    # On a case-sensitive disk both may exist; the writer prefers the first too.
    for name in ("MEMORY.md", "memory.md"):
        with suppress(NoteUnreadable):
            data = writer.notes.read_bytes(name)
            if data is not None:
                return preview(data, proposal, section)
    return preview(b"", proposal, section)


def _as_json(writer: NoteWriter, proposal: Proposal, section: str) -> dict[str, object]:
    return {
        "id": proposal.id,
        "text": proposal.text,
        "why": list(proposal.why),
        "sources": list(proposal.sources),
        "diff": _diff(writer, proposal, section),
    }
