"""JSON models of the search view: weighings that are tried out, and why a note is not found.

Offsets into texts count characters (code points) from 0; the end is exclusive. Fields that are
None are left out.
"""

from typing import Annotated, Literal

from pydantic import Field

from notewell.http_service.limits import MAX_HTTP_QUERY_CHARS
from notewell.http_service.schemas import RequestModel, ResponseModel, SearchAnswer, SearchHit
from notewell.limits import MAX_RESULTS
from notewell.tools import MAX_PATH_CHARS

Query = Annotated[str, Field(min_length=1, max_length=MAX_HTTP_QUERY_CHARS)]
# Lists and not tuples: some readers of OpenAPI 3.1 do not know `prefixItems`.
Offsets = Annotated[list[int], Field(min_length=2, max_length=2)]


class WeighingBody(RequestModel):
    """Fields that are left out have the value of the settings."""

    vector_weight: Annotated[float | None, Field(ge=0, le=1)] = None
    fusion: Literal["weighted", "rrf", "seed"] | None = None
    half_life_days: Annotated[float | None, Field(ge=0, le=36_500)] = None
    mmr_lambda: Annotated[float | None, Field(ge=0, le=1)] = None
    min_score: Annotated[float | None, Field(ge=0, le=1)] = None
    max_results: Annotated[int | None, Field(ge=1, le=MAX_RESULTS)] = None


class CompareBody(RequestModel):
    query: Query
    mode: Literal["hybrid", "keyword"] = "hybrid"
    """`keyword` needs no vector of the query, so its answer is there at once."""
    a: WeighingBody = WeighingBody()
    b: WeighingBody | None = None


class PlaygroundHit(SearchHit):
    highlights: list[Offsets]
    day: str | None = None
    age_days: int | None = None


class PlaygroundAnswer(SearchAnswer):
    results: list[PlaygroundHit]  # type: ignore[assignment]  # A subclass with more fields.


class CompareAnswer(ResponseModel):
    a: PlaygroundAnswer
    b: PlaygroundAnswer | None = None


class WeighingDefaults(ResponseModel):
    """What the settings say."""

    vector_weight: float | None = None
    """Left out: it is decided for each query."""
    fusion: str
    half_life_days: float
    """0: age does not matter."""
    mmr_lambda: float
    """1: similar hits are not pushed down."""
    min_score: float
    max_results: int


class AbsentBody(RequestModel):
    query: Query
    path: Annotated[str, Field(min_length=1, max_length=MAX_PATH_CHARS)]


class AbsentAnswer(ResponseModel):
    why: str
