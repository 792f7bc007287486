"""The six commands of Claude's memory tool, over one folder of the workspace.

    /memories/projects/router.md   is   memory/claude/projects/router.md

The model believes that it has files below /memories, and it has: they are notes, so search finds
them too. A name that does not end in `.md` gets it on disk, and both names lead to the note:
`/memories/todo.txt` is `memory/claude/todo.txt.md`.

Commands are answered in the words of Anthropic's own implementation, which the model was made for.
Paths in errors are the model's; folders of this machine are never named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from notewell.adapters.wording import (
    ROOT,
    Refused,
    a_range,
    a_text,
    a_whole_number,
    around,
    as_note,
    in_bytes,
    like,
    lines_of,
    not_renamed,
    numbered,
    only_place,
    parsed,
    size_of,
    told_of,
)
from notewell.errors import EditRefused
from notewell.notes import is_note_name
from notewell.notes.clean import clean

if TYPE_CHECKING:
    from notewell.notes import Content, EditableFolder, Kind, Listed

LISTED = 500
"""Lines of a listing; an agent with more files than this looks into folders one by one."""


class _Found(NamedTuple):
    path: str
    kind: Kind


class Memories:
    """Each command returns what the model is told, or raises `Refused`, `NotewellError`."""

    def __init__(self, folder: EditableFolder) -> None:
        self._folder = folder

    def view(self, path: object, view_range: object = None) -> str:
        shown, below = parsed(path)
        found = self._find(shown, below)
        if found is None:
            raise Refused(f"The path {shown} does not exist. Please provide a valid path.")
        if found.kind == "folder":
            return self._listing(shown, found.path)
        text, _ = clean(self._read(shown, found.path).data)
        return numbered(shown, text.split("\n"), a_range(view_range))

    def create(self, path: object, file_text: object) -> str:
        shown, below = parsed(path)
        data = in_bytes("file_text", file_text)
        if not below or self._find(shown, below) is not None:
            raise Refused(f"File {shown} already exists")
        try:
            self._folder.create(as_note(below), data)
        except EditRefused as refused:
            if refused.reason == "exists":
                raise Refused(f"File {shown} already exists") from None
            raise told_of(shown, refused) from refused
        return f"File created successfully at: {shown}"

    def str_replace(self, path: object, old_str: object, new_str: object = "") -> str:
        shown, note, text, digest = self._to_edit(path)
        old = like(text, a_text("old_str", old_str))
        new = like(text, a_text("new_str", new_str))
        at = only_place(shown, text, old)
        changed = text[:at] + new + text[at + len(old) :]
        told = self._replace(shown, note, changed, digest)
        line = text.count("\n", 0, at)
        return (
            "The memory file has been edited. Here is the snippet showing the change "
            f"(with line numbers):\n{around(changed, line)}{told}"
        )

    def insert(self, path: object, insert_line: object, insert_text: object) -> str:
        shown, note, text, digest = self._to_edit(path)
        added = like(text, a_text("insert_text", insert_text))
        lines = lines_of(text)
        at = a_whole_number("insert_line", insert_line)
        if not 0 <= at <= len(lines):
            raise Refused(
                f"Invalid `insert_line` parameter: {at}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        eol = "\r\n" if "\r\n" in text else "\n"
        if at and not lines[at - 1].endswith("\n"):
            lines[at - 1] += eol
        lines.insert(at, added if added.endswith("\n") else added + eol)
        told = self._replace(shown, note, "".join(lines), digest)
        return f"The file {shown} has been edited.{told}"

    def delete(self, path: object) -> str:
        shown, below = parsed(path)
        if not below:
            raise Refused(f"Cannot delete the {ROOT} directory itself")
        found = self._find(shown, below)
        if found is None:
            raise Refused(f"The path {shown} does not exist")
        try:
            self._folder.trash(found.path)
        except EditRefused as refused:
            if refused.reason == "missing":
                raise Refused(f"The path {shown} does not exist") from None
            raise told_of(shown, refused) from refused
        return f"Successfully deleted {shown}"

    def rename(self, old_path: object, new_path: object) -> str:
        old, before = parsed(old_path)
        new, after = parsed(new_path)
        if not before:
            raise Refused(f"Cannot rename the {ROOT} directory itself")
        if not after or self._find(new, after) is not None:
            raise Refused(f"The destination {new} already exists")
        found = self._find(old, before)
        if found is None:
            raise Refused(f"The path {old} does not exist")
        try:
            self._folder.move(found.path, after if found.kind == "folder" else as_note(after))
        except EditRefused as refused:
            raise not_renamed(old, new, refused) from refused
        return f"Successfully renamed {old} to {new}"

    def clear(self) -> str:
        """Everything goes into the trash; a person can take it back."""
        try:
            for entry in self._folder.entries(""):
                self._folder.trash(entry.path)
        except EditRefused as refused:
            raise told_of(ROOT, refused) from refused
        return "All memory cleared"

    # -- the folder ------------------------------------------------------------------------------

    def _find(self, shown: str, below: str) -> _Found | None:
        """A folder of that name, else the note of that name, with or without its `.md`."""
        if not below:
            return _Found("", "folder")
        try:
            kind = self._folder.kind(below)
            if kind == "folder" or (kind == "note" and is_note_name(below)):
                return _Found(below, kind)
            note = as_note(below)
            return _Found(note, "note") if self._folder.kind(note) == "note" else None
        except EditRefused as refused:
            raise told_of(shown, refused) from refused

    def _read(self, shown: str, note: str) -> Content:
        try:
            return self._folder.read(note)
        except EditRefused as refused:
            if refused.reason == "missing":
                raise Refused(
                    f"The file {shown} no longer exists "
                    "(may have been deleted or renamed concurrently)."
                ) from None
            raise told_of(shown, refused) from refused

    def _to_edit(self, path: object) -> tuple[str, str, str, str]:
        """How the model calls it, its path in the folder, its exact text, and its digest."""
        shown, below = parsed(path)
        found = self._find(shown, below)
        if found is None:
            raise Refused(f"The path {shown} does not exist. Please provide a valid path.")
        if found.kind == "folder":
            raise Refused(f"The path {shown} is not a file.")
        content = self._read(shown, found.path)
        try:
            return shown, found.path, content.data.decode(), content.digest
        except UnicodeDecodeError:
            # What cannot be read exactly cannot be written back exactly.
            raise Refused(f"The file {shown} is not valid UTF-8 and cannot be edited.") from None

    def _replace(self, shown: str, note: str, text: str, digest: str) -> str:
        """What the model has to know besides, mostly nothing."""
        try:
            kept = self._folder.replace(note, text.encode(), expected=digest)
        except EditRefused as refused:
            raise told_of(shown, refused) from refused
        if kept is None:
            return ""
        return f"\nAnother program wrote to it in the same moment; what it wrote is in {kept}."

    def _listing(self, shown: str, below: str) -> str:
        shown = shown.rstrip("/")
        lines = [f"{size_of(self._folder.size(below))}\t{shown}"]
        entries = self._two_levels(shown, below)
        cut = len(below) + 1 if below else 0
        for entry in entries[:LISTED]:
            mark = "/" if entry.kind == "folder" else ""
            lines.append(f"{size_of(entry.size)}\t{shown}/{entry.path[cut:]}{mark}")
        if len(entries) > LISTED:
            lines.append(f"… and {len(entries) - LISTED} more: view a directory of them")
        return (
            f"Here're the files and directories up to 2 levels deep in {shown}, "
            "excluding hidden items:\n" + "\n".join(lines)
        )

    def _two_levels(self, shown: str, below: str) -> list[Listed]:
        listed = []
        try:
            for entry in self._folder.entries(below):
                listed.append(entry)
                if entry.kind == "folder":
                    listed += self._folder.entries(entry.path)
        except EditRefused as refused:
            raise told_of(shown, refused) from refused
        return listed
