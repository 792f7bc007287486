"""An embedder at the other end of a wire: a provider's data and functions, and the layers around.

    RemoteEmbedder   facts, missing, embed; cool-down; a deadline for each kind of call
      Batching       few requests, several at once, smaller when too large
        Retrying     again, when it may pass
          _ask       one exchange: request, reply, rows checked, usage counted

Making one costs nothing and calls nobody. `facts` of a model without a table asks once how long
its vectors are, within the time of a question; until that is known `dims` is 0.
"""

from __future__ import annotations

import hashlib
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from notewell.embedders.batching import Batching, Limits, estimated_tokens
from notewell.embedders.cooldown import COOLDOWN_S, CoolDown
from notewell.embedders.deadline import Clock, Deadline
from notewell.embedders.dims_cache import KnownDims
from notewell.embedders.error_mapping import fault
from notewell.embedders.http_client import Calls
from notewell.embedders.provider import NotRows
from notewell.embedders.retrying import Retrying, RetryPolicy
from notewell.embedders.usage import Usage, UsageCounter
from notewell.embedders.validate import unit_vectors
from notewell.errors import AnswerUnusable, EmbedderMissing, EmbedderTrouble
from notewell.ports import ModelFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from notewell.core import Secret
    from notewell.embedders.http_client import Reply
    from notewell.embedders.provider import Model, Provider, Request, Target
    from notewell.ports import Keep, Kind, Vectors

REQUEST_TOKENS = 8000
"""Estimated tokens in a request, as in the original: enough to be quick, little enough to lose."""

UNKNOWN_CHUNK_TOKENS = 400
"""The longest chunk for a model we know nothing about; most small ones read 512 tokens."""

BYTES_A_NUMBER = 32
"""A number in JSON has some 22 characters; an answer with more than this for each is not ours."""

UNKNOWN_DIMS = 16_384
"""Room for the first answer of a model whose dims are not known; the longest known has 8192."""

TEXTS_AT_ONCE = 2048
"""Some fifty requests: at the end of each call not all that may be under way are. What a kill may
cost does not grow with it, because rows are kept as they come."""

BLANK = "(blank)"
"""In place of a text of white space only, which some providers refuse."""


def _random() -> float:
    import random

    return random.random()  # noqa: S311 - spreads retries; nothing depends on its quality


@dataclass(frozen=True, slots=True)
class Runtime:
    """The world, as arguments."""

    clock: Clock = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = _random
    known_dims: KnownDims = field(default_factory=lambda: KnownDims(None))
    cooldown_s: float = COOLDOWN_S
    retry: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass(frozen=True, slots=True)
class RemotePlan:
    """Everything that was decided about an embedder before it is made."""

    provider: Provider
    target: Target
    headers: Mapping[str, Secret]
    lacks: str | None
    """What is missing, and the next step; the embedder then answers with that alone."""
    concurrency: int
    query_timeout_s: float
    document_timeout_s: float

    @property
    def model(self) -> Model | None:
        return self.provider.models.get(self.target.model.removeprefix("models/"))

    @property
    def endpoint_key(self) -> str:
        """Tells vectors of different servers apart; made of nothing that is secret."""
        names = sorted(name.lower() for name in self.headers)
        place = "\n".join([self.provider.name, self.target.base_url, self.target.model, *names])
        return hashlib.sha256(place.encode()).hexdigest()[:16]


