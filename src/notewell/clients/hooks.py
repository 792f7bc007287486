"""Hooks in a host's file: one entry for each event, added as text.

    "hooks": {"SessionStart": [ <the user's entry>, <ours> ], "SessionEnd": [ <ours> ]}

Entries of others stay where they are, and no other character of the file changes.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from notewell.clients.formats import json_format
from notewell.clients.install import take_out, update_file, would_change
from notewell.clients.merge import (
    TOKEN,
    Brackets,
    CannotMerge,
    blanked_json,
    inserted,
    merged_json,
    parse_json,
)
from notewell.clients.ours import HOOKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from notewell.clients.install import Installed
    from notewell.hosts import HookFile


def hook_command_line(words: Sequence[str]) -> str:
    """A command as one line for the shell that the host starts."""
    if sys.platform == "win32":
        from subprocess import list2cmdline

        return list2cmdline(words)
    from shlex import join

    return join(words)


def install_hooks(
    file: Path, hooks: HookFile, items: Mapping[str, dict[str, Any]], host: str
) -> Installed:
    """Make the entries for each event those that the host's file has for the same notes. Raises
    `CannotMerge` or `FileNotWritten`."""
    from notewell.clients.remove import without_stale_hooks

    def edit(text: str) -> str | None:
        current = without_stale_hooks(text, hooks, host, items)
        kept = text if current is None else current
        after = with_hooks(kept or hooks.new_file, items) or kept
        return None if after == text else after

    return update_file(file, edit)


def remove_hooks(file: Path, hooks: HookFile, host: str) -> Installed:
    """Take our hooks out again. Raises `CannotMerge` or `FileNotWritten`."""
    from notewell.clients.remove import without_hooks

    def edit(text: str, earlier: Sequence[str]) -> str | None:
        return without_hooks(text, hooks, host, earlier)

    return take_out(file, edit, json_format(hooks.new_file))


def has_hooks(file: Path, hooks: HookFile, host: str) -> bool:
    """Whether `remove_hooks` would take something out."""
    from notewell.clients.remove import without_hooks

    return would_change(file, lambda text: without_hooks(text, hooks, host))


def with_hooks(text: str, items: Mapping[str, dict[str, Any]]) -> str | None:
    """The file with an entry for each event; None if it has them all. Raises `CannotMerge`."""
    after = text
    for event, item in items.items():
        entries = _entries(after, event)
        if entries is None:
            after = merged_json(after, HOOKS, event, [item]) or after
        # The same hook twice would run twice; one with another workspace is another hook.
        elif item not in entries:
            after = _with_item(after, event, item)
    return None if after == text else after


def _entries(text: str, event: str) -> list[Any] | None:
    """The entries of an event; None if there are none."""
    hooks = parse_json(text).get(HOOKS) if blanked_json(text).strip() else None
    # `merged_json` says what is wrong with another value.
    entries = hooks.get(event) if isinstance(hooks, dict) else None
    if entries is not None and not isinstance(entries, list):
        raise CannotMerge(f"'{HOOKS}.{event}' is not a list there")
    return entries


def _with_item(text: str, event: str, item: dict[str, Any]) -> str:
    """One more item at the end of a list."""
    bare, expected = blanked_json(text), parse_json(text)
    # Three levels deep: the document, `hooks`, the list of the event.
    after = inserted(text, bare, _list_at(bare, (HOOKS, event)), [item], depth=3)
    expected[HOOKS][event].append(item)
    # The file belongs to the user: rather refuse than write something else than was meant.
    if parse_json(after) != expected:
        raise CannotMerge(f"the position for it could not be found in '{HOOKS}.{event}'")
    return after


def _list_at(bare: str, path: tuple[str, ...]) -> Brackets:
    """Where the list at this path begins and ends."""
    opened: list[tuple[int, str]] = []
    last = name = ""
    for token in TOKEN.finditer(bare):
        match token.group():
            case "{" | "[":
                opened.append((token.start(), name))
                name = ""
            case "}" | "]":
                begin, name = opened.pop()
                # The outermost object has no name.
                if (*(above for _, above in opened[1:]), name) == path:
                    return Brackets(begin, token.start())
            case ":":
                name = last
            case ",":
                name = ""
            case word:
                last = json.loads(word)
    raise CannotMerge(f"there is no list at {'.'.join(path)!r}")
