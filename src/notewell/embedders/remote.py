"""An embedder that calls a provider over HTTP, built from layers:

    RemoteEmbedder   facts, missing, embed; cool-down; a deadline for each kind of call
      Batching       few requests, several at once, smaller ones when a request is too large
        Retrying     sends a request again when the failure may be temporary
          _ask       one exchange: request, reply, rows checked, usage counted

Making one costs nothing and sends nothing. `facts` of a model outside our tables sends one
request to learn the length of its vectors, within the time limit of a query; until the length is
known, `dims` is 0.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from notewell.embedders.batching import Batching, RequestLimits, estimated_tokens
from notewell.embedders.error_mapping import error_for
from notewell.embedders.http_client import HttpClient
from notewell.embedders.remote_plan import Runtime, plan_remote
from notewell.embedders.retrying import CoolDown, Deadline, Retrying
from notewell.embedders.settings import DOCUMENT_TIMEOUT_KEY, QUERY_TIMEOUT_KEY
from notewell.embedders.usage import Usage, UsageCounter
from notewell.embedders.vectors import NotRows, unit_vectors
from notewell.errors import AnswerUnusable, EmbedderMissing, EmbedderTrouble
from notewell.ports import ModelFacts
from notewell.records import dataclass, replace
from notewell.redaction import RULES_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from notewell.embedders.api_keys import FoundKey, KeySources
    from notewell.embedders.http_client import HttpReply
    from notewell.embedders.providers.provider import HttpRequest, Model, Provider
    from notewell.embedders.remote_plan import RemotePlan
    from notewell.embedders.settings import EmbedderSettings, ProviderSettings
    from notewell.ports import Keep, Kind, Lacking, Vectors

REQUEST_TOKENS = 8000
"""Estimated tokens in a request, as in OpenClaw: enough to be fast, and little to lose when a
request fails."""

UNKNOWN_CHUNK_TOKENS = 400
"""The longest chunk for a model outside our tables; most small models read 512 tokens."""

BYTES_PER_NUMBER = 32
"""A number in JSON has about 22 characters; a reply with more bytes than this is not read."""

UNKNOWN_DIMS = 16_384
"""Space for the first reply of a model of unknown length; the longest known one has 8192."""

TEXTS_AT_ONCE = 2048
"""About fifty requests. At the end of each call some workers have nothing to do, so longer calls
are faster. A kill does not cost more, because rows are stored as they arrive."""

BLANK = "(blank)"
"""Sent in place of a text that is only white space, which some providers refuse."""

_AS_ASKED = (
    "as this model should; another one answers at this address: correct `model`, "
    "`outputDimensionality` or the address"
)
_AS_BEFORE = (
    "as before; if the model at this address has changed, run `notewell index`, which builds an "
    "index for it"
)


class RemoteEmbedder:
    """Thread-safe."""

    def __init__(self, plan: RemotePlan, runtime: Runtime | None = None) -> None:
        self._plan = plan
        self._runtime = runtime = runtime or Runtime()
        model = plan.model
        self._counter = UsageCounter(model.usd_per_million if model else None)
        self._client = HttpClient(plan.provider.name, plan.endpoint.base_url, plan.headers)
        self._cooldown = CoolDown(runtime.clock, runtime.cooldown_s)
        self._dims_lock = threading.Lock()
        # A length in the settings wins over the table: some models can shorten their vectors.
        self._dims = plan.endpoint.dims or (model.dims if model else None)
        self._why_dims = _AS_ASKED if self._dims else _AS_BEFORE
        self._batching = Batching(
            Retrying(self._ask, runtime.sleep, runtime.random, runtime.retry),
            RequestLimits(plan.provider.items, _request_tokens(model)),
            plan.concurrency,
            lambda: Deadline.after(plan.document_timeout_s, runtime.clock, DOCUMENT_TIMEOUT_KEY),
        )

    @property
    def facts(self) -> ModelFacts:
        model = self._plan.model
        return ModelFacts(
            provider=self._plan.provider.name,
            model=self._plan.endpoint.model,
            dims=self._known_dims(),
            # Our token counts are estimates, so a quarter of the limit stays free.
            chunk_tokens=model.text_tokens * 3 // 4 if model else UNKNOWN_CHUNK_TOKENS,
            endpoint_key=self.endpoint_key,
            masking=str(RULES_VERSION) if self._plan.mask_secrets else "",
            measures_scale=True,
        )

    @property
    def usage(self) -> Usage:
        return self._counter.usage

    @property
    def model(self) -> str:
        """The name of the model; unlike `facts`, this never sends a request."""
        return self._plan.endpoint.model

    @property
    def endpoint(self) -> str:
        return self._plan.endpoint.base_url

    @property
    def endpoint_key(self) -> str:
        return self._plan.endpoint_key

    @property
    def texts_at_once(self) -> int:
        return TEXTS_AT_ONCE

    @property
    def plan(self) -> RemotePlan:
        return self._plan

    @property
    def runtime(self) -> Runtime:
        return self._runtime

    def missing(self) -> Lacking | None:
        return self._plan.lacking

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        return self._embed_checked(self.outgoing(texts), kind, None)

    def embed_gradually(self, texts: Sequence[str], keep: Keep) -> Vectors:
        return self._embed_checked(self.outgoing(texts), "document", keep)

    def outgoing(self, texts: Sequence[str]) -> list[str]:
        """What leaves this machine: the texts without their secrets. A mask has no digits here,
        so that it depends on no key; a text that is masked already stays as it is."""
        if not self._plan.mask_secrets:
            return list(texts)
        from notewell.redaction import Redactor  # Imported late: the rules take time to load.

        return list(map(Redactor(), texts))

    def close(self) -> None:
        self._client.close()

    # -- for batch jobs, which use the same address and key --------------------------------------

    def exchange(self, request: HttpRequest, deadline: Deadline, max_bytes: int) -> HttpReply:
        """A successful reply; raises the matching `EmbedderTrouble` for any other."""
        return self._success(self._client.exchange(request, deadline, max_bytes))

    def read_lines(
        self,
        request: HttpRequest,
        deadline: Deadline,
        max_bytes: int,
        take: Callable[[bytes], None],
    ) -> None:
        """Read a file line by line. One redirect is followed: files may be on another host."""
        reply = self._client.read_lines(request, deadline, max_bytes, take)
        if reply.location and 300 <= reply.status < 400 and self._may_follow(reply.location):
            # A signed address of a file store needs no key, so none is sent there.
            file_store = HttpClient(self._plan.provider.name, origin_of(reply.location), {})
            request = replace(request, url=reply.location)
            reply = file_store.read_lines(request, deadline, max_bytes, take)
            file_store.close()
        self._success(reply)

    def count_served(self, texts: int, tokens: int, price_share: float) -> None:
        self._counter.served(texts, tokens, price_share)

    def _may_follow(self, location: str) -> bool:
        """Only to HTTPS, or to the host that the user has configured."""
        # Compared as origins: `http://host.example` is a prefix of `http://host.example.evil`.
        return location.startswith("https://") or origin_of(location) == origin_of(self.endpoint)

    def _success(self, reply: HttpReply) -> HttpReply:
        if not reply.is_success:
            provider = self._plan.provider
            facts = provider.error_facts(reply.status, reply.data)
            secrets = self._plan.headers.values()
            raise error_for(provider.name, reply, facts, secrets, self._plan.names)
        return reply

    def _embed_checked(self, texts: Sequence[str], kind: Kind, keep: Keep | None) -> Vectors:
        import numpy as np

        if lacking := self._plan.lacking:
            raise EmbedderMissing(self._plan.provider.name, lacking.problem, lacking.action)
        if not texts:
            return np.empty((0, self.facts.dims), dtype=np.float32)
        return self._embed([sendable(text) for text in texts], kind, keep)

    def _embed(self, texts: Sequence[str], kind: Kind, keep: Keep | None = None) -> Vectors:
        self._cooldown.check(kind)
        deadline = None
        if kind == "query":
            seconds, clock = self._plan.query_timeout_s, self._runtime.clock
            deadline = Deadline.after(seconds, clock, QUERY_TIMEOUT_KEY)
        try:
            vectors = self._batching.embed(texts, kind, deadline, keep)
        except EmbedderTrouble as trouble:
            self._cooldown.note(trouble, kind)
            raise
        self._cooldown.clear()
        return vectors

    # -- one exchange ----------------------------------------------------------------------------

    def _ask(self, texts: Sequence[str], kind: Kind, deadline: Deadline) -> Vectors:
        # Counted before the exchange: a request without a reply may have cost money too.
        self._counter.sent()
        try:
            return self._exchange(texts, kind, deadline)
        except EmbedderTrouble:
            self._counter.failed()
            raise

    def _exchange(self, texts: Sequence[str], kind: Kind, deadline: Deadline) -> Vectors:
        provider = self._plan.provider
        request = provider.request(self._plan.endpoint, texts, kind)
        # Limited: a wrong address may answer with a stream without end.
        reply = self.exchange(request, deadline, self._max_reply_bytes(len(texts)))
        try:
            rows = provider.rows(reply.data, len(texts))
            vectors = self._checked(rows, len(texts))
        except NotRows as error:
            raise self._unusable(str(error)) from None
        tokens = provider.tokens(reply.data)
        if tokens is None:
            tokens = sum(estimated_tokens(text) for text in texts)
        self._counter.served(len(texts), tokens)
        return vectors

    def _checked(self, rows: Sequence[object], count: int) -> Vectors:
        # Any length is accepted first: `dims` of an unknown model come from this very reply.
        vectors = unit_vectors(rows, count, None)
        dims = vectors.shape[1]
        with self._dims_lock:
            self._load_dims()
            if self._dims is None:
                self._dims = dims
                self._runtime.dims_cache.put(self.endpoint_key, dims)
            if dims == self._dims:
                return vectors
            # Forgotten, so that the next process measures again and rebuilds the index for it.
            self._runtime.dims_cache.put(self.endpoint_key, None)
        raise NotRows(f"vectors of {dims} dimensions, and not of {self._dims} {self._why_dims}")

    def _unusable(self, why: str) -> AnswerUnusable:
        return AnswerUnusable(self._plan.provider.name, f"it gave {why}", http_status=200)

    def _max_reply_bytes(self, count: int) -> int:
        return 65_536 + count * (self._dims or UNKNOWN_DIMS) * BYTES_PER_NUMBER

    # -- dims ------------------------------------------------------------------------------------

    def _known_dims(self) -> int:
        """Without a request if a table or the cache has it; 0 if the model cannot be asked."""
        if self._dims is None:
            with self._dims_lock:
                self._load_dims()
        if self._dims is None and self._plan.lacking is None:
            try:
                self._embed([BLANK], "query")
            except EmbedderTrouble:
                return 0  # The next `embed` raises it again: the cool-down has kept it.
        return self._dims or 0

    def _load_dims(self) -> None:
        if self._dims is None:
            self._dims = self._runtime.dims_cache.get(self.endpoint_key)


@dataclass(frozen=True, slots=True)
class OpenedRemote:
    embedder: RemoteEmbedder
    key: FoundKey | None
    """With the place where it was found."""


def open_remote(
    provider: Provider,
    settings: EmbedderSettings,
    keys: KeySources,
    runtime: Runtime,
    *,
    model: str | None = None,
    entry: ProviderSettings | None = None,
) -> OpenedRemote:
    """The embedder that `plan_remote` describes."""
    plan, key = plan_remote(provider, settings, keys, model=model, entry=entry)
    return OpenedRemote(RemoteEmbedder(plan, runtime), key)


def _request_tokens(model: Model | None) -> int:
    return min(REQUEST_TOKENS, model.request_tokens) if model else REQUEST_TOKENS


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def sendable(text: str) -> str:
    """Valid Unicode that is not blank: UTF-8 cannot encode half a surrogate pair."""
    if not text.strip():
        # Every text needs a row, so a blank one cannot just be left out.
        return BLANK
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
