"""What is sent to a remote provider has no secrets, and its vectors belong to what was sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.embedders.fake_server import FakeProvider
from tests.embedders.machine import Machine
from tests.embedders.test_embedder_keys import configure

SECRET = "Sommer2024!"


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    note = machine.workspace / "memory" / "router.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text(f"# Router\n\nThe password of the router is {SECRET}\n", encoding="utf-8")
    return machine


def sent(server: FakeProvider) -> str:
    return "\n".join(text for seen in server.seen for text in seen.texts)


def test_notes_and_queries_leave_without_their_secrets(
    machine: Machine, server: FakeProvider
) -> None:
    configure(machine, server, "openai-compatible")
    machine.run("index")
    machine.run("search", f"was the password {SECRET} changed")
    assert SECRET not in sent(server)
    assert "The password of the router is [redacted:password]" in sent(server)
    # The index keeps the note as it is: it is on this machine.
    assert SECRET in machine.run("search", "router password").stdout


def test_the_setting_sends_notes_as_they_are_and_embeds_them_again(
    machine: Machine, server: FakeProvider
) -> None:
    configure(machine, server, "openai-compatible")
    machine.run("index")
    server.seen.clear()
    configure(machine, server, "openai-compatible", redaction={"remote": False})
    machine.run("index")
    assert SECRET in sent(server)
    # Back again: the vector of the masked text was kept, and nothing is paid for twice.
    server.seen.clear()
    configure(machine, server, "openai-compatible")
    machine.run("index")
    assert "router is" not in sent(server)
