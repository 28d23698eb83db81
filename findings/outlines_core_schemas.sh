#!/bin/sh
# outlines-core and three keywords of a JSON Schema that it takes.
#
# A schema becomes a regular expression that holds a model to it. Expected of a keyword that an expression
# cannot express: an error, as for `not`. Seen: `allOf` of two objects asks for one behind the other,
# {…}{…}, which is no JSON; `pattern` is left out where `maxLength` stands beside it; `minimum`, `maximum`
# and `multipleOf` are left out always, so a tap's x may be 5000 on a screen of 1080.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet outlines-core==0.2.14
"$folder/env/bin/python" - <<'PYTHON'
import json
import re
import sys
from importlib.metadata import version

from outlines_core.json_schema import build_regex_from_schema


def asks(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)}


BOTH = {"allOf": [asks(x={"type": "integer"}), asks(y={"type": "integer"})]}
WORD = {"type": "string", "pattern": "^[a-z]+$"}
X = {"type": "integer", "minimum": 0, "maximum": 1080, "multipleOf": 2}
CASES = [
    (BOTH, '{"x":1,"y":2}', False),
    (BOTH, '{"x":1}{"y":2}', True),
    (WORD, '"A1"', False),
    ({**WORD, "maxLength": 3}, '"A1"', True),
    (X, "5001", True),
    (X, "-7", True),
]
print("outlines-core", version("outlines-core"))
changed = False
for schema, text, expected in CASES:
    taken = re.fullmatch(build_regex_from_schema(json.dumps(schema)), text) is not None
    print(f"  {json.dumps(schema)[:74]}: {text} {'taken' if taken else 'refused'}")
    changed |= taken != expected
try:
    build_regex_from_schema(json.dumps({"not": {"type": "string"}}))
    changed = True
except ValueError:
    print('  {"not": …}: ValueError')
sys.exit(changed)
PYTHON
