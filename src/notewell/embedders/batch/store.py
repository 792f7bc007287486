"""The ids of running batch jobs, stored so that they outlive the process.

A job goes on at the provider whether we wait for it or not, and it is paid for. So its id is
stored together with the digests of its texts, which are also the custom ids: the next run that
needs one of these texts resumes the job instead of paying again. No text and no key is stored.

One file for each job, replaced atomically: processes that share the folder never overwrite each
other's jobs, and a crash leaves a complete file or none.
A file without an id is written before the job is made, to prove that it can be written. A process
that is killed between the two leaves a job that nobody will fetch. This gap is known.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from notewell.files import make_private, replace_file
from notewell.records import asdict, dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_JOBS = 64
"""Files in the folder; the oldest are removed first. Providers keep results for some weeks."""

VERSION = 1


@dataclass(frozen=True, slots=True)
class StoredJob:
    endpoint_key: str
    """Provider, address and model: the vectors of a job are useless to any other."""
    dims: int
    digests: tuple[str, ...]
    job_id: str = ""
    """Empty: the job does not exist yet."""

    @property
    def name(self) -> str:
        """The same for the same texts, so that a restarted job replaces its own file."""
        content = "\n".join([self.endpoint_key, str(self.dims), *self.digests])
        return hashlib.sha256(content.encode()).hexdigest()[:32]


class JobStore(Protocol):
    """Where jobs are stored."""

    def jobs(self, endpoint_key: str, dims: int) -> list[StoredJob]:
        """Those with an id, oldest first."""
        ...

    def put(self, job: StoredJob) -> None:
        """Raises `OSError` if it cannot be stored."""
        ...

    def remove(self, job: StoredJob) -> None: ...


class JobFolder:
    """JSON files in a folder that only its owner can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def jobs(self, endpoint_key: str, dims: int) -> list[StoredJob]:
        stored = (_read(path) for path in self._files())
        return [
            job
            for job in stored
            # Without an id the job was never created, or its process was killed in between.
            if job and job.job_id and (job.endpoint_key, job.dims) == (endpoint_key, dims)
        ]

    def put(self, job: StoredJob) -> None:
        make_private(self._folder)
        record = json.dumps({"version": VERSION, **asdict(job)}).encode("ascii")
        # Durable: the provider is paid as soon as the job exists.
        replace_file(self._path(job), record, durable=True)
        for old in self._files()[:-MAX_JOBS]:
            _unlink(old)

    def remove(self, job: StoredJob) -> None:
        _unlink(self._path(job))

    def _path(self, job: StoredJob) -> Path:
        return self._folder / f"{job.name}.json"

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("*.json"), key=_age)


def _age(path: Path) -> tuple[int, str]:
    # The name breaks ties, so that the order does not depend on the file system.
    with suppress(OSError):
        return path.stat().st_mtime_ns, path.name
    return 0, path.name


def _unlink(path: Path) -> None:
    # Another process may have removed it, or holds it open (on Windows): both do no harm.
    with suppress(OSError):
        path.unlink()


def _read(path: Path) -> StoredJob | None:
    """None for a foreign, damaged or missing file: its job is paid for again, nothing worse."""
    try:
        record = json.loads(path.read_bytes())
        if record["version"] != VERSION:
            return None
        job = StoredJob(
            _text(record["endpoint_key"]),
            int(record["dims"]),
            tuple(_text(digest) for digest in record["digests"]),
            _text(record["job_id"]),
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return job


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a string")
    return value


def covered(jobs: Iterable[StoredJob]) -> set[str]:
    return {digest for job in jobs for digest in job.digests}
