"""The fake provider with batch jobs, in the formats of OpenAI, Voyage and Gemini.

    with FakeBatches() as server:
        server.stumble("upload", "500", "500")      # the next two uploads
        server.looks_before_end = 3                 # how often a job says that it is not ready
        server.ending = "expired"
        server.change = lambda lines: lines[::-1]   # what happens to the lines of the results

Everything but its jobs, the plain calls among them, is the fake server's.
"""

from __future__ import annotations

import base64
import json
import socket
import struct
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.embedders.fake_server import PATHS, FakeProvider, Seen, Sent, refused, vector_of

from notewell.embedders.providers.provider import BatchApi
from notewell.embedders.registry import REMOTE_PROVIDERS

Line = dict[str, Any]
Change = Callable[[list[Line]], list[Any]]

STAGES = ("upload", "create", "status", "cancel", "download")
STATE_NAMES = {"done": "SUCCEEDED", "failed": "FAILED", "waiting": "RUNNING"}
STATUS_NAMES = {"done": "completed", "waiting": "in_progress"}


@dataclass
class FakeJob:
    job_id: str
    lines: list[Line]
    params: Line
    """What Voyage takes for the whole job."""
    looks_left: int
    phase: str = "waiting"
    looks: list[str] = field(default_factory=list)


class FakeBatches(FakeProvider):
    def __init__(self, dims: int = 8) -> None:
        self.files: dict[str, bytes] = {}
        self.jobs: dict[str, FakeJob] = {}
        self.looks_before_end = 1
        self.ending = "done"
        self.change: Change = list
        self.has_output = True
        self.elsewhere: str | None = None
        self._stumbles: dict[str, deque[str]] = defaultdict(deque)
        super().__init__(dims)

    def stumble(self, stage: str, *faults: str) -> None:
        assert stage in STAGES
        self._stumbles[stage].extend(faults)

    def requests(self, stage: str) -> list[Seen]:
        return [seen for seen in self.seen if stage_of(seen) == stage]

    @property
    def plain_texts(self) -> list[str]:
        """What was asked for by plain calls, in order."""
        return [text for seen in self.seen if stage_of(seen) is None for text in seen.texts]

    # -- the wire --------------------------------------------------------------------------------

    def _answer(self, connection: socket.socket, seen: Seen) -> bool:
        stage = stage_of(seen)
        if stage is None:
            return super()._answer(connection, seen)
        with self._lock:
            self.seen.append(seen)
            fault = self._stumbles[stage].popleft() if self._stumbles[stage] else None
        if fault == "hang up":
            connection.shutdown(socket.SHUT_RDWR)
            return False
        sent = refused(seen, int(fault), None, "no") if fault else self._served(stage, seen)
        connection.sendall(sent.head() + sent.body)
        return True

    def _served(self, stage: str, seen: Seen) -> Sent:
        if stage == "upload":
            name = f"files/in-{len(self.files)}"
            self.files[name] = _file_in(seen)
            named = {"file": {"name": name}} if _is_gemini(seen) else {"id": name[6:]}
            return _json(named)
        if stage == "create":
            return _json(self._shown(seen, self._create(seen)))
        if stage == "download":
            return self._download(seen)
        job = self.jobs.get(_job_id(seen))
        if job is None:
            return refused(seen, 404, None, "no such job")
        if stage == "cancel":
            job.phase = "cancelled"
            return _json({})
        return _json(self._shown(seen, self._visit(job)))

    def _create(self, seen: Seen) -> FakeJob:
        if _is_gemini(seen):
            file = seen.body["batch"]["inputConfig"]["fileName"]
            job_id = f"batches/{len(self.jobs)}"
        else:
            file = f"files/{seen.body['input_file_id']}"
            job_id = f"batch_{len(self.jobs)}"
        lines = [json.loads(line) for line in self.files[file].splitlines()]
        params = seen.body.get("request_params", {})
        self.jobs[job_id] = FakeJob(job_id, lines, params, self.looks_before_end)
        return self.jobs[job_id]

    def _visit(self, job: FakeJob) -> FakeJob:
        if job.phase == "waiting" and job.looks_left <= 0:
            job.phase = self.ending
        job.looks_left -= 1
        job.looks.append(job.phase)
        return job

    def _shown(self, seen: Seen, job: FakeJob) -> Line:
        done = 0 if job.phase == "waiting" and job.looks_left == self.looks_before_end else 1
        output = self._output(job) if job.phase != "waiting" and self.has_output else None
        if _is_gemini(seen):
            state = STATE_NAMES.get(job.phase, job.phase.upper())
            shown: Line = {"name": job.job_id, "done": job.phase != "waiting"}
            stats = {"requestCount": str(len(job.lines)), "successfulRequestCount": str(done)}
            shown["metadata"] = {"state": f"BATCH_STATE_{state}", "batchStats": stats}
            if output and job.phase == "done":
                shown["response"] = {"responsesFile": output}
            elif job.phase not in ("done", "waiting"):
                shown["error"] = {"code": 1, "message": f"it was {job.phase}"}
            return shown
        return {
            "id": job.job_id,
            "status": STATUS_NAMES.get(job.phase, job.phase),
            "request_counts": {"total": len(job.lines), "completed": done, "failed": 0},
            "output_file_id": output[6:] if output else None,
            "errors": {"data": [{"code": "token_limit_exceeded"}]}
            if job.phase == "failed"
            else None,
        }

    def _output(self, job: FakeJob) -> str | None:
        if job.phase == "failed":
            return None
        changed = self.change([self._result(line, job) for line in job.lines])
        lines = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in changed)
        name = f"files/out-{job.job_id.split('/')[-1]}"
        self.files[name] = b"\n".join(lines)
        return name

    def _result(self, line: Line, job: FakeJob) -> Line:
        if "key" in line:
            request = line["request"]
            values = vector_of(
                request["content"]["parts"][0]["text"],
                request.get("outputDimensionality", self.dims),
            )
            return {"key": line["key"], "response": {"embedding": {"values": values}}}
        body = {**job.params, **line["body"]}
        dims = body.get("dimensions") or body.get("output_dimension") or self.dims
        row: Any = vector_of(body["input"][0], dims)
        if body.get("encoding_format") == "base64":
            row = base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode()
        answer = {"data": [{"index": 0, "embedding": row}], "usage": {"total_tokens": 7}}
        return {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": answer}}

    def _download(self, seen: Seen) -> Sent:
        name = "files/" + seen.path.split("/files/")[1].split(":")[0].removesuffix("/content")
        if self.elsewhere and "authorization" in seen.headers:
            return Sent(302, b"", (("location", f"{self.elsewhere}/files/{name[6:]}/content"),))
        if name not in self.files:
            return refused(seen, 404, None, "no such file")
        return Sent(200, self.files[name])


def stage_of(seen: Seen) -> str | None:
    path = seen.path.split("?")[0]
    if path.endswith(("/content", ":download")):
        return "download"
    if path.endswith("/files"):
        return "upload"
    if path.endswith(("/cancel", ":cancel")):
        return "cancel"
    if path.endswith(("/batches", ":asyncBatchEmbedContent")):
        return "create"
    return "status" if "/batches/" in path else None


def _job_id(seen: Seen) -> str:
    tail = seen.path.split("/batches/")[1].split("/")[0].split(":")[0]
    return f"batches/{tail}" if _is_gemini(seen) else tail


def _is_gemini(seen: Seen) -> bool:
    return seen.path.startswith(PATHS["gemini"].rsplit("/", 1)[0])


def _json(body: Line) -> Sent:
    return Sent(200, json.dumps(body).encode())


def _file_in(seen: Seen) -> bytes:
    """The part of a form that holds lines of JSON."""
    boundary = seen.headers["content-type"].split("boundary=")[1].encode()
    for part in seen.raw.split(b"--" + boundary):
        head, _, body = part.partition(b"\r\n\r\n")
        if b"application/jsonl" in head:
            return body.removesuffix(b"\r\n")
    raise AssertionError("a form without a file")


def batch_api(provider: str) -> BatchApi:
    """The batch wire format of a provider that has one."""
    api = REMOTE_PROVIDERS[provider].batch
    assert api is not None
    return api
