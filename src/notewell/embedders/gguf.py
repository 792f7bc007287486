"""Reads the header of a GGUF file: what a model says about itself, without loading it.

    "GGUF"  version  tensors  keys  | key  type  value | key  type  value | ... | tensors

llama.cpp aborts its process on some broken files, so the header is checked before it loads one.
The vocabulary, a quarter of a million strings in some models, comes last and is not read.
"""

from __future__ import annotations

import mmap
import struct
from typing import TYPE_CHECKING, TypeAlias

from notewell.records import dataclass

if TYPE_CHECKING:
    from pathlib import Path

Value: TypeAlias = int | float | str | bool | None
"""None stands for an array: we need none of them."""

VERSIONS = (2, 3)
"""Version 1 has 32-bit counts; llama.cpp dropped it in 2023."""

_STRING, _ARRAY = 8, 9
_NUMBERS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
"""The number types of GGUF and their `struct` formats."""


class NotGguf(Exception):
    """The file is no GGUF file, is broken, or lacks the metadata that we need."""


@dataclass(frozen=True, slots=True)
class GgufHead:
    architecture: str
    name: str
    dims: int
    context_tokens: int
    """The longest text that the model was trained for."""
    pooled: bool
    """Whether the file names a pooling: how the vectors of the tokens become one."""


def read_head(path: Path) -> GgufHead:
    """Raises `NotGguf`, or `OSError` if the file cannot be read."""
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise NotGguf("it does not start with 'GGUF'")
        # Mapped, because the header has no length: reading a fixed amount could cut it off.
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _head(_Reader(data))
            except (struct.error, UnicodeDecodeError, OverflowError) as error:
                raise NotGguf(f"its header is broken or cut off ({error})") from error


def _head(reader: _Reader) -> GgufHead:
    values = _values(reader)
    architecture = values.get("general.architecture")
    # Only a model whose vectors differ in length from its layers has the first key.
    dims = values.get(f"{architecture}.embedding_length_out")
    dims = dims or values.get(f"{architecture}.embedding_length")
    context = values.get(f"{architecture}.context_length")
    if not isinstance(architecture, str) or not architecture:
        raise NotGguf("it does not name its architecture")
    if not isinstance(dims, int) or not isinstance(context, int) or dims < 1 or context < 1:
        raise NotGguf(f"it lacks the dimensions or the context length of its {architecture!r}")
    pooling = values.get(f"{architecture}.pooling_type")
    return GgufHead(
        architecture, str(values.get("general.name", "")), dims, context, bool(pooling)
    )


def _values(reader: _Reader) -> dict[str, Value]:
    """Up to the vocabulary: the metadata that describe the model come before it."""
    version = reader.number("I")
    if version not in VERSIONS:
        raise NotGguf(f"version {version}; known are {VERSIONS}")
    reader.number("Q")  # The number of tensors.
    values: dict[str, Value] = {}
    for _ in range(int(reader.number("Q"))):
        key = reader.string()
        # Only after other keys, so that a file that starts with its tokenizer is read too.
        if key.startswith("tokenizer.") and len(values) > 1:
            break
        values[key] = reader.value(int(reader.number("I")))
    return values


class _Reader:
    """A cursor over the file; `struct` raises past the end."""

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
        # A slice would silently be shorter, and a broken length would look like a short string.
        if self._at > len(self._data):
            raise struct.error(f"a string of {length} bytes")
        return self._data[start : self._at].decode("utf-8")

    def value(self, kind: int) -> Value:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            self._skip_array()
            return None
        if kind not in _NUMBERS:
            raise NotGguf(f"a value has the unknown type {kind}")
        return self.number(_NUMBERS[kind])

    def _skip_array(self) -> None:
        kind, count = int(self.number("I")), int(self.number("Q"))
        if kind in _NUMBERS:
            self._at += count * struct.calcsize(f"<{_NUMBERS[kind]}")
        elif kind == _STRING:
            for _ in range(count):
                self.string()
        else:
            raise NotGguf(f"an array has the unknown type {kind}")
