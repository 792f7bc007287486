"""The description of the service: complete, current, and true of what the service answers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from scripts.docs.http_page import document, http_page
from tests.http_service.listening import listening
from tests.http_service.served import PLENTY, Served

from notewell.http_service.auth import SCOPE_KEY

ROOT = Path(__file__).parents[2]


def operations(told: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_it_is_openapi_3_1_and_anybody_may_read_it(served: Served) -> None:
    answer = served.ask("GET", "/openapi.json", "")
    assert answer.status_code == 200
    told = answer.json()
    assert told["openapi"].startswith("3.1.")
    assert told == json.loads(json.dumps(document()))
    assert set(told["components"]["securitySchemes"]) == {"token", "page"}


def test_every_operation_says_who_may_and_what_goes_wrong() -> None:
    told = document()
    names = set()
    for name, operation in operations(told):
        assert operation["description"], name
        names.add(operation["operationId"])
        if operation[SCOPE_KEY] == "nothing":
            assert "security" not in operation
            continue
        assert operation["security"] == [{"token": []}, {"page": []}], name
        assert {"401", "403", "413", "422", "429", "default"} <= set(operation["responses"]), name
        problem = operation["responses"]["default"]["content"]["application/problem+json"]
        assert problem["schema"] == {"$ref": "#/components/schemas/Problem"}
    assert len(names) == len(list(operations(told)))
    assert "HTTPValidationError" not in told["components"]["schemas"]


def test_every_reference_leads_somewhere() -> None:
    told = document()
    for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(told)):
        assert name in told["components"]["schemas"]


def test_what_comes_in_may_have_no_unknown_field() -> None:
    told = document()
    for name, operation in operations(told):
        body = operation.get("requestBody")
        if body:
            (content,) = body["content"].values()
            references = re.findall(r"schemas/(\w+)", json.dumps(content))
            assert references, name
            for one in references:
                assert told["components"]["schemas"][one]["additionalProperties"] is False, name


def test_fields_are_written_in_camel_case() -> None:
    for shape in document()["components"]["schemas"].values():
        for name in shape.get("properties", ()):
            assert re.fullmatch(r"[a-z][a-zA-Z0-9]*", name), name


def test_the_page_about_it_is_current() -> None:
    page = (ROOT / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
    assert page == http_page(document())


# -- against a server on a socket ----------------------------------------------------------------


@pytest.mark.skipif(find_spec("schemathesis") is None, reason="needs schemathesis")
def test_whatever_is_sent_the_answers_are_as_described(tmp_path: Path) -> None:
    with listening(tmp_path, PLENTY) as service:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli"),
                *("--config-file", str(Path(__file__).with_name("schemathesis.toml"))),
                *("run", f"{service.url}/openapi.json"),
                *("--header", f"Authorization: Bearer {service.token}"),
                *("--phases", "coverage,fuzzing", "--mode", "all", "--checks", "all"),
                *("--max-examples", "10", "--seed", "1", "--no-color"),
                *("--exclude-path", "/v1/page/events"),  # It has no end.
            ],
            capture_output=True,
            encoding="utf-8",
            cwd=tmp_path,
            timeout=600,
            check=False,
        )
    report = done.stdout[-8000:] + done.stderr[-2000:]
    assert done.returncode == 0, report
    all_but_the_events = len(list(operations(document()))) - 1
    assert f"Tested: {all_but_the_events}\n" in done.stdout, report
