"""`notewell agents`: the agents of the services on a PostgreSQL database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.cli.output import print_json, say, tell
from notewell.cli.place import add_database

if TYPE_CHECKING:
    import argparse

    from notewell.http_service import AgentRegistry

NOTHING_FOUND = 3


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Running replicas follow, without a restart. The agents of a service on one machine are "
        "those of its settings file."
    )
    actions = parser.add_subparsers(
        title="actions", description="", metavar="ACTION", required=True
    )
    add = actions.add_parser("add", help="serve one more agent")
    list_ = actions.add_parser("list", help="list the agents that are served")
    remove = actions.add_parser("remove", help="serve an agent no more; its notes stay")
    for action in (add, remove):
        action.add_argument("id", help="letters, digits, `-` and `_`")
    for name, action in (("add", add), ("list", list_), ("remove", remove)):
        action.set_defaults(action=name)
        add_database(action, "the default")
        action.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    from notewell.databases import tenant_database

    tenant = tenant_database()  # First: it says which package is missing.
    from notewell.http_service.postgres.agents import PostgresAgents

    registry = PostgresAgents(*tenant)
    if arguments.action == "list":
        return _list(arguments, registry)
    id_ = arguments.id.lower()
    is_add = arguments.action == "add"
    changed = registry.add(id_) if is_add else registry.remove(id_)
    if arguments.json:
        print_json({"id": id_, "added" if is_add else "removed": changed})
    elif is_add:
        say(f"the agent {id_} is served" if changed else f"the agent {id_} is there already")
    elif changed:
        say(f"the agent {id_} is not served any more; its notes stay in the database")
    else:
        tell(f"there is no agent {id_}: `notewell agents list`")
    return 0 if changed or is_add else NOTHING_FOUND


def _list(arguments: argparse.Namespace, registry: AgentRegistry) -> int:
    agents = registry.agents()
    if arguments.json:
        print_json({"agents": [{"id": one.id, "since": one.since.isoformat()} for one in agents]})
        return 0
    for one in agents:
        say(f"{one.id:<24}  since {one.since:%Y-%m-%d}")
    if not agents:
        tell("there are no agents: `notewell agents add ID` adds one")
    return 0
