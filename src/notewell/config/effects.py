"""Settings that are valid by themselves and have no effect beside the others.

A user who sets a key expects what the key says, so each of these is a finding of `config check`
that names the key and the next step. A value has no effect if no agent that has it uses it: a
default for all agents may be of use to one of them only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.config.agents import RULES
from notewell.config.document import ConfigFinding
from notewell.config.effects_embedder import of_embedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from notewell.config.agents import Value
    from notewell.config.document import FindingKind
    from notewell.config.effects_embedder import EmbedderChoice, Reason
    from notewell.config.provider_entries import ProviderEntry

_SEARCH = "memorySearch"
_LANCE = "plugins.entries.memory-lancedb"
_SESSION_NOTE = "hooks.internal.entries.session-memory"
_FLUSH = "compaction.memoryFlush"
_QMD = "memory.qmd"
_SWITCHES: Mapping[str, tuple[str, ...]] = {
    f"{_SEARCH}.query.hybrid.mmr.enabled": (f"{_SEARCH}.query.hybrid.mmr.lambda",),
    f"{_SEARCH}.query.hybrid.temporalDecay.enabled": (
        f"{_SEARCH}.query.hybrid.temporalDecay.halfLifeDays",
    ),
    f"{_SEARCH}.query.hybrid.enabled": tuple(
        f"{_SEARCH}.query.hybrid.{name}" for name in ("vectorWeight", "textWeight")
    ),
    f"{_SEARCH}.cache.enabled": (f"{_SEARCH}.cache.maxEntries",),
    f"{_SEARCH}.store.vector.enabled": (f"{_SEARCH}.store.vector.extensionPath",),
    f"{_SEARCH}.remote.batch.enabled": tuple(
        f"{_SEARCH}.remote.batch.{name}"
        for name in ("wait", "concurrency", "pollIntervalMs", "timeoutMinutes")
    ),
    f"{_LANCE}.config.autoCapture": (f"{_LANCE}.config.captureMaxChars",),
    f"{_LANCE}.config.autoRecall": (f"{_LANCE}.config.recallMaxChars",),
    f"{_LANCE}.enabled": tuple(
        f"{_LANCE}.config.{name}"
        for name in ("dbPath", "autoCapture", "autoRecall", "captureMaxChars", "recallMaxChars")
    ),
    f"{_SESSION_NOTE}.enabled": (f"{_SESSION_NOTE}.messages", f"{_SESSION_NOTE}.slugCommand"),
    "hooks.internal.enabled": tuple(
        f"{_SESSION_NOTE}.{name}" for name in ("enabled", "messages", "slugCommand")
    ),
    f"{_FLUSH}.enabled": (
        "compaction.reserveTokensFloor",
        *(f"{_FLUSH}.{name}" for name in ("softThresholdTokens", "prompt", "systemPrompt")),
    ),
    f"{_QMD}.sessions.enabled": (
        f"{_QMD}.sessions.retentionDays",
        f"{_QMD}.sessions.exportDir",
    ),
    f"{_QMD}.update.onBoot": (f"{_QMD}.update.waitForBootSync",),
}
"""Keys that have an effect only while the switch is on."""

_BUILTIN_ONLY = ("chunking.", "store.", "query.", "sync.sessions.")
_EMBEDDER = (
    *("provider", "model", "fallback", "inputType", "queryInputType", "documentInputType"),
    *("outputDimensionality", "useEnvironmentKeys", "remote.", "cache."),
    *("local.modelPath", "local.contextSize", "sync.embeddingBatchTimeoutSeconds"),
)
"""Keys below `memorySearch` that QMD does not use."""


class AgentValues(NamedTuple):
    """What one agent is resolved to."""

    id: str
    values: Mapping[str, Value]
    workspace: Path | None
    named_workspace: Path | None
    """The folder that the settings name; `workspace` may be the caller's instead."""
    choice: EmbedderChoice | None = None
    """The embedder that is used on this machine; None: nobody looked."""


def without_effect(
    agents: Sequence[AgentValues], providers: Mapping[str, ProviderEntry], kind: FindingKind
) -> list[ConfigFinding]:
    """The values that no agent uses."""
    findings: dict[tuple[str, int, str], ConfigFinding] = {}
    in_use: set[tuple[str, int, str]] = set()
    for agent in agents:
        reasons = dict(_reasons(agent, providers))
        for key, value in agent.values.items():
            place = (value.file, value.line, key)
            if not value.file or value.follows:
                continue
            # A switch that is off has the effect that it says: none.
            if key in reasons and value.value is not False:
                findings[place] = ConfigFinding(kind, value.file, value.line, key, reasons[key])
            else:
                in_use.add(place)
    return [finding for place, finding in findings.items() if place not in in_use]


def _reasons(agent: AgentValues, providers: Mapping[str, ProviderEntry]) -> Iterator[Reason]:
    """For keys that the agent does not use; a key without a value in a file does no harm here."""
    plain = {key: value.value for key, value in agent.values.items()}
    yield from _behind_switches(plain)
    yield from _of_sources(plain)
    yield from _of_search(plain)
    yield from _of_scope(plain)
    yield from of_embedder(plain, providers, agent.choice)
    yield from _of_qmd(plain)


