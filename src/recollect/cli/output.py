"""How the command line speaks."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recollect.core.errors import OutputFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

JSON_VERSION = 1
"""Grows when a field changes its meaning or goes away; new fields do not count."""


def say(text: str) -> None:
    """Data."""
    with _our_errors():
        sys.stdout.write(text + "\n")


def flush() -> None:
    with _our_errors():
        sys.stdout.flush()


@contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed(error.strerror or str(error)) from error


def tell(text: str) -> None:
    """Everything else."""
    sys.stderr.write(text + "\n")


def print_json(value: dict[str, Any]) -> None:
    import json

    say(json.dumps({"version": JSON_VERSION, **value}, ensure_ascii=False, indent=2))


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
