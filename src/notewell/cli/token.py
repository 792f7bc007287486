"""`notewell token`: the tokens of `notewell serve`, and login links for its web UI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.cli.output import print_json, say, tell
from notewell.cli.place import add_database, route_of
from notewell.cli.serve import kept_state, new_link, running_at, state_dir_of
from notewell.errors import BadSetting

if TYPE_CHECKING:
    import argparse

    from notewell.http_service import Links, Token, Tokens


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(
        title="actions", description="", metavar="ACTION", required=True
    )
    create = actions.add_parser("create", help="make a token and print it, once")
    _add_create_options(create)
    list_ = actions.add_parser("list", help="list the tokens, without their secrets")
    revoke = actions.add_parser("revoke", help="revoke a token; running servers refuse it at once")
    revoke.add_argument("id", help="the id in `notewell token list`")
    link = actions.add_parser("link", help="make a one-time login link for the web UI")
    for name, action in (("create", create), ("list", list_), ("revoke", revoke), ("link", link)):
        # Not `add_place`: tokens belong to the server's state folder, not to one memory.
        action.set_defaults(action=name)
        action.add_argument(
            "--state-dir",
            metavar="DIR",
            help="the state folder of the server (default: NOTEWELL_STATE_DIR)",
        )
        add_database(action, "otherwise of the state folder")
        action.add_argument("--json", action="store_true", help="print JSON")


def _add_create_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="a name for the token: `laptop`, `ci`")
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="ID",
        help="an agent of the token, or '*' for all, also those added later; may be repeated, "
        "the first is the default (default: main)",
    )
    parser.add_argument(
        "--scope",
        default="read",
        metavar="SCOPES",
        help="comma-separated: read, append, admin; each includes those before (default: read)",
    )
    parser.add_argument("--expires", metavar="SPAN", help="90d, 12w or 1y (default: never)")
    parser.add_argument(
        "--session-key",
        metavar="KEY",
        help="the conversation of the token, if the settings limit who may see what",
    )


def run(arguments: argparse.Namespace) -> int:
    kept = kept_state(arguments)
    tokens = kept.tokens
    match arguments.action:
        case "create":
            _create(arguments, tokens)
        case "list":
            _list(arguments, tokens)
        case "revoke":
            _revoke(arguments, tokens)
        case _:
            _link(arguments, kept.login_links)
    return 0


def _create(arguments: argparse.Namespace, store: Tokens) -> None:
    from notewell.http_service import TokenRequest, parse_lifetime_days

    # --agent a,b and --agent a --agent b mean the same.
    agents = tuple(id_ for value in arguments.agent for id_ in value.split(",")) or ("main",)
    if arguments.session_key:
        route_of(arguments.session_key)
    request = TokenRequest(
        arguments.name,
        agents,
        tuple(arguments.scope.split(",")),  # `TokenStore.create` validates them.
        parse_lifetime_days(arguments.expires) if arguments.expires else None,
        session_key=arguments.session_key,
    )
    token, secret = store.create(request)
    if arguments.json:
        # The only output with the secret: the store keeps its hash alone.
        print_json({**as_json(token), "token": secret})
        return
    # Only the secret goes to standard output, so that it can be piped into a file.
    say(secret)
    tell(f"token {token.id} for {', '.join(token.agents)}: it will not be shown again")


def _list(arguments: argparse.Namespace, store: Tokens) -> None:
    tokens = store.tokens()
    if arguments.json:
        print_json({"tokens": [as_json(token) for token in tokens]})
        return
    for token in tokens:
        say(_line(token))
    if not tokens:
        tell("there are no tokens: `notewell token create NAME` makes one")


def _line(token: Token) -> str:
    columns = [
        token.id,
        f"{token.name:<16}",
        ",".join(token.agents),
        ",".join(token.scopes),
        f"since {token.created[:10]}",
        f"until {token.expires[:10]}" if token.expires else "no expiry",
        f"used {token.last_used}" if token.last_used else "never used",
    ]
    return "  ".join(columns)


def _revoke(arguments: argparse.Namespace, store: Tokens) -> None:
    token = store.revoke(arguments.id)
    if arguments.json:
        print_json({"revoked": token.id})
    else:
        say(f"the token {token.name} ({token.id}) is revoked")


def _link(arguments: argparse.Namespace, links: Links) -> None:
    state = state_dir_of(arguments)
    address = running_at(state)
    if address is None:
        # A link contains the address of the server, which only a running server knows.
        raise BadSetting("serve", "no server is running here: start `notewell serve` first")
    # The code in a link works once, so a link that stays in a terminal is harmless later.
    link = new_link(links, address)
    if arguments.json:
        print_json({"page": link})
    else:
        say(link)


def as_json(token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "agents": list(token.agents),
        "scopes": list(token.scopes),
        "created": token.created,
        "expires": token.expires,
        "lastUsed": token.last_used,
        "kind": token.kind,
        "sessionKey": token.session_key,
    }
