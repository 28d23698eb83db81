#!/bin/sh
# Textual and keys in xterm's other spelling.
#
# tmux with extended-keys (its default form), xterm and mintty with modifyOtherKeys spell Ctrl+Enter
# `CSI 27 ; 5 ; 13 ~`. Expected: the name that kitty's spelling of the same key gets, as it is for Tab.
# Seen: for Enter, Backspace, Escape and letters a name with the character itself, "ctrl+\r", and Alt+Enter
# is "\r": a binding on "ctrl+enter" works in kitty and not in these.
# Spelling: xterm's ctlseqs, modifyOtherKeys and formatOtherKeys.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet textual==8.2.8
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from textual._xterm_parser import XTermParser

KEYS = {
    "Ctrl+Tab": ("\x1b[9;5u", "ctrl+tab", "\x1b[27;5;9~", "ctrl+tab"),
    "Ctrl+Enter": ("\x1b[13;5u", "ctrl+enter", "\x1b[27;5;13~", "ctrl+\r"),
    "Alt+Enter": ("\x1b[13;3u", "alt+enter", "\x1b[27;3;13~", "\r"),
    "Ctrl+Backspace": ("\x1b[127;5u", "ctrl+backspace", "\x1b[27;5;127~", "ctrl+\x7f"),
    "Ctrl+Escape": ("\x1b[27;5u", "ctrl+escape", "\x1b[27;5;27~", "ctrl+\x1b"),
    "Ctrl+Shift+A": ("\x1b[97;6u", "ctrl+shift+a", "\x1b[27;6;65~", "ctrl+A"),
}
print("textual", version("textual"))
changed = False
for name, (kitty, kitty_name, xterm, xterm_name) in KEYS.items():
    seen = [event.key for sent in (kitty, xterm) for event in XTermParser(False).feed(sent)]
    print(f"  {name}: {kitty!r} is {seen[0]!r}, {xterm!r} is {seen[1]!r}")
    changed |= seen != [kitty_name, xterm_name]
sys.exit(changed)
PYTHON
