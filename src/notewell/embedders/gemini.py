"""Google's `POST /models/{model}:batchEmbedContents`.

    {"requests": [{"model", "content": {"parts": [{"text"}]}, "taskType",
                   "outputDimensionality"?}]}
    {"embeddings": [{"values"}]}

Answers come in the order of the requests and carry no number. Shorter vectors of
gemini-embedding-001 do not have length 1; everything is normalised later anyway.
Sources: the API reference (embeddings, error details of google.rpc), November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from notewell.embedders.prompts import GEMMA
from notewell.embedders.provider import (
    Json,
    Model,
    NotRows,
    Provider,
    Request,
    Rows,
    Target,
    Told,
    count_or_none,
    field,
    text_or_none,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from notewell.core import Secret
    from notewell.ports import Kind

MODELS = {
    "gemini-embedding-001": Model(3072, 2048, 0.15, range(128, 3073)),
    "gemini-embedding-2": Model(3072, 8192, 0.20, range(128, 3073)),
}

_TASKS = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}
_NO_TASK_TYPES = "gemini-embedding-2"
"""This family has no task types; it wants the words of `GEMMA` before a text."""


def request(target: Target, texts: Sequence[str], kind: Kind) -> Request:
    model = target.model.removeprefix("models/")
    common: dict[str, Json] = {"model": f"models/{model}"}
    if model.startswith(_NO_TASK_TYPES):
        texts = GEMMA.before(texts, kind)
    else:
        common["taskType"] = _TASKS[kind]
    if target.dims is not None:
        common["outputDimensionality"] = target.dims
    return Request(
        f"{target.base_url}/models/{quote(model, safe='')}:batchEmbedContents",
        {"requests": [{**common, "content": {"parts": [{"text": text}]}} for text in texts]},
    )


def rows(answer: Json, count: int) -> Rows:
    found = field(answer, "embeddings")
    if not isinstance(found, list) or len(found) != count:
        got = len(found) if isinstance(found, list) else "no list"
        raise NotRows(f"{got} vectors for {count} texts")
    return [field(one, "values") for one in found]


def tokens(answer: Json) -> int | None:
    return count_or_none(field(answer, "usageMetadata", "promptTokenCount"))


def told(status: int, answer: Json) -> Told:
    name = text_or_none(field(answer, "error", "status"))
    reasons = {one.get("reason") for one in _details(answer, "ErrorInfo")}
    bad_key = "API_KEY_INVALID" in reasons
    return Told(
        code="API_KEY_INVALID" if bad_key else name,
        message=text_or_none(field(answer, "error", "message")),
        # One code for every bad argument, size among them; only a bad key is told apart.
        too_large=status == 413 or (status == 400 and name == "INVALID_ARGUMENT" and not bad_key),
        out_of_quota=any("PerDay" in quota for quota in _quotas(answer)),
        bad_key=bad_key,
        retry_after_s=_retry_after_s(answer),
    )


def _quotas(answer: Json) -> Iterator[str]:
    """The ids of the quotas that were exceeded; those per minute come back by themselves."""
    for detail in _details(answer, "QuotaFailure"):
        for violation in detail.get("violations") or ():
            quota = field(violation, "quotaId")
            if isinstance(quota, str):
                yield quota


def _retry_after_s(answer: Json) -> float | None:
    """A duration in JSON is written `34.07s`."""
    for detail in _details(answer, "RetryInfo"):
        delay = detail.get("retryDelay")
        if isinstance(delay, str) and delay.endswith("s"):
            try:
                return max(0.0, float(delay[:-1]))
            except ValueError:
                return None
    return None


def _details(answer: Json, kind: str) -> Iterator[dict[str, Json]]:
    details = field(answer, "error", "details")
    for one in details if isinstance(details, list) else ():
        if isinstance(one, dict) and str(one.get("@type")).endswith(f"google.rpc.{kind}"):
            yield one


def auth(key: Secret) -> Mapping[str, Secret]:
    return {"x-goog-api-key": key}


GEMINI = Provider(
    name="gemini",
    default_url="https://generativelanguage.googleapis.com/v1beta",
    default_model="gemini-embedding-001",
    models=MODELS,
    items=100,
    needs_key=True,
    auth=auth,
    request=request,
    rows=rows,
    tokens=tokens,
    told=told,
)
