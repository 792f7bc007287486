"""What is seen from outside: figures, log lines and spans, with no words of a user in them."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.http_service.served import Served, serving

from notewell.errors import EmbedderUnreachable
from notewell.http_service import observability
from notewell.http_service.observability import JsonLogFormatter, configure_logging
from notewell.testing import BrokenEmbedder

SECRET = "zanzibar-4711"


def figures(served: Served, token: str = "read") -> dict[tuple[str, ...], float]:
    text = served.ask("GET", "/metrics", token).text
    return {
        (sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_requests_searches_writes_and_syncs_are_counted(served: Served) -> None:
    served.ask("POST", "/v1/sync", "append")
    served.search("readings")
    served.search("readings", mode="keyword")
    served.ask("POST", "/v1/append", "append", json={"text": "A fact."})
    served.ask("POST", "/v1/append", "append", json={})
    served.ask("GET", "/v1/status", "")
    told = figures(served)
    assert told["notewell_requests_total", "POST", "/v1/search", "200"] == 2
    assert told["notewell_requests_total", "POST", "/v1/append", "422"] == 1
    assert told["notewell_requests_total", "GET", "none", "401"] == 1
    assert told["notewell_request_seconds_count", "POST", "/v1/search"] == 2
    assert told["notewell_searches_total", "hybrid"] == 1
    assert told["notewell_searches_total", "keyword"] == 1
    assert told["notewell_writes_total", "append"] == 1
    assert told["notewell_sync_seconds_count", "done"] == 1
    assert told["notewell_errors_total", "bad-request"] == 1
    assert told["notewell_threads_waited_for", "slow"] == 0


def test_a_memory_is_told_of_only_to_who_may_see_it(served: Served) -> None:
    served.ask("POST", "/v1/sync", "append")
    served.search("readings", "other")
    told = figures(served)
    assert told["notewell_notes", "main"] == 1
    assert told["notewell_chunks", "main"] == 1
    assert told["notewell_chunks_waiting", "main"] == 0
    assert told["notewell_index_ready", "main"] == 1
    assert 0 <= told["notewell_index_age_seconds", "main"] < 60
    assert told["notewell_embed_cache_misses", "main"] == 1
    assert not [key for key in told if "work" in key]
    assert ("notewell_notes", "work") in figures(served, "both")


def test_labels_never_hold_what_a_user_wrote(served: Served) -> None:
    served.search(SECRET)
    served.ask("GET", f"/v1/notes/{SECRET}.md")
    served.ask("GET", f"/{SECRET}")
    served.ask("GET", f"/v1/notes?cursor={SECRET}")
    served.ask(
        "POST",
        f"/v1/sessions/{SECRET}/turns",
        "append",
        json={"turns": [{"role": "user", "content": SECRET}]},
    )
    served.ask(SECRET.replace("-", ""), "/v1/notes")
    served.ask("POST", "/v1/append", "append", json={"text": SECRET})
    assert "zanzibar" not in served.ask("GET", "/metrics").text.lower()


def test_a_broken_embedder_shows(tmp_path: Path) -> None:
    broken = BrokenEmbedder(EmbedderUnreachable("far", "no route"))
    with serving(tmp_path, embedder=broken) as served:
        served.ask("POST", "/v1/sync", "append")
        told = figures(served)
        assert told["notewell_sync_seconds_count", "partial"] == 1
        assert told["notewell_chunks_waiting", "main"] == 1


# -- the log -------------------------------------------------------------------------------------


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = list(root.handlers), root.level
    stream = io.StringIO()
    configure_logging(stream)
    yield stream
    root.handlers[:], root.level = before


def test_a_request_is_one_line_without_what_was_asked(tmp_path: Path, log: io.StringIO) -> None:
    with serving(tmp_path) as served:
        served.search(SECRET)
        served.ask("GET", f"/v1/notes/{SECRET}?from=1")
        served.ask("GET", f"/open?code={SECRET}", "")
        served.ask("GET", "/v1/status", "garbage")
        tokens = served.tokens.values()
    text = log.getvalue()
    lines = [json.loads(line) for line in text.splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert [line["status"] for line in requests] == [200, 404, 403, 401]
    assert [line["route"] for line in requests] == [
        "/v1/search",
        "/v1/notes/{path}",
        "/open",
        "none",
    ]
    assert requests[0]["agent"] == "main"
    assert requests[1]["problem"] == "not-a-note"
    assert "zanzibar" not in text
    assert not any(token in text for token in tokens)


def test_what_nobody_foresaw_is_told_without_its_message(
    tmp_path: Path, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path) as served:
        memory = served.agents.memory("main")

        def broken() -> Any:
            raise ZeroDivisionError(SECRET)

        monkeypatch.setattr(memory, "status", broken)
        answer = served.ask("GET", "/v1/status")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert SECRET not in answer.text
    (line,) = [one for one in map(json.loads, log.getvalue().splitlines()) if "error" in one]
    assert line["error"] == "ZeroDivisionError"
    assert any("test_metrics.py" in where for where in line["where"])
    assert SECRET not in log.getvalue()


def test_a_line_of_log_is_one_line_whatever_is_in_it() -> None:
    record = logging.LogRecord("x", logging.INFO, "f", 1, "a\nb\x1b[0m %s", ("\u2028",), None)
    assert len(JsonLogFormatter().format(record).splitlines()) == 1


# -- spans ---------------------------------------------------------------------------------------


def test_spans_carry_figures_and_no_words(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    exporter = memory.InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    monkeypatch.setattr(observability, "_tracer", lambda: provider.get_tracer("test"))
    served.search(f"readings {SECRET}")
    served.ask("GET", f"/v1/notes/{SECRET}")
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == ["search", "request", "request"]
    search, request, _ = spans
    assert search.parent.span_id == request.context.span_id
    assert search.attributes["notewell.mode"] in ("hybrid", "keyword")
    assert request.attributes["notewell.route"] == "/v1/search"
    assert request.attributes["notewell.status"] == 200
    assert SECRET not in " ".join(span.to_json() for span in spans)


WATCHED = f"""
import pathlib, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.http_service.served import serving
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
with serving(pathlib.Path(sys.argv[1])) as served:
    served.search("{SECRET}")
    served.ask("GET", "/v1/notes/{SECRET}?cursor={SECRET}")
    served.ask("POST", "/v1/search", json=dict(query="x", {SECRET[:8]}=1))
spans = exporter.get_finished_spans()
print(sorted({{span.name for span in spans}}), "zanzibar" in " ".join(s.to_json() for s in spans))
"""


def test_nobody_else_makes_spans_of_our_requests(tmp_path: Path) -> None:
    """FastAPI has some of its own, with addresses in them; they are switched off."""
    pytest.importorskip("opentelemetry.sdk.trace")
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path)],
        capture_output=True,
        encoding="utf-8",
        check=True,
        cwd=root,
        env={**os.environ, "FASTAPI_OTEL_AUTO_CONFIGURE": "true"},
    )
    assert done.stdout.strip() == "['request', 'search'] False"


def test_without_opentelemetry_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observability, "_tracer", lambda: None)
    with observability.span("x", a=1) as note:
        note("b", 2)
