"""Downloads over real sockets: a small hub on the loopback that can be told to misbehave."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from notewell.embedders import downloads
from notewell.embedders.downloads import DownloadFailed, download

CONTENT = bytes(range(256)) * 4096  # a whole megabyte
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Hub(ThreadingHTTPServer):
    """`/file` leads on to `/bytes`, as the real one leads on to its store."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.linked = {"X-Linked-Size": str(len(CONTENT)), "X-Linked-ETag": f'"{SHA256}"'}
        self.cuts: list[int] = []
        """After how many bytes each of the next answers ends early."""
        self.knows_ranges = True
        self.lies_about_ranges = False
        self.status = 302
        self.asked: list[tuple[str, str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/file"


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *_: Any) -> None: ...

    def do_HEAD(self) -> None:
        self._note()
        if self.path == "/file":
            self._answer(self.server.status, {"Location": "/bytes", **self.server.linked})
        else:
            self._answer(200, {"Content-Length": str(len(self.server.content))})

    def do_GET(self) -> None:
        self._note()
        hub, wanted = self.server, self.headers.get("Range")
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if not hub.knows_ranges:
            start, wanted = 0, None
        body = hub.content[start:]
        headers = {"Content-Length": str(len(body))}
        if wanted:
            first = start + 1 if hub.lies_about_ranges else start
            headers["Content-Range"] = f"bytes {first}-{len(hub.content) - 1}/{len(hub.content)}"
        self._answer(206 if wanted else 200, headers)
        self.wfile.write(body[: hub.cuts.pop(0)] if hub.cuts else body)

    def _note(self) -> None:
        self.server.asked.append((self.command, self.path, self.headers.get("Range")))

    def _answer(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


@pytest.fixture
def hub() -> Iterator[Hub]:
    server = Hub()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _part(target: Path) -> Path:
    return target.with_name(f"{target.name}.{SHA256[:16]}.part")


def test_the_file_arrives_whole_under_its_own_name(hub: Hub, tmp_path: Path) -> None:
    target = tmp_path / "models" / "m.gguf"
    seen: list[tuple[int, int]] = []
    download(hub.url, target, progress=lambda have, size: seen.append((have, size)))
    assert target.read_bytes() == CONTENT
    assert seen[0] == (0, len(CONTENT))
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert sorted(path.name for path in target.parent.iterdir()) == ["m.gguf", "m.gguf.lock"]


def test_a_file_that_is_there_is_not_asked_for_again(hub: Hub, tmp_path: Path) -> None:
    target = tmp_path / "m.gguf"
    target.write_bytes(b"there")
    assert download(hub.url, target).read_bytes() == b"there"
    assert hub.asked == []


def test_a_cut_connection_is_continued_from_where_it_was_cut(hub: Hub, tmp_path: Path) -> None:
    hub.cuts = [300_000, 200_000]
    target = download(hub.url, tmp_path / "m.gguf")
    assert target.read_bytes() == CONTENT
    ranges = [asked[2] for asked in hub.asked if asked[0] == "GET"]
    assert ranges == [None, "bytes=300000-", "bytes=500000-"]


def test_a_new_process_continues_what_an_old_one_left(hub: Hub, tmp_path: Path) -> None:
    _part(tmp_path / "m.gguf").write_bytes(CONTENT[:400_000])
    target = download(hub.url, tmp_path / "m.gguf")
    assert target.read_bytes() == CONTENT
    assert hub.asked[-1] == ("GET", "/bytes", "bytes=400000-")


def test_a_connection_that_gets_no_further_fails_and_keeps_what_came(
    hub: Hub, tmp_path: Path
) -> None:
    hub.cuts = [300_000, 0]
    target = tmp_path / "m.gguf"
    with pytest.raises(DownloadFailed, match=r"0\.3 of 1\.0 MB") as caught:
        download(hub.url, target)
    assert caught.value.kept_bytes == 300_000
    assert _part(target).read_bytes() == CONTENT[:300_000]
    assert not target.exists()


def test_a_server_without_ranges_sends_all_of_it_again(hub: Hub, tmp_path: Path) -> None:
    hub.knows_ranges = False
    _part(tmp_path / "m.gguf").write_bytes(b"x" * 400_000)
    assert download(hub.url, tmp_path / "m.gguf").read_bytes() == CONTENT


def test_another_part_than_the_one_asked_for_is_not_appended(hub: Hub, tmp_path: Path) -> None:
    hub.lies_about_ranges = True
    part = _part(tmp_path / "m.gguf")
    part.write_bytes(CONTENT[:400_000])
    with pytest.raises(DownloadFailed, match="another range"):
        download(hub.url, tmp_path / "m.gguf")
    assert part.stat().st_size == 400_000


def test_a_whole_part_needs_no_further_byte(hub: Hub, tmp_path: Path) -> None:
    _part(tmp_path / "m.gguf").write_bytes(CONTENT)
    assert download(hub.url, tmp_path / "m.gguf").read_bytes() == CONTENT
    assert all(asked[0] == "HEAD" for asked in hub.asked)


def test_a_part_that_is_too_long_is_thrown_away(hub: Hub, tmp_path: Path) -> None:
    _part(tmp_path / "m.gguf").write_bytes(CONTENT + b"!")
    assert download(hub.url, tmp_path / "m.gguf").read_bytes() == CONTENT


@pytest.mark.parametrize("content", [CONTENT[:-1] + b"!", b"!" + CONTENT])
def test_a_file_with_the_wrong_digest_is_removed(hub: Hub, tmp_path: Path, content: bytes) -> None:
    hub.content = content
    with pytest.raises(DownloadFailed, match="not the one that the hub names"):
        download(hub.url, tmp_path / "m.gguf")
    assert [path.name for path in tmp_path.iterdir()] == ["m.gguf.lock"]


def test_a_file_that_is_too_short_is_never_taken(hub: Hub, tmp_path: Path) -> None:
    hub.content = CONTENT[:1000]
    with pytest.raises(DownloadFailed, match="MB"):
        download(hub.url, tmp_path / "m.gguf")
    assert not (tmp_path / "m.gguf").exists()


def test_the_part_of_an_older_version_is_not_continued(hub: Hub, tmp_path: Path) -> None:
    old = tmp_path / "m.gguf.0123456789abcdef.part"
    old.write_bytes(b"old")
    assert download(hub.url, tmp_path / "m.gguf").read_bytes() == CONTENT
    assert not old.exists()


@pytest.mark.parametrize(
    ("status", "why"), [(404, "no such file"), (401, "login"), (503, "later")]
)
def test_a_refusal_is_told_with_its_status(
    hub: Hub, tmp_path: Path, status: int, why: str
) -> None:
    hub.status = status
    with pytest.raises(DownloadFailed, match=why) as caught:
        download(hub.url, tmp_path / "m.gguf")
    assert caught.value.http_status == status


def test_a_hub_that_turns_in_circles_is_given_up(hub: Hub, tmp_path: Path) -> None:
    hub.linked["Location"] = "/file"
    with pytest.raises(DownloadFailed, match="302"):
        download(hub.url, tmp_path / "m.gguf")
    assert len(hub.asked) == downloads.MAX_REDIRECTS + 1


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"X-Linked-Size": "1000"}, "sha256"),
        ({"X-Linked-Size": "1000", "X-Linked-ETag": '"abc"'}, "sha256"),
        ({"X-Linked-Size": "-1", "X-Linked-ETag": SHA256}, "size"),
        ({"X-Linked-Size": "9" * 30, "X-Linked-ETag": SHA256}, "size"),
    ],
)
def test_what_cannot_be_checked_is_not_fetched(
    hub: Hub, tmp_path: Path, headers: dict[str, str], why: str
) -> None:
    hub.linked = headers
    with pytest.raises(DownloadFailed, match=why):
        download(hub.url, tmp_path / "m.gguf")
    assert all(asked[0] == "HEAD" for asked in hub.asked)


def test_without_a_connection_the_host_is_named(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(DownloadFailed, match=r"127\.0\.0\.1 cannot be reached"):
        download("http://127.0.0.1:1/file", tmp_path / "m.gguf")


def test_two_writers_never_meet_in_one_part(hub: Hub, tmp_path: Path) -> None:
    with (tmp_path / "m.gguf.lock").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(DownloadFailed, match="another process is downloading"):
            download(hub.url, tmp_path / "m.gguf")
    assert hub.asked == []
    assert download(hub.url, tmp_path / "m.gguf").read_bytes() == CONTENT


def test_a_full_disk_is_told_before_the_first_byte(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(DownloadFailed, match="1 MB are needed, 0 MB are free"):
        download(hub.url, tmp_path / "m.gguf")
    assert all(asked[0] == "HEAD" for asked in hub.asked)


def test_a_place_that_cannot_be_written_is_reported(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(DownloadFailed, match="cannot write"):
        download(hub.url, tmp_path / "file" / "m.gguf")
