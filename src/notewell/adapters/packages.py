"""The frameworks are not our dependencies: who lacks one is told what to install."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def needing(package: str) -> Iterator[None]:
    """Around the import of a framework."""
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"this adapter needs the package {package!r}: pip install {package}"
        raise ModuleNotFoundError(message, name=error.name, path=error.path) from error
