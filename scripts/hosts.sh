#!/bin/sh
# Install real hosts from npm into .cache/hosts, then try Notewell in each of them.
#
#   scripts/hosts.sh [--install-only] [--limit SECONDS] [--load] [--runs N] [--json FILE] [HOST …]
#
# HOST: claude codex openclaw opencode gemini qwen copilot cline continue (default: all of them).
# Each trial has a home folder of its own below .cache/hosts/homes, and the model is a script on
# loopback, so no account is needed. `--limit` is for all installations together. `--load` keeps two busy loops running beside the hosts.
# Notewell is the one of ./check, or that of the virtual environment in NOTEWELL_ENV.
# The exit code is 1 if a host could not be installed or failed.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

NODE='node@24.21.0' # Under Node 20, npm takes older versions of two of the hosts.
INSTALL_LIMIT_S=300 # OpenClaw, the largest, takes a minute.
place="$PWD/.cache/hosts"

package_of() {
    case $1 in
    claude) echo '@anthropic-ai/claude-code@2.1.325' ;;
    codex) echo '@openai/codex@0.166.0' ;;
    openclaw) echo 'openclaw@2026.9.6' ;;
    opencode) echo 'opencode-ai@1.18.33' ;;
    gemini) echo '@google/gemini-cli@0.61.0' ;;
    qwen) echo '@qwen-code/qwen-code@0.24.4' ;;
    copilot) echo '@github/copilot@1.0.102' ;;
    cline) echo 'cline@3.0.65' ;;
    continue) echo '@continuedev/cli@1.5.47' ;;
    node) echo "$NODE" ;;
    *) return 1 ;;
    esac
}

# install NAME: into a folder of its own, so that the hosts cannot disturb each other. The file
# made-of is written last: without it, the folder is not used.
install() {
    package=$(package_of "$1")
    if [ "$(cat "$place/$1/made-of" 2>/dev/null)" = "$NODE $package" ]; then return; fi
    began=$(date +%s)
    seconds=$((end - began))
    if [ "$seconds" -gt "$INSTALL_LIMIT_S" ]; then seconds=$INSTALL_LIMIT_S; fi
    if [ "$seconds" -le 0 ]; then
        echo "$1: $package was not tried: the time for all installations, $limit s, is over" >&2
        return 1
    fi
    rm -rf "${place:?}/$1"
    mkdir -p "$place/$1"
    # -k: npm may wait for a server and not hear the first signal.
    timeout -k 5 "$seconds" npm install --silent --no-audit --no-fund \
        --cache "$PWD/.cache/npm" --prefix "$place/$1" "$package" >"$place/$1/npm.log" 2>&1 &&
        code=0 || code=$?
    case $code in
    0)
        echo "$NODE $package" >"$place/$1/made-of"
        echo "$1: installed $package in $(($(date +%s) - began)) s" >&2
        return
        ;;
    124 | 137) echo "$1: npm did not finish $package within $seconds s, and was ended" >&2 ;;
    *) echo "$1: npm could not install $package (code $code):" >&2 ;;
    esac
    tail -n 3 "$place/$1/npm.log" >&2
    return 1
}

hosts=''
options=''
install_only=''
limit=3600
while [ $# -gt 0 ]; do
    case $1 in
    --install-only) install_only=yes ;;
    --limit)
        limit=${2:?}
        shift
        ;;
    --load) options="$options --load" ;;
    --runs | --json)
        options="$options $1 ${2:?}"
        shift
        ;;
    *)
        if [ "$1" = node ] || ! package_of "$1" >/dev/null; then
            echo "unknown host or option: $1" >&2
            exit 2
        fi
        hosts="$hosts $1"
        ;;
    esac
    shift
done
hosts=${hosts:-claude codex openclaw opencode gemini qwen copilot cline continue}

end=$(($(date +%s) + limit))
failed=''
if install node; then
    PATH="$place/node/node_modules/.bin:$PATH"
    for host in $hosts; do
        install "$host" || failed="$failed $host"
    done
else
    failed=" $hosts"
fi
if [ -n "$failed" ]; then echo "not installed:$failed" >&2; fi
if [ -n "$install_only" ]; then
    [ -z "$failed" ]
    exit
fi

env=${NOTEWELL_ENV:-.cache/check}
if [ ! -x "$env/bin/notewell" ]; then
    echo "there is no $env/bin/notewell: run ./check first, or set NOTEWELL_ENV" >&2
    exit 1
fi
# shellcheck disable=SC2086 # Names of hosts and options have no spaces.
exec "$env/bin/python" -m tests.hosts.real.check \
    --hosts "$place" --homes "$place/homes" $options $hosts
