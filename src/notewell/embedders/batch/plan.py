"""Which texts go into which job. It decides; it does nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from notewell.embedders.batch.store import covered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notewell.embedders.batch.store import StoredJob


class JobLimits(NamedTuple):
    least: int
    """Fewer texts than this are not worth a job."""
    requests: int
    bytes: int


class JobPlan(NamedTuple):
    resume: tuple[StoredJob, ...]
    """Jobs of an earlier run that have texts we need."""
    begin: tuple[tuple[str, ...], ...]
    """Digests of the texts of each new job."""


def plan_jobs(sizes: Mapping[str, int], stored: Iterable[StoredJob], limits: JobLimits) -> JobPlan:
    """`sizes` has the bytes of the line of every text that is needed, by digest."""
    resume: list[StoredJob] = []
    for job in stored:
        if covered([job]) & sizes.keys() - covered(resume):
            resume.append(job)
    rest = {digest: size for digest, size in sizes.items() if digest not in covered(resume)}
    begin = cut(rest, limits) if len(rest) >= limits.least else []
    return JobPlan(tuple(resume), tuple(begin))


def cut(sizes: Mapping[str, int], limits: JobLimits) -> Sequence[tuple[str, ...]]:
    """In order, each job within the limits; a line too large for any is in none."""
    jobs: list[tuple[str, ...]] = []
    job: list[str] = []
    total = 0
    for digest, size in sizes.items():
        if size > limits.bytes:
            continue
        if job and (len(job) >= limits.requests or total + size > limits.bytes):
            jobs.append(tuple(job))
            job, total = [], 0
        job.append(digest)
        total += size
    return [*jobs, tuple(job)] if job else jobs
