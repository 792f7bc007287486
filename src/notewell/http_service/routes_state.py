"""How it is: for who watches the machine, and for who asks about one memory."""

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from notewell.http_service.auth import Guarded, needs
from notewell.http_service.context import Caller, CallerOf, PartsOf
from notewell.http_service.metrics import CONTENT_TYPE
from notewell.http_service.schemas import Alive, Ready
from notewell.http_service.schemas_status import StatusAnswer, status_shown

router = APIRouter(tags=["state"], route_class=Guarded)


@router.get("/v1/status", response_model=StatusAnswer, **needs("read"))
async def status(caller: CallerOf) -> StatusAnswer:
    """What `notewell status --json` tells; where things lie on the machine, only an admin."""
    admin = "admin" in caller.scopes
    return await caller.run("quick", lambda memory: status_shown(memory.status(), admin=admin))


@router.get("/healthz", **needs("nothing"))
async def healthz() -> Alive:
    """The server answers."""
    return Alive()


@router.get("/readyz", response_model=Ready, **needs("nothing", {503: Ready}))
async def readyz(parts: PartsOf) -> JSONResponse:
    """Whether every agent's memory can be asked; how many, not which."""
    ready = await parts.pools.run("slow", "", parts.readiness.ready)
    total = len(parts.agents.ids)
    is_ready = ready == total
    told = Ready(status="ready" if is_ready else "not ready", agents=total, ready=ready)
    return JSONResponse(told.model_dump(by_alias=True), 200 if is_ready else 503)


@router.get(
    "/metrics",
    response_class=Response,
    **needs("read"),
)
async def metrics(caller: CallerOf) -> Response:
    """For Prometheus: the server's figures, and those of the memories this token may see."""
    page = await caller.parts.pools.run("slow", "", lambda: _page(caller))
    return Response(page, media_type=CONTENT_TYPE)


def _page(caller: Caller) -> bytes:
    opened = caller.parts.agents.opened()
    mine = [(agent, opened[agent]) for agent in caller.agents if agent in opened]
    return caller.parts.metrics.page(mine, caller.parts.pools.waiting())
