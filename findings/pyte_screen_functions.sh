#!/bin/sh
# pyte and what full-screen programs do with the screen.
#
# Seen: leaving the alternate screen leaves the program's picture where the shell was; `CSI 9 b` repeats
# nothing, although ncurses writes it for TERM=xterm-256color (terminfo's rep); `CSI S` scrolls nothing;
# NEL goes down and not to the first column; `CSI 3 J`, which clears what has been scrolled off, clears
# the screen; `CSI Z` does not go back. None is named in an error: each is passed over or read otherwise.
# Functions: xterm's ctlseqs; ECMA-48 8.3.86 (NEL), 8.3.103 (REP), 8.3.147 (SU), 8.3.7 (CBT).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pyte==0.8.2
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

import pyte

SEEN = {  # What is sent: the lines on a terminal, and on pyte.
    "$ app\x1b[?1049h\x1b[2J\x1b[HAPP\x1b[?1049l": (["$ app", "", ""], ["APP", "", ""]),
    "-\x1b[9b|": (["----------|", "", ""], ["-|", "", ""]),
    "a\r\nb\r\nc\x1b[1S": (["b", "c", ""], ["a", "b", "c"]),
    "one\x1bEtwo": (["one", "two", ""], ["one", "   two", ""]),
    "one\x1b[3J two": (["one two", "", ""], ["    two", "", ""]),
    "\t|\x1b[Zx": (["        x", "", ""], ["        |x", "", ""]),
}
print("pyte", version("pyte"))
changed = False
for sent, (expected, of_pyte) in SEEN.items():
    screen = pyte.Screen(20, 3)
    pyte.Stream(screen).feed(sent)
    lines = [line.rstrip() for line in screen.display]
    print(f"  {sent!r}: {lines}, not {expected}")
    changed |= lines != of_pyte
sys.exit(changed)
PYTHON
