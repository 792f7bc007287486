"""The playground: one question, weighed in two ways, and why a note was not found."""

import time
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from fastapi import APIRouter

from notewell.core import note_date
from notewell.engines import Question, Weighing
from notewell.http_service.auth import Guarded, needs
from notewell.http_service.context import CallerOf
from notewell.http_service.highlights import highlights
from notewell.http_service.schemas_page import (
    Absent,
    AbsentBody,
    CompareBody,
    Compared,
    PageAnswer,
    WeighingBody,
)
from notewell.http_service.static_files import shown_to
from notewell.memory import Memory
from notewell.tools import answer_json, hit_json, without_places
from notewell.types import Answer, Hit

router = APIRouter(route_class=Guarded)


@router.post("/search", response_model_exclude_none=True, **needs("read"))
async def compare(asked: CompareBody, caller: CallerOf) -> Compared:
    """Our own engine's answers, whichever engine agents ask. It is the owner who tries things
    out, so nothing of it counts as recalled."""
    ways = [asked.a, asked.b] if asked.b else [asked.a]

    def look(memory: Memory) -> Compared:
        answers = _answers(memory, asked.query, ways)
        days = _days(memory, [answer for answer, _ in answers])
        today = memory.now().date()
        shown = [_shown(answer, took, asked.query, days, today) for answer, took in answers]
        return Compared(a=shown[0], b=shown[1] if len(shown) > 1 else None)

    return await shown_to(caller, "search", look)


@router.post("/absent", **needs("read"))
async def absent(asked: AbsentBody, caller: CallerOf) -> Absent:
    """Why a note is not among the hits, or where it is."""

    def look(memory: Memory) -> Absent:
        return Absent(why=without_places(memory.why_absent(asked.query, asked.path)))

    return await shown_to(caller, "search", look)


def _answers(
    memory: Memory, query: str, ways: Sequence[WeighingBody]
) -> list[tuple[Answer, float]]:
    """With the milliseconds of each; the first pays for the vector of the question."""
    timed, before = [], time.perf_counter()
    for answer in memory.compare([_question(query, way) for way in ways]):
        now = time.perf_counter()
        timed.append((answer, (now - before) * 1000))
        before = now
    return timed


def _question(query: str, way: WeighingBody) -> Question:
    weighing = Weighing(way.vector_weight, way.fusion, way.half_life_days, way.mmr_lambda)
    return Question(query, way.max_results, way.min_score, weighing=weighing)


def _days(memory: Memory, answers: Sequence[Answer]) -> dict[str, date]:
    """Of every hit that has one: in its name, or for a transcript in the index."""
    paths = {(hit.path, hit.source) for answer in answers for hit in answer.hits}
    named = {path: note_date(path) for path, source in paths if source == "memory"}
    talks = [path for path, source in paths if source == "sessions"]
    found = memory.looking().days(talks) if talks else {}
    return found | {path: day for path, day in named.items() if day}


def _shown(
    answer: Answer, took_ms: float, query: str, days: Mapping[str, date], today: date
) -> PageAnswer:
    payload = {
        **answer_json(answer),
        "results": [_hit(hit, query, days.get(hit.path), today) for hit in answer.hits],
        "backend": "builtin",
        "notice": without_places(answer.notice or "") or None,
        "tookMs": round(took_ms, 1),
    }
    return PageAnswer.model_validate(payload)


def _hit(hit: Hit, query: str, day: date | None, today: date) -> dict[str, Any]:
    return {
        **hit_json(hit, explain=True),
        "highlights": highlights(hit.snippet, query),
        "day": day.isoformat() if day else None,
        "ageDays": (today - day).days if day else None,
    }
