#!/bin/sh
# Update the lock files. uv resolves them for every platform, with hashes; pip can install them.
# Releases younger than a week are ignored: most bad ones are withdrawn by then.
set -eu
cd "$(dirname "$0")/.."
week_ago=$(python3 -c 'import datetime as d; print(d.date.today() - d.timedelta(days=7))')
lock() {
    uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate \
        --python-version 3.11 --exclude-newer "$week_ago" "$@" pyproject.toml
}
lock --output-file requirements/run.lock
lock --extra serve --output-file requirements/serve.lock
lock --extra sqlite-vec --group dev --output-file requirements/dev.lock
lock --extra sqlite-vec --group dev --resolution lowest-direct \
    --output-file requirements/lowest.lock