def _behind_switches(values: Mapping[str, Any]) -> Iterator[Reason]:
    for switch, keys in _SWITCHES.items():
        if not values[switch]:
            for key in keys:
                yield key, f"not used: {switch} is not true"
    if values[f"{_SEARCH}.store.driver"] == "postgres":
        for name in ("path", "vector.enabled", "vector.driver", "vector.extensionPath"):
            yield f"{_SEARCH}.store.{name}", "not used: store.driver is 'postgres'"
        return
    for name in ("url", "tenant"):
        why = "used with `-w postgres:` alone: store.driver is not 'postgres'"
        yield f"{_SEARCH}.store.{name}", why
    store = f"{_SEARCH}.store.vector"
    if values[f"{store}.driver"] == "segments":
        yield f"{store}.extensionPath", "not used: store.vector.driver is 'segments'"
    elif not values[f"{store}.enabled"]:
        yield f"{store}.driver", "not used: store.vector.enabled is not true"


def _of_sources(values: Mapping[str, Any]) -> Iterator[Reason]:
    sources = values[f"{_SEARCH}.sources"]
    if "memory" not in sources:
        message = "not used: add `memory` to `sources`, or remove it"
        yield from ((f"{_SEARCH}.{key}", message) for key in ("extraPaths", "redaction.notes"))
    if values[f"{_SEARCH}.sessions.keep.enabled"] is False:
        message = "not used: sessions.keep.enabled is false"
        for key in ("days", "megabytes", "leaveOut"):
            yield f"{_SEARCH}.sessions.keep.{key}", message
    if "sessions" in sources:
        return
    message = "no effect: add `sessions` to `sources`, or no transcript is searched"
    yield f"{_SEARCH}.experimental.sessionMemory", message
    for key in ("sessions.paths", "sync.sessions.deltaBytes", "sync.sessions.deltaMessages"):
        message = (
            "not used: transcripts are searched only with experimental.sessionMemory and with "
            "`sessions` in `sources`"
        )
        yield f"{_SEARCH}.{key}", message


def _of_search(values: Mapping[str, Any]) -> Iterator[Reason]:
    query = f"{_SEARCH}.query"
    if values[f"{query}.hybrid.fusion"] is not None and values[f"{query}.minScore"] is not None:
        message = "not used: hybrid.fusion and minScore are both set, and win over the preset"
        yield f"{query}.preset", message
    if values[f"{_SEARCH}.provider"] != "none":
        return
    message = "not used: the provider 'none' computes no vectors; remove it, or name a provider"
    for key in ("query.hybrid.vectorWeight", "query.hybrid.textWeight", "query.cacheEntries"):
        yield f"{_SEARCH}.{key}", message
    for key in ("cache.maxEntries", "store.vector.driver", "store.vector.extensionPath"):
        yield f"{_SEARCH}.{key}", message


def _of_scope(values: Mapping[str, Any]) -> Iterator[Reason]:
    above = "memory.scope"
    if values[f"{above}.default"] is not None or values[f"{above}.rules"]:
        message = "not used: memory.scope is set, which holds for every engine; keep one of them"
        yield f"{_QMD}.scope.default", message
        yield f"{_QMD}.scope.rules", message
    for path in RULES:
        numbers = (at for at, rule in enumerate(values[path]) if not rule.keys() - {"action"})
        if (number := next(numbers, None)) is not None:
            message = f"not used: rules[{number}] matches every conversation"
            yield path.replace("rules", "default"), message


def _of_qmd(values: Mapping[str, Any]) -> Iterator[Reason]:
    if values["memory.backend"] != "qmd":
        message = "not used: memory.backend is not 'qmd'"
        yield "memory.fallback", message
        # Its scope holds for every engine.
        for key in values:
            if key.startswith(f"{_QMD}.") and not key.startswith(f"{_QMD}.scope."):
                yield key, message
        return
    mode = values[f"{_QMD}.searchMode"]
    if mode != "query":
        yield f"{_QMD}.rerank", f"not used: {_QMD}.searchMode is {mode!r}, which does not rerank"
    if mode == "search":
        message = f"not used: {_QMD}.searchMode is 'search', which uses no vectors"
        yield f"{_QMD}.update.embedInterval", message
        yield f"{_QMD}.update.embedTimeoutMs", message
    if values["memory.fallback"] == "none":
        yield from _of_qmd_alone(values)


def _of_qmd_alone(values: Mapping[str, Any]) -> Iterator[Reason]:
    """Without a fallback to the built-in engine, nothing reads the keys of that engine."""
    # Entries use the embedder, too.
    unused = _BUILTIN_ONLY if values[f"{_LANCE}.enabled"] else (*_BUILTIN_ONLY, *_EMBEDDER)
    message = "not used: QMD alone searches, because memory.fallback is 'none'"
    for key in values:
        if key.removeprefix(f"{_SEARCH}.").startswith(unused) and key.startswith(_SEARCH):
            yield key, message
