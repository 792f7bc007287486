"""JSON models of the map."""

from typing import Annotated, Literal

from pydantic import Field

from notewell.http_service.schemas import RequestModel, ResponseModel
from notewell.http_service.ui.schemas_search import Query

# A list and not a tuple: some readers of OpenAPI 3.1 do not know `prefixItems`.
MapPoint = Annotated[list[float], Field(min_length=7, max_length=7)]


class MapLabel(ResponseModel):
    """The name of a region: the words that it has most."""

    x: float
    y: float
    level: int
    """0: always shown; 1 and 2: parts of a region, for a closer look."""
    region: int
    text: str
    points: int


class PointAnswer(ResponseModel):
    title: str
    heading: str | None = None
    text: str


class MapAnswer(ResponseModel):
    points: list[MapPoint]
    """x and y from -1 to 1; indexes of note, month (-1: no date), source and region; the line.
    The order is x, y, note, line, month, source, region."""
    labels: list[MapLabel]
    notes: list[str]
    titles: list[str]
    """Of each note."""
    months: list[str]
    sources: list[str]
    computed: int
    """Chunks on the map."""
    of: int
    """All chunks that have a vector."""


class MapPending(ResponseModel):
    state: Literal["computing"] = "computing"


class NearBody(RequestModel):
    query: Query


class NearAnswer(ResponseModel):
    points: list[int]
    scores: list[float]
    """Cosine similarities, the nearest first."""
    notice: str | None = None
