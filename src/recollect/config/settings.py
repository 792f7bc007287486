"""The settings of one workspace, checked when they are read."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from recollect.core.errors import BadSetting
from recollect.core.limits import CHUNK_OVERLAP_TOKENS, CHUNK_TOKENS, MAX_RESULTS
from recollect.notes import ExtraPath

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

WORKSPACE_FILE = "recollect.json"
MAX_FILE_BYTES = 1024 * 1024
_PREFIX = ("agents", "defaults", "memorySearch")


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set for a workspace."""

    extra_paths: tuple[ExtraPath, ...] = ()
    chunk_tokens: int = CHUNK_TOKENS
    chunk_overlap: int = CHUNK_OVERLAP_TOKENS
    max_results: int = 6
    min_score: float | None = None
    """None: 0.35, or nothing at all where words alone answer."""
    vector_weight: float | None = None
    """None takes what was measured for the model."""
    candidate_multiplier: int = 4
    vector_driver: str = "segments"


def load_settings(workspace: Path) -> Settings:
    """What the workspace's file says, or the defaults where there is none."""
    path = workspace / WORKSPACE_FILE
    try:
        data = _read_regular(path)
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise BadSetting(WORKSPACE_FILE, error.strerror or str(error)) from error
    if len(data) > MAX_FILE_BYTES:
        raise BadSetting(WORKSPACE_FILE, f"larger than {MAX_FILE_BYTES} bytes")
    return parse_settings(data)


def _read_regular(path: Path) -> bytes:
    """A pipe of that name must not make us wait for somebody to write into it."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BadSetting(WORKSPACE_FILE, "not a regular file")
        return file.read(MAX_FILE_BYTES + 1)


def parse_settings(data: bytes) -> Settings:
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadSetting(WORKSPACE_FILE, f"not valid JSON: {error}") from error
    values: dict[str, Any] = {}
    for key, value in _leaves(told, ()):
        name, check = _known(key)
        values[name] = check(key, value)
    text_weight = values.pop("text_weight", None)
    return Settings(**_with_share(values, text_weight))


def write_workspace_file(workspace: Path, extra_paths: Sequence[str]) -> Path:
    """Make the workspace's file; one that is there is never overwritten."""
    path = workspace / WORKSPACE_FILE
    inner: Any = {"extraPaths": list(extra_paths)}
    for key in reversed(_PREFIX):
        inner = {key: inner}
    with path.open("x", encoding="utf-8") as file:
        file.write(json.dumps(inner, indent=2, ensure_ascii=False) + "\n")
    return path


def _with_share(values: Mapping[str, Any], text_weight: float | None) -> dict[str, Any]:
    """The two weights are shares of 1: one of them is enough to know both."""
    vector_weight = values.get("vector_weight")
    if text_weight is None:
        return {**values, "vector_weight": vector_weight and min(1.0, vector_weight)}
    if vector_weight is None:
        vector_weight = max(0.0, 1.0 - text_weight)
    total = vector_weight + text_weight
    if total <= 0:
        raise BadSetting("query.hybrid", "vectorWeight and textWeight cannot both be 0")
    return {**values, "vector_weight": vector_weight / total}


def _leaves(told: object, above: tuple[str, ...]) -> list[tuple[str, object]]:
    """The values of a nested file with their dotted keys; what is not ours to know is refused."""
    if not isinstance(told, dict):
        if len(above) <= len(_PREFIX) and above == _PREFIX[: len(above)]:
            key = ".".join(above) or WORKSPACE_FILE
            raise BadSetting(key, f"expected an object {{ … }} here, not {told!r}")
        return [(".".join(above), told)]
    return [leaf for key, value in told.items() for leaf in _leaves(value, (*above, str(key)))]


# -- what each key takes -------------------------------------------------------------------------

_Check: TypeAlias = "Callable[[str, Any], Any]"


def _whole(low: int, high: int) -> _Check:
    def check(key: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise BadSetting(key, f"expected a whole number from {low} to {high}, not {value!r}")
        return value

    return check


def _share(key: str, value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:  # type: ignore[operator]
        raise BadSetting(key, f"expected a number from 0 to 1, not {value!r}")
    return float(value)  # type: ignore[arg-type]


def _extra_paths(key: str, value: object) -> tuple[ExtraPath, ...]:
    if not isinstance(value, list):
        raise BadSetting(key, f"expected a list of paths, not {value!r}")
    return tuple(_extra_path(key, one) for one in value)


def _extra_path(key: str, value: object) -> ExtraPath:
    if isinstance(value, str) and value:
        return ExtraPath(value)
    if isinstance(value, dict) and value.keys() <= {"path", "pattern"}:
        path, pattern = value.get("path"), value.get("pattern")
        if isinstance(path, str) and path and (pattern is None or isinstance(pattern, str)):
            return ExtraPath(path, pattern)
    raise BadSetting(key, f'expected a path or {{"path": …, "pattern": …}}, not {value!r}')


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadSetting(key, f"expected a text, not {value!r}")
    return value


_KEYS: dict[str, tuple[str, _Check]] = {
    "extraPaths": ("extra_paths", _extra_paths),
    "chunking.tokens": ("chunk_tokens", _whole(16, 8000)),
    "chunking.overlap": ("chunk_overlap", _whole(0, 4000)),
    "query.maxResults": ("max_results", _whole(1, MAX_RESULTS)),
    "query.minScore": ("min_score", _share),
    "query.hybrid.vectorWeight": ("vector_weight", _share),
    "query.hybrid.textWeight": ("text_weight", _share),
    "query.hybrid.candidateMultiplier": ("candidate_multiplier", _whole(1, 20)),
    "store.vector.driver": ("vector_driver", _text),
}


def _known(key: str) -> tuple[str, _Check]:
    import difflib

    full = {".".join((*_PREFIX, short)): known for short, known in _KEYS.items()}
    if key in full:
        return full[key]
    near = difflib.get_close_matches(key, full, n=1, cutoff=0.4)
    raise BadSetting(key, "no such setting" + (f"; did you mean {near[0]!r}?" if near else ""))
