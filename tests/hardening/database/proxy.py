"""A network between a client and the server that fails as it is told to."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.postgres_server import LOGIN, PASSWORD, PostgresServer


class Proxy:
    """Passes bytes between clients and the socket of the server."""

    def __init__(self, server: PostgresServer) -> None:
        self._target = str(server.folder / ".s.PGSQL.5432")
        self._passes = threading.Event()
        self._passes.set()
        self._is_closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._drop_s: float | None = None
        self._lose_after: bytes | None = None
        self.url = (
            f"postgresql://{LOGIN}:{PASSWORD}@127.0.0.1:{self._listener.getsockname()[1]}/notewell"
        )
        threading.Thread(target=self._accept, daemon=True).start()

    def stall(self) -> None:
        """Nothing passes any more, and no connection ends."""
        self._passes.clear()

    def drip(self, drop_s: float) -> None:
        """What the server says comes byte by byte, one each `drop_s`."""
        self._drop_s = drop_s

    def lose_answer_to(self, statement: bytes) -> None:
        """The next such statement reaches the server, and its answer nobody."""
        self._lose_after = statement

    def go_on(self) -> None:
        self._drop_s = None
        self._passes.set()

    def close(self) -> None:
        self._is_closed.set()
        self.go_on()
        for one in (self._listener, *self._open):
            one.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            behind = socket.socket(socket.AF_UNIX)
            behind.connect(self._target)
            self._open += [client, behind]
            lost = threading.Event()
            for way in (self._to_server, self._to_client):
                threading.Thread(target=way, args=(client, behind, lost), daemon=True).start()

    def _to_server(
        self, client: socket.socket, behind: socket.socket, lost: threading.Event
    ) -> None:
        with _until_closed():
            while data := client.recv(65536):
                self._passes.wait()
                if self._lose_after and self._lose_after in data:
                    self._lose_after = None
                    lost.set()
                behind.sendall(data)

    def _to_client(
        self, client: socket.socket, behind: socket.socket, lost: threading.Event
    ) -> None:
        with _until_closed():
            while data := behind.recv(65536):
                self._passes.wait()
                if lost.is_set():
                    # The server has answered, so it has done what it was asked.
                    client.shutdown(socket.SHUT_RDWR)
                    return
                self._send(client, data)

    def _send(self, client: socket.socket, data: bytes) -> None:
        for number in range(len(data)):
            drop_s = self._drop_s
            if drop_s is None:
                client.sendall(data[number:])
                return
            client.sendall(data[number : number + 1])
            self._is_closed.wait(drop_s)


@contextmanager
def _until_closed() -> Iterator[None]:
    try:
        yield
    except OSError:
        return
