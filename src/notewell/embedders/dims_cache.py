"""How long the vectors of a model are that nobody has written a table for.

Guessing would build an index that fits no vector, so the model is asked once, and the answer kept
in a small file. The file is a convenience: where it cannot be read or written, the model is asked
again. Processes may write it at the same time; the last one wins, and all of them know the same.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from notewell.files import make_private, open_private

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "dims.json"
MAX_ENTRIES = 1000


class KnownDims:
    """`folder` None keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / FILE_NAME if folder is not None else None

    def get(self, key: str) -> int | None:
        dims = self._read().get(key, 0)
        return dims if type(dims) is int and dims > 0 else None

    def put(self, key: str, dims: int | None) -> None:
        """Remember, or with None forget."""
        known = self._read()
        if known.get(key) == dims:
            return
        known.pop(key, None)
        if dims is not None:
            known[key] = dims
        with suppress(OSError):
            self._write(dict(list(known.items())[-MAX_ENTRIES:]))

    def _read(self) -> dict[str, int]:
        if self._path is None:
            return {}
        try:
            known = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return known if isinstance(known, dict) else {}

    def _write(self, known: dict[str, int]) -> None:
        if self._path is None:
            return
        make_private(self._path.parent)
        scratch = self._path.with_name(f"{FILE_NAME}.{os.getpid()}.{threading.get_ident()}")
        with open(scratch, "w", encoding="utf-8", opener=open_private) as file:
            json.dump(known, file, indent=1)
        scratch.replace(self._path)
