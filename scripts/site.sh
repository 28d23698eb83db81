#!/bin/sh
# Build the documentation site in an environment of its own, with exactly what
# requirements-site.lock names. Expects uv as the first argument.
set -eu
uv=$1
venv=build/site-venv

if ! [ -x "$venv/bin/python" ]; then
    "$uv" venv --quiet --python "$(dirname "$uv")/python" "$venv"
fi
"$uv" pip install --quiet --python "$venv/bin/python" --no-deps --require-hashes -r requirements-site.lock
"$venv/bin/python" scripts/site_pages.py
"$venv/bin/zensical" build --strict --clean
printf 'Read it: build/site/index.html\n' >&2
