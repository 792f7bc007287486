"""Which of our errors an answer is that brings no vectors: by its status and its codes alone.

    401, 403, a bad key            EmbedderRefused     the user must act
    402, a quota's own code        QuotaExhausted      the user must act
    404, 405, 410, 3xx             EmbedderRefused     the model or the address is wrong
    413, or told to be too large   TextTooLarge        send less
    408, 409, 425, 429, 5xx        EmbedderFailed      may pass: asked again
    any other                      EmbedderFailed      will not pass: not asked again

The provider's own words are shown, without line ends, cut short, and with every header we sent
taken out of them. About keys they are not shown at all: some quote half of one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from notewell.errors import (
    EmbedderFailed,
    EmbedderRefused,
    EmbedderTrouble,
    QuotaExhausted,
    TextTooLarge,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from notewell.core import Secret
    from notewell.embedders.http_client import Reply
    from notewell.embedders.provider import Told

MAY_PASS = frozenset({408, 409, 425, 429, *range(500, 600)})
"""Statuses after which the same request may succeed."""

WORDS_CHARS = 200
SECRET_CHARS = 6
"""A header of fewer characters is no key, and taking it out would garble the message."""


def fault(provider: str, reply: Reply, told: Told, secrets: Iterable[Secret]) -> EmbedderTrouble:
    """The error to raise for an answer with any status but 200."""
    status = reply.status
    # Careless servers quote what they were sent, in the code as well as in the words.
    secrets = tuple(secrets)
    code, message = _without(told.code, secrets), _without(told.message, secrets)
    told = replace(told, code=code, message=message)
    if told.bad_key or status in (401, 403):
        return _key_refused(provider, status, told.code)
    if told.out_of_quota or status == 402:
        return QuotaExhausted(
            provider,
            f"the quota is used up (HTTP {status}{_named(told.code)})",
            "add credit or wait for the quota to be renewed; search goes on by keyword",
            http_status=status,
            code=told.code,
        )
    words = _words(told)
    if told.too_large or status == 413:
        return TextTooLarge(
            provider, f"more than it takes at once{words}", http_status=status, code=told.code
        )
    if status in (404, 405, 410) or status < 400:
        return _not_there(provider, reply, told, words)
    return EmbedderFailed(
        provider,
        f"HTTP {status}{_named(told.code)}{words}",
        http_status=status,
        code=told.code,
        retry_after_s=retry_after_s(reply, told),
    )


def _key_refused(provider: str, status: int, code: str | None) -> EmbedderRefused:
    return EmbedderRefused(
        provider,
        f"the key is not accepted (HTTP {status}{_named(code)})",
        "set another key, or one with access to this model",
        http_status=status,
        code=code,
    )


def _not_there(provider: str, reply: Reply, told: Told, words: str) -> EmbedderRefused:
    if reply.status < 400:
        host = urlsplit(reply.location or "").hostname or "another address"
        problem, action = f"it sends us on to {host!r}", "set remote.baseUrl to where it is now"
    else:
        problem = f"no such model or address (HTTP {reply.status}){words}"
        action = "check model and remote.baseUrl"
    return EmbedderRefused(provider, problem, action, http_status=reply.status, code=told.code)


def retry_after_s(reply: Reply, told: Told) -> float | None:
    """How long to wait, as the header or the body says it; a date counts from the answer's own."""
    header = (reply.retry_after or "").strip()
    try:
        seconds = float(header)
    except ValueError:
        seconds = _seconds_between(reply.date, header) if header else math.nan
    if math.isfinite(seconds):
        return max(0.0, seconds)
    return told.retry_after_s


def _seconds_between(earlier: str | None, later: str) -> float:
    from email.utils import parsedate_to_datetime

    try:
        start, end = parsedate_to_datetime(earlier or ""), parsedate_to_datetime(later)
        return (end - start).total_seconds()
    except (TypeError, ValueError):  # no dates, or only one of them with a time zone
        return math.nan


def _named(code: str | None) -> str:
    return f", {_shortened(code)}" if code else ""


def _words(told: Told) -> str:
    short = _shortened(told.message or "")
    return f": {short}" if short else ""


def _without(text: str | None, secrets: Iterable[Secret]) -> str | None:
    """The text without any of these; None where there is none."""
    if not text:
        return text
    for secret in secrets:
        # What follows `Bearer ` is the key; the whole header seldom comes back, the key may.
        for part in {secret.reveal(), secret.reveal().split(" ")[-1]}:
            if len(part) >= SECRET_CHARS:
                text = text.replace(part, "[key]")
    return text


def _shortened(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= WORDS_CHARS else line[: WORDS_CHARS - 1] + "…"
