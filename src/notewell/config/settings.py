"""The settings of one agent's memory, as plain values: what `Memory` is handed."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from notewell.limits import CHUNK_OVERLAP_TOKENS, CHUNK_TOKENS
from notewell.notes import ExtraPath

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notewell.config.values import AgentSettings, Query
    from notewell.core import Fusion, Secret
    from notewell.embedders import EmbedderSettings
    from notewell.entries import LanceSettings
    from notewell.qmd import QmdSettings

WORKSPACE_FILE = "notewell.json"
HALF_LIFE_DAYS = 30.0
SEED_MIN_SCORE = 0.35


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set for a memory."""

    extra_paths: tuple[ExtraPath, ...] = ()
    sources: tuple[str, ...] = ("memory",)
    """With `sessions`, transcripts are searched too."""
    session_folders: tuple[tuple[Path, str], ...] = ()
    """Folders of transcripts of other hosts, each with the name it goes by."""
    session_delta_bytes: int = 100_000
    session_delta_messages: int = 50
    """How much must be new in a transcript before a search takes it in."""
    redact_notes: bool = False
    """Mask secrets in notes as well; those of transcripts always are."""
    chunk_tokens: int = CHUNK_TOKENS
    chunk_overlap: int = CHUNK_OVERLAP_TOKENS
    max_results: int = 6
    min_score: float | None = None
    """None: 0.35, or nothing at all where words alone answer."""
    fusion: Fusion = "weighted"
    vector_weight: float | None = None
    """None takes what was measured for the model."""
    candidate_multiplier: int = 4
    mmr_lambda: float | None = None
    """None: hits may be as alike as they are."""
    half_life_days: float | None = HALF_LIFE_DAYS
    """None: age does nothing."""
    vector_driver: str = "segments"
    index_dir: Path | None = None
    """Where the index is kept; None: below the state folder."""
    cache_entries: int = 50_000
    """Vectors kept whatever the index; 0 keeps none."""
    embedder: EmbedderSettings | None = None
    """None: `auto`."""
    provider_keys: Mapping[str, Secret] | None = None
    """`models.providers.<name>.apiKey`, by name."""
    watch_debounce_s: float = 1.5
    """Quiet to wait for after a change."""
    interval_minutes: int = 0
    """How often a watch looks unasked, whatever it heard; 0: about once a minute."""
    sync_on_search: bool = True
    """A search takes in what was saved a moment ago."""
    citations: Literal["on", "off", "auto"] = "auto"
    """Whether agents are shown where a hit comes from; auto: in private conversations."""
    keyword_only: bool = False
    """No vectors: `provider: none`."""
    qmd: QmdSettings | None = None
    """How to use QMD; None: our own engine answers."""
    backend_fallback: Literal["builtin", "none"] = "builtin"
    """Who answers when QMD does not."""
    recall_log: bool = True
    """Keep what agents asked, and what they got."""
    entries: LanceSettings | None = None
    """What agents may do with entries; None: they have none."""
    off_because: str | None = None
    """Why this agent has no memory; None when it has one."""


def load_settings(
    workspace: Path, agent: str | None = None, environment: Mapping[str, str] = os.environ
) -> Settings:
    """What the user's file and the workspace's say, or the defaults where there is none."""
    from notewell.config.paths import has_files

    if not has_files(workspace, environment):
        return Settings()
    from notewell.config.resolve import load_configuration

    configuration = load_configuration(workspace, agent, environment)
    id_ = agent.lower() if agent else configuration.default_agent
    chosen = configuration.agents[id_]
    keys = {name: told.api_key for name, told in configuration.providers.items() if told.api_key}
    return settings_of(chosen, keys)


