"""Maps an error reply to one of our exceptions, by its status and its codes alone.

    401, 403, a bad key            EmbedderRefused     the user must act
    402, a quota code              QuotaExhausted      the user must act
    404, 405, 410, 3xx             EmbedderRefused     the model or the address is wrong
    413, or a "too large" code     TextTooLarge        send less
    408, 409, 425, 429, 5xx        EmbedderFailed      temporary: retried
    any other                      EmbedderFailed      permanent: not retried

Our message quotes the provider's own message on one line, shortened, and without the values of
the headers that we sent. It quotes nothing about keys: some providers repeat half of a key.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from notewell.errors import (
    EmbedderFailed,
    EmbedderRefused,
    EmbedderTrouble,
    QuotaExhausted,
    TextTooLarge,
)
from notewell.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from notewell.core import Secret
    from notewell.embedders.http_client import HttpReply
    from notewell.embedders.providers.provider import ErrorFacts
    from notewell.embedders.remote_plan import SettingNames

RETRYABLE_STATUSES = frozenset({408, 409, 425, 429, *range(500, 600)})
"""Statuses after which the same request may succeed."""

MAX_MESSAGE_CHARS = 200
MIN_SECRET_CHARS = 6
"""A header value with fewer characters is no key, and removing it would garble the message."""


def error_for(
    provider: str,
    reply: HttpReply,
    facts: ErrorFacts,
    secrets: Iterable[Secret],
    names: SettingNames,
) -> EmbedderTrouble:
    """The exception to raise for a reply with any status but 2xx."""
    status = reply.status
    # Some servers repeat what we sent, in the code as well as in the message.
    secrets = tuple(secrets)
    code, message = _without(facts.code, secrets), _without(facts.message, secrets)
    facts = replace(facts, code=code, message=message)
    # Facts before statuses: Gemini reports a bad key with 400, OpenAI a used-up quota with 429.
    if facts.bad_key or status in (401, 403):
        return _key_refused(provider, status, facts.code, names)
    if facts.out_of_quota or status == 402:
        return QuotaExhausted(
            provider,
            f"the quota is used up (HTTP {status}{_code_suffix(facts.code)})",
            "add credit or wait until the quota is renewed; keyword search still works",
            http_status=status,
            code=facts.code,
        )
    quoted = _quoted(facts)
    if facts.too_large or status == 413:
        return TextTooLarge(
            provider,
            f"the request is larger than it accepts{quoted}",
            http_status=status,
            code=facts.code,
        )
    if status in (404, 405, 410) or status < 400:
        return _not_found(provider, reply, facts, quoted, names)
    return EmbedderFailed(
        provider,
        f"HTTP {status}{_code_suffix(facts.code)}{quoted}",
        http_status=status,
        code=facts.code,
        retry_after_s=retry_after_s(reply, facts),
    )


def _key_refused(
    provider: str, status: int, code: str | None, names: SettingNames
) -> EmbedderRefused:
    return EmbedderRefused(
        provider,
        f"the key is not accepted (HTTP {status}{_code_suffix(code)})",
        f"set another key ({names.key}), or one with access to this model",
        http_status=status,
        code=code,
    )


def _not_found(
    provider: str, reply: HttpReply, facts: ErrorFacts, quoted: str, names: SettingNames
) -> EmbedderRefused:
    if reply.status < 400:
        host = urlsplit(reply.location or "").hostname or "another address"
        problem, action = f"it redirects to {host!r}", f"set {names.address} to the new address"
    else:
        problem = f"no such model or address (HTTP {reply.status}){quoted}"
        action = f"check model and {names.address}"
    return EmbedderRefused(provider, problem, action, http_status=reply.status, code=facts.code)


def retry_after_s(reply: HttpReply, facts: ErrorFacts) -> float | None:
    """How long to wait, from the header `Retry-After` or from the body.

    A date in the header is compared with the reply's own `Date`: our clock may be wrong.
    """
    header = (reply.retry_after or "").strip()
    try:
        seconds = float(header)
    except ValueError:
        seconds = _seconds_between(reply.date, header) if header else math.nan
    if math.isfinite(seconds):
        return max(0.0, seconds)
    return facts.retry_after_s


def _seconds_between(earlier: str | None, later: str) -> float:
    from email.utils import parsedate_to_datetime

    try:
        start, end = parsedate_to_datetime(earlier or ""), parsedate_to_datetime(later)
        return (end - start).total_seconds()
    except (TypeError, ValueError):  # not dates, or only one of them has a time zone
        return math.nan


def _code_suffix(code: str | None) -> str:
    return f", {_shortened(code)}" if code else ""


def _quoted(facts: ErrorFacts) -> str:
    message = _shortened(facts.message or "")
    return f": {message}" if message else ""


def _without(text: str | None, secrets: Iterable[Secret]) -> str | None:
    """The text without any of the secrets."""
    if not text:
        return text
    for secret in secrets:
        # A server seldom repeats the complete header `Bearer KEY`, but it may repeat the key.
        for part in {secret.reveal(), secret.reveal().split(" ")[-1]}:
            if len(part) >= MIN_SECRET_CHARS:
                text = text.replace(part, "[key]")
    return text


def _shortened(text: str) -> str:
    # Escape sequences and line ends of a foreign message must not reach a terminal or a log.
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(line) <= MAX_MESSAGE_CHARS:
        return line
    return line[: MAX_MESSAGE_CHARS - 1] + "…"
