"""The data of the page, by view. All of it is below /v1/page."""

from fastapi import APIRouter

from notewell.http_service import (
    routes_page_health,
    routes_page_map,
    routes_page_notes,
    routes_page_search,
    routes_page_sessions,
)
from notewell.http_service.auth import Guarded

router = APIRouter(prefix="/v1/page", tags=["page"], route_class=Guarded)
for view in (
    routes_page_search,
    routes_page_notes,
    routes_page_sessions,
    routes_page_health,
    routes_page_map,
):
    router.include_router(view.router)
