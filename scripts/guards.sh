#!/bin/sh
# Run style, package layers and the tests that look at the whole package: a change anywhere can break them.
# Needs the active environment of ./check; arguments go to pytest.
set -eu
cd "$(dirname "$0")/.."
ruff format --check --quiet .
ruff check --quiet .
lint-imports --no-logo >/dev/null || lint-imports --no-logo
exec python -m pytest -q -n 2 --dist worksteal \
    tests/docs tests/contracts/test_packages.py tests/contracts/test_records.py tests/contracts/test_named_tuples.py \
    tests/config tests/hosts tests/http_service/web_fixtures tests/http_service/test_conversations.py \
    tests/http_service/test_page_weight.py tests/hardening/attacks/test_patterns.py \
    tests/hardening/attacks/test_canaries.py tests/hardening/database/test_passwords.py \
    tests/surfaces/test_start.py tests/surfaces/test_cli.py tests/surfaces/test_mcp_greeting.py \
    tests/search/test_same_answers.py --ignore tests/hosts/real "$@"
