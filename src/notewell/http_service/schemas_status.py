"""How a memory is, as `notewell status --json` tells it.

An admin sees all of it. Others are not told where on this machine anything lies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.http_service.schemas import LeftOut, Shown
from notewell.tools import JSON_VERSION, status_json, without_places

if TYPE_CHECKING:
    from notewell.engines import Status


class SourceCount(Shown):
    source: str
    files: int
    chunks: int


class VectorFacts(Shown):
    driver: str
    dims: int
    embedded: int


class CacheFacts(Shown):
    entries: int


class StatusAnswer(Shown):
    version: int
    agent: str
    backend: str
    fallback: dict[str, str | None] | None
    engine: dict[str, str]
    workspace: str | None
    extra_paths: list[str]
    index_path: str | None
    state: str
    problem: str | None
    provider: str
    model: str
    eligible: int
    files: int
    chunks: int
    dirty: int
    source_counts: list[SourceCount]
    vector: VectorFacts
    cache: CacheFacts
    index_bytes: int
    embedder_missing: str | None
    embedder: dict[str, Any] | None
    probe: None
    rebuild_needed: str | None
    ignored: list[LeftOut]
    unreadable: list[LeftOut]


def status_shown(status: Status, *, admin: bool) -> StatusAnswer:
    """All of `notewell status --json` for an admin; no folders of this machine for others."""
    payload = {"version": JSON_VERSION, **status_json(status)}
    if not admin:
        payload |= {"engine": {}, "workspace": None, "extraPaths": [], "indexPath": None}
        payload["embedder"] = None
        for key in ("problem", "embedderMissing"):
            payload[key] = _public(payload[key])
        if payload["fallback"]:
            fallback = payload["fallback"]
            payload["fallback"] = fallback | {"reason": _public(fallback["reason"])}
    return StatusAnswer.model_validate(payload)


def _public(text: str | None) -> str | None:
    return None if text is None else without_places(text)
