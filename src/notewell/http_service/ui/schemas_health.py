"""JSON models of the health view, and of who is asking."""

from typing import Literal

from pydantic import Field

from notewell.http_service.schemas import ResponseModel
from notewell.http_service.schemas_status import StatusAnswer, SyncActivity


class FindingItem(ResponseModel):
    what: str
    # The key in the JSON is the same as in `notewell doctor --json`.
    message: str = Field(serialization_alias="told")
    todo: str | None = None
    fixable: bool
    level: Literal["ok", "warn", "error"]


class EmbedderHealth(ResponseModel):
    provider: str
    model: str
    calls: int
    tokens: int
    errors: int
    cache_hits: int
    cache_misses: int
    cost: float | None = None
    """In US dollars by list price, since the server started."""


class IndexHealth(ResponseModel):
    bytes: int
    age_s: float | None = None
    generation: str | None = None


class LeaseHealth(ResponseModel):
    holder: str | None = None


class WorkHealth(ResponseModel):
    """What is being done to the index, and what is left to do."""

    running: bool
    notes_built: int | None = None
    """Notes in the index that is being built beside the one that answers."""
    vectors: int
    vectors_waiting: int
    vectors_unread: int
    """Chunks in a script that the model does not read: words alone find them."""


class DiskHealth(ResponseModel):
    free_bytes: int


class HealthDetail(ResponseModel):
    status: StatusAnswer
    findings: list[FindingItem]
    embedder: EmbedderHealth
    index: IndexHealth
    lease: LeaseHealth
    work: WorkHealth
    disk: DiskHealth
    activity: SyncActivity | None = None
    """What the service does now."""


class Me(ResponseModel):
    agent: str
    agents: list[str]
    scopes: list[str]
    version: str
    read_only: bool
