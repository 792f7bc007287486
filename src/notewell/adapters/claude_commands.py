"""The six commands of Claude's memory tool, over one folder of the workspace.

    /memories/projects/router.md   is   memory/claude/projects/router.md

The model sees files below /memories. They are notes, so search finds them too. A name that does
not end in `.md` gets that suffix on disk, and both names lead to the note: `/memories/todo.txt` is
`memory/claude/todo.txt.md`.

The texts are those of Anthropic's own implementation, which the model was trained with. Where a
limit of ours applies, the text says so and names the next step. Paths in errors are the model's;
folders of this machine are never named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from notewell.errors import EditRefused
from notewell.notes import clean, is_note_name

if TYPE_CHECKING:
    from notewell.notes import Content, EditableFolder, FolderEntry, Kind

ROOT = "/memories"
VIEW_CHARS = 32_000
"""About 8000 tokens; the model reads the rest with view_range."""
SHOWN_PATH_BYTES = 4096
"""The longest path on Linux. A longer one is refused unread, and not repeated."""
MAX_LINES = 999_999
SHOWN_LINES = 20
"""How many occurrences are listed if a text is not unique."""
_WIDTH = len(str(MAX_LINES))


LISTED = 500
"""Lines of a listing. An agent with more files views the folders one by one."""


class Refused(Exception):
    """The command was not carried out. Its text is what the model gets."""


class _Target(NamedTuple):
    path: str
    kind: Kind


class MemoryCommands:
    """Each command returns the text for the model, or raises `Refused` or `NotewellError`."""

    def __init__(self, folder: EditableFolder) -> None:
        self._folder = folder

    def view(self, path: object, view_range: object = None) -> str:
        shown, below = parsed(path)
        target = self._find(shown, below)
        if target is None:
            raise Refused(f"The path {shown} does not exist. Please provide a valid path.")
        if target.kind == "folder":
            return self._listing(shown, target.path)
        text, _ = clean(self._read(shown, target.path).data)
        return numbered(shown, text.split("\n"), a_range(view_range))

    def create(self, path: object, file_text: object) -> str:
        shown, below = parsed(path)
        data = in_bytes("file_text", file_text)
        # A check for the common case; `folder.create` still refuses a file that appears after it.
        if not below or self._find(shown, below) is not None:
            raise Refused(f"File {shown} already exists")
        try:
            self._folder.create(as_note(below), data)
        except EditRefused as refused:
            if refused.reason == "exists":
                raise Refused(f"File {shown} already exists") from None
            raise edit_refused(shown, refused) from refused
        return f"File created successfully at: {shown}"

    def str_replace(self, path: object, old_str: object, new_str: object = "") -> str:
        shown, note, text, digest = self._to_edit(path)
        old = like(text, a_text("old_str", old_str))
        new = like(text, a_text("new_str", new_str))
        at = only_place(shown, text, old)
        changed = text[:at] + new + text[at + len(old) :]
        warning = self._replace(shown, note, changed, digest)
        line = text.count("\n", 0, at)
        return (
            "The memory file has been edited. Here is the snippet showing the change "
            f"(with line numbers):\n{around(changed, line)}{warning}"
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
        # The note keeps its kind of line break: the model only ever writes line feeds.
        eol = "\r\n" if "\r\n" in text else "\n"
        # The last line of a note may lack its line break; without one the new text would join it.
        if at and not lines[at - 1].endswith("\n"):
            lines[at - 1] += eol
        lines.insert(at, added if added.endswith("\n") else added + eol)
        warning = self._replace(shown, note, "".join(lines), digest)
        return f"The file {shown} has been edited.{warning}"

    def delete(self, path: object) -> str:
        shown, below = parsed(path)
        if not below:
            raise Refused(f"Cannot delete the {ROOT} directory itself")
        target = self._find(shown, below)
        if target is None:
            raise Refused(f"The path {shown} does not exist")
        try:
            # To the trash and never removed: a model that deletes by mistake must not destroy the
            # user's text.
            self._folder.trash(target.path)
        except EditRefused as refused:
            if refused.reason == "missing":
                raise Refused(f"The path {shown} does not exist") from None
            raise edit_refused(shown, refused) from refused
        return f"Successfully deleted {shown}"

    def rename(self, old_path: object, new_path: object) -> str:
        old, before = parsed(old_path)
        new, after = parsed(new_path)
        if not before:
            raise Refused(f"Cannot rename the {ROOT} directory itself")
        if not after or self._find(new, after) is not None:
            raise Refused(f"The destination {new} already exists")
        target = self._find(old, before)
        if target is None:
            raise Refused(f"The path {old} does not exist")
        try:
            self._folder.move(target.path, after if target.kind == "folder" else as_note(after))
        except EditRefused as refused:
            raise not_renamed(old, new, refused) from refused
        return f"Successfully renamed {old} to {new}"

    def clear(self) -> str:
        """Moves everything into the trash; a person can restore it."""
        try:
            for entry in self._folder.entries(""):
                self._folder.trash(entry.path)
        except EditRefused as refused:
            raise edit_refused(ROOT, refused) from refused
        return "All memory cleared"

    # -- the folder ------------------------------------------------------------------------------

    def _find(self, shown: str, below: str) -> _Target | None:
        """The folder of that name, else the note of that name, with or without `.md`."""
        if not below:
            return _Target("", "folder")
        try:
            kind = self._folder.kind(below)
            if kind == "folder" or (kind == "note" and is_note_name(below)):
                return _Target(below, kind)
            note = as_note(below)
            return _Target(note, "note") if self._folder.kind(note) == "note" else None
        except EditRefused as refused:
            raise edit_refused(shown, refused) from refused

    def _read(self, shown: str, note: str) -> Content:
        try:
            return self._folder.read(note)
        except EditRefused as refused:
            if refused.reason == "missing":
                raise Refused(
                    f"The file {shown} no longer exists "
                    "(may have been deleted or renamed concurrently)."
                ) from None
            raise edit_refused(shown, refused) from refused

    def _to_edit(self, path: object) -> tuple[str, str, str, str]:
        """The path as the model wrote it, the path in the folder, the exact text, its digest."""
        shown, below = parsed(path)
        target = self._find(shown, below)
        if target is None:
            raise Refused(f"The path {shown} does not exist. Please provide a valid path.")
        if target.kind == "folder":
            raise Refused(f"The path {shown} is not a file.")
        content = self._read(shown, target.path)
        try:
            return shown, target.path, content.data.decode(), content.digest
        except UnicodeDecodeError:
            # Text that was decoded with replacements cannot be written back unchanged.
            raise Refused(f"The file {shown} is not valid UTF-8 and cannot be edited.") from None

    def _replace(self, shown: str, note: str, text: str, digest: str) -> str:
        """A warning for the model; mostly empty."""
        try:
            # Compare and swap: an edit of a text that has changed since it was read is refused.
            kept = self._folder.replace(note, text.encode(), expected=digest)
        except EditRefused as refused:
            raise edit_refused(shown, refused) from refused
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

    def _two_levels(self, shown: str, below: str) -> list[FolderEntry]:
        listed = []
        try:
            for entry in self._folder.entries(below):
                listed.append(entry)
                if entry.kind == "folder":
                    listed += self._folder.entries(entry.path)
        except EditRefused as refused:
            raise edit_refused(shown, refused) from refused
        return listed


# -- arguments -----------------------------------------------------------------------------------


def a_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise Refused(f"Invalid `{name}` parameter: it must be a text.")
    return value


def in_bytes(name: str, value: object) -> bytes:
    text = a_text(name, value)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise Refused(f"Invalid `{name}` parameter: half of a surrogate pair in it.") from None
    if b"\0" in data:
        raise Refused(f"Invalid `{name}` parameter: a NUL character in it.")
    return data


def a_whole_number(name: str, value: object) -> int:
    # Models write 3.0 for 3. NaN and infinity are refused as well: `x // 1` is NaN for both. A
    # bool is an int in Python, but no line number.
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise Refused(f"Invalid `{name}` parameter: it must be a whole number.")
    return int(value)


def a_range(value: object) -> tuple[int, int] | None:
    if value is None or value == []:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise Refused("Invalid `view_range` parameter: it must be [first, last]; last may be -1.")
    first, last = (a_whole_number("view_range", number) for number in value)
    return max(1, first), last


def parsed(path: object) -> tuple[str, str]:
    """The path as the model wrote it, and the path below the folder, empty for the folder."""
    shown = a_text("path", path)
    if len(in_bytes("path", shown)) > SHOWN_PATH_BYTES:
        raise Refused("Invalid `path` parameter: it is too long.")
    if shown != ROOT and not shown.startswith(f"{ROOT}/"):
        raise Refused(f"Path must start with {ROOT}, got: {shown[:200]}")
    return shown, shown.removeprefix(ROOT).strip("/")


def as_note(below: str) -> str:
    return below if is_note_name(below) else f"{below}.md"


# -- texts ---------------------------------------------------------------------------------------


def edit_refused(shown: str, refused: EditRefused) -> Refused:
    if refused.reason == "name" and ".." in shown.split("/"):
        return Refused(f"Path {shown[:200]} would escape {ROOT} directory")
    return Refused(f"Cannot use {shown[:200]}: {refused.why}; {refused.action}.")


def not_renamed(old: str, new: str, refused: EditRefused) -> Refused:
    if refused.reason == "missing":
        return Refused(f"The path {old} does not exist")
    if refused.reason == "exists":
        return Refused(f"The destination {new} already exists")
    return edit_refused(new if refused.reason == "name" else old, refused)


def lines_of(text: str) -> list[str]:
    """With their line breaks; only a line feed ends a line."""
    # Not `splitlines`: it also splits at form feeds and U+2028, and line numbers would differ.
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def like(text: str, piece: str) -> str:
    """A piece with the line breaks of the text: the model sees and writes plain line feeds."""
    # For its checks only: a NUL or half a surrogate pair cannot be written to a note.
    in_bytes("text", piece)
    if "\r\n" not in text or "\r" in piece:
        return piece
    return piece.replace("\n", "\r\n")


def only_place(shown: str, text: str, old: str) -> int:
    at = text.find(old) if old else -1
    if at < 0:
        raise Refused(
            f"No replacement was performed, old_str `{old}` did not appear verbatim in {shown}."
        )
    places = [at]
    # From `at + 1`, so that occurrences that overlap count as several.
    while len(places) <= SHOWN_LINES and (at := text.find(old, at + 1)) >= 0:
        places.append(at)
    if len(places) > 1:
        lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places[:SHOWN_LINES])
        raise Refused(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
            f"{lines}. Please ensure it is unique"
        )
    return places[0]


def numbered(shown: str, lines: list[str], span: tuple[int, int] | None) -> str:
    # Anthropic's own limit and text; line numbers have a column of six digits.
    if len(lines) > MAX_LINES:
        raise Refused(f"File {shown} exceeds maximum line limit of {MAX_LINES:,} lines.")
    first, last = span or (1, -1)
    end = len(lines) if last == -1 else min(last, len(lines))
    rows, budget = [], VIEW_CHARS
    for number in range(first, end + 1):
        line = f"{number:>{_WIDTH}}\t{lines[number - 1]}"
        if len(line) > budget:
            rows.append(_cut(line, budget, number, len(lines)))
            break
        rows.append(line)
        budget -= len(line) + 1
    return f"Here's the content of {shown} with line numbers:\n" + "\n".join(rows)


def _cut(line: str, budget: int, number: int, total: int) -> str:
    """The text in place of the rest. A single line that is too long is shown as far as it fits."""
    if budget == VIEW_CHARS:
        return f"{line[:budget]}\n… (line {number} of {total} is longer than what is shown)"
    return f"… (cut before line {number} of {total}: read on with view_range [{number}, -1])"


def around(text: str, line: int) -> str:
    lines = text.split("\n")
    shown = range(max(0, line - 2), min(len(lines), line + 3))
    return "\n".join(f"{at + 1:>{_WIDTH}}\t{lines[at]}" for at in shown)


def size_of(size: int) -> str:
    if size == 0:
        return "0B"
    step = min((size.bit_length() - 1) // 10, 3)
    scaled = size / 1024**step
    number = f"{int(scaled)}" if scaled == int(scaled) else f"{scaled:.1f}"
    return number + "BKMG"[step]
