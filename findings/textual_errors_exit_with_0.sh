#!/bin/sh
# Textual and how a program ends that died of an exception.
#
# Expected of App().run(): the exception, or at least a status other than 0, as from any program in Python.
# Seen: a traceback is printed and run() returns, so the program ends with 0, after an exception in a
# handler, after exit(return_code=3) and after panic() alike; a service manager, `make` or CI takes it for
# success. (app.return_code knows the first two, for a sys.exit() of one's own; after panic() it is 0 too.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet textual==8.2.8
cat > "$folder/app.py" <<'PYTHON'
import sys

from textual.app import App


class Console(App):
    def on_ready(self):
        match sys.argv[1]:
            case "exception":
                raise ValueError("no phone")
            case "return code":
                self.exit(return_code=3)
            case "panic":
                self.panic("no phone")


app = Console()
app.run()
if sys.argv[2] == "asked":
    sys.exit(app.return_code)
PYTHON
"$folder/env/bin/python" - "$folder/app.py" <<'PYTHON'
import os
import pty
import sys
from importlib.metadata import version


def status(*words):
    """Run the program in a terminal of its own, and return what it ends with."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.executable, [sys.executable, sys.argv[1], *words])
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:  # The program has ended.
        pass
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


print("textual", version("textual"))
seen = {}
for ending in ("exception", "return code", "panic"):
    seen[ending] = (status(ending, ""), status(ending, "asked"))
    print(f"  {ending}: ends with {seen[ending][0]}; app.return_code is {seen[ending][1]}")
sys.exit(list(seen.values()) != [(0, 1), (0, 3), (0, 0)])
PYTHON
