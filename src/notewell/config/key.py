"""One row of the table of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from notewell.config.checks import Flag

if TYPE_CHECKING:
    from notewell.config.checks import Check

Since: TypeAlias = Literal["seed", "openclaw", "ours"]
"""Where a key comes from: OpenClaw as it was when Notewell began, a later OpenClaw, or us."""

AGENTS = ("agents.defaults", "agents.list[]")
"""What stands below `agents.defaults` may stand in an agent's own entry too, and wins there."""


class Key(NamedTuple):
    """A setting: what it takes, what holds without it, and who may say it."""

    path: str
    """Dotted; `[]` is an entry of a list, `*` any name. Relative to an agent where it has one."""
    check: Check
    default: Any
    meaning: str
    since: Since = "seed"
    own: bool = False
    """Only from the user's own file: it names a program, an address, a secret or another folder,
    and a workspace's file may come with a folder from a stranger."""
    outside: bool = False
    """A path: one that leaves the workspace is worth a word when the workspace's file says it."""
    field: str = ""
    """The field of `Settings` that the value decides, with its group: `search.max_results`.
    Empty for keys that the configuration itself uses, and for those that have no effect yet."""


def on(path: str, meaning: str, since: Since = "seed", *, field: str = "") -> Key:
    """A switch that is on unless the user says otherwise."""
    return Key(path, Flag(), default=True, meaning=meaning, since=since, field=field)


def off(path: str, meaning: str, since: Since = "seed", *, field: str = "") -> Key:
    return Key(path, Flag(), default=False, meaning=meaning, since=since, field=field)
