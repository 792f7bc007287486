"""`notewell serve`: the memories of this machine's agents over HTTP, and a page to look at them.

app.py          START HERE: what is put together, and what a route looks like
access.py       who may ask for what: names, origins, credentials, scopes
parts.py        what every route shares, and the caller it is handed
tokens.py       the credentials, kept by their digests
links.py        one-time links that open the page
agents.py       the memories, opened when they are first asked for and kept up
limits.py       how much of everything
problems.py     what went wrong, as RFC 9457 has it
shapes.py       the JSON that goes in and out
routes_*.py     what can be asked
page.py         what the routes of the page share; shapes_page.py: their JSON
live.py         who listens to what happens
layout.py, atlas.py   the memory as a picture
days.py, note_view.py, conversations.py, highlights.py, health.py   what the views show
serving.py      answering on a socket, and stopping well
web/            the page itself
idempotency.py  a request that is made twice is carried out once
transcripts.py  turns of a conversation, written down
logs.py, metrics.py, traces.py, audit.py   what can be seen of it from outside
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.http_service.agents import Agents, Place
    from notewell.http_service.app import create_app
    from notewell.http_service.auth import Names
    from notewell.http_service.limits import Limits
    from notewell.http_service.login_links import Links
    from notewell.http_service.serving import serve
    from notewell.http_service.tokens import (
        OWNER,
        OWNER_FILE,
        Scope,
        Token,
        TokenBook,
        Wish,
        days_of,
    )
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "agents": "Agents Place",
            "app": "create_app",
            "auth": "Names",
            "limits": "Limits",
            "login_links": "Links",
            "serving": "serve",
            "tokens": "OWNER OWNER_FILE Scope Token TokenBook Wish days_of",
        },
    )
