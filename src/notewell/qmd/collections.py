"""Which folders QMD indexes, under which names, and what their files are called elsewhere.

    collection             root                pattern      a file is called
    memory-root-<agent>    the workspace       MEMORY.md    MEMORY.md
    memory-dir-<agent>     …/memory            **/*.md      memory/2026-11-15.md
    <name>-<agent>         an extra folder     its own      qmd/<collection>/<path below root>
    sessions-<agent>       exported sessions   **/*.md      qmd/<collection>/<path below root>

An extra folder inside the workspace keeps the names its files have there. Nothing here touches
the disk, except to see what an extra path is.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from notewell.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from notewell.qmd.settings import ExtraFolder, QmdSettings
    from notewell.types import Source

CollectionKind: TypeAlias = Literal["memory", "extra", "sessions"]

PREFIX = "qmd"
MARKDOWN = "**/*.md"
MEMORY_FILE, MEMORY_FOLDER = "MEMORY.md", "memory"

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9_-]+")
_GLOB = re.compile(r"[][*?{}()!+@\\]")


class Collection(NamedTuple):
    """A folder and which files of it count."""

    name: str
    root: Path
    pattern: str
    kind: CollectionKind

    @property
    def source(self) -> Source:
        return "sessions" if self.kind == "sessions" else "memory"

    def holds(self, parts: tuple[str, ...]) -> bool:
        """Whether a path below the root is one we would read: Markdown, and nothing clever.

        QMD alone knows how its patterns match; a pattern without wildcards names one file.
        """
        if not parts or not {"", ".", ".."}.isdisjoint(parts):
            return False
        if any("\0" in part or os.sep in part for part in parts):
            return False
        if not _GLOB.search(self.pattern):
            return "/".join(parts) == self.pattern
        return parts[-1].lower().endswith(".md")


class Place(NamedTuple):
    """A file: a folder that may be trusted, and the way down from there, which may not."""

    root: Path
    parts: tuple[str, ...]


def collections_of(
    workspace: Path, agent: str, settings: QmdSettings, export_dir: Path
) -> tuple[Collection, ...]:
    """The workspace's own first, then those the user names, then the exported sessions."""
    found: list[Collection] = []
    if settings.include_default_memory:
        memory = workspace / MEMORY_FOLDER
        found.append(Collection(f"memory-root-{agent}", workspace, MEMORY_FILE, "memory"))
        found.append(Collection(f"memory-dir-{agent}", memory, MARKDOWN, "memory"))
    for number, extra in enumerate(settings.paths, start=1):
        found.append(_extra(workspace, agent, number, extra))
    if settings.export_sessions:
        found.append(Collection(f"sessions-{agent}", export_dir, MARKDOWN, "sessions"))
    return tuple(_with_own_names(found))


def _extra(workspace: Path, agent: str, number: int, extra: ExtraFolder) -> Collection:
    # It may be a link, or lie behind one: the user named it.
    path = Path(os.path.realpath(workspace / Path(extra.path).expanduser()))
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise BadSetting("memory.qmd.paths", f"{extra.path!r} is no valid UTF-8") from error
    name = _NOT_IN_A_NAME.sub("-", (extra.name or "").strip().lower()).strip("-")
    full = f"{name or f'custom-{number}'}-{agent}"
    if path.is_file():
        return Collection(full, path.parent, path.name, "extra")
    return Collection(full, path, extra.pattern or MARKDOWN, "extra")


def _with_own_names(found: Iterable[Collection]) -> Iterator[Collection]:
    """Two of the same name would be one to QMD: the later gets a number."""
    taken: set[str] = set()
    for one in found:
        name, number = one.name, 2
        while name in taken:
            name, number = f"{one.name}-{number}", number + 1
        taken.add(name)
        yield one._replace(name=name)


def shown_path(workspace: Path, collection: Collection, parts: tuple[str, ...]) -> str:
    """What the file is called in hits and by `get`."""
    full = collection.root.joinpath(*parts)
    if collection.kind != "sessions" and full.is_relative_to(workspace):
        return full.relative_to(workspace).as_posix()
    return "/".join((PREFIX, collection.name, *parts))


def locate(workspace: Path, collections: Iterable[Collection], path: str) -> Place | None:
    """Where the file is that a hit named; None for what is in no collection."""
    parts = tuple(path.split("/"))
    if path.startswith(f"{PREFIX}/"):
        if len(parts) < 3:
            return None
        named = (one for one in collections if one.name == parts[1])
        return next((Place(one.root, parts[2:]) for one in named if one.holds(parts[2:])), None)
    if not {"", ".", ".."}.isdisjoint(parts):
        return None
    full = workspace.joinpath(*parts)
    for one in collections:
        if one.kind != "sessions" and full.is_relative_to(one.root):
            below = full.relative_to(one.root).parts
            if one.holds(below):
                return Place(one.root, below)
    return None
