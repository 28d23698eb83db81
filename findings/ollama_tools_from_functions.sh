#!/bin/sh
# ollama's client for Python, and a function that is given as a tool.
#
# chat(tools=[swipe]) makes a JSON Schema from the function's annotations. Seen: Literal["up", "down"] is a
# string of any content; a list has no items; a parameter with a default is required unless it is
# Optional; `float | int` is of the type "integer, number", which JSON Schema does not know; an Enum's
# values stand under "defs", which nothing refers to. No word about any of it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet ollama==0.6.3
"$folder/env/bin/python" - <<'PYTHON'
import sys
from enum import Enum
from importlib.metadata import version
from typing import Literal, Optional

from ollama._utils import convert_function_to_tool


class Speed(Enum):
    SLOW = "slow"
    FAST = "fast"


def swipe(
    direction: Literal["up", "down"],
    path: list[int],
    times: int = 1,
    app: Optional[str] = None,
    seconds: float | int = 1,
    speed: Speed = Speed.SLOW,
) -> str:
    """Swipe over the screen."""


schema = convert_function_to_tool(swipe).model_dump(exclude_none=True)["function"]["parameters"]
properties = {
    name: {key: value for key, value in one.items() if key != "description"}
    for name, one in schema["properties"].items()
}
types = properties["seconds"]["type"].split(", ")
print("ollama", version("ollama"))
for name, one in properties.items():
    print(f"  {name}: {one}", "required" if name in schema["required"] else "")
print("  others:", {key: value for key, value in schema.items() if key not in ("properties", "required")})
expected = {
    "direction": {"type": "string"},
    "path": {"type": "array"},
    "times": {"type": "integer"},
    "app": {"type": "string"},
    "seconds": {"type": ", ".join(types)},  # In either order, by chance.
    "speed": {"type": "string"},
}
required = ["direction", "path", "times", "seconds", "speed"]
same = properties == expected and schema["required"] == required
sys.exit(not same or sorted(types) != ["integer", "number"] or "defs" not in schema)
PYTHON
