"""Which folders QMD indexes, under which names, and the paths of their files in hits.

    collection             root                pattern      path in a hit
    memory-root-<agent>    the workspace       MEMORY.md    MEMORY.md
    memory-alt-<agent>     the workspace       memory.md    memory.md
    memory-user-<agent>    the workspace       USER.md      USER.md
    memory-dir-<agent>     …/memory            **/*.md      memory/2026-11-15.md
    <name>-<agent>         an extra folder     its own      qmd/<collection>/<path below root>
    sessions-<agent>       exported sessions   **/*.md      qmd/<collection>/<path below root>

Files of an extra folder inside the workspace keep their workspace paths. The only disk access
here is to see whether an extra path is a file or a folder.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from notewell.errors import BadSetting
from notewell.qmd.home import EXPORTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from notewell.qmd.settings import ExtraFolder, QmdSettings
    from notewell.types import Source

CollectionKind: TypeAlias = Literal["memory", "extra", "sessions"]

PREFIX = "qmd"
MARKDOWN = "**/*.md"
ROOT_FILES = {"root": "MEMORY.md", "alt": "memory.md", "user": "USER.md"}
MEMORY_FOLDER = "memory"

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
        """Whether a path below the root is one we would read: Markdown, inside the root.

        Only QMD knows how its glob patterns match, so a pattern with wildcards is not checked
        again here. A pattern without wildcards names one file.
        """
        if not parts or not {"", ".", ".."}.isdisjoint(parts):
            return False
        # A separator inside a part comes from percent-encoding (`..%2F`), never from a real name.
        if any("\0" in part or os.sep in part for part in parts):
            return False
        if not _GLOB.search(self.pattern):
            return "/".join(parts) == self.pattern
        return parts[-1].lower().endswith(".md")


class CollectionFile(NamedTuple):
    """A file of a collection, to be opened without following links."""

    root: Path
    """From the settings, so it is trusted."""
    parts: tuple[str, ...]
    """Below the root, from a caller, so they are not."""


def collections_of(
    workspace: Path, agent: str, settings: QmdSettings, export_dir: Path
) -> tuple[Collection, ...]:
    """The workspace's notes first, then the folders of the settings, then exported sessions."""
    collections: list[Collection] = []
    if settings.include_default_memory:
        memory = workspace / MEMORY_FOLDER
        # Each with a collection of its own: a pattern for several names would be a glob, and a
        # glob is not checked again when a file is read (see `holds`).
        collections += (
            Collection(f"memory-{name}-{agent}", workspace, file, "memory")
            for name, file in ROOT_FILES.items()
        )
        collections.append(Collection(f"memory-dir-{agent}", memory, MARKDOWN, "memory"))
    for number, extra in enumerate(settings.paths, start=1):
        collections.append(_extra(workspace, agent, number, extra))
    if settings.export_sessions:
        collections.append(Collection(f"{EXPORTS}{agent}", export_dir, MARKDOWN, "sessions"))
    return tuple(_with_unique_names(collections))


def _extra(workspace: Path, agent: str, number: int, extra: ExtraFolder) -> Collection:
    # Links are resolved: the user named this path, so the user trusts it.
    path = Path(os.path.realpath(workspace / Path(extra.path).expanduser()))
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise BadSetting("memory.qmd.paths", f"{extra.path!r} is no valid UTF-8") from error
    name = _NOT_IN_A_NAME.sub("-", (extra.name or "").strip().lower()).strip("-")
    unique = f"{name or f'custom-{number}'}-{agent}"
    if path.is_file():
        return Collection(unique, path.parent, path.name, "extra")
    return Collection(unique, path, extra.pattern or MARKDOWN, "extra")


def _with_unique_names(collections: Iterable[Collection]) -> Iterator[Collection]:
    """QMD would merge two collections of the same name, so the later one gets a number."""
    taken: set[str] = set()
    for collection in collections:
        name, number = collection.name, 2
        while name in taken:
            name, number = f"{collection.name}-{number}", number + 1
        taken.add(name)
        yield collection._replace(name=name)


def shown_path(workspace: Path, collection: Collection, parts: tuple[str, ...]) -> str:
    """The path of a file in hits, which `get` accepts."""
    full = collection.root.joinpath(*parts)
    if collection.kind != "sessions" and full.is_relative_to(workspace):
        return full.relative_to(workspace).as_posix()
    return "/".join((PREFIX, collection.name, *parts))


def locate(workspace: Path, collections: Iterable[Collection], path: str) -> CollectionFile | None:
    """The reverse of `shown_path`; None for a path in no collection."""
    parts = tuple(path.split("/"))
    if path.startswith(f"{PREFIX}/"):
        if len(parts) < 3:
            return None
        _, name, *below = parts
        for collection in collections:
            # Under the path of its hits only. An extra folder may contain the workspace, and a
            # second path to MEMORY.md would lead around the rule that hides it from groups.
            if (
                collection.name == name
                and collection.holds(tuple(below))
                and shown_path(workspace, collection, tuple(below)) == path
            ):
                return CollectionFile(collection.root, tuple(below))
        return None
    if not {"", ".", ".."}.isdisjoint(parts):
        return None
    full = workspace.joinpath(*parts)
    for collection in collections:
        # Exported sessions have no path in the workspace, wherever they are stored.
        if collection.kind != "sessions" and full.is_relative_to(collection.root):
            inside = full.relative_to(collection.root).parts
            if collection.holds(inside):
                return CollectionFile(collection.root, inside)
    return None
