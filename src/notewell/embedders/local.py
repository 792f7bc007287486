"""Any GGUF model on this machine, run by llama.cpp.

    model path ──▶ file, or `hf:owner/repo/file.gguf` below the cache folder ──▶ header ──▶ facts
    text ──▶ prompt of the model family ──▶ llama.cpp ──▶ checked ──▶ length 1

`prepare` downloads a model from the hub; an index run, `notewell model pull` and the first
document call it. `missing` and the embedding of a query never download anything.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import importlib.util
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.embedders.gguf import GgufHead, NotGguf, read_head
from notewell.embedders.providers.provider import prompts_of
from notewell.embedders.settings import DOCUMENT_TIMEOUT_KEY, QUERY_TIMEOUT_KEY
from notewell.embedders.vectors import MIN_PART_CHARS, NotRows, embed_in_halves, unit_vectors
from notewell.errors import (
    AnswerUnusable,
    BadSetting,
    EmbedderFailed,
    EmbedderMissing,
    EmbedderTrouble,
    TextTooLarge,
)
from notewell.ports import Lacking, ModelFacts
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.embedders.downloads import Progress
    from notewell.embedders.llama import Llama
    from notewell.embedders.providers.provider import Prompts
    from notewell.ports import Kind, Vectors

PROVIDER = "local"
PACKAGE = "xllamacpp"
DEFAULT_MODEL = "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf"
HUB = "https://huggingface.co"

DEFAULT_HEAD = GgufHead("gemma-embedding", "embeddinggemma-300M", 768, 2048, pooled=True)
"""The header of the default model, for the time before it is downloaded."""

MAX_CONTEXT = 2048
"""The most tokens in a run, unless `local.contextSize` says otherwise. Chunks are far shorter,
and memory grows with its square."""

TEXTS_AT_ONCE = 8
"""One or two seconds for a model of 300 million weights: the most work that a kill loses."""

QUERY_TIMEOUT_S = 30.0
DOCUMENT_TIMEOUT_S = 600.0
"""For one text including loading, and for one call with many texts. OpenClaw waits five minutes
for a query; nobody waits that long for better hits."""

END_BYTES = 1 << 20
"""Read at both ends of the file: enough to distinguish two models of the same name."""

_URI = re.compile(
    r"hf:(?P<owner>[\w.-]+)/(?P<repo>[\w.-]+)/(?P<file>(?:[\w. -]+/)*[\w. -]+\.gguf)"
    r"(?:#(?P<revision>[\w./-]+))?"
)


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file of a repository on the hub."""

    owner: str
    repo: str
    file: str
    revision: str = "main"

    @classmethod
    def parse(cls, uri: str) -> HubFile:
        match = _URI.fullmatch(uri)
        # The parts become a path below the cache folder: `..` would lead out of it.
        if match is None or ".." in uri:
            raise BadSetting(
                "local.modelPath", f"{uri!r} is not of the form hf:owner/repo/file.gguf[#revision]"
            )
        return cls(match["owner"], match["repo"], match["file"], match["revision"] or "main")

    def address(self, hub: str) -> str:
        from urllib.parse import quote

        path = quote(f"{self.owner}/{self.repo}/resolve/{self.revision}/{self.file}")
        return f"{hub.rstrip('/')}/{path}"

    def below(self, folder: Path) -> Path:
        # Another revision is another model. Its name may contain a slash (`refs/pr/1`).
        repo = self.repo if self.revision == "main" else f"{self.repo}@{self.revision}"
        return folder / self.owner / repo.replace("/", "_") / self.file


@dataclass(frozen=True, slots=True)
class LocalModel:
    """Where a model is on disk, and where it can be downloaded from."""

    path: Path
    hub_file: HubFile | None

    @classmethod
    def at(cls, model_path: str, cache_dir: Path) -> LocalModel:
        if model_path.startswith("hf:"):
            hub_file = HubFile.parse(model_path)
            return cls(hub_file.below(cache_dir), hub_file)
        return cls(Path(model_path).expanduser(), None)


