"""One client, over standard input and output. Nothing but the protocol is written there."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.stdio import stdio_server

if TYPE_CHECKING:
    from mcp.server import Server


def serve_stdio(server: Server[Any]) -> None:
    """Returns when the client closes its end."""
    anyio.run(_serve, server)


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        # The SDK keeps the descriptor to itself. What Python code prints would wait in a buffer
        # and come out on the way down, when the descriptor is given back: it goes the other way.
        with redirect_stdout(sys.stderr):
            await server.run(read, write, server.create_initialization_options())
