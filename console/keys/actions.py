"""The one registry of actions: keys, names, sentences. Bindings, footer, palette, help and
docs/keys.md are made from it.

Only a table and its readings; nothing is done here. Invariants: an action that is listed exists;
no two actions that can meet on a screen share a key; ids never change, so that a keymap can name
them.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from textual.binding import Binding

from console.keys.action_table import TABLE


class Where(StrEnum):
    """On which screen an action is at home."""

    EVERYWHERE = "everywhere"
    DECK = "deck"
    WALL = "wall"
    JOBS = "jobs"
    HISTORY = "history"
    REPLAY = "replay"
    COMPARE = "compare"
    DEVICE = "device"
    SETTINGS = "settings"


class Action(NamedTuple):
    """One thing the operator can do.

    `rank` orders the footer, 0 keeps it out. `in_text` actions also work while typing and over a
    dialog. `own` actions are bound by the widget that has the focus, not by the registry. What is
    typed after one that `writes` is a text. One that `acts` changes something in the core: a
    console that only looks does not offer it.
    """

    id: str
    keys: tuple[str, ...]
    title: str
    sentence: str
    where: Where
    group: str
    rank: int = 0
    in_text: bool = False
    own: bool = False
    writes: bool = False
    acts: bool = False


def _read(table: str) -> Iterator[Action]:
    """Read the form that `console.keys.action_table` describes."""
    where, group = Where.EVERYWHERE, ""
    for entry in filter(None, re.split(r"\n(?! )", table.strip())):
        row, *sentence = entry.splitlines()
        if section := re.fullmatch(r"\[(.+): (.+)\]", row):
            where, group = Where(section[1]), section[2]
        else:
            name, keys, title, *more = re.split(r" {2,}", row)
            flags = "".join(more).split(", ")
            yield Action(
                name,
                tuple(keys.split()),
                title,
                " ".join(line.strip() for line in sentence),
                where,
                group,
                rank=next((int(one[5:]) for one in flags if one.startswith("rank ")), 0),
                in_text="in text" in flags,
                own="own" in flags,
                writes="writes" in flags,
                acts="acts" in flags,
            )


ACTIONS: tuple[Action, ...] = tuple(_read(TABLE))

BY_ID: dict[str, Action] = {action.id: action for action in ACTIONS}

# F1 and the palette's chord are no characters, so they can work while typing.
_CHORDS = {"ctrl+p", "f1", "ctrl+t"}

_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "comma": ",",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "number_sign": "#",
    "exclamation_mark": "!",
    "colon": ":",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "asterisk": "*",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "escape": "esc",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "f1": "F1",
    "f2": "F2",
    "f3": "F3",
    "f4": "F4",
    "f5": "F5",
    "f6": "F6",
    "ctrl+x": "^x",
    "ctrl+p": "^p",
    "ctrl+q": "^q",
    "ctrl+d": "^d",
    "ctrl+u": "^u",
    "ctrl+t": "^t",
    "ctrl+z": "^z",
}

KEY_OF_NAME = {name: key for key, name in _NAMES.items()}
"""Keys by how the operator reads them."""

MOVABLE = frozenset(
    {
        "view.down",
        "view.up",
        "view.first",
        "view.last",
        "view.page_down",
        "view.page_up",
        "wall.left",
        "wall.right",
        "question.wheel",
    }
)
"""Actions whose keys a keymap may change although widgets bind them under the same id."""


PRESSED = frozenset({"enter", "space"})
"""Keys that the palette presses for the operator, where the focus was when it was opened."""

WAY_TO = {
    Where.DECK: ("On the Deck", "screen.deck"),
    Where.WALL: ("On the Wall", "screen.wall"),
    Where.JOBS: ("On the Jobs screen", "screen.jobs"),
    Where.HISTORY: ("In the History", "screen.history"),
    Where.REPLAY: ("In a replay", "session.replay"),
    Where.COMPARE: ("Where two sessions are compared", "history.compare"),
    Where.DEVICE: ("On the screen of a phone", "device.open"),
    Where.SETTINGS: ("In the Settings", "screen.settings"),
}
"""Where the actions of a screen can be done, and the action that leads there."""


def key_name(key: str) -> str:
    return _NAMES.get(key, key)


def bindings(where: Where) -> list[Binding]:
    """Make the bindings of a screen, or of the app for what works everywhere."""
    made: list[Binding] = []
    for action in ACTIONS:
        if action.where is not where or action.own:
            continue
        made.extend(
            Binding(
                key,
                f"app.act('{action.id}')",
                action.title,
                show=False,
                # On the replay the tape's keys go before those of the pane that has the focus.
                priority=action.in_text or key in _CHORDS or where is Where.REPLAY,
                id=action.id,
            )
            for key in action.keys
        )
    return made


def on_screen(where: Where) -> list[Action]:
    """List what can be done on a screen, its own actions first."""
    own = [action for action in ACTIONS if action.where is where]
    return own + [a for a in ACTIONS if a.where is Where.EVERYWHERE and where is not a.where]


def footer(where: Where) -> list[Action]:
    """List what the footer names, most useful first."""
    return sorted((a for a in on_screen(where) if a.rank), key=lambda action: action.rank)


_PLACES = {
    Where.EVERYWHERE: "Everywhere",
    Where.DECK: "Deck",
    Where.WALL: "Wall",
    Where.JOBS: "Jobs",
    Where.HISTORY: "History",
    Where.REPLAY: "Replay",
    Where.COMPARE: "Two sessions",
    Where.DEVICE: "Device",
    Where.SETTINGS: "Settings",
}


def as_markdown() -> str:
    """Write docs/keys.md."""
    lines = [
        "# Keys",
        "",
        "Made from `console/keys/actions.py` by `python -m console.keys.actions`; do not edit.",
        "",
        "`^x` is ctrl+x. Keys marked * also work while typing and over a dialog. The id names the",
        "action for good.",
        "",
        "Your own keys are in `keymap.toml` beside the settings file, each line an id and a key or",
        "a list of keys; the rest stay as they are. "
        "An unknown id, an unknown key or a key that is taken is",
        "reported when the console starts, and it does not open.",
        "",
        "```toml",
        "[session]",
        'stop = "X"',
        'pause = ["P", "f5"]',
        "[app]",
        'palette = "ctrl+k"',
        "```",
    ]
    for where, title in _PLACES.items():
        lines += [
            "",
            f"## {title}",
            "",
            "| key | action | what it does | id |",
            "|---|---|---|---|",
        ]
        for action in ACTIONS:
            if action.where is where:
                keys = " ".join(f"`{key_name(key)}`" for key in action.keys)
                star = " *" if action.in_text else ""
                lines.append(
                    f"| {keys}{star} | {action.title} | {action.sentence} | `{action.id}` |"
                )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    from pathlib import Path

    Path("docs/keys.md").write_text(as_markdown(), encoding="utf-8")
