"""Read a conversation as any model gets it: goal, apps, newest screen, and what was done so far.

All that the pilot reads. Invariant: nothing but the messages of the request is read; a line that
does not have the screen format is passed over.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agent.models.model import Message, MessageKind, Role

_LINE = re.compile(
    r'^ *(?:>>> )?\[(?P<number>\d+)\] (?P<kind>[\w-]+): "(?P<label>[^"]*)"'
    r"(?: \((?P<place>[a-z][a-z: -]*)\))?"
    r'(?: = "(?P<value>[^"]*)")?'
    r"(?: = \d+ hidden characters)?"
    r"(?: id=(?P<id>\S+))?"
    r"(?P<states>(?: \[[A-Z]+\])*)"
    r"(?P<new> <-- NEW)?$"
)
_CELL = re.compile(r' (?=\[\d+\] ")')
"""Where the next cell of a row in one line begins."""
_APP = re.compile(r"^- (?:(?P<label>.*) )?\((?P<package>[\w.]+)\)$")
_CLICKED = re.compile(r'(?:Clicked|Long-pressed) \[\d+\] "(?P<label>[^"]*)"')
_HIDDEN = re.compile(r"^(?:  \((\d+) more items\.\.\.\)|… (\d+) rows like .* …)$")
_HEAD_KINDS = frozenset({"text", "icon-btn", "nav-btn"})
_GUESSED = "~"  # What stands before the name of an app that was made from its package.
_HINT = "The operator says: "
_ANSWER = "The operator answers: "
_SAME = "[Screen: the same as before"
_SEEN = "\n\nWhat was seen follows. "
_SECTIONS = ("[TOP BAR]", "[CONTENT]", "[NAVIGATION")


@dataclass(frozen=True, slots=True)
class Item:
    """One element of the newest screen."""

    number: int
    kind: str
    label: str
    section: str
    """Where it stands: `TOP BAR` for a bar at the top, else the zone that the screen names."""
    value: str = ""
    id: str = ""
    states: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        """The first part of the label."""
        return self.label.split(" | ", 1)[0]

    @property
    def is_toggle(self) -> bool:
        return "CHECKED" in self.states or "UNCHECKED" in self.states

    @property
    def is_on(self) -> bool:
        return "CHECKED" in self.states

    @property
    def scrolls(self) -> bool:
        return self.kind == "scrollable" or "SCROLLS" in self.states

    @property
    def usable(self) -> bool:
        """Whether a click on it may do something."""
        return self.kind not in {"text", "scrollable"} and "DISABLED" not in self.states


@dataclass(frozen=True, slots=True)
class PastAction:
    """One tool call of the past with its result."""

    tool: str
    arguments: dict[str, object]
    result: str
    package: str = ""  # The app that was in front when it was called.
    activity: str = ""

    @property
    def label(self) -> str:
        """The label that was clicked; empty when the call was no click."""
        found = _CLICKED.search(self.result)
        return found.group("label") if found else ""

    @property
    def ok(self) -> bool:
        return self.result.startswith("OK")

    @property
    def refused(self) -> bool:
        """Whether the operator or the policy said no."""
        return "Do not try this again" in self.result

    @property
    def answer(self) -> str | None:
        """What the operator answered to a question; None when there is no answer."""
        if self.tool != "ask_user" or not self.result.startswith(_ANSWER):
            return None
        return self.result[len(_ANSWER) :]


@dataclass(frozen=True, slots=True)
class App:
    """One installed app."""

    package: str
    label: str

    @property
    def name(self) -> str:
        """The label, or the end of the package: adb lists no labels."""
        return self.label or self.package.rsplit(".", 1)[-1].capitalize()


@dataclass(slots=True)
class View:
    """What the conversation says."""

    goal: str = ""
    apps: tuple[App, ...] = ()
    hints: tuple[str, ...] = ()
    package: str = ""
    activity: str = ""
    note: str = ""
    """Why there is no UI tree."""
    empty: bool = False
    items: tuple[Item, ...] = ()
    scrollable: bool = False
    hidden: int = 0
    """How many elements the screen only counts, and nobody asked for since it was shown."""
    done: list[PastAction] = field(default_factory=list)
    """Tool calls since the goal was given, oldest first."""

    def clickable(self) -> list[Item]:
        """List what can be used, in reading order."""
        return [item for item in self.items if item.usable and item.kind != "INPUT"]

    def fields(self) -> list[Item]:
        """List the fields that take text."""
        return [
            item for item in self.items if item.kind == "INPUT" and "DISABLED" not in item.states
        ]

    def app_name(self, package: str) -> str:
        """Return an app's label, or its package."""
        return next((app.name for app in self.apps if app.package == package), package)


