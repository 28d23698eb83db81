"""Fixations: what a model does over and over, until the prompt says what ends it.

Pure. Invariant: whether one is in the middle of it is read from the conversation, so a prompt that
says nothing lets it go on for ever.
"""

from collections.abc import Sequence
from random import Random

from agent.exercises.route import Hold, Step, Tap
from agent.models.pilot.reading import Item, PastAction
from bench.exercises.fallible.prompt_view import PromptView
from bench.exercises.route import Call, same_label

_REPEATS = (
    "NO_CHANGE",
    "nothing on the screen changed",
    "going back and forth",
    "changed nothing",
    "exactly this twice",
)
_CIRCLE = ("going back and forth", "changed nothing")
SCROLLED = ("You have scrolled", *_CIRCLE)
_REFUSED = ("FAILED", "BLOCKED")
_HOLD = "long_press_element"
_NO_REPEAT = frozenset({"update_plan", "finish", "ask_user"})


def again(call: Call, sight: PromptView, chance: Random) -> Call:
    """Repeat the last call; once begun, only the prompt ends it."""
    last = sight.last
    if last is None or any(word.casefold() in sight.newest.casefold() for word in _REPEATS):
        return call
    done = sight.view.done
    twice = len(done) > 1 and (done[-2].tool, done[-2].arguments) == (last.tool, last.arguments)
    if last.tool in _NO_REPEAT or not (twice or chance.random() < 1 / 8):
        return call
    return Call(last.tool, dict(last.arguments))


def believes(call: Call, sight: PromptView) -> Call:
    """Do the last thing again where its result, or the line above the screen, is a warning."""
    last = sight.last
    if last is None or last.tool in _NO_REPEAT or not last.result.startswith("WARNING"):
        return call
    if last.tool != "click_element":
        return Call(last.tool, dict(last.arguments))
    same = [item for item in sight.view.clickable() if item.label == last.label]
    return _press(same[0]) if same else call


def insists(call: Call, sight: PromptView, route: Sequence[Step], chance: Random) -> Call:
    """Press a text that is no button, until a press of it is refused."""
    last = sight.last
    if call.tool != "click_element" or last is None:
        return call
    if _is_stray(last, route) and not last.result.startswith(_REFUSED):
        same = [item for item in sight.inert if item.label == last.label]
        if same:
            return _press(same[0])
    if any(act.result.startswith(_REFUSED) for act in sight.view.done) or not sight.inert:
        return call
    return _press(chance.choice(sight.inert)) if chance.random() < 1 / 3 else call


def fumbles(call: Call, sight: PromptView, route: Sequence[Step], chance: Random) -> Call:
    """Press texts that are no buttons, shortly and long, until warned of getting nowhere."""
    last = sight.last
    if call.tool != "click_element" or last is None or any(w in sight.above for w in _CIRCLE):
        return call
    if not sight.inert or not (_is_stray(last, route) or chance.random() < 2 / 3):
        return call
    others = [item for item in sight.inert if item.label != last.label]
    if others:
        return _press(chance.choice(others))
    tool = "click_element" if last.tool == _HOLD else _HOLD
    return Call(tool, {"element": sight.inert[0].number})


def doubts(call: Call, sight: PromptView) -> Call:
    """Press the switch that was just pressed again, until warned of going back and forth."""
    last = sight.last
    if last is None or last.tool != "click_element" or any(w in sight.above for w in _CIRCLE):
        return call
    switches = [
        item for item in sight.view.clickable() if item.is_toggle and item.label == last.label
    ]
    return _press(switches[0]) if switches else call


def returns(call: Call, sight: PromptView, route: Sequence[Step], chance: Random) -> Call:
    """Open the same wrong page again, until the prompt says that this very one leads nowhere.

    Args:
        chance: the same for the whole conversation, so that it is always the same page.
    """
    if call.tool != "click_element" or len(sight.view.done) < 2:
        return call
    pages = [item for item in sight.view.clickable() if not item.is_toggle]
    strays = [act for act in sight.view.done if _is_stray(act, route)]
    if strays:
        if any(act.result.startswith(_REFUSED) for act in strays):
            return call
        pages = [item for item in pages if item.label == strays[0].label]
    else:
        pages = [item for item in pages if not _on_route(item.label, route)]
    if not pages:
        return call
    wrong = chance.choice(pages)
    return call if wrong.number in sight.ruled_out else _press(wrong)


def scrolls_on(call: Call, sight: PromptView, chance: Random) -> Call:
    """Scroll down to the end and up again, past everything, until warned."""
    last = sight.last
    if last is None or any(word in sight.above for word in SCROLLED) or not sight.view.scrollable:
        return call
    if last.tool == "scroll":
        down = last.arguments.get("direction") == "down"
        turn = not last.ok
        return Call("scroll", {"direction": "down" if down != turn else "up"})
    if call.tool == "click_element" and chance.random() < 1 / 3:
        return Call("scroll", {"direction": "down"})
    return call


def _is_stray(act: PastAction, route: Sequence[Step]) -> bool:
    pressed = act.tool in {"click_element", _HOLD}
    return pressed and not (act.label and _on_route(act.label, route))


def _on_route(label: str, route: Sequence[Step]) -> bool:
    return any(isinstance(s, Tap | Hold) and same_label(s.label, label) for s in route)


def _press(item: Item) -> Call:
    return Call("click_element", {"element": item.number})
