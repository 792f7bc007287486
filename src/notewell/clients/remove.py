"""Take out what was put in: the entry and the hooks of Notewell, and no other character.

A text without the entry can be written in several ways: with the comma before it or without, with
the empty object that held it or without. The right one is one from which the installation makes
the present file again, to the character. Several may do so; then an object that holds nothing else
is taken for ours. If the file was edited since, there is none; then only the entry goes.

The backups of the installation know more: whether there was a file, and which objects were empty
in it. Without them, a file from which the entry goes before the hooks would keep an empty object.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from notewell.clients.cut_json import without_value
from notewell.clients.formats import parsed
from notewell.clients.hooks import with_hooks
from notewell.clients.merge import CannotMerge, merged, parse_json, parse_toml, toml_table
from notewell.clients.merge_yaml import parse_yaml, yaml_without
from notewell.clients.ours import (
    HOOKS,
    entry_of,
    hooks_of,
    is_our_entry,
    last_hook,
    our_commands,
    our_words,
    place_of,
)
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from notewell.clients.ours import Item
    from notewell.hosts import HookFile, McpFile


@dataclass(frozen=True, slots=True)
class _Base:
    """The file as it was."""

    text: str
    """Without anything of ours, as far as that is known."""
    document: dict[str, Any]
    """Without what goes now."""


def without_entry(text: str, mcp: McpFile, name: str, earlier: Sequence[str] = ()) -> str | None:
    """The file without the entry; None if it has none. `earlier` are texts that the file had
    before, the latest first. Raises `CannotMerge`."""
    parse = {"json": parse_json, "toml": parse_toml, "yaml": parse_yaml}[mcp.format]
    entry = entry_of(parse(text), mcp, name) if text.strip() else None
    if entry is None:
        return None
    if not is_our_entry(entry):
        raise CannotMerge(f"the server {name!r} there is not one that Notewell wrote")
    install = partial(_with_entry, mcp, name, entry)
    restored = _restored(text, earlier, install)
    if restored is not None:
        return restored
    texts = {
        "json": lambda: list(without_value(text, (mcp.key, name))),
        "toml": lambda: _without_table(text, toml_table(mcp.key, name, entry)),
        "yaml": lambda: yaml_without(text, mcp.key, {"name": name, **entry}),
    }[mcp.format]()
    # A text that has lost more than the entry is none of the candidates.
    rest = _rest(parse(text), mcp, name)
    valid = [one for one in texts if parsed(parse, one) in rest]
    if base := _base(parse, earlier, lambda one: entry_of(one, mcp, name) is None):
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
        return bool(our_words(item, host))

    items = dict(hooks_of(parse_json(text) if text.strip() else {}, is_ours))
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
    places = [place_of(our_words(item, host)) for item in items.values()]

    def is_stale(event: str, item: Item) -> bool:
        words = our_words(item, host)
        return bool(words) and item != items.get(event) and place_of(words) in places

    # As if the file had been empty: a list that is left empty is taken for ours.
    return _without(text, hooks, is_stale, ("{}",))


def _without(
    text: str,
    hooks: HookFile,
    is_gone: Callable[[str, Item], bool],
    earlier: Sequence[str] = (),
) -> str | None:
    after = text
    base = _base(parse_json, earlier, lambda one: last_hook(one, is_gone) is None)
    # The last one first: each step then undoes the last step of the installation.
    while found := last_hook(parse_json(after) if after.strip() else {}, is_gone):
        event, at, item = found
        expected = parse_json(after)
        del expected[HOOKS][event][at]
        valid = [
            one
            for one in without_value(after, (HOOKS, event, at))
            if _compact(parsed(parse_json, one)) == _compact(expected)
        ]
        if base:
            valid = _like(valid, parse_json, [(HOOKS,), (HOOKS, event)], base)
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


def _base(
    parse: Callable[[str], dict[str, Any]],
    earlier: Sequence[str],
    is_without: Callable[[dict[str, Any]], bool],
) -> _Base | None:
    """The file before the installation; None if no earlier text is known."""
    documents = [(text, parsed(parse, text)) for text in earlier]
    known = [_Base(text, document) for text, document in documents if document is not None]
    if not known:
        return None
    # A file that was never known without what goes now was empty.
    before = next((one for one in known if is_without(one.document)), _Base("", {}))
    # Another part of ours may have come first, and its comma is not the user's.
    clean = next((one for one in known if not our_commands(one.document)), before)
    return _Base(clean.text, before.document)


def _like(
    valid: list[str],
    parse: Callable[[str], dict[str, Any]],
    paths: Sequence[tuple[str, ...]],
    base: _Base,
) -> list[str]:
    """Those texts that have an object at these paths where the base has one, as far as any has.
    First those with the most lines of the base: it knows whether there was a comma at the end."""
    lines = Counter(base.text.splitlines())

    def differences(text: str) -> int:
        document = parsed(parse, text) or {}
        return sum(_has(document, path) != _has(base.document, path) for path in paths)

    least = min(map(differences, valid), default=0)
    like = [one for one in valid if differences(one) == least]
    return sorted(like, key=lambda one: (lines - Counter(one.splitlines())).total())


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


# -- the rest of a file --------------------------------------------------------------------------


def _without_table(text: str, table: str) -> list[str]:
    table = table.replace("\n", "\r\n" if "\r\n" in text else "\n")
    if table not in text:
        return []
    before, _, after = text.partition(table)
    shorter = before.removesuffix("\n").removesuffix("\r")
    gaps = [before, shorter, before.rstrip("\r\n")]
    if after and shorter.endswith("\n"):
        # Something was added below. The empty line above the table came with it.
        gaps[:2] = shorter, before
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


def _compact(document: dict[str, Any] | None) -> Any:
    """The document without empty lists of hooks, which mean the same as none."""
    hooks = (document or {}).get(HOOKS)
    if not isinstance(hooks, dict):
        return document
    left = {event: items for event, items in hooks.items() if items != []}
    return {
        key: value
        for key, value in {**(document or {}), HOOKS: left}.items()
        if value or key != HOOKS
    }
