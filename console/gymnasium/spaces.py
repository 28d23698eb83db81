"""What a Gymnasium agent does and sees, as spaces, and the way from and to an episode.

Invariant: what `observed` returns is within `observation_space`, whatever the phone says; what is
not within `action_space` is refused by the field that is wrong.
"""

import string
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from agent.devices.protocols import Button
from agent.episodes.actions import LONGEST_TEXT_CHARS, MOST_DEGREES, RANGES, TOOLS
from agent.episodes.observation import EpisodeObservation
from agent.errors import UsageError
from agent.records import UiNode

TOOL_NAMES = tuple(TOOLS)
BUTTONS = tuple(str(one) for one in Button)
LONGEST_MS = 2_000
"""The longest that one gesture of a Gymnasium agent takes, in real milliseconds."""
LARGEST_ZOOM = 5.0
"""What a whole `zoom` of a Gymnasium agent enlarges to; none makes as small."""
SAMPLED_CHARS = 20
TEXT_CHARS = 2_000
"""What is longer is cut."""
FLAGS = (
    "checkable",
    "checked",
    "clickable",
    "enabled",
    "focusable",
    "focused",
    "scrollable",
    "long_clickable",
    "password",
    "selected",
)
"""What `flags` of a node says, in this order."""
_TEXTS = ("text", "description", "hint", "resource_id", "class_name", "package")


class AnyText(spaces.Text):
    """Text in any script, up to a length; samples are short and of printable ASCII.

    Gymnasium's own `Text` has an alphabet, which for all of Unicode would be a million letters.
    """

    def __init__(self, most_chars: int, *, seed: Any = None) -> None:
        letters = string.ascii_letters + string.digits + string.punctuation + " "
        super().__init__(most_chars, min_length=0, charset=letters, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a text of at most 20 characters."""
        if mask is None and probability is None:
            mask = (int(self.np_random.integers(min(SAMPLED_CHARS, self.max_length) + 1)), None)
        return str(super().sample(mask, probability))

    def contains(self, x: Any) -> bool:
        """Return whether this is a text and not too long."""
        return isinstance(x, str) and len(x) <= self.max_length

    def __repr__(self) -> str:
        return f"AnyText({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyText) and self.max_length == other.max_length

    # As the spaces of Gymnasium, which are compared by what they hold.
    __hash__ = None  # type: ignore[assignment]


def action_space() -> spaces.Dict:
    """Return what an agent may do: a tool, and the parts that it takes; it leaves the others.

    `point` is where a gesture begins, x and y from 0 to 1: also `x` of `scroll_…`, `y` of
    `swipe_left` and `swipe_right`. `end` is where a swipe ends, `duration` a share of 2,000 ms.
    `zoom`, `turn` and `fingers` are of several fingers: a pinch from a fifth (0) over as it is
    (0.5) to five times (1); a share of a whole turn; how many.
    """
    least, most = (int(one) for one in RANGES["fingers"])
    return spaces.Dict(
        {
            "tool": spaces.Discrete(len(TOOL_NAMES)),
            "point": spaces.Box(0.0, 1.0, (2,), np.float32),
            "end": spaces.Box(0.0, 1.0, (2,), np.float32),
            "distance": spaces.Box(0.0, 1.0, (1,), np.float32),
            "duration": spaces.Box(0.0, 1.0, (1,), np.float32),
            "text": AnyText(LONGEST_TEXT_CHARS),
            "button": spaces.Discrete(len(BUTTONS)),
            "zoom": spaces.Box(0.0, 1.0, (1,), np.float32),
            "turn": spaces.Box(-1.0, 1.0, (1,), np.float32),
            "fingers": spaces.Discrete(most - least + 1, start=least),
        }
    )


def called(action: Mapping[str, Any], space: spaces.Dict) -> tuple[str, dict[str, object]]:
    """Return the tool that an action names, with its parameters. Raises UsageError."""
    if not isinstance(action, Mapping) or set(action) != set(space.spaces):
        raise UsageError(
            "The action has other fields than its space.", f"It has {', '.join(space.spaces)}."
        )
    for name, inner in space.spaces.items():
        if not inner.contains(action[name]):
            raise UsageError(f"`{name}` of the action is not within its space.", f"It is {inner}.")
    tool = TOOL_NAMES[int(action["tool"])]
    x, y = (float(one) for one in action["point"])
    end_x, end_y = (float(one) for one in action["end"])
    values: dict[str, object] = {
        "x": x,
        "y": y,
        "x1": x,
        "y1": y,
        "x2": end_x,
        "y2": end_y,
        "distance": float(action["distance"][0]),
        "duration_ms": max(1, round(float(action["duration"][0]) * LONGEST_MS)),
        "text": str(action["text"]),
        "button": BUTTONS[int(action["button"])],
        "scale": LARGEST_ZOOM ** (2 * float(action["zoom"][0]) - 1),
        "degrees": float(action["turn"][0]) * MOST_DEGREES,
        "fingers": int(action["fingers"]),
    }
    return tool, {one.name: values[one.name] for one in TOOLS[tool].parameters}


def observation_space(looks: str, size_px: tuple[int, int]) -> spaces.Dict:
    """Return what an agent sees.

    Args:
        looks: `pixels`, `tree` or `both`.
        size_px: width and height of the pixels.
    """
    width, height = size_px
    parts: dict[str, Any] = {
        "goal": AnyText(TEXT_CHARS),
        "package": AnyText(TEXT_CHARS),
        "activity": AnyText(TEXT_CHARS),
        "quarter_turns": spaces.Discrete(4),
    }
    if looks != "tree":
        parts["pixels"] = spaces.Box(0, 255, (height, width, 3), np.uint8)
    if looks != "pixels":
        node: dict[str, Any] = {name: AnyText(TEXT_CHARS) for name in _TEXTS}
        node["bounds"] = spaces.Box(0.0, 1.0, (4,), np.float32)
        node["flags"] = spaces.MultiBinary(len(FLAGS))
        parts["tree"] = spaces.Sequence(spaces.Dict(node))
    return spaces.Dict(parts)


def observed(
    seen: EpisodeObservation, goal: str, looks: str, size_px: tuple[int, int]
) -> dict[str, Any]:
    """Return what was seen as `observation_space` has it; black and empty where nothing was."""
    width, height = size_px
    made: dict[str, Any] = {
        "goal": goal[:TEXT_CHARS],
        "package": seen.package[:TEXT_CHARS],
        "activity": seen.activity[:TEXT_CHARS],
        "quarter_turns": np.int64(seen.orientation // 90 % 4),
    }
    if looks != "tree":
        shape = (height, width, 3)
        made["pixels"] = (
            np.frombuffer(seen.rgb, np.uint8).reshape(shape).copy()
            if seen.rgb
            else np.zeros(shape, np.uint8)
        )
    if looks != "pixels":
        made["tree"] = tuple(_node(one) for one in seen.nodes)
    return made


def _node(one: UiNode) -> dict[str, Any]:
    box = one.bounds
    bounds = np.array((box.left, box.top, box.right, box.bottom), np.float32)
    made: dict[str, Any] = {name: getattr(one, name)[:TEXT_CHARS] for name in _TEXTS}
    made["bounds"] = np.clip(bounds, 0.0, 1.0)
    made["flags"] = np.array([getattr(one, name) for name in FLAGS], np.int8)
    return made
