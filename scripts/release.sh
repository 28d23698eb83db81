#!/bin/sh
# Build both distributions, check them as their users will meet them, and stop before uploading.
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin
out=dist

say() { printf '%s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

[ -z "$(git status --porcelain)" ] || fail "The tree has changes: commit or set them aside first."
# Times in the archives are the commit's, so the same commit makes the same files.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

for project in . virtual_phone; do
    version=$($bin/python -c 'import sys, tomllib; print(tomllib.load(open(sys.argv[1], "rb"))["project"]["version"])' "$project/pyproject.toml")
    grep -q "^## \[\{0,1\}$version" "$project/CHANGELOG.md" ||
        fail "$project/CHANGELOG.md has no section for $version: give what is unreleased its number."
done

$bin/python scripts/man_pages.py
[ -z "$(git status --porcelain)" ] || fail "The manual pages were stale: commit them."

rm -rf "$out"
for project in . virtual_phone; do
    say "Building $project"
    $bin/uv build --quiet --no-build-isolation --python $bin/python --out-dir "$out" "$project"
done

say "Installing them in clean environments"
SWITCHBOARD_WHEELS=$PWD/$out $bin/python -m pytest -q -p no:cacheprovider tests/slow/test_wheels.py

(cd "$out" && sha256sum ./*.whl ./*.tar.gz > SHA256SUMS && cat SHA256SUMS)
say ""
say "Nothing was uploaded. To publish: $bin/uv publish $out/*.whl $out/*.tar.gz"
