"""The playground: one query with two different weightings, and why a note is not a hit."""

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from fastapi import APIRouter

from notewell.core import (
    ENGLISH,
    as_spelled,
    language_of,
    note_date,
    split_words,
    text_query,
)
from notewell.core.ranking import default_threshold
from notewell.http_service.auth import GuardedRoute, needs
from notewell.http_service.context import CallerDep
from notewell.http_service.limits import search_cost
from notewell.http_service.ui.schemas_search import (
    AbsentAnswer,
    AbsentBody,
    CompareAnswer,
    CompareBody,
    PlaygroundAnswer,
    WeighingBody,
    WeighingDefaults,
)
from notewell.http_service.ui.state import run_visible
from notewell.memory import Memory
from notewell.records import replace
from notewell.search import Question, SearchSettings, Weighing
from notewell.tools import answer_json, hit_json
from notewell.types import Answer, Hit

Range = tuple[int, int]
"""Start and end in characters (code points); the end is exclusive."""

router = APIRouter(route_class=GuardedRoute)


@router.post("/search", response_model_exclude_none=True, **needs("read"))
async def compare(body: CompareBody, caller: CallerDep) -> CompareAnswer:
    """Search with the builtin engine, whichever engine agents use. These searches are experiments
    of the owner, so they are not written to the recall log."""
    weightings = [body.a, body.b] if body.b else [body.a]
    caller.charge(search_cost(body.query, sum(one.max_results or 0 for one in weightings)))

    def read(memory: Memory) -> CompareAnswer:
        questions = [_question(body, weighting) for weighting in weightings]
        timed = _search(memory, questions)
        days = _days(memory, [answer for answer, _ in timed])
        today = memory.now().date()
        text = questions[0].text
        answers = [_answer_json(answer, ms, text, days, today) for answer, ms in timed]
        return CompareAnswer(a=answers[0], b=answers[1] if len(answers) > 1 else None)

    return await run_visible(caller, "search", read)


@router.get("/weights", response_model_exclude_none=True, **needs("read"))
async def weights(caller: CallerDep) -> WeighingDefaults:
    """The values that a search without weights of its own has."""

    def read(memory: Memory) -> WeighingDefaults:
        settings = memory.settings.search
        return WeighingDefaults(
            vector_weight=settings.vector_weight,
            fusion=settings.fusion,
            half_life_days=settings.half_life_days or 0,
            mmr_lambda=1 if settings.mmr_lambda is None else settings.mmr_lambda,
            min_score=_or_default(settings),
            max_results=settings.max_results,
        )

    return await run_visible(caller, "quick", read)


def _or_default(settings: SearchSettings) -> float:
    if settings.min_score is not None:
        return settings.min_score
    return default_threshold(settings.fusion, words_alone=settings.keyword_only)


@router.post("/absent", **needs("read"))
async def absent(body: AbsentBody, caller: CallerDep) -> AbsentAnswer:
    """Why a note is not among the hits, or at which position it is."""
    caller.charge(search_cost(body.query))

    def read(memory: Memory) -> AbsentAnswer:
        # The text names no path but the one that the caller asked about.
        return AbsentAnswer(why=memory.inspect.why_absent(body.query, body.path))

    return await run_visible(caller, "search", read)


def _search(memory: Memory, questions: Sequence[Question]) -> list[tuple[Answer, float]]:
    """Each answer with its milliseconds. The first includes the embedding of the query."""
    # `compare` yields one answer after the other, so the times can be told apart.
    timed, before = [], time.perf_counter()
    for answer in memory.inspect.compare(questions):
        now = time.perf_counter()
        timed.append((answer, (now - before) * 1000))
        before = now
    return timed


def _question(body: CompareBody, chosen: WeighingBody) -> Question:
    question = Question.of(body.query, chosen.max_results, chosen.min_score, body.mode)
    weighing = Weighing(
        chosen.vector_weight, chosen.fusion, chosen.half_life_days, chosen.mmr_lambda
    )
    return replace(question, weighing=weighing)


def _days(memory: Memory, answers: Sequence[Answer]) -> dict[str, date]:
    """The day of each hit that has one: of a note by its name, of a transcript by the index."""
    paths = {(hit.path, hit.source) for answer in answers for hit in answer.hits}
    note_days = {path: note_date(path) for path, source in paths if source == "memory"}
    sessions = [path for path, source in paths if source == "sessions"]
    session_days = memory.inspect.days(sessions) if sessions else {}
    return session_days | {path: day for path, day in note_days.items() if day}


def _answer_json(
    answer: Answer, took_ms: float, query: str, days: Mapping[str, date], today: date
) -> PlaygroundAnswer:
    payload = {
        **answer_json(answer, public=True),
        "results": [_hit_json(hit, query, days.get(hit.path), today) for hit in answer.hits],
        "backend": "builtin",
        "tookMs": round(took_ms, 1),
    }
    return PlaygroundAnswer.model_validate(payload)


def _hit_json(hit: Hit, query: str, day: date | None, today: date) -> dict[str, Any]:
    # Not escaped, unlike in the API for agents: the UI inserts texts as text, never as HTML.
    return {
        **hit_json(hit, explain=True, public=True),
        # What a model reads, and not a snippet of each hit alone.
        "snippet": hit.shown_text,
        "highlights": highlights(hit.shown_text, query),
        "day": day.isoformat() if day else None,
        "ageDays": (today - day).days if day else None,
    }


# -- highlights: the words of the query in a snippet ---------------------------------------------


def highlights(snippet: str, query: str) -> list[Range]:
    """In order and without overlaps. The bigrams of Chinese text overlap, so they are joined."""
    language = language_of(snippet)
    parsed = text_query(query, () if language == ENGLISH else (language,))
    terms = as_spelled(dict.fromkeys(parsed.terms, 1.0), parsed, snippet).keys()
    return _join(
        (word.start, word.end)
        for word in split_words(snippet)
        # CJK text is matched by bigrams; its single characters would highlight almost everything.
        if not word.single and not terms.isdisjoint(word.forms)
    )


def _join(ranges: Iterable[Range]) -> list[Range]:
    joined: list[Range] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