def read(messages: Sequence[Message]) -> View:
    view = View()
    screen = ""
    calls: dict[str, tuple[str, str]] = {}
    for message in messages:
        match message.kind:
            case MessageKind.GOAL:
                _read_goal(message.text, view)
            case MessageKind.STEER if message.text.startswith(_HINT):
                view.hints += (message.text[len(_HINT) :],)
            case MessageKind.OBSERVATION:
                screen = message.text
                if not screen.startswith(_SAME):
                    view.package, view.activity = _place(screen)
            case MessageKind.REPLY:
                for call in message.tool_calls:
                    calls[call.call_id] = (call.name, call.arguments)
            case MessageKind.RESULT if message.role is Role.TOOL:
                tool, arguments = calls.get(message.call_id, ("", ""))
                act = PastAction(
                    tool, _object(arguments), message.text, view.package, view.activity
                )
                view.done.append(act)
            case _:
                pass
    _read_screen(screen, view)
    newest = view.done[-1] if view.done else None
    if view.hidden and newest is not None and newest.tool == "more_elements" and newest.ok:
        found = (_item(line, "CONTENT") for line in newest.result.splitlines())
        view.items = tuple(sorted((*view.items, *filter(None, found)), key=lambda i: i.number))
        view.hidden = 0
    return view


def _read_goal(text: str, view: View) -> None:
    heading, _, rest = text.partition("\n")
    goal, _, apps = rest.partition("## Installed apps")
    # What a watcher has seen stands below its job's prompt, as data of others: no part of the goal.
    goal = goal.split(_SEEN)[0].split("\nStay in the app ")[0]
    goal = goal.split("\n## Phone\n")[0]
    view.goal = goal.split("\n## About ")[0].strip()
    view.done.clear()
    view.hints = ()
    if heading == "## Goal":
        found = (_APP.match(line) for line in apps.splitlines())
        view.apps = tuple(App(m["package"], _real_label(m["label"] or "")) for m in found if m)


def _real_label(label: str) -> str:
    """Return an app's label; empty where it was made from the package."""
    return "" if label.startswith(_GUESSED) else label


def _place(screen: str) -> tuple[str, str]:
    if screen.startswith("[Screen: "):
        place = screen[len("[Screen: ") :].rstrip("]").split(",", 1)[0].removesuffix(" again")
        package, _, activity = place.partition("/")
        return package, activity
    package = activity = ""
    for line in screen.splitlines():
        if line.startswith("Package: ") and not package:
            package = line[len("Package: ") :]
        elif line.startswith("Screen: ") and not activity:
            activity = line[len("Screen: ") :]
    return package, activity


def _read_screen(screen: str, view: View) -> None:
    section = ""
    items = []
    _, _, below = screen.partition("## Screen State\n")
    for line in below.splitlines():
        if line.startswith(_SECTIONS):
            section = line.strip("[]")
        elif line == "  (scrollable)":
            view.scrollable = True
        elif line == "(empty screen)":
            view.empty = True
        elif line.startswith("(no UI tree: "):
            view.note = line[len("(no UI tree: ") : -1]
        elif found := _HIDDEN.match(line):
            view.hidden += int(found[1] or found[2])
        else:
            items += _items(line, section)
    # Numbers are reading order; sections and leading elements are not.
    items.sort(key=lambda item: item.number)
    view.scrollable = view.scrollable or any(item.scrolls for item in items)
    head = 0 if section else _head(items)
    view.items = (*(replace(item, section="TOP BAR") for item in items[:head]), *items[head:])


def _head(items: Sequence[Item]) -> int:
    """Count the items of the bar at the top: a title with its buttons, before all that lists."""
    size = next((n for n, item in enumerate(items) if item.kind not in _HEAD_KINDS), len(items))
    return size if any(item.kind != "text" for item in items[:size]) else 0


def _items(line: str, section: str) -> list[Item]:
    """Read a line: an element, or a row of cells of one kind."""
    first, *others = _CELL.split(line)
    item = _item(first, section)
    if item is None:
        return []
    cells = (_item(cell.replace("]", f"] {item.kind}:", 1), section) for cell in others)
    return [item, *filter(None, cells)]


def _item(line: str, section: str) -> Item | None:
    found = _LINE.match(line)
    if found is None:
        return None
    return Item(
        number=int(found["number"]),
        kind=found["kind"],
        label=found["label"],
        section=section,
        value=found["value"] or "",
        id=found["id"] or "",
        states=frozenset(re.findall(r"\[([A-Z]+)\]", found["states"])),
    )


def _object(arguments: str) -> dict[str, object]:
    try:
        raw = json.loads(arguments)
    except ValueError:
        return {}
    return raw if isinstance(raw, dict) else {}
