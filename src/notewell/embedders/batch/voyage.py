"""Voyage's batch API: OpenAI's, with the model named once for the whole job, within 12 hours.

    {"custom_id", "body": {"input": [text]}}                                   a line of the input
    POST /batches   {"input_file_id", "endpoint", "completion_window": "12h",
                     "request_params": {"model", "input_type", "truncation", "output_dimension"?}}

Its files may be kept elsewhere: the answer to a download can be a redirect.
Sources: the API reference (batches, files) and the batch inference guide, November 2026.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from notewell.embedders.batch.openai import ENDPOINT, OPENAI_BATCH
from notewell.embedders.provider import Request
from notewell.embedders.voyage import request

if TYPE_CHECKING:
    from notewell.embedders.provider import Json, Target

MOST_BYTES = 900_000_000
"""The provider takes 1 GB and 100 000 texts."""


def line(target: Target, custom_id: str, text: str) -> Json:
    return {"custom_id": custom_id, "body": {"input": [text]}}


def create(target: Target, file_id: str) -> Request:
    common = dict(request(target, [], "document").body)
    del common["input"]
    body = {
        "input_file_id": file_id,
        "endpoint": ENDPOINT,
        "completion_window": "12h",
        "request_params": common,
    }
    return Request(f"{target.base_url}/batches", body)


VOYAGE_BATCH = replace(
    OPENAI_BATCH,
    provider="voyage",
    most_bytes=MOST_BYTES,
    price_share=0.67,
    line=line,
    create=create,
)
