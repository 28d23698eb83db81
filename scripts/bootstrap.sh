#!/bin/sh
# Make a virtual environment that holds exactly what requirements.lock names, and Switchboard
# and its virtual phone themselves.
# Expects a Python 3.11 or newer with the venv module; uv comes from the package index.
set -eu
venv=${1:-.venv}

say() { printf '%s\n' "$*" >&2; }

usable() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

python=
# A name on PATH may be a shim for a version that is not installed, so each candidate is run.
for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python3.14 python; do
    if command -v "$candidate" >/dev/null 2>&1 && usable "$candidate"; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    say "Switchboard needs Python 3.11 or newer with the venv module."
    say "Install it (on Debian: apt-get install python3 python3-venv), or name one: make PYTHON=/path/to/python3.12"
    exit 1
fi

if ! usable "$venv/bin/python"; then
    say "Making $venv with $("$python" --version)"
    rm -rf "$venv"
    "$python" -m venv "$venv"
fi
if ! "$venv/bin/uv" --version >/dev/null 2>&1; then
    say "Installing uv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
        --require-hashes -r requirements-tools.lock
fi

# --no-deps: the locks are complete.
install() {
    "$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --no-deps "$@"
}

say "Installing what requirements.lock names"
if ! install --require-hashes -r requirements.lock; then
    # uv trusts the authorities that it brings; a company's own are in the system's store.
    say "Trying again with the certificates of this system"
    export UV_NATIVE_TLS=1
    install --require-hashes -r requirements.lock
fi
# What builds us is of the tools' lock too: an isolated build would fetch it without a hash.
install --require-hashes -r requirements-tools.lock
install --no-build-isolation --editable . --editable ./virtual_phone
say "Ready: $venv/bin/switchboard"
