"""Bodies of several parts: a file, and what is said about it.

The boundary is made of the digest of the file, so that the same file makes the same request and
no file can contain it by chance.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.embedders.provider import Json

JSON_LINES = "application/jsonl"
FILE_NAME = "notewell.jsonl"


class Form(NamedTuple):
    content_type: str
    body: bytes


def form_data(fields: Mapping[str, str], file: bytes) -> Form:
    """As a browser sends a form with one file."""
    boundary = _boundary(file)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    head = (
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="file"; filename="{FILE_NAME}"\r\n'
        f"Content-Type: {JSON_LINES}\r\n\r\n"
    )
    body = b"".join(["".join([*parts, head]).encode(), file, f"\r\n--{boundary}--\r\n".encode()])
    return Form(f"multipart/form-data; boundary={boundary}", body)


def related(about: Json, file: bytes) -> Form:
    """As Google takes a file together with its description."""
    boundary = _boundary(file)
    head = (
        f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n"
        f"{json.dumps(about)}\r\n--{boundary}\r\nContent-Type: {JSON_LINES}\r\n\r\n"
    )
    body = b"".join([head.encode(), file, f"\r\n--{boundary}--\r\n".encode()])
    return Form(f"multipart/related; boundary={boundary}", body)


def _boundary(file: bytes) -> str:
    return f"notewell-{hashlib.sha256(file).hexdigest()[:32]}"
