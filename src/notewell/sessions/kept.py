"""Conversations that Notewell keeps: their folder, and their names.

    <state>/agents/<agent>/sessions/<digest of the workspace>/<host>-<name of its file>.jsonl

The name says which file of the host the conversation is from. So a scan can pair the two without
opening them, and a conversation is indexed once although both are searched. `….part.jsonl` lacks
the beginning of a file that was large when it was first seen.

`capture` writes these files. A search sees them as `sessions/kept/<name>.jsonl`.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from notewell.sessions.folders import PREFIX, SUFFIX

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from notewell.types import FoundNote

KEPT = "kept"
"""The name of the folder in the path of a hit."""
KEPT_KEY = f"{PREFIX}/{KEPT}/"
FORGOTTEN = ".forgotten.json"
PART = ".part"
STALE_NS = 86_400 * 10**9
"""A host writes on after our last hook. A day later, hooks no longer run for this conversation."""
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_NAMED_BY_FOLDER = ("events",)
"""Copilot CLI calls every file so, in a folder with the id of the session."""


class KeptNames(NamedTuple):
    """The names that the kept file of a transcript may have."""

    whole: str
    part: str


def kept_names(host: str, transcript: Path) -> KeptNames:
    stem = f"{host}-{_stem(transcript.as_posix())}"
    return KeptNames(f"{stem}{SUFFIX}", f"{stem}{PART}{SUFFIX}")


def forgotten_file(kept: Path) -> Path:
    """The record of what was forgotten; beside the folder, which must not appear because of it."""
    return kept.with_name(f"{kept.name}{FORGOTTEN}")


def session_stem(path: str) -> str:
    """The name of the host's file, for its own path and for that of the kept conversation."""
    if not is_kept(path):
        return _stem(path)
    return _host_stem(path).removesuffix(PART)


def is_kept(path: str) -> bool:
    """Whether the path of a transcript is that of a kept one."""
    return path.startswith(KEPT_KEY)


def without_twins(notes: Mapping[str, FoundNote]) -> dict[str, FoundNote]:
    """Of a conversation that is kept and that its host has too, only one: the kept one, unless it
    is not complete or no longer kept up to date."""
    kept = {path for path in notes if is_kept(path)}
    if not kept or len(kept) == len(notes):
        return dict(notes)
    by_stem = {_host_stem(path): path for path in kept}
    dropped: set[str] = set()
    for path, note in notes.items():
        if path in kept:
            continue
        stem = _stem(path)
        if twin := by_stem.get(stem):
            is_stale = note.stat.mtime_ns - notes[twin].stat.mtime_ns > STALE_NS
            dropped.add(twin if is_stale else path)
        elif part := by_stem.get(f"{stem}{PART}"):
            dropped.add(part)
    return {path: note for path, note in notes.items() if path not in dropped}


def _host_stem(kept: str) -> str:
    """The name of the host's file, by the path of a kept one. No id of a host has a dash."""
    return kept.removeprefix(KEPT_KEY).removesuffix(SUFFIX).partition("-")[2]


def _stem(path: str) -> str:
    """The name of a transcript without its suffix, in characters that every file system takes."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0]
    if stem in _NAMED_BY_FOLDER:
        stem = folder.rpartition("/")[2]
    if _SAFE.fullmatch(stem) and not stem.endswith(PART):
        return stem
    digest = hashlib.sha256(stem.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"{_UNSAFE.sub('_', stem)[:60]}-{digest}"
