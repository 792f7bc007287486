#!/bin/sh
# Print the path of the browser for tests/browser, and on standard error where it comes from.
#
#   export NOTEWELL_TEST_CHROMIUM="$(scripts/browser.sh)"
#
# 1. NOTEWELL_TEST_CHROMIUM if it is set. 2. The first Chromium or Chrome on the PATH. 3. As root on
# Debian or Ubuntu: install the package of the distribution. If all of this fails, the script says
# what to install, prints nothing on standard output and exits with 1.
set -eu

tell() { printf '%s\n' "$*" >&2; }

found() {
    # Its wrapper scripts may grumble on standard error; the version is all we want.
    tell "browser: $1 ($("$1" --version 2>/dev/null || echo 'version unknown')), $2"
    printf '%s\n' "$1"
    exit 0
}

on_path() {
    for name in chromium chromium-browser google-chrome-stable google-chrome; do
        if path=$(command -v "$name"); then found "$path" "$1"; fi
    done
}

if [ -n "${NOTEWELL_TEST_CHROMIUM:-}" ]; then
    if [ ! -x "$NOTEWELL_TEST_CHROMIUM" ]; then
        tell "NOTEWELL_TEST_CHROMIUM names $NOTEWELL_TEST_CHROMIUM, which cannot be run"
        exit 1
    fi
    found "$NOTEWELL_TEST_CHROMIUM" 'as NOTEWELL_TEST_CHROMIUM says'
fi
on_path 'was here'

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    tell 'no browser here: installing the chromium package'
    export DEBIAN_FRONTEND=noninteractive
    if apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends chromium >&2; then
        on_path 'installed now'
    fi
    tell 'the chromium package could not be installed'
fi
tell 'The browser tests need Chromium, and there is none. Install it and run this again:'
tell '  Debian, Ubuntu   sudo apt-get install chromium'
tell '  Fedora           sudo dnf install chromium'
tell '  macOS            brew install --cask chromium'
tell 'or set NOTEWELL_TEST_CHROMIUM to a Chrome or Chromium of yours.'
exit 1
