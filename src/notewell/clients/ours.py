"""What in the file of a host is ours: MCP entries and hooks that run Notewell.

All functions take the document of a file. Entries are members (in YAML: items) of the host's list
of servers, hooks are items of the list of an event.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

from notewell.clients.merge import CannotMerge, parse_json
from notewell.hosts import MCP_FILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from notewell.hosts import McpFile

Item: TypeAlias = "dict[str, Any]"
"""One hook of an event, as the host's file has it."""
HOOKS = "hooks"
"""The key of the hooks, in the files of all hosts."""
_PLACE_OPTIONS = ("--workspace", "--agent")
_SERVER_KEYS = frozenset(mcp.key for mcp in MCP_FILES.values())


def entry_of(document: dict[str, Any], mcp: McpFile, name: str) -> dict[str, Any] | None:
    servers = document.get(mcp.key)
    if isinstance(servers, list):
        named = (one for one in servers if isinstance(one, dict) and one.get("name") == name)
        item = next(named, None)
        return item and {key: value for key, value in item.items() if key != "name"}
    entry = servers.get(name) if isinstance(servers, dict) else None
    return entry if isinstance(entry, dict) else None


def is_our_entry(entry: object) -> bool:
    """Whether an MCP entry runs Notewell."""
    return isinstance(entry, dict) and _is_ours(_words(entry), "mcp", "serve")


def _words(entry: dict[str, Any]) -> list[str]:
    command, args = entry.get("command"), entry.get("args", [])
    words = command if isinstance(command, list) else [command]
    return [str(word) for word in (*words, *(args if isinstance(args, list) else ()))]


def _is_ours(words: Sequence[str], *verbs: str) -> bool:
    """Whether a command runs Notewell with these words."""
    program = [PurePath(word).stem for word in words[:4]]
    at = next((i for i in range(len(words)) if tuple(words[i : i + len(verbs)]) == verbs), None)
    return at is not None and "notewell" in program[: at or 1]


def last_hook(
    document: dict[str, Any], is_gone: Callable[[str, Item], bool]
) -> tuple[str, int, Item] | None:
    found = None
    for event, items in _lists(document):
        for at, item in enumerate(items):
            if isinstance(item, dict) and is_gone(event, item):
                found = event, at, item
    return found


def hooks_of(
    document: dict[str, Any], is_ours: Callable[[str, Item], bool]
) -> Iterator[tuple[str, Item]]:
    """Our hooks with their events."""
    for event, items in _lists(document):
        yield from (
            (event, item) for item in items if isinstance(item, dict) and is_ours(event, item)
        )


def _lists(document: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    hooks = document.get(HOOKS)
    for event, items in (hooks if isinstance(hooks, dict) else {}).items():
        yield event, items if isinstance(items, list) else []


def our_words(item: Item, host: str | None = None) -> list[str]:
    """The command of a hook, as words; none if it is not ours for this host, or for any."""
    from shlex import split

    group = item.get("hooks", [item])
    # A group to which somebody added a hook is no longer ours alone.
    if not isinstance(group, list) or len(group) != 1 or not isinstance(group[0], dict):
        return []
    command = group[0].get("command")
    try:
        words = split(command, posix=sys.platform != "win32") if isinstance(command, str) else []
    except ValueError:
        return []
    if host is None:
        return words if _is_ours(words, "hook") else []
    return words if _is_ours(words, "--host", host) and "hook" in words else []


def hook_places(text: str, host: str) -> list[list[str]]:
    """The options of our hooks in the file of a host: which memories it calls. Empty for a file
    that cannot be read."""
    try:
        document = parse_json(text) if text.strip() else {}
    except CannotMerge:
        return []
    hooks = document.get(HOOKS)
    events = hooks.values() if isinstance(hooks, dict) else ()
    items = (item for event in events if isinstance(event, list) for item in event)
    found = (our_words(item, host) for item in items if isinstance(item, dict))
    return [words for words in found if words]


def place_of(words: list[str]) -> tuple[str, ...]:
    """The workspace and the agent of a command; its other options can change."""
    values = [words[at + 1] for at, word in enumerate(words[:-1]) if word in _PLACE_OPTIONS]
    return (*values, *(word for word in words if word == "--openclaw"))


# -- all of ours in a file -----------------------------------------------------------------------


def our_commands(document: dict[str, Any]) -> list[list[str]]:
    """The commands of all our entries and hooks, for any host, each as words."""
    servers = (
        server for key in sorted(_SERVER_KEYS) for server in _members(document.get(key)).values()
    )
    items = (item for _, items in _lists(document) for item in items if isinstance(item, dict))
    entries = [_words(one) for one in servers if is_our_entry(one)]
    return [*entries, *(words for item in items if (words := our_words(item)))]


def state_dirs(document: dict[str, Any]) -> set[str]:
    """The state folders that our entries and hooks name."""
    commands = our_commands(document)
    return {
        value for words in commands for option, value in pairwise(words) if option == "--state-dir"
    }


def without_ours(document: dict[str, Any]) -> dict[str, Any]:
    """The document without our entries and hooks, and without the containers left empty."""
    left = {}
    for key, value in document.items():
        if key in _SERVER_KEYS:
            rest = _without(value, is_our_entry)
        elif key == HOOKS and isinstance(value, dict):
            lists = {event: _without(items, _is_our_hook) for event, items in value.items()}
            rest = {event: items for event, items in lists.items() if items or not value[event]}
        else:
            rest = value
        if rest or not value:
            left[key] = rest
    return left


def _is_our_hook(item: object) -> bool:
    return isinstance(item, dict) and bool(our_words(item))


def _without(container: Any, is_gone: Callable[[object], bool]) -> Any:
    """A list or an object without some of its members; anything else as it is."""
    if isinstance(container, list):
        return [one for one in container if not is_gone(one)]
    if isinstance(container, dict):
        return {key: value for key, value in container.items() if not is_gone(value)}
    return container


def _members(container: object) -> dict[Any, Any]:
    if isinstance(container, list):
        return dict(enumerate(container))
    return container if isinstance(container, dict) else {}
