#!/bin/sh
# Textual and the mouse mode that it leaves on.
#
# In a terminal that tells its size in-band (mode 2048: kitty, foot, Ghostty), Textual switches the mouse to
# pixels, `CSI ? 1016 h`. Expected: off again at the end. Seen: 1000, 1003, 1006 and 1015 are switched
# off, 2048 too, and 1016 is not; where modes are kept apart (foot), the next program that asks for the
# mouse's cells gets pixels.
# Modes: xterm's ctlseqs; 2048 is "in-band window resize notifications".
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet textual==8.2.8
"$folder/env/bin/python" - <<'PYTHON'
import os
import pty
import re
import sys
from importlib.metadata import version

APP = """
from textual.app import App

class Console(App):
    def on_resize(self, event):
        if event.pixel_size:
            self.set_timer(0.5, self.exit)

Console().run()
"""
child, terminal = pty.fork()
if child == 0:
    os.environ["TERM"] = "xterm-256color"
    os.execv(sys.executable, [sys.executable, "-c", APP])
written, answered = b"", False
try:
    while data := os.read(terminal, 65536):
        written += data
        if b"?2048$p" in written and not answered:  # Known and off; then on, with the size.
            answered = True
            os.write(terminal, b"\x1b[?2048;2$y\x1b[48;24;80;480;800t")
except OSError:  # The program has ended.
    pass
os.waitpid(child, 0)
on = {int(mode) for mode in re.findall(rb"\x1b\[\?(\d+)h", written)}
off = {int(mode) for mode in re.findall(rb"\x1b\[\?(\d+)l", written)}
print("textual", version("textual"))
print("  switched on: ", sorted(on))
print("  and off:     ", sorted(off))
print("  left on:     ", sorted(on - off))
sys.exit(not {1000, 1003, 1006, 1016, 2048} <= on or on - off != {1016})
PYTHON
