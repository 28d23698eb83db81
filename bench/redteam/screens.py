"""Read the short form of a screen, and lay it out as the nodes that a phone would send.

A line is an element: its kind, its words, and marks. Kinds:

    app PACKAGE ACTIVITY       what is in front
    title WORDS                the text at the top
    text WORDS                 a text
    button WORDS               a button across the screen
    tiles A / B / C            things side by side that can be pressed
    buttons A / B              the same as buttons, as a dialog has them
    row WORDS | MORE           a list's row
    field HINT = VALUE         a field; `secret HINT` one for a password
    switch WORDS on|off        a row with a switch; `radio WORDS on|off` with a choice
    icon WORDS                 a small button at the right; without words it has none
    bar A / B / C              small buttons in the bar at the top, at the right
    keypad LAST                the digits of a keypad, and its last key
    slider WORDS               something to slide
    over WORDS                 a button that lies over the element before
    inside WORDS               a text in the element before, which then has no words of its own
    dialog                     what follows stands in the middle of the screen

Marks: `#ID` a resource id, `*` selected, `!` focused, `~WORDS` a description beside the text.
Invariant: only what a tree can carry is written, so a case is judged as the same screen of a phone.
"""

import re
from dataclasses import dataclass, field

from agent.loop.screen.elements import number_elements
from agent.records import Bounds, Foreground, Observation, UiNode

_MARK = re.compile(r"\s+(?:#(?P<id>\w+)|(?P<selected>\*)|(?P<focused>!)|~(?P<said>[^#*]+))(?=\s|$)")
_STATE = re.compile(r"\s+(on|off)$")
_LINE = 0.052


class ScreenError(ValueError):
    """A screen is written in a way that means nothing; the text names the line."""


@dataclass
class _Draft:
    package: str = "com.example.app"
    activity: str = ".MainActivity"
    nodes: list[UiNode] = field(default_factory=list)
    y: float = 0.16

    def add(self, text: str, at: tuple[float, float, float, float], **more: object) -> None:
        left, top, right, bottom = at
        bounds = Bounds(left=left, top=top, right=right, bottom=bottom)
        fields: dict[str, object] = {"class_name": "android.widget.TextView", **more}
        name = fields.pop("id", "") or ""
        self.nodes.append(
            UiNode(
                text=text,
                bounds=bounds,
                package=self.package,
                resource_id=f"{self.package}:id/{name}" if name else "",
                **fields,  # type: ignore[arg-type]
            )
        )

    def line(self, height: float = _LINE - 0.006) -> tuple[float, float]:
        top = self.y
        self.y = top + height + 0.006
        return top, top + height


def observe(text: str, at_ms: int = 1) -> Observation:
    """Return a screen in its short form as an observation.

    Raises:
        ScreenError: a line is of no kind that there is.
    """
    draft = _Draft()
    for line in filter(None, (line.strip() for line in text.splitlines())):
        kind, _, rest = line.partition(" ")
        _element(draft, kind, rest, line)
    foreground = Foreground(package=draft.package, activity=draft.activity)
    return Observation(
        started_ms=at_ms,
        ended_ms=at_ms + 1,
        foreground=foreground,
        elements=number_elements(draft.nodes, redact=str),
    )


def _marks(rest: str) -> tuple[str, dict[str, object]]:
    more: dict[str, object] = {}
    rest = f" {rest}"
    for match in _MARK.finditer(rest):
        if match["id"]:
            more["id"] = match["id"]
        if match["selected"]:
            more["selected"] = True
        if match["focused"]:
            more["focused"] = True
        if match["said"]:
            more["description"] = match["said"].strip()
    return _MARK.sub("", rest).strip(), more


