"""The map of all chunks, and what of it lies near a question."""

import json
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from notewell.http_service.auth import Guarded, needs
from notewell.http_service.context import CallerOf
from notewell.http_service.schemas_page import Computing, MapShown, NearBody, NearShown
from notewell.http_service.static_files import PageOf, shown_to
from notewell.http_service.vector_map import Sheet
from notewell.memory import Memory

NEAR = 60
"""Of a query on the map: enough to see where it points."""
SOURCES = ("memory", "sessions")
COMPUTING = json.dumps({"state": "computing"}).encode()

router = APIRouter(route_class=Guarded)


@router.get("/map", response_model=MapShown, **needs("read", {202: Computing}))
async def whole_map(caller: CallerOf, page: PageOf) -> Response:
    """Every chunk on a sheet, near what means something near. The first time it is computed,
    which takes up to half a minute: ask again."""

    def look(memory: Memory) -> bytes | None:
        sheet = page.atlas(caller.agent, memory).sheet()
        return page.body(caller.agent, sheet, map_json) if sheet is not None else None

    body = await shown_to(caller, "quick", look)
    status = 202 if body is None else 200
    return Response(body or COMPUTING, status, media_type="application/json")


@router.post("/near", response_model_exclude_none=True, **needs("read"))
async def near(asked: NearBody, caller: CallerOf, page: PageOf) -> NearShown:
    """The points of the map that are nearest to a question."""

    def look(memory: Memory) -> NearShown:
        sheet = page.atlas(caller.agent, memory).sheet()
        found = memory.looking().near(asked.query, NEAR, memory.now().date())
        if sheet is None:
            return NearShown(points=[], scores=[], notice="the map is still being computed")
        at = {one: place for place, one in enumerate(sheet.ids.tolist())}
        shown = [(at[one], round(cosine, 4)) for one, cosine in found.cosines.items() if one in at]
        return NearShown(
            points=[point for point, _ in shown],
            scores=[score for _, score in shown],
            notice=found.notice,
        )

    return await shown_to(caller, "search", look)


def map_json(sheet: Sheet) -> bytes:
    """Written by hand: of 20 000 points, to check the shape of each takes longer than all else."""
    months = sorted({day[:7] for day in sheet.days if day})
    number = {month: at for at, month in enumerate(months)}
    month_of = [number[day[:7]] if day else -1 for day in sheet.days]
    source_of = [SOURCES.index(source) for source in sheet.sources]
    rows = zip(
        sheet.places.round(4).astype(float).round(4).tolist(),
        sheet.note.tolist(),
        sheet.lines.tolist(),
        strict=True,
    )
    told: dict[str, Any] = {
        "points": [[x, y, n, line, month_of[n], source_of[n]] for (x, y), n, line in rows],
        "notes": sheet.notes,
        "months": months,
        "sources": SOURCES,
        "computed": len(sheet.ids),
        "of": sheet.of,
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
