"""The Model Context Protocol server.

server.py           START HERE: tools, resources and prompts as an MCP server
resources.py        notes by their URI, and the start of a session
prompts.py          recall, bootstrap, flush
background_sync.py  brings the index up to date while the server runs
catalogue.py        what it lists besides tools: prompts and resources, as plain JSON
greeting.py         what the server says of itself; answers the first requests without the SDK
stdio.py            one client over standard input and output
eras.py             the SDK's loops behind it, one per era of the protocol
recovery.py         a server whose memory could not be opened, and that tries again
transports.py       streamable HTTP with a token and checks of Host and Origin
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.mcp_server.greeting import (
        Greeting,
        empty_greeting,
        greeting_of,
        waiting_greeting,
    )
    from notewell.mcp_server.recovery import OpenedServer, create_recovering_server
    from notewell.mcp_server.server import create_empty_server, create_server
    from notewell.mcp_server.stdio import serve_failure, serve_stdio
    from notewell.mcp_server.transports import PATH, http_app, is_loopback, listen, serve_http
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "greeting": "Greeting empty_greeting greeting_of waiting_greeting",
            "recovery": "OpenedServer create_recovering_server",
            "server": "create_empty_server create_server",
            "stdio": "serve_failure serve_stdio",
            "transports": "PATH http_app is_loopback listen serve_http",
        },
    )
