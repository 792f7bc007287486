"""What the settings file of a workspace may set: the list of allowed keys.

Such a file may come with a folder from a stranger. It may shape ranking, chunks, and which notes
inside the workspace are indexed. It may never decide where notes are sent, which programs run, or
what outside the workspace is read, unless the user has said yes to that folder
(`outside_folders`). A key that is not on this list is refused, so a new key of the table is
refused until somebody adds it here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.config.checks import Key

WorkspaceRule: TypeAlias = Literal["any", "off", "inside"]
"""any: every value · off: only `false` · inside: only paths inside the workspace."""

_CHUNKS = ("chunking.tokens", "chunking.overlap")
_RANKING = (
    "preset", "maxResults", "minScore", "hybrid.enabled", "hybrid.fusion", "hybrid.vectorWeight",
    "hybrid.textWeight", "hybrid.candidateMultiplier", "hybrid.mmr.enabled", "hybrid.mmr.lambda",
    "hybrid.temporalDecay.enabled", "hybrid.temporalDecay.halfLifeDays",
)  # fmt: skip

WORKSPACE_RULES: Mapping[str, WorkspaceRule] = {
    # Names the agent of an entry; it decides nothing by itself.
    "id": "any",
    # On is refused: it would index notes where the user switched the memory off.
    "memorySearch.enabled": "off",
    "memorySearch.extraPaths": "inside",
    **{f"memorySearch.{name}": "any" for name in _CHUNKS},
    **{f"memorySearch.query.{name}": "any" for name in _RANKING},
}
"""By the path of a key below its agent, or below the file for keys that belong to no agent."""


class Outside(NamedTuple):
    """A folder outside the workspace that its file names."""

    folder: str
    """Where the path leads."""
    answer: bool | None
    """What the user said; None: nobody has asked."""


_NEXT_STEP: Mapping[bool | None, str] = {
    None: "`notewell index` asks you on a terminal, or put it into your own file",
    False: "you have declined it; put it into your own file if you want it",
}


class Ruled(NamedTuple):
    """What is left of a value from a workspace's file."""

    value: Any
    """None: nothing of it may be used."""
    refusals: tuple[str, ...] = ()
    """One message for each part that was refused."""


def is_allowed(key: Key) -> bool:
    """Whether a workspace's file may set the key at all."""
    return key.path in WORKSPACE_RULES


def rule_of(key: Key) -> WorkspaceRule:
    return WORKSPACE_RULES[key.path]


def refusal(key: Key) -> str:
    """The message about a key that only the user's own file may set."""
    return (
        "a workspace's file may come from a stranger, so it can set only ranking, chunks, paths "
        f"inside the workspace and `enabled: false`: put it into your own file ({key.meaning})"
    )


def apply_rule(key: Key, value: Any, outside: Mapping[str, Outside]) -> Ruled:
    """The part of an allowed key's value that a workspace's file may set. `outside` has the paths
    of the value that leave the workspace."""
    rule = rule_of(key)
    if rule == "off" and value is not False:
        return Ruled(None, ("a workspace's file can only switch it off",))
    if rule == "inside":
        return _inside(value, outside)
    return Ruled(value)


def _inside(entries: tuple[tuple[str, ...], ...], outside: Mapping[str, Outside]) -> Ruled:
    # With the real folder, which the user was asked about, in place of the path.
    inside = tuple(
        (outside[entry[0]].folder, *entry[1:]) if entry[0] in outside else entry
        for entry in entries
        if entry[0] not in outside or outside[entry[0]].answer
    )
    messages = tuple(
        f"{path!r} is not a path inside the workspace: {_NEXT_STEP[one.answer]}"
        for path, one in outside.items()
        if not one.answer
    )
    if not entries:
        messages = ("an empty list does not clear the paths of your own file",)
    # Not an empty list, which would clear the user's own extra paths: a workspace may add to
    # what the user searches, and take nothing away.
    return Ruled(inside or None, messages)


def leaves_the_workspace(path: str) -> bool:
    """Absolute, a home folder, a parent folder, or a drive of Windows (`C:`)."""
    # `..` anywhere: behind a link, `a/../b` is not below the folder that it seems to be in.
    parts = path.replace("\\", "/").split("/")
    return path.startswith(("/", "~", "\\")) or ".." in parts or ":" in path[:2]
