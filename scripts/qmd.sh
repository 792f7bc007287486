#!/bin/sh
# The real QMD, for its tests: pinned, without its models and the binaries that run them.
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
    # node's package puts the program in place by a script; QMD's scripts would fetch llama.cpp.
    if ! fetch "$NODE" || ! fetch --omit=optional --omit=peer --ignore-scripts "$QMD"; then
        echo 'npm could not fetch QMD: the tests with the real one are left out' >&2
        rm -rf "$place"
        exit 0
    fi
    echo "$NODE $QMD" >"$place/made-of"
fi
