"""The sha256 of a short text, without OpenSSL.

`hashlib` loads OpenSSL, which takes longer than any other module of a search. The modules of
Python itself are as fast for a key or a path; `random` of the standard library uses them, too.
"""

from __future__ import annotations

try:
    from _sha2 import sha256  # type: ignore[import-not-found]  # since Python 3.12
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:  # A build that has OpenSSL alone.
        from hashlib import sha256


def short_sha256(text: str) -> str:
    """In hexadecimal digits. A path with bytes that are not UTF-8 has lone surrogates in Python;
    they count as they are."""
    return str(sha256(text.encode(errors="surrogatepass")).hexdigest())
