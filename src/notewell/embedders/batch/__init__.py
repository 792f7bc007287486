"""Large first runs through the providers' own batch jobs: cheaper, slower, off unless asked for.

with_batch(plain, settings, folder)   the embedder itself, or the same with batch jobs in front

BatchEmbedder   which texts go into a job, which are asked for as usual
  plan_jobs     decides: jobs to take up again, jobs to begin
  JobCrew       several jobs at once
  JobRunner     one job: upload, create, wait, download, each vector checked
    BatchApi    a provider's wire format: data and pure functions, one file each
  JobStore      job ids and what they are for, so that a restart pays nothing twice
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.embedders.batch.embedder import BatchEmbedder
from notewell.embedders.batch.gemini import GEMINI_BATCH
from notewell.embedders.batch.openai import OPENAI_BATCH
from notewell.embedders.batch.store import JobFolder
from notewell.embedders.batch.voyage import VOYAGE_BATCH

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.embedders.remote import RemoteEmbedder
    from notewell.embedders.settings import BatchSettings

__all__ = ["BATCH_APIS", "BatchEmbedder", "JobFolder", "with_batch"]

BATCH_APIS = {one.provider: one for one in (OPENAI_BATCH, GEMINI_BATCH, VOYAGE_BATCH)}


def with_batch(
    plain: RemoteEmbedder, settings: BatchSettings, folder: Path | None
) -> RemoteEmbedder | BatchEmbedder:
    """`plain` itself where batch jobs are off, or its provider has none, or there is no folder."""
    api = BATCH_APIS.get(plain.plan.provider.name)
    if not settings.enabled or api is None or folder is None:
        return plain
    return BatchEmbedder(plain, api, JobFolder(folder), settings)
