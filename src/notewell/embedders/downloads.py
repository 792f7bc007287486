"""One large file from a model hub: continued where it was cut off, taken only if it is the one.

    ask the hub   size and sha256, from the headers of its first answer
    lock          one process at a time writes a part
    fetch         into `NAME.<sha256>.part`, from where the part ends, as often as it gets further
    check         size and sha256
    rename        so that a file under its own name is always whole

The name of a part holds the digest it is to have: the part of another version is never continued.
Nothing here is called while searching.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urljoin, urlsplit

from notewell.files import LockFailed, LockTimeout, file_lock, make_private, open_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import httpx2

    Progress: TypeAlias = Callable[[int, int], None]
    """Bytes that are there, bytes in all."""

CONNECT_TIMEOUT_S = 20.0
READ_TIMEOUT_S = 60.0
"""For one silent wait of the connection; a whole file may take hours on a slow line."""

MAX_BYTES = 64 * 1024**3
"""More than any embedding model; a server that tells of more is not telling of one."""

MAX_TRIES = 50
"""Each has to get further than the last; a line that drops every few megabytes gets there."""

REDIRECTS = (301, 302, 303, 307, 308)
MAX_REDIRECTS = 5

_SHA256 = re.compile(r"[0-9a-f]{64}")


class DownloadFailed(Exception):
    """The file is not there; says why, and `kept_bytes` of it are waiting to be continued."""

    def __init__(self, why: str, *, http_status: int | None = None, kept_bytes: int = 0) -> None:
        super().__init__(why)
        self.http_status = http_status
        self.kept_bytes = kept_bytes


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the hub says of the file."""

    url: str
    """Where the bytes are, which may be another host than the hub."""
    size: int
    sha256: str


def download(url: str, target: Path, *, progress: Progress = lambda _, __: None) -> Path:
    """Put the file at `url` under `target` unless it is there; raises `DownloadFailed`."""
    import httpx2

    if target.exists():
        return target
    timeout = httpx2.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    try:
        make_private(target.parent)
        with _sole_writer(target), httpx2.Client(timeout=timeout) as client:
            if target.exists():  # the process we might have met here has finished it
                return target
            wanted = _ask(client, url)
            part = target.with_name(f"{target.name}.{wanted.sha256[:16]}.part")
            _drop_other_parts(target, part)
            _fetch(client, wanted, part, progress)
            _check(part, wanted)
            part.replace(target)
    except OSError as error:
        raise DownloadFailed(f"cannot write {target}: {error.strerror or error}") from error
    return target


# -- what the hub says ---------------------------------------------------------------------------


def _ask(client: httpx2.Client, url: str) -> Wanted:
    """Size and digest stand in the answer that leads on to where the bytes are."""
    import httpx2

    headers: dict[str, str] = {}
    for _ in range(MAX_REDIRECTS + 1):
        try:
            answer = client.head(url, headers={"Accept-Encoding": "identity"})
        except httpx2.RequestError as error:
            raise DownloadFailed(_unreachable(url, error)) from error
        headers = {**{name.lower(): value for name, value in answer.headers.items()}, **headers}
        if answer.status_code not in REDIRECTS or "location" not in answer.headers:
            break
        # The length here is that of an empty page; only the hub's own headers count.
        headers = {name: value for name, value in headers.items() if name.startswith("x-linked-")}
        url = urljoin(url, answer.headers["location"])
    if answer.status_code != 200:
        raise DownloadFailed(_refused(url, answer.status_code), http_status=answer.status_code)
    return Wanted(url, _size(headers), _digest(headers))


def _size(headers: dict[str, str]) -> int:
    told = headers.get("x-linked-size") or headers.get("content-length", "")
    if not told.isdecimal() or not 0 < int(told) <= MAX_BYTES:
        raise DownloadFailed(f"the hub tells no usable size ({told!r})")
    return int(told)


def _digest(headers: dict[str, str]) -> str:
    """The hub names large files by their sha256; what it names otherwise we could not check."""
    told = headers.get("x-linked-etag") or headers.get("etag", "")
    digest = told.removeprefix("W/").strip('"').lower()
    if not _SHA256.fullmatch(digest):
        raise DownloadFailed(f"the hub tells no sha256 to check the file by ({told!r})")
    return digest


