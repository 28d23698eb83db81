#!/bin/sh
# Textual's parser and keys that carry an event type.
#
# With kitty's keyboard protocol a key may say whether it was pressed, repeated or released
# (`CSI 13;1:3u` is Enter going up), and which other keys it stands for (`CSI 97:65;2u`). Terminals
# send both once a program before has switched them on and ended without switching them off.
# Expected of a parser: a key, or nothing. Seen: the parser raises ValueError.
# Protocol: https://sw.kovidgoyal.net/kitty/keyboard-protocol/
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
KEYS = {
    "Enter, pressed, without an event type": ("\x1b[13;1u", "enter"),
    "Enter, released": ("\x1b[13;1:3u", ValueError),
    "a, repeated": ("\x1b[97;1:2u", ValueError),
    "Up, released": ("\x1b[1;1:3A", ValueError),
    "shift+a, with the shifted key beside it": ("\x1b[97:65;2u", ValueError),
}
changed = False
for name, (sent, expected) in KEYS.items():
    try:
        seen = [event.key for event in XTermParser(False).feed(sent)]
        same = seen == [expected]
    except ValueError as error:
        seen, same = f"ValueError: {error}", expected is ValueError
    print(f"{name}: {sent!r} -> {seen}")
    changed |= not same
sys.exit(changed)
PYTHON