class LocalEmbedder:
    """Runs one model in a child process. Thread-safe."""

    def __init__(
        self,
        model_path: str | None,
        cache_dir: Path,
        *,
        hub: str = HUB,
        threads: int | None = None,
        context_size: int | None = None,
        query_timeout_s: float | None = None,
        document_timeout_s: float | None = None,
    ) -> None:
        """`cache_dir` contains the downloaded models; `hub` is the address for `hf:`. The rest is
        None for our defaults."""
        self._uri = model_path or DEFAULT_MODEL
        self._model = LocalModel.at(self._uri, cache_dir)
        self._hub = hub
        self._threads = threads
        self._context_limit = context_size or MAX_CONTEXT
        self._limits = {
            "query": (query_timeout_s or QUERY_TIMEOUT_S, QUERY_TIMEOUT_KEY),
            "document": (document_timeout_s or DOCUMENT_TIMEOUT_S, DOCUMENT_TIMEOUT_KEY),
        }
        self._lock = threading.Lock()
        self._llama: Llama | None = None
        self._head: GgufHead | None = None
        self._facts: ModelFacts | None = None

    @property
    def facts(self) -> ModelFacts:
        """From the header of the file.

        A model that is not downloaded yet has 0 dimensions, unless it is the default one: call
        `prepare` before an index is built with it.
        """
        if self._facts is None:
            try:
                self._head = read_head(self._model.path)
                self._facts = self._facts_of(self._head, _name(self._model.path))
            except (OSError, NotGguf):
                # The result is not stored: the file may be there at the next call.
                stem = self._model.path.stem
                if self._uri == DEFAULT_MODEL:
                    return self._facts_of(DEFAULT_HEAD, stem)
                return ModelFacts(
                    provider=PROVIDER, model=stem, dims=0, chunk_tokens=self._context_limit
                )
        return self._facts

    def _facts_of(self, head: GgufHead, model: str) -> ModelFacts:
        context = min(head.context_tokens, self._context_limit)
        # Our estimate counts four characters for a token; a token of a small vocabulary has less.
        chunk_tokens = max(16, context * 25 // 32)
        return ModelFacts(PROVIDER, model, head.dims, chunk_tokens, measures_scale=True)

    @property
    def texts_at_once(self) -> int:
        return TEXTS_AT_ONCE

    def missing(self) -> Lacking | None:
        """Reads the header of the file; loads and downloads nothing."""
        try:
            self._check()
        except EmbedderMissing as error:
            return Lacking(error.problem, error.action)
        return None

    def prepare(self, progress: Progress = lambda _, __: None) -> str | None:
        """`fetch`, unless llama.cpp is missing: the model would be of no use."""
        _check_package()
        return self.fetch(progress)

    def fetch(self, progress: Progress = lambda _, __: None) -> str | None:
        """Download the model if it is on a hub and not on disk; returns what was done."""
        model = self._model
        if model.hub_file is None or model.path.exists():
            return None
        from notewell.embedders.downloads import DownloadFailed, download

        address = model.hub_file.address(self._hub)
        try:
            download(address, model.path, progress=progress)
        except DownloadFailed as error:
            kept = " (the next attempt resumes it)" if error.kept_bytes else ""
            raise EmbedderMissing(
                PROVIDER,
                f"{self._uri} was not downloaded: {error}{kept}",
                f"run `notewell model pull {self._uri}` with a connection, or fetch {address} "
                f"elsewhere and set local.modelPath to the file",
            ) from error
        return f"put {self._uri} into {model.path}"

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        import numpy as np

        if not texts:
            return np.empty((0, self.facts.dims), dtype=np.float32)
        # Not for a query: a search must not wait for a download of hundreds of megabytes.
        if kind == "document":
            self.prepare()
        self._check()
        prompts = prompts_of(self._model.path.stem)
        rows: list[Vectors] = []
        # One text in each call: if one is too long, only that one is split.
        for text in texts:
            try:
                rows.append(self._ask([text], kind, prompts))
            except TextTooLarge as refused:
                rows.append(
                    embed_in_halves(text, refused, lambda some: self._ask(some, kind, prompts))
                )
        return np.concatenate(rows)

    def close(self) -> None:
        """End llama.cpp and free its memory; the next text starts it again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._llama is not None:
            self._llama.close()
        self._llama = None

    def _check(self) -> None:
        _check_package()
        path = self._model.path
        if not path.exists():
            pull = "name another file in local.modelPath"
            if self._model.hub_file is not None:
                pull = f"run `notewell model pull {self._uri}`"
            raise EmbedderMissing(PROVIDER, f"the model {str(path)!r} is not there", pull)
        try:
            self._head = self._head or read_head(path)
        except (OSError, NotGguf) as error:
            why = f"{str(path)!r} is not a usable model: {error}"
            raise EmbedderMissing(PROVIDER, why, "name another file in local.modelPath") from error

    def _ask(self, texts: Sequence[str], kind: Kind, prompts: Prompts) -> Vectors:
        # llama.cpp receives UTF-8, which cannot encode a lone surrogate.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        from notewell.embedders.llama import TimeLimit

        limit = TimeLimit(*self._limits[kind])
        with self._lock:
            try:
                rows = self._running().rows(prompts.before(clean, kind), limit)
            except EmbedderTrouble:
                # The child may be in any state; the next text starts a new one.
                self._close()
                raise
        vectors = [
            _vector(row.vector, row.why, text) for row, text in zip(rows, clean, strict=True)
        ]
        try:
            return unit_vectors(vectors, len(texts), self.facts.dims)
        except NotRows as error:
            raise AnswerUnusable(PROVIDER, f"llama.cpp gave {error}") from error

    def _running(self) -> Llama:
        # The child may have died since the last text: killed, or out of memory.
        if self._llama is None or not self._llama.usable:
            self._close()
            from notewell.embedders.llama import Llama

            head = self._head or read_head(self._model.path)
            self._llama = Llama(
                self._model.path,
                context=min(head.context_tokens, self._context_limit),
                pooled=head.pooled,
                threads=self._threads,
            )
        return self._llama


def _check_package() -> None:
    # Only looked up: an import would load llama.cpp into this process.
    if importlib.util.find_spec(PACKAGE) is None:
        raise EmbedderMissing(
            PROVIDER,
            f"{PACKAGE} is not installed",
            "install Notewell with its extra `local`: `pip install '.[local]'` in a checkout",
        )


def _name(path: Path) -> str:
    """The name of the file and a digest of both ends, so that another file of the same name has
    another identity in the index. A digest of gigabytes would take too long."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        size = file.seek(0, 2)
        digest.update(size.to_bytes(8, "little"))
        for start in (0, max(0, size - END_BYTES)):
            file.seek(start)
            digest.update(file.read(END_BYTES))
    return f"{path.stem}@{digest.hexdigest()[:8]}"


def _vector(encoded: str | None, why: str, text: str) -> Sequence[float]:
    if encoded is None:
        # llama.cpp reports in prose only that a text is too long. A short text never is.
        trouble = TextTooLarge if len(text) >= 2 * MIN_PART_CHARS else EmbedderFailed
        raise trouble(PROVIDER, f"no vector for a text of {len(text)} characters: {why}")
    import numpy as np

    try:
        numbers: list[float] = np.frombuffer(base64.b64decode(encoded), dtype="<f4").tolist()
    except (ValueError, binascii.Error) as error:
        raise AnswerUnusable(PROVIDER, f"a vector cannot be read ({error})") from error
    return numbers
