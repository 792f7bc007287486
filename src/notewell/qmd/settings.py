"""What can be set for QMD, as plain values: one field for each key below `memory.qmd`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from notewell.qmd.scope import Scope, ScopeRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SearchMode: TypeAlias = Literal["search", "vsearch", "query"]


class ExtraFolder(NamedTuple):
    """An entry of `memory.qmd.paths`: a folder, or one file."""

    path: str
    pattern: str | None = None
    name: str | None = None


class Models(NamedTuple):
    """Where QMD finds its models: `hf:owner/repo/file.gguf`, or the path of a file.

    They are what QMD 2.8 chooses itself. It would write them into its settings when it does not
    find them there, and not atomically; so we always write them.
    """

    embed: str = "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf"
    rerank: str = "hf:ggml-org/Qwen3-Reranker-0.6B-Q8_0-GGUF/qwen3-reranker-0.6b-q8_0.gguf"
    generate: str = "hf:tobil/qmd-query-expansion-1.7B-gguf/qmd-query-expansion-1.7B-q4_k_m.gguf"


@dataclass(frozen=True, slots=True)
class QmdSettings:
    command: str = "qmd"
    search_mode: SearchMode = "search"
    rerank: bool | None = None
    """None: as QMD does."""
    include_default_memory: bool = True
    paths: tuple[ExtraFolder, ...] = ()
    export_sessions: bool = False
    retention_days: int | None = None
    export_dir: str | None = None
    """None: `sessions/` in QMD's own home."""
    interval_s: float = 300.0
    debounce_s: float = 15.0
    update_on_boot: bool = True
    wait_for_boot: bool = False
    embed_interval_s: float = 3600.0
    command_timeout_s: float = 30.0
    update_timeout_s: float = 120.0
    embed_timeout_s: float = 120.0
    max_results: int = 6
    max_snippet_chars: int = 700
    max_injected_chars: int = 4000
    timeout_s: float = 4.0
    scope: Scope = field(default_factory=Scope)
    daemon: bool = True
    """Keep QMD running between questions; a program that asks once does not want that."""
    models: Models = field(default_factory=Models)


def scope_from(default: str | None, rules: Iterable[Mapping[str, Any]]) -> Scope:
    """Checked values of `memory.qmd.scope`. A rule without an action says nothing."""
    kept = tuple(_rule(rule) for rule in rules if "action" in rule)
    if not kept and default in (None, "deny"):
        # The built-in scope also allows direct conversations. A file that only repeats the
        # default `deny` means the same as a file that says nothing.
        return Scope()
    return Scope("allow" if default == "allow" else "deny", kept)


def _rule(values: Mapping[str, Any]) -> ScopeRule:
    return ScopeRule(
        values["action"],
        chat_type=values.get("match.chatType"),
        channel=values.get("match.channel"),
        key_prefix=values.get("match.keyPrefix"),
        raw_key_prefix=values.get("match.rawKeyPrefix"),
    )
