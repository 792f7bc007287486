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
