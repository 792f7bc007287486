#!/bin/sh
# Install a pinned QMD for the tests, without its models and the binaries that run them.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

QMD='@tobilu/qmd@2.8.3'
NODE='node@22'
place=.cache/qmd
if [ "$(cat "$place/made-of" 2>/dev/null)" != "$NODE $QMD" ]; then
    say "Setting up $place (once)"
    rm -rf "$place"
    mkdir -p "$place"
    fetch() {
        npm install --silent --no-audit --no-fund --cache .cache/npm --prefix "$place" "$@"
    }
    # The install script of `node` is needed; those of QMD would download llama.cpp.
    if ! fetch "$NODE" || ! fetch --omit=optional --omit=peer --ignore-scripts "$QMD"; then
        echo 'npm could not install QMD: the tests with the real QMD are skipped' >&2
        rm -rf "$place"
        exit 0
    fi
    echo "$NODE $QMD" >"$place/made-of"
fi