def _unreachable(url: str, error: Exception) -> str:
    return f"{urlsplit(url).hostname} cannot be reached ({error})"


def _refused(url: str, status: int) -> str:
    why = {401: "it asks for a login", 403: "it asks for a login", 404: "no such file"}
    return f"{urlsplit(url).hostname} answered {status}: {why.get(status, 'try again later')}"


# -- the bytes -----------------------------------------------------------------------------------


def _fetch(client: httpx2.Client, wanted: Wanted, part: Path, progress: Progress) -> None:
    """As often as a try gets further than the last one."""
    have = _part_bytes(part, wanted)
    _need_room(part, wanted.size - have)
    progress(have, wanted.size)
    for _ in range(MAX_TRIES):
        why = _one_try(client, wanted, part, have, progress) if have < wanted.size else None
        before, have = have, part.stat().st_size if part.exists() else 0
        if have >= wanted.size:
            return
        if have <= before:
            raise DownloadFailed(
                f"{why or 'the connection ended early'}, after {_of(have, wanted)}",
                kept_bytes=have,
            )
    raise DownloadFailed(
        f"given up after {MAX_TRIES} cuts, at {_of(have, wanted)}", kept_bytes=have
    )


def _one_try(
    client: httpx2.Client, wanted: Wanted, part: Path, have: int, progress: Progress
) -> str | None:
    """Append what comes; returns why it ended early, if the connection says so."""
    import httpx2

    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        with client.stream("GET", wanted.url, headers=headers) as answer:
            if answer.status_code not in (200, 206):
                return _refused(wanted.url, answer.status_code)
            if answer.status_code == 206 and not _continues(answer, have):
                return "the hub sent another part than the one asked for"
            # A 200 is the whole file from its start: the server knows no ranges.
            at = have if answer.status_code == 206 else 0
            _write(answer, wanted, part, at, progress)
    except httpx2.RequestError as error:
        return f"the connection to {urlsplit(wanted.url).hostname} broke ({error})"
    return None


def _continues(answer: httpx2.Response, have: int) -> bool:
    return answer.headers.get("content-range", "").startswith(f"bytes {have}-")


def _write(
    answer: httpx2.Response, wanted: Wanted, part: Path, at: int, progress: Progress
) -> None:
    with open(part, "r+b" if at else "wb", opener=open_model) as file:
        file.seek(at)
        # As the bytes come: blocks of a fixed size would lose the last one to a cut.
        for block in answer.iter_raw():
            # What a server sends beyond the size it told is not ours; the digest decides.
            at += file.write(block[: wanted.size - at])
            progress(at, wanted.size)
            if at == wanted.size:
                break
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _check(part: Path, wanted: Wanted) -> None:
    with part.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != wanted.sha256:
        part.unlink()
        raise DownloadFailed(
            f"what came is not the file the hub names (sha256 {digest[:16]}…, "
            f"not {wanted.sha256[:16]}…); it was removed"
        )


# -- the folder ----------------------------------------------------------------------------------


def _part_bytes(part: Path, wanted: Wanted) -> int:
    """How much is there already; a part that is too long is no part of this file."""
    try:
        have = part.stat().st_size
    except FileNotFoundError:
        return 0
    if have > wanted.size:
        part.unlink()
        return 0
    return have


def _drop_other_parts(target: Path, part: Path) -> None:
    for other in target.parent.glob(f"{_literal(target.name)}.*.part"):
        if other != part:
            other.unlink(missing_ok=True)


def _literal(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)


def _need_room(part: Path, more: int) -> None:
    """Told before the first byte rather than after an hour."""
    free = shutil.disk_usage(part.parent).free
    if free < more:
        raise OSError(errno.ENOSPC, f"{more / 1e6:.0f} MB to come, {free / 1e6:.0f} MB free")


def _of(have: int, wanted: Wanted) -> str:
    return f"{have / 1e6:.1f} of {wanted.size / 1e6:.1f} MB"


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
