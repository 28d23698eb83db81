#!/bin/sh
# aiogram and what a button knows of itself.
#
# CallbackData packs a button's fields into its `callback_data` and reads them when the button is pressed.
# Expected: what was packed comes back, or an error. Seen: None and "" are both written as nothing, and
# nothing is read as the field's default: a button with allowed=None, "not decided", comes back with
# allowed=True where that is the default, and a text "" as the default text or None. A number in a field
# `str | int` comes back as a text. (A `:` in a text does raise an error.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet aiogram==3.31.0
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from aiogram.filters.callback_data import CallbackData


class Button(CallbackData, prefix="step"):
    allowed: bool | None = True
    text: str = "OK"
    note: str | None = None
    limit: int | None = 5
    phone: str | int = "all"


BUTTONS = [
    (Button(), Button()),
    (Button(allowed=False, text="No", limit=0), Button(allowed=False, text="No", limit=0)),
    (Button(allowed=None), Button(allowed=True)),
    (Button(text=""), Button(text="OK")),
    (Button(note=""), Button(note=None)),
    (Button(limit=None), Button(limit=5)),
    (Button(phone=7), Button(phone="7")),
]
print("aiogram", version("aiogram"))
changed = False
for button, expected in BUTTONS:
    seen = Button.unpack(button.pack())
    lost = [f"{name}={value!r} -> {getattr(seen, name)!r}" for name, value in button if getattr(seen, name) != value]
    print(f"  {button.pack()}: {', '.join(lost) or 'as it was'}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
