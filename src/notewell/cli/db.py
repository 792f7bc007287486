"""`notewell db`: the tables of Notewell in a PostgreSQL database."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from notewell.cli.output import print_json, say

if TYPE_CHECKING:
    import argparse

    from notewell.postgres import Address, Database


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("init", "migrate", "status"),
        help="create the tables · bring them up to date · show what is there and what is missing",
    )
    # No option for the address: every user of this machine can read the words of a command.
    parser.epilog = (
        "The address of the database is NOTEWELL_DATABASE_URL, or store.url of the settings: "
        "postgresql://user:password@host/name."
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    address = _address()  # First: it says which package is missing.
    from notewell.postgres import shared_database

    database = shared_database(address)
    if arguments.action == "status":
        return _status(database, as_json=arguments.json)
    return _migrate(database, as_json=arguments.json)


def _address() -> Address:
    """That of the user's own settings, of the default agent; no workspace's file may name one."""
    from notewell.config import load_configuration
    from notewell.postgres import configured_address

    configuration = load_configuration()
    values = configuration.agents[configuration.default_agent].values
    return configured_address(values["memorySearch.store.url"], os.environ)


def _migrate(database: Database, *, as_json: bool) -> int:
    """`init` and `migrate` do the same: what is there stays, what is missing is added."""
    from notewell.postgres import migrate

    applied = [f"{one.number} {one.name}" for one in migrate(database)]
    if as_json:
        print_json({"database": str(database.address), "applied": applied})
    elif applied:
        say(f"{database.address}: added {', '.join(applied)}")
    else:
        say(f"{database.address}: nothing to do, all tables are there")
    return 0


def _status(database: Database, *, as_json: bool) -> int:
    """1 if something has to be done first."""
    from notewell.postgres import inspect_server

    findings = inspect_server(database)
    if as_json:
        print_json(
            {
                "database": str(database.address),
                "findings": [{"message": one.message, "action": one.action} for one in findings],
            }
        )
    else:
        say(str(database.address))
        for one in findings:
            say(f"  {one.message}" + (f": {one.action}" if one.action else ""))
    return 1 if any(one.action for one in findings) else 0
