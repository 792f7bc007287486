"""The settings of QMD: one field for each key below `memory.qmd`, except its scope."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from notewell.records import dataclass, field

SearchMode: TypeAlias = Literal["search", "vsearch", "query"]


class ExtraFolder(NamedTuple):
    """An entry of `memory.qmd.paths`: a folder, or one file."""

    path: str
    pattern: str | None = None
    name: str | None = None


class QmdModels(NamedTuple):
    """Where QMD finds its models: `hf:owner/repo/file.gguf`, or the path of a file.

    The defaults are those of QMD 2.8. We always write them: QMD adds missing models to its
    configuration itself, and that write is not atomic.
    """

    embed: str = "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf"
    rerank: str = "hf:ggml-org/Qwen3-Reranker-0.6B-Q8_0-GGUF/qwen3-reranker-0.6b-q8_0.gguf"
    generate: str = "hf:tobil/qmd-query-expansion-1.7B-gguf/qmd-query-expansion-1.7B-q4_k_m.gguf"


@dataclass(frozen=True, slots=True)
class QmdSettings:
    command: str = "qmd"
    search_mode: SearchMode = "search"
    rerank: bool | None = None
    """None: QMD decides."""
    include_default_memory: bool = True
    paths: tuple[ExtraFolder, ...] = ()
    export_sessions: bool = False
    retention_days: int | None = None
    export_dir: str | None = None
    """None: `sessions/` in QMD's home."""
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
    daemon: bool = True
    """Keep QMD's server running between questions. False for a program that asks once."""
    models: QmdModels = field(default_factory=QmdModels)
