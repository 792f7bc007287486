"""Downloads one large file from a model hub: resumable, and verified before it is used.

    lock          one process at a time writes a part
    ask the hub   size and sha256, from the headers of its first reply
    fetch         into `NAME.<sha256>.part`, from the end of the part, while each try adds bytes
    check         size and sha256
    rename        so that a file with its final name is always complete

The name of a part contains the digest that the file must have, so the part of another version is
never resumed. A search never calls this module.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urljoin, urlsplit

from notewell.files import LockFailed, LockTimeout, file_lock, make_private, open_model
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import httpx2

    Progress: TypeAlias = Callable[[int, int], None]
    """Bytes on disk, bytes in total."""

CONNECT_TIMEOUT_S = 20.0
READ_TIMEOUT_S = 60.0
"""For one wait without data; a complete file may take hours on a slow connection."""

MAX_BYTES = 64 * 1024**3
"""More than any embedding model; a larger size in a header is an error of the server."""

MAX_TRIES = 50
"""Each must add bytes; a connection that breaks every few megabytes still gets there."""

REDIRECTS = (301, 302, 303, 307, 308)
MAX_REDIRECTS = 5

_SHA256 = re.compile(r"[0-9a-f]{64}")


class DownloadFailed(Exception):
    """The file is not there; `kept_bytes` of it are on disk for the next attempt."""

    def __init__(self, why: str, *, http_status: int | None = None, kept_bytes: int = 0) -> None:
        super().__init__(why)
        self.http_status = http_status
        self.kept_bytes = kept_bytes


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """What the hub says about the file."""

    url: str
    """Where the bytes are: often another host than the hub."""
    size: int
    sha256: str


def download(url: str, target: Path, *, progress: Progress = lambda _, __: None) -> Path:
    """Fetch `url` into `target` unless it exists; raises `DownloadFailed`."""
    import httpx2

    if target.exists():
        return target
    timeout = httpx2.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    try:
        make_private(target.parent)
        with _sole_writer(target), httpx2.Client(timeout=timeout) as client:
            if target.exists():  # Another process has finished it while we waited.
                return target
            remote = _ask(client, url)
            part = target.with_name(f"{target.name}.{remote.sha256[:16]}.part")
            _drop_other_parts(target, part)
            _fetch(client, remote, part, progress)
            _check(part, remote)
            part.replace(target)
    except OSError as error:
        raise DownloadFailed(f"cannot write {target}: {error.strerror or error}") from error
    return target


# -- size and digest, from the hub ---------------------------------------------------------------


def _ask(client: httpx2.Client, url: str) -> RemoteFile:
    """Size and digest are in the hub's own reply, which redirects to the host of the bytes."""
    import httpx2

    headers: dict[str, str] = {}
    for _ in range(MAX_REDIRECTS + 1):
        try:
            reply = client.head(url, headers={"Accept-Encoding": "identity"})
        except httpx2.RequestError as error:
            raise DownloadFailed(_unreachable(url, error)) from error
        headers = {**{name.lower(): value for name, value in reply.headers.items()}, **headers}
        if reply.status_code not in REDIRECTS or "location" not in reply.headers:
            break
        # The `content-length` of a redirect is that of an empty page. Only the hub's own headers
        # (`x-linked-size`, `x-linked-etag`) describe the file.
        headers = {name: value for name, value in headers.items() if name.startswith("x-linked-")}
        url = urljoin(url, reply.headers["location"])
    if reply.status_code != 200:
        raise DownloadFailed(_refused(url, reply.status_code), http_status=reply.status_code)
    return RemoteFile(url, _size(headers), _digest(headers))


def _size(headers: dict[str, str]) -> int:
    size = headers.get("x-linked-size") or headers.get("content-length", "")
    if not size.isdecimal() or not 0 < int(size) <= MAX_BYTES:
        raise DownloadFailed(f"the hub gives no usable size ({size!r})")
    return int(size)


def _digest(headers: dict[str, str]) -> str:
    """The etag of a large file is its sha256. A file with another etag could not be verified."""
    etag = headers.get("x-linked-etag") or headers.get("etag", "")
    digest = etag.removeprefix("W/").strip('"').lower()
    if not _SHA256.fullmatch(digest):
        raise DownloadFailed(f"the hub gives no sha256 to verify the file with ({etag!r})")
    return digest


def _unreachable(url: str, error: Exception) -> str:
    return f"{urlsplit(url).hostname} cannot be reached ({error})"


