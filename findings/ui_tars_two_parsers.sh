#!/bin/sh
# UI-TARS and the two parsers of its actions, on PyPI and on npm.
#
# The model writes one call, and its prompt asks for \' and \n in texts, "so that we can parse the content
# in normal python string format". Expected: both parsers type the same text, the one that was meant. Seen:
# the one on npm keeps the backslashes and ends a text at the first comma behind a \'; of a text
# with "Action:" in it, it makes an action without a name and no error, where PyPI's raises one. Both write
# "start_box=" for every "point=" in a text, a link's too, and take the blanks before a text away.
# Calls: the action space in ui_tars.prompt, MOBILE_USE_DOUBAO.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet ui-tars==0.5.1 jsonschema==4.26.0
npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$folder" @ui-tars/action-parser@1.2.3
cat > "$folder/calls.json" <<'JSON'
[
  "type(content='Don\\'t call')",
  "type(content='Don\\'t call, please')",
  "type(content='two\\nlines')",
  "type(content='https://example.com/map?point=3')",
  "type(content='Action: none')",
  "type(content='  two blanks')",
  "finished(content='It\\'s done, see list')"
]
JSON
cat > "$folder/ask.cjs" <<'NODE'
const { actionParser } = require("@ui-tars/action-parser");
const { version } = require("@ui-tars/action-parser/package.json");
console.error("@ui-tars/action-parser", version);
console.error = () => {}; // It logs what it cannot parse.
const seen = require("./calls.json").map((call) => {
  const prediction = `Thought: I do it.\nAction: ${call}`;
  const screenContext = { width: 1080, height: 2400 };
  const { parsed } = actionParser({ prediction, factor: 1000, screenContext, modelVer: "1.5" });
  return parsed.map((one) => [one.action_type, one.action_inputs.content ?? null]);
});
console.log(JSON.stringify(seen));
NODE
node "$folder/ask.cjs" > "$folder/npm.json"
"$folder/env/bin/python" - "$folder" <<'PYTHON'
import contextlib
import io
import json
import sys
from importlib.metadata import version
from pathlib import Path

from ui_tars.action_parser import parse_action_to_structure_output

folder = Path(sys.argv[1])
calls = json.loads((folder / "calls.json").read_text())
EXPECTED = [
    ("Don't call", "Don\\'t call"),
    ("Don't call, please", "Don\\'t call"),
    ("two\nlines", "two\\nlines"),
    ("https://example.com/map?start_box=3", "https://example.com/map?start_box=3"),
    ("ValueError", None),
    ("two blanks", "two blanks"),
    ("It's done, see list", "It\\'s done"),
]


def parsed(call):
    with contextlib.redirect_stdout(io.StringIO()):  # It prints what it cannot parse.
        try:
            one = parse_action_to_structure_output(f"Thought: I do it.\nAction: {call}", 1000, 2400, 1080)
        except ValueError:
            return "ValueError"
    return one[0]["action_inputs"]["content"]


print("ui-tars", version("ui-tars"))
seen = []
for call, [[action, other]] in zip(calls, json.loads((folder / "npm.json").read_text()), strict=True):
    seen.append((parsed(call), other))
    print(f"  {call}\n    PyPI: {seen[-1][0]!r}\n    npm: {action!r} {other!r}")
sys.exit(seen != EXPECTED)
PYTHON
