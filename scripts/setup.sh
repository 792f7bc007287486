# Sourced by ./try and ./check. Everything is installed inside this folder, nothing in the home folder.

export PIP_CACHE_DIR="$PWD/.cache/pip"
export PIP_DISABLE_PIP_VERSION_CHECK=1
export PIP_NO_INPUT=1

say() { printf '\n\033[1m%s\033[0m\n' "$*" >&2; }

find_python() {
    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    echo "Notewell needs Python 3.11 or newer, and none was found on the PATH." >&2
    return 1
}

# fetch_uv: put uv, which installs a lock in a tenth of pip's time, into .cache/uv. make_env uses it if
# it is there.
fetch_uv() {
    UV='uv==0.13.7'
    if [ "$(cat .cache/uv/made-of 2>/dev/null)" = "$UV" ]; then return; fi
    rm -rf .cache/uv
    "$(find_python)" -m venv .cache/uv && .cache/uv/bin/python -m pip install --quiet "$UV" &&
        echo "$UV" >.cache/uv/made-of
}

# install_lock ENV LOCK: with uv, from the index that pip is set up with; with pip if that fails.
install_lock() {
    if [ -f .cache/uv/made-of ]; then
        index=$("$1/bin/python" -m pip config list | sed -n "s/^[^=]*\.index-url='\(.*\)'$/\1/p" | tail -n 1)
        if UV_CACHE_DIR="$PWD/.cache/uv-cache" timeout 300 .cache/uv/bin/uv pip install --quiet \
            ${index:+--default-index "$index"} --python "$1/bin/python" --require-hashes -r "$2"; then
            return
        fi
        echo 'uv could not install all packages: pip tries' >&2
    fi
    # Bytecode of every module, tests of numpy included, is 30 MB and most of the time; Python writes
    # that of the modules that are used.
    "$1/bin/python" -m pip install --quiet --no-compile --require-hashes -r "$2"
}

# make_env FOLDER LOCK: a virtual environment with exactly the packages of LOCK; recreated when LOCK changes.
make_env() {
    env_stamp="$1/made-from.lock"
    if cmp -s "$2" "$env_stamp"; then return; fi
    say "Setting up $1 (once; a minute or two)"
    python=$(find_python)
    rm -rf "$1"
    if ! "$python" -m venv "$1"; then
        echo "$python cannot make virtual environments: install its venv package" >&2
        echo "(Debian, Ubuntu: apt install python3-venv)" >&2
        return 1
    fi
    install_lock "$1" "$2"
    cp "$2" "$env_stamp"
}
