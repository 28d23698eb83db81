#!/bin/sh
# Textual's parser and a terminal that says that it never synchronises its output.
#
# A program asks for a mode with DECRQM (`CSI ? 2026 $ p`); the answer's number is 0 not known,
# 1 set, 2 reset, 3 always set, 4 always reset: known by name and not to be had. VTE answers 4.
# Expected: 0 and 4 mean no. Seen: only 0 does; 4 counts as support.
# Numbers: DECRPM in DEC's STD 070 and xterm's ctlseqs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet textual==8.2.8
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version
from textual._xterm_parser import XTermParser

print("textual", version("textual"))
seen = {}
for number in range(5):
    events = [type(one).__name__ for one in XTermParser(False).feed(f"\x1b[?2026;{number}$y")]
    seen[number] = "TerminalSupportsSynchronizedOutput" in events
    print(f"CSI ? 2026 ; {number} $ y -> {events}")
sys.exit(seen != {0: False, 1: True, 2: True, 3: True, 4: True})
PYTHON
