"""`notewell token`: who may use `notewell serve`, and for what."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from notewell.cli.output import print_json, say, tell
from notewell.cli.serve import new_link, running_at, state_dir_of
from notewell.errors import BadSetting

if TYPE_CHECKING:
    import argparse

    from notewell.http_service import Token, TokenBook


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    create = actions.add_parser("create", help="make a token and print it, once")
    _add_create_options(create)
    listed = actions.add_parser("list", help="show which there are; never the tokens themselves")
    revoke = actions.add_parser("revoke", help="end a token; a running server knows at once")
    revoke.add_argument("id", help="as `notewell token list` shows it")
    link = actions.add_parser("link", help="a link that opens the page of a running server, once")
    for name, one in (("create", create), ("list", listed), ("revoke", revoke), ("link", link)):
        one.set_defaults(action=name)
        one.add_argument("--state-dir", metavar="DIR", help="the server's (default: as always)")
        one.add_argument("--json", action="store_true", help="print JSON")


def _add_create_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="what it is for: `laptop`, `ci`")
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="ID",
        help="whose memory it opens; may be repeated, the first is the default (default: main)",
    )
    parser.add_argument(
        "--scope",
        default="read",
        metavar="SCOPES",
        help="by commas: read, append, admin; each includes those before it (default: read)",
    )
    parser.add_argument("--expires", metavar="SPAN", help="90d, 12w or 1y (default: never)")
    parser.add_argument(
        "--session-key",
        metavar="KEY",
        help="the conversation it speaks for, where the settings say who may see what",
    )


def run(arguments: argparse.Namespace) -> int:
    from notewell.http_service import TokenBook
    from notewell.http_service.tokens import NAME

    book = TokenBook(state_dir_of(arguments) / NAME)
    match arguments.action:
        case "create":
            _create(arguments, book)
        case "list":
            _list(arguments, book)
        case "revoke":
            _revoke(arguments, book)
        case _:
            _link(arguments)
    return 0


def _create(arguments: argparse.Namespace, book: TokenBook) -> None:
    from notewell.http_service import Wish, days_of

    agents = tuple(id_ for told in arguments.agent for id_ in told.split(",")) or ("main",)
    wish = Wish(
        arguments.name,
        agents,
        tuple(arguments.scope.split(",")),  # The book checks them.
        days_of(arguments.expires) if arguments.expires else None,
        session_key=arguments.session_key,
    )
    token, secret = book.create(wish)
    if arguments.json:
        print_json({**as_json(token), "token": secret})
        return
    say(secret)
    tell(f"token {token.id} for {', '.join(token.agents)}: it is not shown again")


def _list(arguments: argparse.Namespace, book: TokenBook) -> None:
    tokens = book.tokens()
    if arguments.json:
        print_json({"tokens": [as_json(token) for token in tokens]})
        return
    for token in tokens:
        say(_line(token))
    if not tokens:
        tell("there are no tokens: `notewell token create NAME` makes one")


def _line(token: Token) -> str:
    told = [
        token.id,
        f"{token.name:<16}",
        ",".join(token.agents),
        ",".join(token.scopes),
        f"since {token.created[:10]}",
        f"until {token.expires[:10]}" if token.expires else "for good",
        f"used {token.last_used}" if token.last_used else "never used",
    ]
    return "  ".join(told)


def _revoke(arguments: argparse.Namespace, book: TokenBook) -> None:
    token = book.revoke(arguments.id)
    if arguments.json:
        print_json({"revoked": token.id})
    else:
        say(f"{token.name} ({token.id}) is let in no longer")


def _link(arguments: argparse.Namespace) -> None:
    state = state_dir_of(arguments)
    address = running_at(state)
    if address is None:
        raise BadSetting("serve", "no server is running here: start `notewell serve` first")
    link = new_link(state, address)
    if arguments.json:
        print_json({"page": link})
    else:
        say(link)


def as_json(token: Token) -> dict[str, Any]:
    told = asdict(token)
    return {
        "id": told["id"],
        "name": told["name"],
        "agents": list(told["agents"]),
        "scopes": list(told["scopes"]),
        "created": told["created"],
        "expires": told["expires"],
        "lastUsed": told["last_used"],
        "kind": told["kind"],
        "sessionKey": told["session_key"],
    }
