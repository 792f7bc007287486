#!/bin/sh
# Print the path of PgBouncer for tests/hardening/database, and on standard error where it comes from.
#
#   export NOTEWELL_TEST_PGBOUNCER="$(scripts/pgbouncer.sh)"
#
# The one on the PATH or of Debian; as root on Debian or Ubuntu the package is installed. If there is
# none, the script prints nothing on standard output and exits with 1.
set -eu

tell() { printf '%s\n' "$*" >&2; }

here() {
    for path in "$(command -v pgbouncer || :)" /usr/sbin/pgbouncer; do
        if [ -x "$path" ]; then
            tell "PgBouncer: $path, $1"
            printf '%s\n' "$path"
            exit 0
        fi
    done
}

here 'was here'
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    tell 'no PgBouncer here: installing the package'
    export DEBIAN_FRONTEND=noninteractive
    if apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends pgbouncer >&2; then
        here 'installed now'
    fi
fi
tell 'The tests behind a pooler need PgBouncer: install the package pgbouncer of your system.'
exit 1