class RemoteEmbedder:
    """From as many threads as you like."""

    def __init__(self, plan: RemotePlan, runtime: Runtime | None = None) -> None:
        self._plan = plan
        self._runtime = runtime = runtime or Runtime()
        model = plan.model
        self._counter = UsageCounter(model.usd_per_million if model else None)
        self._calls = Calls(plan.provider.name, plan.target.base_url, plan.headers)
        self._cooldown = CoolDown(runtime.clock, runtime.cooldown_s)
        self._probing = threading.Lock()
        self._dims = plan.target.dims or (model.dims if model else None)
        self._batching = Batching(
            Retrying(self._ask, runtime.sleep, runtime.random, runtime.retry),
            Limits(plan.provider.items, _request_tokens(model)),
            plan.concurrency,
            lambda: Deadline.after(plan.document_timeout_s, runtime.clock),
        )

    @property
    def facts(self) -> ModelFacts:
        model = self._plan.model
        return ModelFacts(
            provider=self._plan.provider.name,
            model=self._plan.target.model,
            dims=self._known_dims(),
            # Estimates of tokens are rough; a quarter is kept in hand.
            chunk_tokens=model.text_tokens * 3 // 4 if model else UNKNOWN_CHUNK_TOKENS,
            endpoint_key=self.endpoint_key,
        )

    @property
    def usage(self) -> Usage:
        return self._counter.usage

    @property
    def model(self) -> str:
        """Its name; unlike `facts` never by a call."""
        return self._plan.target.model

    @property
    def endpoint(self) -> str:
        return self._plan.target.base_url

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

    def missing(self) -> str | None:
        return self._plan.lacks

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        return self._embed_complete(texts, kind, None)

    def embed_gradually(self, texts: Sequence[str], keep: Keep) -> Vectors:
        return self._embed_complete(texts, "document", keep)

    def close(self) -> None:
        self._calls.close()

    # -- for batch jobs, which go to the same address with the same key --------------------------

    def exchange(self, request: Request, deadline: Deadline, cap: int) -> Reply:
        """An answer that is a success, or the trouble it stands for."""
        return self._success(self._calls.exchange(request, deadline, cap))

    def read_lines(
        self, request: Request, deadline: Deadline, cap: int, take: Callable[[bytes], None]
    ) -> None:
        """The lines of a file, also where the provider sends us on to another place for it."""
        reply = self._calls.read_lines(request, deadline, cap, take)
        if reply.location and 300 <= reply.status < 400 and self._may_follow(reply.location):
            # A store of files has addresses that are secret by themselves: no key goes there.
            elsewhere = Calls(self._plan.provider.name, origin_of(reply.location), {})
            request = replace(request, url=reply.location)
            reply = elsewhere.read_lines(request, deadline, cap, take)
            elsewhere.close()
        self._success(reply)

    def count_served(self, texts: int, tokens: int, price_share: float) -> None:
        self._counter.served(texts, tokens, price_share)

    def _may_follow(self, location: str) -> bool:
        """As safe as the address the user has set, or safer."""
        return location.startswith(("https://", origin_of(self.endpoint)))

    def _success(self, reply: Reply) -> Reply:
        if not reply.is_success:
            provider = self._plan.provider
            told = provider.told(reply.status, reply.data)
            raise fault(provider.name, reply, told, self._plan.headers.values())
        return reply

    def _embed_complete(self, texts: Sequence[str], kind: Kind, keep: Keep | None) -> Vectors:
        import numpy as np

        self._check_complete()
        if not texts:
            return np.empty((0, self.facts.dims), dtype=np.float32)
        return self._embed([sendable(text) for text in texts], kind, keep)

    def _embed(self, texts: Sequence[str], kind: Kind, keep: Keep | None = None) -> Vectors:
        self._cooldown.check(kind)
        deadline = None
        if kind == "query":
            deadline = Deadline.after(self._plan.query_timeout_s, self._runtime.clock)
        try:
            vectors = self._batching.embed(texts, kind, deadline, keep)
        except EmbedderTrouble as trouble:
            self._cooldown.note(trouble, kind)
            raise
        self._cooldown.clear()
        return vectors

    def _check_complete(self) -> None:
        if self._plan.lacks:
            problem, _, action = self._plan.lacks.partition("; ")
            raise EmbedderMissing(self._plan.provider.name, problem, action)

    # -- one exchange ----------------------------------------------------------------------------

    def _ask(self, texts: Sequence[str], kind: Kind, deadline: Deadline) -> Vectors:
        self._counter.sent()
        try:
            return self._exchange(texts, kind, deadline)
        except EmbedderTrouble:
            self._counter.failed()
            raise

    def _exchange(self, texts: Sequence[str], kind: Kind, deadline: Deadline) -> Vectors:
        provider = self._plan.provider
        request = provider.request(self._plan.target, texts, kind)
        reply = self.exchange(request, deadline, self._cap(len(texts)))
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
        vectors = unit_vectors(rows, count, None)
        got = vectors.shape[1]
        with self._probing:
            self._recall_dims()
            if self._dims is None:
                self._dims = got
                self._runtime.known_dims.put(self.endpoint_key, got)
            if got == self._dims:
                return vectors
            # The next process asks anew, and the index is rebuilt for what it hears.
            self._runtime.known_dims.put(self.endpoint_key, None)
        raise NotRows(
            f"vectors of {got} dimensions where there were {self._dims}: is it another model now?"
        )

    def _unusable(self, why: str) -> AnswerUnusable:
        return AnswerUnusable(self._plan.provider.name, f"it gave {why}", http_status=200)

    def _cap(self, count: int) -> int:
        return 65_536 + count * (self._dims or UNKNOWN_DIMS) * BYTES_A_NUMBER

    # -- dims ------------------------------------------------------------------------------------

    def _known_dims(self) -> int:
        """Without a call where somebody knows; 0 where the model cannot be asked now."""
        if self._dims is None:
            with self._probing:
                self._recall_dims()
        if self._dims is None and self._plan.lacks is None:
            try:
                self._embed([BLANK], "query")
            except EmbedderTrouble:
                return 0  # Told by the next `embed`: the cool-down remembers it.
        return self._dims or 0

    def _recall_dims(self) -> None:
        if self._dims is None:
            self._dims = self._runtime.known_dims.get(self.endpoint_key)


def _request_tokens(model: Model | None) -> int:
    return min(REQUEST_TOKENS, model.request_tokens) if model else REQUEST_TOKENS


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def sendable(text: str) -> str:
    """Valid Unicode that is not blank: half a surrogate pair cannot be sent at all."""
    if not text.strip():
        return BLANK
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
