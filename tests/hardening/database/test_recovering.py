"""A server that was killed and now recovers: it answers, and refuses everybody for a while."""

from __future__ import annotations

import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.postgres_server import PASSWORD

from notewell.core import Secret
from notewell.errors import DatabaseUnavailable
from notewell.http_service.problems import problem_of
from notewell.postgres import Address, Database, Scope
from notewell.postgres.connections import Limits

STARTING = "the database system is starting up"
RECOVERING = "the database system is in recovery mode"
BEFORE_CONSISTENCY = "the database system is not yet accepting connections"
NOT_CONSISTENT = "Consistent recovery state has not been yet reached."


@contextmanager
def refusing(message: str, detail: str = "") -> Iterator[str]:
    """The address of a server that answers every startup packet with `cannot_connect_now`."""
    fields = {"S": "FATAL", "V": "FATAL", "C": "57P03", "M": message}
    if detail:
        fields["D"] = detail
    body = b"".join(f"{key}{value}\0".encode() for key, value in fields.items()) + b"\0"

    class Refusal(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            # A socket that is closed with bytes unread would reset the connection.
            (size,) = struct.unpack("!I", self.rfile.read(4))
            self.rfile.read(size - 4)
            self.wfile.write(b"E" + struct.pack("!I", len(body) + 4) + body)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refusal) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"127.0.0.1:{server.server_address[1]}/notewell"
        yield f"postgresql://u:{PASSWORD}@{place}?sslmode=disable&gssencmode=disable"
        server.shutdown()


@pytest.mark.parametrize(
    ("message", "detail"),
    [(STARTING, ""), (RECOVERING, ""), (BEFORE_CONSISTENCY, NOT_CONSISTENT)],
)
def test_a_server_that_recovers_is_named_as_such_and_asked_again_later(
    message: str, detail: str
) -> None:
    with refusing(message, detail) as url:
        database = Database(Address(Secret(url)), Limits(connection_wait_s=0.2))
        with (
            pytest.raises(DatabaseUnavailable, match="is starting or recovering") as raised,
            database.reading(Scope("tests", "a")),
        ):
            pass
        database.close()
    assert PASSWORD not in str(raised.value)
    assert raised.value.exit_code == 75
    problem = problem_of(raised.value)
    assert problem.status == 503
    assert int(problem.headers["Retry-After"]) > 0