def _refused(url: str, status: int) -> str:
    why = {401: "it requires a login", 403: "it requires a login", 404: "no such file"}
    return f"{urlsplit(url).hostname} answered {status}: {why.get(status, 'try again later')}"


# -- the bytes -----------------------------------------------------------------------------------


def _fetch(client: httpx2.Client, remote: RemoteFile, part: Path, progress: Progress) -> None:
    """Try again as long as each try adds bytes."""
    have = _part_bytes(part, remote)
    _need_room(part, remote.size - have)
    progress(have, remote.size)
    for _ in range(MAX_TRIES):
        why = _one_try(client, remote, part, have, progress) if have < remote.size else None
        before, have = have, part.stat().st_size if part.exists() else 0
        if have >= remote.size:
            return
        if have <= before:
            raise DownloadFailed(
                f"{why or 'the connection ended early'}, after {_of(have, remote)}",
                kept_bytes=have,
            )
    raise DownloadFailed(
        f"given up after {MAX_TRIES} interrupted tries, at {_of(have, remote)}", kept_bytes=have
    )


def _one_try(
    client: httpx2.Client, remote: RemoteFile, part: Path, have: int, progress: Progress
) -> str | None:
    """Append the bytes that arrive; returns why they ended early, if the connection says so."""
    import httpx2

    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        with client.stream("GET", remote.url, headers=headers) as reply:
            if reply.status_code not in (200, 206):
                return _refused(remote.url, reply.status_code)
            if reply.status_code == 206 and not _continues(reply, have):
                return "the hub sent another range than the requested one"
            # A 200 is the complete file: this server does not support ranges.
            at = have if reply.status_code == 206 else 0
            _write(reply, remote, part, at, progress)
    except httpx2.RequestError as error:
        return f"the connection to {urlsplit(remote.url).hostname} broke ({error})"
    return None


def _continues(reply: httpx2.Response, have: int) -> bool:
    return reply.headers.get("content-range", "").startswith(f"bytes {have}-")


def _write(
    reply: httpx2.Response, remote: RemoteFile, part: Path, at: int, progress: Progress
) -> None:
    with open(part, "r+b" if at else "wb", opener=open_model) as file:
        file.seek(at)
        # Unbuffered: with blocks of a fixed size an interruption would lose the last block.
        for block in reply.iter_raw():
            # Bytes beyond the announced size are ignored; the digest decides in the end.
            at += file.write(block[: remote.size - at])
            progress(at, remote.size)
            if at == remote.size:
                break
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _check(part: Path, remote: RemoteFile) -> None:
    with part.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != remote.sha256:
        part.unlink()
        raise DownloadFailed(
            f"the downloaded file is not the one that the hub names (sha256 {digest[:16]}…, "
            f"not {remote.sha256[:16]}…); it was removed"
        )


# -- the folder ----------------------------------------------------------------------------------


def _part_bytes(part: Path, remote: RemoteFile) -> int:
    """The bytes on disk; a part that is too long is not a part of this file."""
    try:
        have = part.stat().st_size
    except FileNotFoundError:
        return 0
    if have > remote.size:
        part.unlink()
        return 0
    return have


def _drop_other_parts(target: Path, part: Path) -> None:
    for other in target.parent.glob(f"{_literal(target.name)}.*.part"):
        if other != part:
            other.unlink(missing_ok=True)


def _literal(name: str) -> str:
    # A model file may be named `model[1].gguf`; in a glob the brackets would be a pattern.
    return re.sub(r"([*?\[])", r"[\1]", name)


def _need_room(part: Path, more: int) -> None:
    """Fail before the first byte rather than after an hour."""
    free = shutil.disk_usage(part.parent).free
    if free < more:
        raise OSError(
            errno.ENOSPC, f"{more / 1e6:.0f} MB are needed, {free / 1e6:.0f} MB are free"
        )


def _of(have: int, remote: RemoteFile) -> str:
    return f"{have / 1e6:.1f} of {remote.size / 1e6:.1f} MB"


@contextlib.contextmanager
def _sole_writer(target: Path) -> Iterator[None]:
    """One process writes a part at a time. Another one fails at once: a download takes minutes."""
    try:
        with file_lock(target.with_name(f"{target.name}.lock"), wait_s=0):
            yield
    except LockTimeout:
        raise DownloadFailed(
            f"another process is downloading {target}; wait until it is done"
        ) from None
    except LockFailed as failed:
        raise failed.error from None
