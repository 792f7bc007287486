"""`notewell push` and `notewell pull`: notes between a folder and PostgreSQL.

Exit codes: 0 everything that could be carried is equal now · 5 conflicts, or notes that could not
be read or written: they are named and left alone · 75 the server does not answer.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.output import print_json, say, tell
from notewell.errors import BadRequest

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from notewell.notes import Transfer, Transferred

LEFT_ALONE = 5
QUIET = ("same", "only there")

_WORDS = {
    "conflict": "changed on both sides; left alone",
    "newer": "only the other side has changed; left alone",
    "removed": "removed on the other side; not carried there again",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    parser.set_defaults(module="transfer", function="push")


def add_pull_options(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    parser.add_argument(
        "--all", action="store_true", help="every agent of the tenant, into a folder each"
    )
    parser.set_defaults(module="transfer", function="pull")


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", type=os.path.expanduser, help="the workspace")
    parser.add_argument(
        "--agent", metavar="ID", type=str.lower, default="main", help="whose notes (default: main)"
    )
    parser.add_argument("--state-dir", metavar="DIR", help="where the last transfer is remembered")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, say what would be")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.epilog = (
        "The database is NOTEWELL_DATABASE_URL, or store.url of your settings. Nothing is removed "
        "on either side. A note that has changed on both is named and left alone: exit code 5."
    )


def push(arguments: argparse.Namespace) -> int:
    transfer = _transfer(arguments, Path(arguments.folder), arguments.agent)
    return _report(arguments, {arguments.agent: transfer.push()})


def pull(arguments: argparse.Namespace) -> int:
    root = Path(arguments.folder)
    if not arguments.all:
        transfer = _transfer(arguments, root, arguments.agent)
        return _report(arguments, {arguments.agent: transfer.pull()})
    from notewell.databases import database_agents

    agents = database_agents()
    return _report(
        arguments, {agent: _transfer(arguments, root / agent, agent).pull() for agent in agents}
    )


def _transfer(arguments: argparse.Namespace, root: Path, agent: str) -> Transfer:
    from notewell.config import default_state_dir
    from notewell.core import agent_id
    from notewell.databases import database_notes
    from notewell.notes import Transfer

    # It becomes the name of a folder.
    if agent_id(agent) != agent:
        raise BadRequest(f"{agent!r} is not an id: letters, digits, `-` and `_`, up to 64")
    state_dir = arguments.state_dir
    state = Path(state_dir).expanduser() if state_dir else default_state_dir()
    return Transfer(root, database_notes(agent), state, arguments.dry_run)


def _report(arguments: argparse.Namespace, done: dict[str, list[Transferred]]) -> int:
    if arguments.json:
        print_json(
            {
                "dry_run": arguments.dry_run,
                "agents": {
                    agent: [
                        {"path": one.path, "outcome": one.outcome}
                        | ({"why": one.why} if one.why else {})
                        for one in notes
                    ]
                    for agent, notes in done.items()
                },
            }
        )
    else:
        for agent, notes in done.items():
            _print(agent, notes, dry_run=arguments.dry_run)
    outcomes = {one.outcome for notes in done.values() for one in notes}
    return LEFT_ALONE if outcomes & {"conflict", "refused"} else 0


def _print(agent: str, notes: Sequence[Transferred], *, dry_run: bool) -> None:
    for one in notes:
        if one.outcome == "written":
            say(f"{agent}: {'would write' if dry_run else 'wrote'} {one.path}")
        elif one.outcome not in QUIET:
            tell(f"{agent}: {one.path}: {one.why or _WORDS[one.outcome]}")
    same = sum(one.outcome == "same" for one in notes)
    there = sum(one.outcome == "only there" for one in notes)
    say(f"{agent}: {same} equal, {there} only on the other side")
