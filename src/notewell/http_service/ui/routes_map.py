"""The map of all chunks, and the points of it that are nearest to a query."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from notewell.http_service.auth import GuardedRoute, needs
from notewell.http_service.context import CallerDep
from notewell.http_service.limits import search_cost
from notewell.http_service.ui.note_card import note_card
from notewell.http_service.ui.schemas_map import (
    MapAnswer,
    MapPending,
    NearAnswer,
    NearBody,
    PointAnswer,
)
from notewell.http_service.ui.state import UiStateDep, run_visible
from notewell.http_service.ui.vector_map import VectorMap
from notewell.memory import Memory
from notewell.tools import MAX_PATH_CHARS

NEAR_POINTS = 60
"""Points that a query lights up on the map: enough to see the area."""
SOURCES = ("memory", "sessions")
COMPUTING = json.dumps({"state": "computing"}).encode()

router = APIRouter(route_class=GuardedRoute)


@router.get("/map", response_model=MapAnswer, **needs("read", {202: MapPending}))
async def whole_map(caller: CallerDep, state: UiStateDep) -> Response:
    """All chunks as points; similar meanings are close together. The first map takes up to half a
    minute to compute: until then the response is 202."""

    def read(memory: Memory) -> bytes | None:
        vector_map = state.map_cache(caller.agent, memory).current()
        if vector_map is None:
            return None
        return state.map_body(caller.agent, vector_map, map_json)

    body = await run_visible(caller, "quick", read)
    status = 202 if body is None else 200
    return Response(body or COMPUTING, status, media_type="application/json")


@router.get("/point", response_model_exclude_none=True, **needs("read"))
async def point(
    caller: CallerDep,
    state: UiStateDep,
    path: Annotated[str, Query(min_length=1, max_length=MAX_PATH_CHARS)],
    line: Annotated[int, Query(ge=1, le=10**9)] = 1,
) -> PointAnswer:
    """What a point of the map stands for: the title of its note, and the first lines of its
    chunk."""

    def read(memory: Memory) -> PointAnswer:
        text = memory.inspect.text(path)
        chunk = "\n".join(text.split("\n")[line - 1 : line + 20])
        heading, part = note_card(path, text).title, note_card(path, chunk)
        is_same = part.title == heading or line == 1
        return PointAnswer(title=heading, heading=None if is_same else part.title, text=part.text)

    return await run_visible(caller, "quick", read)


@router.post("/near", response_model_exclude_none=True, **needs("read"))
async def near(body: NearBody, caller: CallerDep, state: UiStateDep) -> NearAnswer:
    """The points of the map that are nearest to a query."""
    caller.charge(search_cost(body.query))

    def read(memory: Memory) -> NearAnswer:
        vector_map = state.map_cache(caller.agent, memory).current()
        nearest = memory.inspect.near(body.query, NEAR_POINTS)
        if vector_map is None:
            return NearAnswer(points=[], scores=[], notice="the map is still being computed")
        # The map may be older than the index: chunks that it does not have are left out.
        positions = {id_: position for position, id_ in enumerate(vector_map.ids.tolist())}
        points = [
            (positions[id_], round(cosine, 4))
            for id_, cosine in nearest.cosines.items()
            if id_ in positions
        ]
        return NearAnswer(
            points=[point for point, _ in points],
            scores=[score for _, score in points],
            notice=nearest.notice,
        )

    return await run_visible(caller, "search", read)


def map_json(vector_map: VectorMap) -> bytes:
    """Encoded by hand: validating 20 000 points with pydantic would take longer than the rest."""
    # Points refer to months, notes and sources by number, which keeps the JSON small.
    months = sorted({day[:7] for day in vector_map.days if day})
    month_numbers = {month: number for number, month in enumerate(months)}
    month_of = [month_numbers[day[:7]] if day else -1 for day in vector_map.days]
    source_of = [SOURCES.index(source) for source in vector_map.sources]
    rows = zip(
        # Rounded twice: a rounded float32 has more digits again as a float64.
        vector_map.positions.round(4).astype(float).round(4).tolist(),
        vector_map.note.tolist(),
        vector_map.lines.tolist(),
        vector_map.regions.tolist(),
        strict=True,
    )
    body: dict[str, Any] = {
        "points": [
            [x, y, note, line, month_of[note], source_of[note], region]
            for (x, y), note, line, region in rows
        ],
        "labels": [label._asdict() for label in vector_map.labels],
        "notes": vector_map.notes,
        "titles": vector_map.titles,
        "months": months,
        "sources": SOURCES,
        "computed": len(vector_map.ids),
        "of": vector_map.of,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
