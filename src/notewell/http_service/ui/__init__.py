"""Data for the web UI, below /v1/page. These routes change together with the UI.

state.py            what the routes share: caches per agent, the event broadcaster
static.py           the static files of the UI, and the login link
events.py           broadcasts events to open pages; routes_health.py streams them
vector_map.py       the two-dimensional map of all chunks; projection.py computes it
note_card.py        title, first lines and tags of a note, for lists
note_view.py        one note with its chunks and history; notes per day
routes_*.py         one module per view
schemas.py          JSON models
"""

from fastapi import APIRouter

from notewell.http_service.auth import GuardedRoute
from notewell.http_service.ui import (
    routes_access,
    routes_cards,
    routes_health,
    routes_map,
    routes_notes,
    routes_search,
    routes_sessions,
)

router = APIRouter(prefix="/v1/page", tags=["page"], route_class=GuardedRoute)
for view in (
    routes_search,
    routes_cards,
    routes_notes,
    routes_sessions,
    routes_health,
    routes_map,
    routes_access,
):
    router.include_router(view.router)
