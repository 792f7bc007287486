"""`notewell serve`: an HTTP API, an MCP endpoint and a web UI for the memories of this machine.

app.py            START HERE: assembles the application; shows what a route looks like
context.py        ServiceContext (shared objects) and Caller (the authenticated client)
auth.py           authentication and authorization: Host, Origin, credentials, scopes
tokens.py         bearer tokens, browser cookies and login links, stored as digests
ports.py          what a service keeps: on this machine, or in PostgreSQL (postgres/)
state_files.py    the files in which a service of one machine keeps it
token_file.py     the file of tokens: its records, and when it is not trusted
agents.py         the memories of the agents that are served; opened_memory.py: one of them
directory.py      follows the settings: agents that are added and removed while it runs
limits.py         rate limits, body limits and thread pools; strangers.py: without a token
problems.py       errors as RFC 9457 problem+json
schemas.py        JSON request and response models; schemas_status.py: of the status
routes_*.py       the endpoints of the API
idempotency.py    a repeated write is executed once
transcripts.py    writes conversation turns to a transcript file
observability.py  log lines, audit log and trace spans; metrics.py: Prometheus
middleware.py     the outermost layer: security headers, log line, metrics; HEAD
compression.py    ETags and gzip
activity.py       what the service does for a memory now
note_listing.py   the files of a memory, kept for a moment
serving.py        runs uvicorn and shuts it down in order
connections.py    how long a connection may take for each phase of a request, and how many
workers.py        processes that search; worker_process.py: one of them
ui/               data for the web UI; web/: its static files
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.http_service.agents import AgentDirectory, Agents, Roster, ServedAgent
    from notewell.http_service.app import create_app
    from notewell.http_service.auth import AllowedHosts
    from notewell.http_service.directory import DirectoryFollower
    from notewell.http_service.limits import ServiceLimits
    from notewell.http_service.observability import configure_logging
    from notewell.http_service.ports import AgentRegistry, Links, ServiceState, Tokens
    from notewell.http_service.serving import serve
    from notewell.http_service.state_files import local_state
    from notewell.http_service.token_file import ALL_AGENTS, Scope, Token
    from notewell.http_service.tokens import (
        LINKS_FILE,
        OWNER_FILE,
        OWNER_NAME,
        TOKENS_FILE,
        LoginLinks,
        TokenRequest,
        TokenStore,
        parse_lifetime_days,
    )
    from notewell.http_service.workers import MAX_WORKERS, SearchWorkers
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "agents": "AgentDirectory Agents Roster ServedAgent",
            "app": "create_app",
            "auth": "AllowedHosts",
            "directory": "DirectoryFollower",
            "limits": "ServiceLimits",
            "state_files": "local_state",
            "observability": "configure_logging",
            "ports": "AgentRegistry Links ServiceState Tokens",
            "serving": "serve",
            "token_file": "ALL_AGENTS Scope Token",
            "tokens": (
                "LINKS_FILE LoginLinks OWNER_FILE OWNER_NAME TOKENS_FILE "
                "TokenRequest TokenStore parse_lifetime_days"
            ),
            "workers": "MAX_WORKERS SearchWorkers",
        },
    )
