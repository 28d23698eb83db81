#!/bin/sh
# Textual and a mouse with buttons at its side.
#
# xterm's mouse protocol reports the buttons 8 to 11 (back, forward and two more) with 128 added, and
# kitty, foot, WezTerm and xterm send them. Expected: other buttons, or nothing. Seen: back is button 1 and
# forward button 2, so the browser's "back" clicks on what lies below the pointer.
# Encoding: xterm's ctlseqs, "Other buttons".
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet textual==8.2.8
"$folder/env/bin/python" - <<'PYTHON'
import asyncio
import sys
from importlib.metadata import version

from textual._xterm_parser import XTermParser
from textual.app import App
from textual.widgets import Button

print("textual", version("textual"))
seen = {}
for name, code in {"left": 0, "right": 2, "back": 128, "forward": 129}.items():
    (event,) = XTermParser(False).feed(f"\x1b[<{code};10;5M")
    seen[name] = (type(event).__name__, event.button)
    print(f"  {name}: {seen[name]}")


class Pay(App):
    pressed = 0

    def compose(self):
        yield Button("Pay")

    def on_button_pressed(self):
        self.pressed += 1


async def press_back():
    app = Pay()
    async with app.run_test() as pilot:
        parser = XTermParser(False)
        for end in "Mm":
            for event in parser.feed(f"\x1b[<128;5;2{end}"):
                app._driver.process_message(event)
                await pilot.pause()
    return app.pressed


pressed = asyncio.run(press_back())
print("  a button below the pointer is pressed:", pressed, "time")
back = {"left": ("MouseDown", 1), "right": ("MouseDown", 3), "back": ("MouseDown", 1), "forward": ("MouseDown", 2)}
sys.exit(seen != back or pressed != 1)
PYTHON
