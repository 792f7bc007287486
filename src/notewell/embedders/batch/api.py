"""What a provider's batch API is to the rest of this folder: data, and pure functions.

    line ▶ file ──upload──▶ file id ──create──▶ job ──status──▶ JobState ──download──▶ result lines

The line of a text and its result carry the same custom id, by which they find each other: results
come in any order, some of them not at all. Ours is the digest of the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from notewell.embedders.provider import count_or_none

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.embedders.provider import Json, Request, Target

Phase: TypeAlias = Literal["waiting", "done", "failed", "expired", "cancelled"]

MOST_REQUESTS = 50_000
"""In one job, as OpenAI has it and the original for all; Voyage and Gemini take more."""


class BatchFailed(Exception):
    """A job gave no vectors; the texts are asked for one by one instead."""

    def __init__(self, why: str, *, lasting: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.lasting = lasting
        """The next job would end the same way."""


@dataclass(frozen=True, slots=True)
class JobState:
    """How a job is, as its provider tells it."""

    job_id: str
    phase: Phase
    done: int = 0
    """Requests that are finished, well or not."""
    output: str | None = None
    """The file with the results; a job that did not come to its end may have some."""
    why: str | None = None
    """What the provider says of a job that failed."""


class Result(NamedTuple):
    """One line of the results."""

    custom_id: str
    row: Json
    """The numbers, not yet checked; None where this request failed."""
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class BatchApi:
    provider: str
    most_bytes: int
    """In one file."""
    price_share: float
    """What a token costs of the list price."""
    line: Callable[[Target, str, str], Json]
    """Of a custom id and a text."""
    upload: Callable[[Target, bytes], Request]
    file_id: Callable[[Json], str | None]
    """Of the answer to `upload`."""
    create: Callable[[Target, str], Request]
    status: Callable[[Target, str], Request]
    state: Callable[[Json], JobState | None]
    """Of the answers to `create` and `status`; None where they do not name a job."""
    cancel: Callable[[Target, str], Request]
    download: Callable[[Target, str], Request]
    result: Callable[[Json], Result | None]
    """Of one line; None where it does not say whose it is."""
    most_requests: int = MOST_REQUESTS


def whole(value: Json) -> int:
    """A count; Google writes its own as texts."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 16:
        return int(value)
    return count_or_none(value) or 0
