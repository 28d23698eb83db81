#!/bin/sh
# Textual and prompt_toolkit, and Shift+F3.
#
# xterm and what follows it write F3 with a modifier as `CSI 1 ; 2 R`, the form of an answer to "where is the
# cursor" (which is why kitty's protocol writes `CSI 13 ; 2 ~`). Expected: the key, since nothing was asked.
# Seen: both take Shift+F3 and Ctrl+F3 for the answer, always; Shift+F2 and Shift+F4 are keys (F14 and F16
# in prompt_toolkit, as on terminals of old). A binding on Shift+F3, "find previous", never fires.
# Keys: xterm's ctlseqs, PC-style function keys.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet textual==8.2.8 prompt_toolkit==3.0.53
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from prompt_toolkit.input.vt100_parser import Vt100Parser
from textual._xterm_parser import XTermParser


def of_textual(sent):
    (event,) = XTermParser(False).feed(sent)
    return getattr(event, "key", type(event).__name__)


def of_prompt_toolkit(sent):
    keys = []
    Vt100Parser(keys.append).feed(sent)
    return keys[0].key.value


KEYS = {
    "Shift+F2": ("\x1b[1;2Q", "shift+f2", "f14"),
    "Shift+F3": ("\x1b[1;2R", "CursorPosition", "<cursor-position-response>"),
    "Ctrl+F3": ("\x1b[1;5R", "CursorPosition", "<cursor-position-response>"),
    "Shift+F4": ("\x1b[1;2S", "shift+f4", "f16"),
}
print("textual", version("textual"), "prompt_toolkit", version("prompt_toolkit"))
changed = False
for name, (sent, *expected) in KEYS.items():
    seen = [of_textual(sent), of_prompt_toolkit(sent)]
    print(f"  {name}: {sent!r} is", *seen)
    changed |= seen != expected
sys.exit(changed)
PYTHON
