"""The folder of a workspace that an agent may edit: which names it may use, and how to open them.

`scope` decides about names, as everywhere: a name that search would not find is refused, and so is
a path that leads elsewhere, before the disk is touched.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.errors import EditRefused
from notewell.files import NotPlain, WritableDir, can_edit_folders, descend, describe_os_error
from notewell.notes.scope import is_note_name, scope_of
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from notewell.notes.scope import NoteScope

Reason: TypeAlias = Literal["name", "missing", "exists", "kind", "changed", "limit", "disk"]

MAX_PATH_BYTES = 1024
"""The limit of hosted memory stores; no usual name is longer."""
FOLLOWS_LINKS = "this system cannot change files without following links"
UNSEARCHED = "search would not find a note of this name"
PLAIN_NAME = "choose a plain name: not hidden, no backslash, no control characters"


@dataclass(frozen=True, slots=True)
class AgentFolder:
    """Paths are relative to it, with `/`; the empty path is the folder itself."""

    scope: NoteScope
    folder: str
    """Its path in the workspace, `memory/claude`."""

    @classmethod
    def of(cls, root: Path, folder: str) -> AgentFolder:
        """Raises `EditRefused` unless it lies below `memory/` on a system that has `openat`."""
        own = cls(scope_of(root, root, ()), folder)
        if not folder.startswith("memory/") or not own._admits(folder):
            why = "notes are searched for below memory/, and an agent gets a folder of its own"
            raise EditRefused(folder, "name", why, "name one such as memory/claude")
        if not can_edit_folders():
            raise EditRefused(folder, "disk", FOLLOWS_LINKS, "use memory_append instead")
        return own

    def names(self, path: str) -> tuple[str, ...]:
        """Decided without the disk, so a refusal reveals nothing about what is there."""
        if not path:
            return ()
        names = tuple(path.split("/"))
        if not {"", ".", ".."}.isdisjoint(names):
            raise EditRefused(path, "name", "it leads elsewhere", "write the plain path")
        # Hidden names are ours: the trash, and the temporary files of an edit.
        hidden = any(name.startswith(".") for name in names)
        if hidden or "\\" in path or not self._admits(f"{self.folder}/{path}"):
            raise EditRefused(path, "name", UNSEARCHED, PLAIN_NAME)
        if len(path.encode()) > MAX_PATH_BYTES:
            why = f"it is longer than {MAX_PATH_BYTES} bytes"
            raise EditRefused(path, "name", why, "choose a shorter name")
        return names

    def note_names(self, path: str) -> tuple[str, ...]:
        names = self.names(path)
        if not names or not is_note_name(names[-1]):
            raise EditRefused(path, "name", "a note's name ends in .md", "add that")
        if self.scope.locate(f"{self.folder}/{path}") is None:
            raise EditRefused(path, "name", UNSEARCHED, PLAIN_NAME)
        return names

    def _admits(self, key: str) -> bool:
        # A folder is searched exactly if a note in it would be found.
        return self.scope.locate(f"{key}/x.md") is not None

    @contextmanager
    def at(self, names: tuple[str, ...]) -> Iterator[WritableDir]:
        way = (str(self.scope.root), *self.folder.split("/"), *names)
        with descend(WritableDir(None), way) as folder:
            yield folder

    def make_folders(self, names: tuple[str, ...]) -> None:
        below = (*self.folder.split("/"), *names)
        for depth, name in enumerate(below):
            # From the workspace down at each level: a link that appears meanwhile is refused.
            with descend(WritableDir(None), (str(self.scope.root), *below[:depth])) as parent:
                parent.make_folder(name)

    def sync(self, names: tuple[str, ...]) -> None:
        """Force the names down to a new entry to disk."""
        way = (str(self.scope.root), *self.folder.split("/"), *names)
        # All levels: any of them may be new, also one that another process has made and not
        # synced yet.
        for depth in range(1, len(way) + 1):
            with descend(WritableDir(None), way[:depth]) as folder:
                folder.sync()


@contextmanager
def edit_errors(path: str) -> Iterator[None]:
    """Errors of the system become `EditRefused`."""
    try:
        yield
    except NotPlain as refusal:
        raise EditRefused(path, "kind", refusal.why, "choose another name") from None
    except FileNotFoundError as error:
        raise EditRefused(path, "missing", "not there", "look what is there") from error
    except FileExistsError as error:
        why = "something of that name is there"
        raise EditRefused(path, "exists", why, "choose another name") from error
    except (NotADirectoryError, IsADirectoryError) as error:
        why = "a file is no folder, nor a folder a file"
        raise EditRefused(path, "kind", why, "look what is there") from error
    except OSError as error:
        raise EditRefused(path, "disk", describe_os_error(error), "fix that first") from error
