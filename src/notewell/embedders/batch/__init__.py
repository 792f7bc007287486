"""Large first runs through the providers' own batch jobs: cheaper, slower, off by default.

with_batch(plain, settings, folder)   the embedder itself, or the same with batch jobs in front

BatchEmbedder   which texts go into a job, which are sent as plain requests
  plan_jobs     decides: stored jobs to resume, new jobs to begin
  JobWorkers    several jobs at once; BatchBreaker stops them after repeated failures
  JobRunner     one job: upload, create, wait, download, each vector checked
    BatchApi    a provider's wire format (in `providers/`)
  JobStore      the ids of jobs and their texts' digests, so that a restart pays nothing twice
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.embedders.batch.embedder import BatchEmbedder
from notewell.embedders.batch.store import JobFolder

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.embedders.remote import RemoteEmbedder
    from notewell.embedders.settings import BatchSettings

__all__ = ["BatchEmbedder", "JobFolder", "with_batch"]


def with_batch(
    plain: RemoteEmbedder, settings: BatchSettings, folder: Path | None
) -> RemoteEmbedder | BatchEmbedder:
    """`plain` itself if batch jobs are off, its provider has none, or there is no folder."""
    api = plain.plan.provider.batch
    if not settings.enabled or api is None or folder is None:
        return plain
    return BatchEmbedder(plain, api, JobFolder(folder), settings)
