"""The head of a GGUF file: what a model says of itself, read without loading it.

    "GGUF"  version  tensors  keys  | key  type  value | key  type  value | ... | tensors

llama.cpp ends the whole process on some broken files, so we look before it does.
The vocabulary, a quarter of a million strings in some models, comes last and is left unread.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

Value: TypeAlias = int | float | str | bool | None
"""None stands for a list: we need none of them."""

VERSIONS = (2, 3)
"""Version 1 counts in 32 bits and was given up by llama.cpp in 2023."""

_STRING, _ARRAY = 8, 9
_NUMBERS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
"""The types of numbers, as `struct` calls them."""


class NotGguf(Exception):
    """The file is no GGUF file, is broken, or does not tell what we need."""


@dataclass(frozen=True, slots=True)
class GgufHead:
    architecture: str
    name: str
    dims: int
    context_tokens: int
    """The longest text the model was made for."""
    pooled: bool
    """Whether the file says how the vectors of the pieces become that of the text."""


def read_head(path: Path) -> GgufHead:
    """Raises `NotGguf`, or `OSError` where the file cannot be read."""
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise NotGguf("it does not begin with 'GGUF'")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _head(_Reader(data))
            except (struct.error, UnicodeDecodeError, OverflowError) as error:
                raise NotGguf(f"its head is broken or cut off ({error})") from error


def _head(reader: _Reader) -> GgufHead:
    values = _values(reader)
    architecture = values.get("general.architecture")
    dims = values.get(f"{architecture}.embedding_length_out")
    dims = dims or values.get(f"{architecture}.embedding_length")
    context = values.get(f"{architecture}.context_length")
    if not isinstance(architecture, str) or not architecture:
        raise NotGguf("it does not name its architecture")
    if not isinstance(dims, int) or not isinstance(context, int) or dims < 1 or context < 1:
        raise NotGguf(f"it does not tell the dimensions and the context of its {architecture!r}")
    pooling = values.get(f"{architecture}.pooling_type")
    return GgufHead(
        architecture, str(values.get("general.name", "")), dims, context, bool(pooling)
    )


def _values(reader: _Reader) -> dict[str, Value]:
    """Up to the vocabulary: what describes the model comes before it."""
    version = reader.number("I")
    if version not in VERSIONS:
        raise NotGguf(f"version {version}; known are {VERSIONS}")
    reader.number("Q")  # how many tensors
    values: dict[str, Value] = {}
    for _ in range(int(reader.number("Q"))):
        key = reader.string()
        if key.startswith("tokenizer.") and len(values) > 1:
            break
        values[key] = reader.value(int(reader.number("I")))
    return values


class _Reader:
    """Reads on where it stands; past the end `struct` raises."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 4

    def number(self, form: str) -> int | float:
        (value,) = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        number: int | float = value
        return number

    def string(self) -> str:
        length = int(self.number("Q"))
        start, self._at = self._at, self._at + length
        if self._at > len(self._data):
            raise struct.error(f"a string of {length} bytes")
        return self._data[start : self._at].decode("utf-8")

    def value(self, kind: int) -> Value:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            self._skip_list()
            return None
        if kind not in _NUMBERS:
            raise NotGguf(f"a value has the unknown type {kind}")
        return self.number(_NUMBERS[kind])

    def _skip_list(self) -> None:
        kind, count = int(self.number("I")), int(self.number("Q"))
        if kind in _NUMBERS:
            self._at += count * struct.calcsize(f"<{_NUMBERS[kind]}")
        elif kind == _STRING:
            for _ in range(count):
                self.string()
        else:
            raise NotGguf(f"a list holds the unknown type {kind}")
