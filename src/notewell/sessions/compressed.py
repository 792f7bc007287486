"""Records in the zstd format, which OpenClaw uses for long messages.

Python has this format since 3.14; before that it needs the package of an extra.
"""

from __future__ import annotations

import sys

MAX_RECORD_BYTES = 4 * 1024 * 1024
"""OpenClaw compresses no larger record. Without a limit, a few bytes could fill the memory."""


def decompress(data: bytes) -> bytes | None:
    """The content; None if it is damaged or too large. Raises `ImportError` without a decoder."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        decoder = zstd.ZstdDecompressor()
        try:
            text = decoder.decompress(data, max_length=MAX_RECORD_BYTES)
        except zstd.ZstdError:
            return None
        return text if decoder.eof else None
    import zstandard

    # As a stream: with one call, the size would be what the data says it is.
    with zstandard.ZstdDecompressor().stream_reader(data) as stream:
        try:
            text = stream.read(MAX_RECORD_BYTES + 1)
        except zstandard.ZstdError:
            return None
    return text if len(text) <= MAX_RECORD_BYTES else None
