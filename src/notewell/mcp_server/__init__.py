"""The Model Context Protocol server.

server.py           START HERE: tools, resources and prompts as an MCP server
resources.py        notes by their URI, and the start of a session
prompts.py          recall, bootstrap, flush
background_sync.py  brings the index up to date while the server runs
transports.py       stdio, and streamable HTTP with a token and checks of Host and Origin
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.mcp_server.server import create_empty_server, create_server
    from notewell.mcp_server.transports import (
        PATH,
        http_app,
        is_loopback,
        listen,
        serve_http,
        serve_stdio,
    )
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "server": "create_empty_server create_server",
            "transports": "PATH http_app is_loopback listen serve_http serve_stdio",
        },
    )
