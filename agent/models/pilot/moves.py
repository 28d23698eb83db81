"""What a skill of the pilot may decide, and what it can tell from what was done so far.

Pure. Invariant: a skill says `Done` only with words about what the newest screen shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from agent.models.pilot.match import EXACT, GOOD, key_tokens, score, starts_alike
from agent.models.pilot.reading import Item, PastAction, View

_MOVED = ("NEW SCREEN", "NEW APP", "Now shows", "A dialog opened")
"""What a result says of a press that led on."""


@dataclass(frozen=True, slots=True)
class Call:
    """Call a tool."""

    tool: str
    arguments: dict[str, object]
    why: str


@dataclass(frozen=True, slots=True)
class Done:
    """The intent is met; the evidence is what the screen shows."""

    evidence: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The intent cannot be met."""

    reason: str


Move: TypeAlias = Call | Done | GiveUp

CANCEL = frozenset({"cancel", "no", "keep", "dismiss", "not now", "no thanks", "later"})


def click(item: Item, why: str) -> Call:
    """Tap an element."""
    return Call("click_element", {"element": item.number}, why)


def back(why: str) -> Call:
    """Press the back button."""
    return Call("press_button", {"button": "BACK"}, why)


def wake() -> Call:
    """Switch the screen on."""
    return Call("press_button", {"button": "POWER"}, "The screen is off: switch it on")


def swipe_up(why: str) -> Call:
    """Swipe up, which shows what is further down, or opens a lock screen."""
    return Call("scroll", {"direction": "down"}, why)


def type_into(item: Item, text: str, why: str) -> Call:
    return Call("type_text", {"text": text, "element": item.number}, why)


def ask(question: str, options: Sequence[str]) -> Call:
    arguments: dict[str, object] = {"question": question, "options": list(options)}
    return Call("ask_user", arguments, question)


def wait(why: str) -> Call:
    return Call("wait", {"seconds": 1}, why)


@dataclass(slots=True)
class PageProgress:
    """What was done on the page that is in front."""

    downs: int = 0
    at_end: bool = False
    at_top: bool = True
    came_back: bool = False


@dataclass(slots=True)
class IntentProgress:
    """Where an intent's work has been: the way in, what was entered, what was scrolled."""

    acts: list[PastAction]
    path: list[str] = field(default_factory=list)  # Labels that led to the page in front.
    entered: set[str] = field(default_factory=set)
    here: PageProgress = field(default_factory=PageProgress)
    backs: int = 0

    @classmethod
    def of(cls, acts: Sequence[PastAction]) -> "IntentProgress":
        """Read a trail from tool calls."""
        trail = cls(list(acts))
        for act in acts:
            trail._follow(act)
        return trail

    def _follow(self, act: PastAction) -> None:
        match act.tool:
            case "click_element" | "long_press_element" if act.ok:
                moved = any(word in act.result for word in _MOVED)
                if moved:
                    self.path.append(act.label)
                    self.entered.add(act.label)
                    self.here = PageProgress()
            case "press_button" if act.arguments.get("button") == "BACK":
                self.backs += 1
                if self.path:
                    self.path.pop()
                self.here = PageProgress(came_back=True, at_top=False)
            case "launch_app":
                self.path.clear()
                # An app may come back where it was left.
                self.here = PageProgress(came_back=True, at_top=False)
            case "scroll":
                down = act.arguments.get("direction") == "down"
                if down:
                    self.here.downs += 1
                    self.here.at_end = self.here.at_end or not act.ok
                    self.here.at_top = False
                else:
                    self.here.at_top = self.here.at_top or not act.ok
            case _:
                pass

    def clicks(self, label: str) -> int:
        return sum(act.label == label and act.tool == "click_element" for act in self.acts)

    def clicked(self, *names: str) -> bool:
        """Return whether something called one of the names was clicked with effect."""
        return any(
            act.ok and act.tool == "click_element" and score(name, act.label) >= GOOD
            for act in self.acts
            for name in names
        )

    def typed(self, text: str) -> bool:
        """Return whether a text was typed, with an effect that is seen or not known."""
        return any(
            act.tool == "type_text"
            and act.arguments.get("text") == text
            and not act.result.startswith("FAILED")
            for act in self.acts
        )

    def typed_in_vain(self, text: str, fields: Sequence[Item]) -> bool:
        """Return whether a text was typed last, its fate unknown, and no field holds it now."""
        last = self.last
        return (
            last is not None
            and last.tool == "type_text"
            and last.arguments.get("text") == text
            and last.result.startswith("UNKNOWN")
            and not any(starts_alike(text, item.value) for item in fields)
        )

    def presses(self, button: str) -> int:
        return sum(
            act.tool == "press_button" and act.arguments.get("button") == button
            for act in self.acts
        )

    def count(self, tool: str) -> int:
        return sum(act.tool == tool for act in self.acts)

    @property
    def last(self) -> PastAction | None:
        return self.acts[-1] if self.acts else None

    @property
    def answer(self) -> str | None:
        """What the operator answered last."""
        answers = [act.answer for act in self.acts if act.answer is not None]
        return answers[-1] if answers else None


def in_app(view: View, trail: IntentProgress, package: str) -> Move | None:
    """Bring an app to the front; None when it is there."""
    if not package or view.package == package:
        return None
    name = view.app_name(package)
    launches = [act for act in trail.acts if act.tool == "launch_app"]
    failed = bool(launches) and launches[-1].result.startswith("FAILED")
    # A phone that was away for a moment is no reason to give its app up.
    if failed and "phone went away" not in launches[-1].result:
        return GiveUp(f"{name} does not start: {launches[-1].result}")
    if len(launches) >= 3:
        return GiveUp(f"{name} does not come to the front")
    if launches and trail.last is launches[-1]:
        return wait(f"{name} is starting")
    return Call("launch_app", {"app": package}, f"Open {name}")


def affirm(view: View, *names: str) -> Item | None:
    """Find the button that says yes in a dialog; None when no dialog is in front."""
    buttons = [item for item in view.clickable() if not item.is_toggle]
    if len(buttons) > 6 or not any(" ".join(key_tokens(b.title)) in CANCEL for b in buttons):
        return None
    for name in (*names, "ok", "yes", "confirm", "continue"):
        for button in buttons:
            if score(name, button.title) >= EXACT:
                return button
    return None


def scroll_on(view: View, trail: IntentProgress, why: str) -> Call | None:
    """Look at what the page has not shown yet; None when all of it was seen."""
    here = trail.here
    if view.hidden:
        return Call("more_elements", {}, why)
    if not view.scrollable:
        return None
    if not here.at_end and here.downs < 12:
        return Call("scroll", {"direction": "down"}, why)
    if here.came_back and not here.at_top and trail.count("scroll") < 30:
        return Call("scroll", {"direction": "up"}, why)
    return None


def button_called(view: View, *names: str) -> Item | None:
    """Find a button by what it is called, or by its id when it has no label."""
    for name in names:
        for item in view.clickable():
            if item.label != "unlabeled" and score(name, item.title) >= EXACT:
                return item
    for name in names:
        for item in view.clickable():
            if item.label != "unlabeled" and score(name, item.title) >= GOOD + 5:
                return item
    wanted = {word for name in names for word in key_tokens(name)}
    for item in view.clickable():
        words = set(item.id.lower().replace("_", " ").split())
        if item.label == "unlabeled" and words & wanted:
            return item
    return None