def settings_of(agent: AgentSettings, provider_keys: Mapping[str, Secret]) -> Settings:
    told = agent.memory_search
    return Settings(
        extra_paths=tuple(ExtraPath(*one) for one in told.extra_paths),
        sources=told.sources,
        session_folders=_named_folders(one for one, _ in told.sessions.paths),
        session_delta_bytes=told.sync.sessions.delta_bytes,
        session_delta_messages=told.sync.sessions.delta_messages,
        redact_notes=told.redaction.notes,
        chunk_tokens=told.chunking.tokens,
        chunk_overlap=told.chunking.overlap,
        max_results=told.query.max_results,
        candidate_multiplier=told.query.hybrid.candidate_multiplier,
        mmr_lambda=told.query.hybrid.mmr.lambda_ if told.query.hybrid.mmr.enabled else None,
        half_life_days=_half_life(told.query),
        vector_driver=told.store.vector.driver,
        index_dir=Path(told.store.path) if told.store.path else None,
        cache_entries=told.cache.max_entries if told.cache.enabled else 0,
        watch_debounce_s=told.sync.watch_debounce_ms / 1000,
        interval_minutes=told.sync.interval_minutes,
        sync_on_search=told.sync.on_search,
        citations=agent.values["memory.citations"],
        embedder=_embedder(agent),
        keyword_only=told.provider == "none",
        provider_keys=provider_keys,
        qmd=_qmd(agent),
        backend_fallback=agent.values["memory.fallback"],
        recall_log=agent.values["recallLog.enabled"],
        entries=_entries(agent),
        off_because=agent.off_because,
        **_weighing(told.query),
    )


def _weighing(query: Query) -> dict[str, Any]:
    """How the legs are weighed; `preset: seed` is OpenClaw's way, where nothing else is said."""
    hybrid = query.hybrid
    told: dict[str, Any] = {
        "fusion": hybrid.fusion or "weighted",
        "min_score": query.min_score,
        "vector_weight": hybrid.vector_weight if hybrid.enabled else 1.0,
    }
    if query.preset == "seed":
        told["fusion"] = hybrid.fusion or "seed"
        if query.min_score is None:
            told["min_score"] = SEED_MIN_SCORE
    return told


def _named_folders(paths: Iterable[str]) -> tuple[tuple[Path, str], ...]:
    """Each folder by its own name; of two with the same name the second has a number."""
    named: dict[str, Path] = {}
    for told in paths:
        path = Path(told).expanduser()
        name = path.name.strip(".-") or "sessions"
        if name in named:
            name = f"{name}-{len(named) + 1}"
        named[name] = path
    return tuple((path, name) for name, path in named.items())


def _half_life(query: Query) -> float | None:
    decay = query.hybrid.temporal_decay
    return decay.half_life_days if decay.enabled else None


def _embedder(agent: AgentSettings) -> EmbedderSettings:
    from notewell.embedders import BatchSettings, EmbedderSettings, LocalSettings, RemoteSettings

    told = agent.memory_search
    batch = told.remote.batch
    return EmbedderSettings(
        provider=told.provider,
        model=told.model,
        fallback=told.fallback,
        dims=told.output_dimensionality,
        remote=RemoteSettings(
            base_url=told.remote.base_url,
            api_key=told.remote.api_key,
            headers=told.remote.headers,
            concurrency=told.remote.non_batch_concurrency,
            batch=BatchSettings(
                enabled=batch.enabled,
                concurrency=batch.concurrency,
                poll_interval_s=batch.poll_interval_ms / 1000,
                timeout_minutes=batch.timeout_minutes,
            ),
        ),
        local=LocalSettings(told.local.model_path, told.local.model_cache_dir),
    )


def _qmd(agent: AgentSettings) -> QmdSettings | None:
    if agent.values["memory.backend"] != "qmd":
        return None
    from notewell.qmd import settings_from

    above = "memory.qmd."
    told = agent.values.items()
    return settings_from(
        {key.removeprefix(above): value for key, value in told if key.startswith(above)}
    )


def _entries(agent: AgentSettings) -> LanceSettings | None:
    from notewell.entries import NAME, LanceSettings

    told = agent.values
    if not told[f"{NAME}.enabled"]:
        return None
    return LanceSettings(
        enabled=True,
        auto_capture=told[f"{NAME}.config.autoCapture"],
        auto_recall=told[f"{NAME}.config.autoRecall"],
        db_path=told[f"{NAME}.config.dbPath"],
        capture_chars=told[f"{NAME}.config.captureMaxChars"],
        recall_chars=told[f"{NAME}.config.recallMaxChars"],
    )


def write_workspace_file(workspace: Path, extra_paths: Sequence[str]) -> Path:
    """Make the workspace's file; one that is there is never overwritten."""
    path = workspace / WORKSPACE_FILE
    told = {"agents": {"defaults": {"memorySearch": {"extraPaths": list(extra_paths)}}}}
    with path.open("x", encoding="utf-8") as file:
        file.write(json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    return path
