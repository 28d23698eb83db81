#!/bin/sh
# pyte and what programs of today write with `m`, and around it.
#
# `CSI > 4 ; 2 m` switches xterm's modifyOtherKeys on (vim and tmux write it) and `CSI ? 4 m` asks for
# it; a colon joins the parts of a colour or of an underline's shape; `CSI 58 ; 2 ; R ; G ; B m` is an
# underline's colour; APC strings carry kitty's pictures. Expected: each is taken or passed over.
# Seen: text becomes underlined, bold or italic, parameters and payloads are printed as text, and the
# question raises TypeError, because private marks other than `?` are dropped and colons end a sequence.
# Sequences: xterm's ctlseqs, ECMA-48 8.3.117, kitty's graphics protocol.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pyte==0.8.2
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version
import pyte

print("pyte", version("pyte"))
SEEN = {
    "\x1b[38;5;196mx": ("x", {"fg": "ff0000"}),
    "\x1b[>4;2mx": ("x", {"underscore": True}),
    "\x1b[58;2;1;2;3mx": ("x", {"bold": True, "italics": True}),
    "\x1b[38:2::255:0:0mx": ("2::255:0:0mx", {}),
    "\x1b[4:3mx": ("3mx", {}),
    "\x1b_Gi=1;AAAA\x1b\\x": ("Gi=1;AAAAx", {}),
    "\x1b[?4mx": (TypeError, {}),
}
changed = False
for sent, expected in SEEN.items():
    screen = pyte.Screen(20, 1)
    try:
        pyte.Stream(screen).feed(sent)
        look = screen.buffer[0][0]._asdict()
        marks = {key: look[key] for key in look if key != "data" and look[key] not in (False, "default")}
        seen = (screen.display[0].rstrip(), marks)
    except TypeError as error:
        print(f"{sent!r} -> TypeError: {error}")
        seen = (TypeError, {})
    else:
        print(f"{sent!r} -> {seen}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
