"""The jobs under way, remembered beyond the end of the process.

A job goes on at the provider whether we wait for it or not, and is paid for. So its id is kept
together with the digests of its texts, which are also the custom ids: the next run that needs one
of these texts takes up the job instead of paying again. Neither a text nor a key is kept.

One file a job, written anew and renamed into its place: processes that use the folder together
never overwrite each other's, and what a crash leaves behind is a whole file or none.
A file is written before the job is made, without an id, to see that it can be; a process that is
killed in the moment between the two leaves a job nobody will fetch. That gap is known.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol

from notewell.files import make_private

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_JOBS = 64
"""Files in the folder; the oldest go first. No provider keeps results for more than weeks."""

VERSION = 1


@dataclass(frozen=True, slots=True)
class StoredJob:
    endpoint_key: str
    """Provider, address and model: a job is of no use to any other."""
    dims: int
    digests: tuple[str, ...]
    job_id: str = ""
    """Empty: not made yet."""

    @property
    def name(self) -> str:
        """The same for the same work, so that a job begun anew takes the place of its record."""
        what = "\n".join([self.endpoint_key, str(self.dims), *self.digests])
        return hashlib.sha256(what.encode()).hexdigest()[:32]


class JobStore(Protocol):
    """Where jobs are remembered."""

    def jobs(self, endpoint_key: str, dims: int) -> list[StoredJob]:
        """Those that were made and not removed, oldest first."""
        ...

    def put(self, job: StoredJob) -> None:
        """Raises `OSError` where it cannot be kept."""
        ...

    def remove(self, job: StoredJob) -> None: ...


class JobFolder:
    """JSON files in a folder, for their owner alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def jobs(self, endpoint_key: str, dims: int) -> list[StoredJob]:
        stored = (_read(path) for path in self._files())
        return [
            job
            for job in stored
            if job and job.job_id and (job.endpoint_key, job.dims) == (endpoint_key, dims)
        ]

    def put(self, job: StoredJob) -> None:
        make_private(self._folder)
        path = self._path(job)
        scratch = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            json.dump({"version": VERSION, **asdict(job)}, file)
            file.flush()
            os.fsync(descriptor)
        scratch.replace(path)
        for old in self._files()[:-MAX_JOBS]:
            _unlink(old)

    def remove(self, job: StoredJob) -> None:
        _unlink(self._path(job))

    def _path(self, job: StoredJob) -> Path:
        return self._folder / f"{job.name}.json"

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("*.json"), key=_age)


def _age(path: Path) -> tuple[int, str]:
    with suppress(OSError):
        return path.stat().st_mtime_ns, path.name
    return 0, path.name


def _unlink(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _read(path: Path) -> StoredJob | None:
    """None for what is not ours, damaged, or gone: such a job is paid for again, nothing worse."""
    try:
        kept = json.loads(path.read_bytes())
        if kept["version"] != VERSION:
            return None
        job = StoredJob(
            _text(kept["endpoint_key"]),
            int(kept["dims"]),
            tuple(_text(one) for one in kept["digests"]),
            _text(kept["job_id"]),
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return job


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def covered(jobs: Iterable[StoredJob]) -> set[str]:
    return {digest for job in jobs for digest in job.digests}
