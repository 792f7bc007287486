"""Surfaces for other programs: the Model Context Protocol.

mcp.py       START HERE: the tools, resources and the prompt as an MCP server
resources.py memory:// addresses
keeper.py    brings the index up to date while the server runs
stdio.py     one client, over standard input and output
http.py      streamable HTTP: loopback, a token, known hosts and origins
clients.py   which file tells which client about a server, and in which shape
merge.py     one entry more in such a file, as text: nothing that is there changes
install.py   doing that, with a backup
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.mcp_server.http import PATH, http_app, is_loopback, listen, serve_http
    from notewell.mcp_server.server import create_server
    from notewell.mcp_server.stdio import serve_stdio
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "http": "PATH http_app is_loopback listen serve_http",
            "server": "create_server",
            "stdio": "serve_stdio",
        },
    )