def _element(draft: _Draft, kind: str, rest: str, line: str) -> None:
    match kind:
        case "app":
            draft.package, _, activity = rest.partition(" ")
            draft.activity = activity.strip() or draft.activity
        case "dialog":
            draft.y = 0.4
        case "title":
            words, more = _marks(rest)
            top = 0.06 if draft.y < 0.2 else draft.line()[0]
            draft.add(words, (0.2, top, 0.9, top + 0.04), **more)
        case "text":
            words, more = _marks(rest)
            top, bottom = draft.line()
            left, _, right = words.partition(" | ")
            draft.add(left, (0.06, top, 0.6 if right else 0.94, bottom), **more)
            if right:
                draft.add(right, (0.65, top, 0.94, bottom))
        case "button":
            words, more = _marks(rest)
            top, bottom = draft.line()
            draft.add(words, (0.06, top, 0.94, bottom), clickable=True, **_button(more))
        case "tiles" | "buttons" | "bar":
            _side_by_side(draft, kind, rest)
        case "row":
            words, more = _marks(rest)
            top, bottom = draft.line()
            said = words.split(" | ")
            shape = {"class_name": "android.view.ViewGroup", "clickable": True, **more}
            draft.add("", (0.0, top, 1.0, bottom), **shape)
            parent = len(draft.nodes) - 1
            for at, part in enumerate(said):
                draft.add(
                    part, (0.05 + at * 0.4, top + 0.01, 0.4 + at * 0.4, bottom), parent=parent
                )
        case "field" | "secret":
            _field(draft, kind, rest)
        case "switch" | "radio":
            _choice(draft, kind, rest)
        case "icon":
            words, more = _marks(rest)
            top = draft.nodes[-1].bounds.top if draft.nodes else 0.8
            bottom = draft.nodes[-1].bounds.bottom if draft.nodes else 0.85
            shape = {"class_name": "android.widget.ImageButton", "clickable": True, **more}
            shape.setdefault("description", words)
            draft.add("", (0.88, top, 0.99, bottom), **shape)
        case "keypad":
            _keypad(draft, rest)
        case "slider":
            words, more = _marks(rest)
            top, bottom = draft.line()
            draft.add(words, (0.06, top, 0.94, bottom), class_name="android.view.View", **more)
        case "over":
            words, more = _marks(rest)
            b = draft.nodes[-1].bounds
            inner = (b.left + 0.1, b.top + 0.005, b.right - 0.1, b.bottom - 0.005)
            draft.add(words, inner, clickable=True, class_name="android.view.View", **more)
        case "inside":
            words, more = _marks(rest)
            b = draft.nodes[-1].bounds
            parent = len(draft.nodes) - 1
            within = (b.left + 0.02, b.top + 0.004, b.right - 0.02, b.bottom - 0.004)
            draft.add(words, within, parent=parent, **more)
        case _:
            raise ScreenError(f"{kind!r} is no kind of element: {line!r}")


def _button(more: dict[str, object]) -> dict[str, object]:
    return {"class_name": "android.widget.Button", **more}


def _side_by_side(draft: _Draft, kind: str, rest: str) -> None:
    parts = [part.strip() for part in rest.split(" / ")]
    if kind == "bar":
        width, top, bottom = 0.1, 0.05, 0.1
        left = 1.0 - width * len(parts)
    else:
        top, bottom = draft.line()
        left, width = 0.02, 0.96 / len(parts)
    for at, part in enumerate(parts):
        words, more = _marks(part)
        place = (left + at * width, top, left + (at + 0.95) * width, bottom)
        if kind == "buttons":
            draft.add(words, place, clickable=True, **_button(more))
        elif kind == "bar":
            shape = {"class_name": "android.widget.ImageButton", "clickable": True, **more}
            shape.setdefault("description", words)
            draft.add("", place, **shape)
        else:
            shape = {"class_name": "android.view.View", "clickable": True, **more}
            draft.add(words, place, **shape)


def _field(draft: _Draft, kind: str, rest: str) -> None:
    words, more = _marks(rest)
    hint, _, value = words.partition(" = ")
    top, bottom = draft.line()
    draft.add(
        value.strip().replace("\\n", "\n"),
        (0.06, top, 0.86, bottom),
        hint=hint.strip(),
        clickable=True,
        password=kind == "secret",
        **{"class_name": "android.widget.EditText", **more},
    )


def _choice(draft: _Draft, kind: str, rest: str) -> None:
    state = _STATE.search(f" {_marks(rest)[0]}")
    words, more = _marks(rest)
    words = _STATE.sub("", words)
    checked = state is not None and state[1] == "on"
    top, bottom = draft.line()
    draft.add(
        "",
        (0.0, top, 1.0, bottom),
        clickable=True,
        **{"class_name": "android.widget.LinearLayout", **more},
    )
    parent = len(draft.nodes) - 1
    draft.add(words, (0.05, top + 0.01, 0.7, bottom - 0.005), parent=parent)
    name = "Switch" if kind == "switch" else "RadioButton"
    draft.add(
        "",
        (0.85, top, 0.98, bottom),
        parent=parent,
        checkable=True,
        checked=checked,
        class_name=f"android.widget.{name}",
    )


def _keypad(draft: _Draft, rest: str) -> None:
    last, more = _marks(rest)
    for row in ("123", "456", "789", f"<0{'>' if last else ''}"):
        top, bottom = draft.line()
        for at, key in enumerate(row):
            place = (0.1 + at * 0.28, top, 0.35 + at * 0.28, bottom)
            if key == "<":
                shape: dict[str, object] = {"description": "Delete", "id": "backspace"}
                draft.add(
                    "", place, clickable=True, class_name="android.widget.ImageButton", **shape
                )
            elif key == ">":
                draft.add(last, place, clickable=True, **_button(more))
            else:
                draft.add(key, place, clickable=True, class_name="android.widget.Button")
