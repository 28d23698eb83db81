#!/bin/sh
# textual-image and a key that is pressed while a program starts.
#
# Importing its widget asks the terminal three questions (sixel, kitty's pictures, the size of a cell) and
# reads the answers from the input. Expected: the answers, and what was typed is left for the program.
# Seen: with one key typed ahead no answer is found, the key is gone, the cells are taken to be 10x20
# pixels although the terminal said 9x18, and the answers lie in the input as if they had been typed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet textual-image==0.12.0 textual==8.2.8
cat > "$folder/program.py" <<'PYTHON'
import os
import select
import sys
import tty

tty.setcbreak(0)
print("READY", flush=True)
select.select([0], [], [], float(sys.argv[1]))  # Until a key is typed.
import textual_image.widget  # noqa: F401
from textual_image._terminal import get_cell_size

left = b""
while select.select([0], [], [], 0.5)[0]:
    left += os.read(0, 4096)
print("RESULT", (tuple(get_cell_size()), left), flush=True)
PYTHON
"$folder/env/bin/python" - "$folder/program.py" <<'PYTHON'
import ast
import fcntl
import os
import pty
import re
import struct
import sys
import termios
from importlib.metadata import version

QUESTION = re.compile(rb"\x1b\[c|\x1b\[16t|\x1b_Gi=(\d+)[^\x1b]*\x1b\\")


def answer(question):
    if question[0] == b"\x1b[c":
        return b"\x1b[?62;4;22c"
    return b"\x1b[6;18;9t" if question[0] == b"\x1b[16t" else b"\x1b_Gi=" + question[1] + b";OK\x1b\\"


def run(typed):
    """Run the program in a terminal that answers, and return the size of its cells and what it can read."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.executable, [sys.executable, sys.argv[1], "60" if typed else "0"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    written, read_to, wait = b"", 0, True
    try:
        while data := os.read(terminal, 65536):
            written += data
            if wait and b"READY" in written:
                wait = False
                os.write(terminal, typed)
            for question in QUESTION.finditer(written, read_to):
                read_to = question.end()
                os.write(terminal, answer(question))
    except OSError:  # The program has ended.
        pass
    os.waitpid(child, 0)
    return ast.literal_eval(re.search(rb"RESULT (.*)", written)[1].decode())


print("textual-image", version("textual-image"))
seen = {typed: run(typed) for typed in (b"", b"y")}
for typed, (cell, left) in seen.items():
    print(f"  typed {typed!r}: a cell is {cell}, left in the input: {left!r}")
cell, left = seen[b"y"]
sys.exit(seen[b""] != ((9, 18), b"") or cell != (10, 20) or b"y" in left or b"\x1b[6;18;9t" not in left)
PYTHON
