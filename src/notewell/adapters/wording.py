"""What a model may write to Claude's memory tool, and the words it gets back. No file is touched.

The words are those of Anthropic's own implementation wherever it has any; where a limit of ours
is met, they say so and name the next step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.notes import is_note_name

if TYPE_CHECKING:
    from notewell.errors import EditRefused

ROOT = "/memories"
VIEW_CHARS = 32_000
"""Some 8000 tokens; the rest is read with view_range."""
SHOWN_PATH_BYTES = 4096
"""As long as a path can be; a longer one is not looked at, and not repeated back."""
MAX_LINES = 999_999
SHOWN_LINES = 20
"""Of the places where a text occurs more than once."""
_WIDTH = len(str(MAX_LINES))


class Refused(Exception):
    """In the words that the model gets."""


# -- what a model may write ----------------------------------------------------------------------


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
    """How the model calls it, and the path below the folder; empty for the folder itself."""
    shown = a_text("path", path)
    if len(in_bytes("path", shown)) > SHOWN_PATH_BYTES:
        raise Refused("Invalid `path` parameter: it is too long.")
    if shown != ROOT and not shown.startswith(f"{ROOT}/"):
        raise Refused(f"Path must start with {ROOT}, got: {shown[:200]}")
    return shown, shown.removeprefix(ROOT).strip("/")


def as_note(below: str) -> str:
    return below if is_note_name(below) else f"{below}.md"


# -- texts ---------------------------------------------------------------------------------------


def told_of(shown: str, refused: EditRefused) -> Refused:
    if refused.reason == "name" and ".." in shown.split("/"):
        return Refused(f"Path {shown[:200]} would escape {ROOT} directory")
    return Refused(f"Cannot use {shown[:200]}: {refused.why}; {refused.action}.")


def not_renamed(old: str, new: str, refused: EditRefused) -> Refused:
    if refused.reason == "missing":
        return Refused(f"The path {old} does not exist")
    if refused.reason == "exists":
        return Refused(f"The destination {new} already exists")
    return told_of(new if refused.reason == "name" else old, refused)


def lines_of(text: str) -> list[str]:
    """With their ends; a line ends at a line feed and nowhere else."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def like(text: str, piece: str) -> str:
    """A piece with the line breaks of the text: the model is shown, and writes, plain ones."""
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
    if len(lines) > MAX_LINES:
        raise Refused(f"File {shown} exceeds maximum line limit of {MAX_LINES:,} lines.")
    first, last = span or (1, -1)
    end = len(lines) if last == -1 else min(last, len(lines))
    told, room = [], VIEW_CHARS
    for number in range(first, end + 1):
        line = f"{number:>{_WIDTH}}\t{lines[number - 1]}"
        if len(line) > room:
            told.append(_cut(line, room, number, len(lines)))
            break
        told.append(line)
        room -= len(line) + 1
    return f"Here's the content of {shown} with line numbers:\n" + "\n".join(told)


def _cut(line: str, room: int, number: int, total: int) -> str:
    """What stands for the rest; a line that alone is too long is shown as far as it fits."""
    if room == VIEW_CHARS:
        return f"{line[:room]}\n… (line {number} of {total} is longer than what is shown)"
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
