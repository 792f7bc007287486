"""Take out what was put in: the entry and the hooks of Notewell, and no other character.

A text without the entry can be written in several ways: with the comma before it or without, with
the empty object that held it or without. The right one is one from which the installation makes
the present file again, to the character. Several may do so; then an object that holds nothing else
is taken for ours. If the file was edited since, there is none; then only the entry goes.

The backups of the installation know more: whether there was a file, and which objects were empty
in it. Without them, a file from which the entry goes before the hooks would keep an empty object.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from itertools import product
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

from notewell.clients.hooks import KEY, with_hooks
from notewell.clients.merge import (
    CannotMerge,
    blanked_json,
    merged,
    parse_json,
    parse_toml,
    toml_table,
)
from notewell.clients.merge_yaml import parse_yaml, yaml_without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from notewell.hosts import HookFile, McpFile

Path: TypeAlias = "tuple[str | int, ...]"
Item: TypeAlias = "dict[str, Any]"
"""One hook of an event, as the host's file has it."""
_PLACE_OPTIONS = ("--workspace", "--agent")
_VALUE = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}{\[:"]+')
_SPACE = re.compile(r"\s*")


def without_entry(text: str, mcp: McpFile, name: str, earlier: Sequence[str] = ()) -> str | None:
    """The file without the entry; None if it has none. `earlier` are texts that the file had
    before, the latest first. Raises `CannotMerge`."""
    parse = {"json": parse_json, "toml": parse_toml, "yaml": parse_yaml}[mcp.format]
    entry = _entry(parse(text), mcp, name) if text.strip() else None
    if entry is None:
        return None
    if not is_our_entry(entry):
        raise CannotMerge(f"the server {name!r} there is not one that Notewell wrote")
    install = partial(_with_entry, mcp, name, entry)
    restored = _restored(text, earlier, install)
    if restored is not None:
        return restored
    texts = {
        "json": lambda: list(_without_paths(text, (mcp.key, name))),
        "toml": lambda: _without_table(text, toml_table(mcp.key, name, entry)),
        "yaml": lambda: yaml_without(text, mcp.key, {"name": name, **entry}),
    }[mcp.format]()
    # A text that has lost more than the entry is none of the candidates.
    rest = _rest(parse(text), mcp, name)
    valid = [one for one in texts if _parsed(parse, one) in rest]
    bases = _documents(parse, earlier)
    if bases:
        base = next((one for one in bases if _entry(one, mcp, name) is None), {})
        valid = _like(valid, parse, [(mcp.key,)], base)
    return _chosen(text, valid, install)


def _with_entry(mcp: McpFile, name: str, entry: dict[str, Any], text: str) -> str | None:
    return merged(text, mcp, name, entry)


def without_hooks(
    text: str, hooks: HookFile, host: str, earlier: Sequence[str] = ()
) -> str | None:
    """The file without our hooks; None if it has none. `earlier` as above. Raises
    `CannotMerge`."""

    def is_ours(event: str, item: Item) -> bool:
        return bool(_our_words(item, host))

    items = dict(_hooks(parse_json(text) if text.strip() else {}, is_ours))
    install = partial(_with_items, hooks, items)
    restored = _restored(text, earlier, install) if items else None
    return _without(text, hooks, is_ours, earlier) if restored is None else restored


def _with_items(hooks: HookFile, items: Mapping[str, Item], text: str) -> str | None:
    return with_hooks(text or hooks.new_file, items)


def without_stale_hooks(
    text: str, hooks: HookFile, host: str, items: Mapping[str, Item]
) -> str | None:
    """The file without those of our hooks that are for the same notes as the items, but none of
    them: an earlier installation had other options. None if it has none. Raises `CannotMerge`."""
    places = [_place(_our_words(item, host)) for item in items.values()]

    def is_stale(event: str, item: Item) -> bool:
        words = _our_words(item, host)
        return bool(words) and item != items.get(event) and _place(words) in places

    # As if the file had been empty: a list that is left empty is taken for ours.
    return _without(text, hooks, is_stale, ("{}",))


def _without(
    text: str,
    hooks: HookFile,
    is_gone: Callable[[str, Item], bool],
    earlier: Sequence[str] = (),
) -> str | None:
    after = text
    bases = _documents(parse_json, earlier)
    base = next((one for one in bases if _last_hook(one, is_gone) is None), {})
    # The last one first: each step then undoes the last step of the installation.
    while found := _last_hook(parse_json(after) if after.strip() else {}, is_gone):
        event, at, item = found
        expected = parse_json(after)
        del expected[KEY][event][at]
        valid = [
            one
            for one in _without_paths(after, (KEY, event, at))
            if _compact(_parsed(parse_json, one)) == _compact(expected)
        ]
        if bases:
            valid = _like(valid, parse_json, [(KEY,), (KEY, event)], base)
        after = _chosen(after, valid, partial(_with_items, hooks, {event: item}))
    return None if after == text else after


def _restored(
    text: str, earlier: Sequence[str], install: Callable[[str], str | None]
) -> str | None:
    """The earlier text that the installation made this text of."""
    for one in earlier:
        try:
            if install(one) == text:
                return one
        except CannotMerge:
            continue
    return None


def _documents(
    parse: Callable[[str], dict[str, Any]], texts: Sequence[str]
) -> list[dict[str, Any]]:
    parsed = [_parsed(parse, text) for text in texts]
    return [one for one in parsed if one is not None]


def _like(
    valid: list[str],
    parse: Callable[[str], dict[str, Any]],
    paths: Sequence[tuple[str, ...]],
    base: dict[str, Any],
) -> list[str]:
    """Those texts that have an object at these paths where the base has one, as far as any has."""

    def differences(text: str) -> int:
        document = _parsed(parse, text) or {}
        return sum(_has(document, path) != _has(base, path) for path in paths)

    least = min(map(differences, valid), default=0)
    return [one for one in valid if differences(one) == least]


def _has(document: Any, path: tuple[str, ...]) -> bool:
    for key in path:
        if not isinstance(document, dict) or key not in document:
            return False
        document = document[key]
    return True


def _chosen(text: str, valid: list[str], install: Callable[[str], str | None]) -> str:
    for one in ("", *valid):
        try:
            if install(one) == text:
                return one
        except CannotMerge:
            continue
    if not valid:
        raise CannotMerge("it was changed since, so remove it by hand")
    return valid[0]


# -- what is ours --------------------------------------------------------------------------------


def _entry(document: dict[str, Any], mcp: McpFile, name: str) -> dict[str, Any] | None:
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


def _last_hook(
    document: dict[str, Any], is_gone: Callable[[str, Item], bool]
) -> tuple[str, int, Item] | None:
    found = None
    for event, items in _lists(document):
        for at, item in enumerate(items):
            if isinstance(item, dict) and is_gone(event, item):
                found = event, at, item
    return found


def _hooks(
    document: dict[str, Any], is_ours: Callable[[str, Item], bool]
) -> Iterator[tuple[str, Item]]:
    """Our hooks with their events."""
    for event, items in _lists(document):
        yield from (
            (event, item) for item in items if isinstance(item, dict) and is_ours(event, item)
        )


def _lists(document: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    hooks = document.get(KEY)
    for event, items in (hooks if isinstance(hooks, dict) else {}).items():
        yield event, items if isinstance(items, list) else []


def _our_words(item: Item, host: str) -> list[str]:
    """The command of a hook, as words; none if it is not ours for this host."""
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
    return words if _is_ours(words, "--host", host) and "hook" in words else []


def hook_places(text: str, host: str) -> list[list[str]]:
    """The options of our hooks in the file of a host: which memories it calls. Empty for a file
    that cannot be read."""
    try:
        document = parse_json(text) if text.strip() else {}
    except CannotMerge:
        return []
    hooks = document.get(KEY)
    events = hooks.values() if isinstance(hooks, dict) else ()
    items = (item for event in events if isinstance(event, list) for item in event)
    found = (_our_words(item, host) for item in items if isinstance(item, dict))
    return [words for words in found if words]


def _place(words: list[str]) -> tuple[str, ...]:
    """The workspace and the agent of a command; its other options can change."""
    values = [words[at + 1] for at, word in enumerate(words[:-1]) if word in _PLACE_OPTIONS]
    return (*values, *(word for word in words if word == "--openclaw"))


# -- JSON ----------------------------------------------------------------------------------------


def _without_paths(text: str, path: Path) -> Iterator[str]:
    """The text without the value at the path: first without the containers left empty, then with
    them."""
    for one in _cuts(text, path):
        document, above = _parsed(parse_json, one), path[:-1]
        # A bracket that came into a line with a comment makes the text invalid.
        if document is None:
            continue
        if above and _at(document, above) in ({}, []):
            yield from _without_paths(one, above)
        yield one


def _at(document: Any, path: Path) -> Any:
    for key in path:
        document = document[key]
    return document


def _cuts(text: str, path: Path) -> Iterator[str]:
    bare = blanked_json(text)
    spans = _spans(bare)
    start, end = spans[path]
    if comma := re.match(r"\s*,\s*", bare[end:]):
        yield text[:start] + text[end + comma.end() :]
        return
    # The last one of its container. A comment before it belongs to the member before it.
    before = text[: len(text[:start].rstrip())]
    heads = [before]
    at = len(bare[:start].rstrip()) - 1
    if bare[at] == ",":
        heads.insert(0, before[:at] + before[at + 1 :])
    tails = [text[end:].lstrip(), text[end:]]
    siblings = [one for one in spans if len(one) == len(path) and one[:-1] == path[:-1]]
    if len(siblings) > 1 and not bare[: spans[siblings[-2]][0]].rstrip(" \t").endswith(("{", "[")):
        tails.reverse()  # One member a line: the bracket has a line of its own.
    yield from ("".join(both) for both in product(heads, tails))


def _spans(bare: str) -> dict[Path, tuple[int, int]]:
    """Where each value begins, with its key, and ends."""
    spans: dict[Path, tuple[int, int]] = {}

    def skip(at: int) -> int:
        match = _SPACE.match(bare, at)
        return match.end() if match else at

    def value(at: int, path: Path) -> int:
        if bare[at] not in "{[":
            match = _VALUE.match(bare, at)
            return match.end() if match else at + 1
        closing, at, index = {"{": "}", "[": "]"}[bare[at]], skip(at + 1), 0
        while bare[at] != closing:
            start, key = at, index
            name: str | int = key
            if closing == "}":
                match = _VALUE.match(bare, at)
                name = _string(match[0]) if match else ""
                at = skip(skip(match.end() if match else at) + 1)
            at = value(at, (*path, name))
            spans[*path, name] = start, at
            at, index = skip(at), index + 1
            at = skip(at + 1) if bare[at] == "," else at
        return at + 1

    try:
        value(skip(0), ())
    except (IndexError, RecursionError):
        raise CannotMerge("the position of it could not be found") from None
    return spans


def _string(token: str) -> str:
    import json

    text: str = json.loads(token)
    return text


# -- the rest of a file --------------------------------------------------------------------------


def _without_table(text: str, table: str) -> list[str]:
    table = table.replace("\n", "\r\n" if "\r\n" in text else "\n")
    if table not in text:
        return []
    before, _, after = text.partition(table)
    gaps = (before, before.removesuffix("\n").removesuffix("\r"), before.rstrip("\r\n"))
    return [one + after for one in gaps]


def _rest(document: dict[str, Any], mcp: McpFile, name: str) -> list[dict[str, Any]]:
    servers = document[mcp.key]
    if isinstance(servers, list):
        left: Any = [
            one for one in servers if not (isinstance(one, dict) and one.get("name") == name)
        ]
    else:
        left = {key: value for key, value in servers.items() if key != name}
    gone = {key: value for key, value in document.items() if key != mcp.key}
    kept = {**document, mcp.key: left}
    return [kept] if left else [kept, gone, {**document, mcp.key: None}]


def _parsed(parse: Callable[[str], dict[str, Any]], text: str) -> dict[str, Any] | None:
    try:
        return parse(text)
    except CannotMerge:
        return None


def _compact(document: dict[str, Any] | None) -> Any:
    """The document without empty lists of hooks, which mean the same as none."""
    hooks = (document or {}).get(KEY)
    if not isinstance(hooks, dict):
        return document
    left = {event: items for event, items in hooks.items() if items != []}
    return {
        key: value for key, value in {**(document or {}), KEY: left}.items() if value or key != KEY
    }
