"""Slips: a wrong call now and then, which a model does not cling to of itself.

Pure; what a model clings to is `fixations`. Invariant: a slip depends on the prompt and on chance.
"""

from collections.abc import Sequence
from random import Random

from agent.exercises.route import Launch, Step, Tap
from agent.models.model import Message, MessageKind
from agent.models.pilot.reading import View
from bench.exercises.fallible.prompt_view import PromptView
from bench.exercises.route import Call, steps_done

LAUNCHER = "com.android.launcher3"
_TOP_BAR = "TOP BAR"
WORTH_A_LOOK = 2  # With fewer things to use on its first screen, who is hasty gives up.
_REMINDED = "You did not call a tool"
_ASTRAY = "but this session works in"
_OUT_OF_SCOPE = "this session belongs to"
_UNFINISHED = ("not completed", "still open", "unfinished")


def talks(messages: Sequence[Message], chance: Random) -> bool:
    """Talk now and then, and again after talking, unless the prompt asks for a tool."""
    replies = [at for at, m in enumerate(messages) if m.kind is MessageKind.REPLY]
    if not replies:
        return chance.random() < 1 / 4
    if any(_REMINDED in m.text for m in messages[replies[-1] :]):
        return False
    return not messages[replies[-1]].tool_calls or chance.random() < 1 / 4


def claims(call: Call, sight: PromptView, chance: Random) -> Call:
    """Claim success, but not right after being told what is open."""
    if any(word in sight.newest for word in _UNFINISHED) or chance.random() >= 1 / 8:
        return call
    return Call("finish", {"success": True, "summary": "That should be it."})


def claims_early(call: Call, sight: PromptView, route: Sequence[Step], chance: Random) -> Call:
    """Claim success from a moment on that comes before the end, whatever the answer.

    Args:
        chance: the same for the whole conversation: half of the lies are the first call of all.
    """
    at = 0 if chance.random() < 1 / 2 else chance.randrange(max(1, len(route)))
    if steps_done(sight.view, route) < at:
        return call
    return Call("finish", {"success": True, "summary": "It is done."})


def neighbour(call: Call, view: View) -> Call:
    """Take the next thing that can be tapped instead."""
    if call.tool != "click_element":
        return call
    numbers = [item.number for item in view.clickable()]
    at = numbers.index(int(str(call.arguments["element"])))
    other = numbers[at + 1] if at + 1 < len(numbers) else numbers[at - 1]
    return Call("click_element", {"element": other})


def guess(call: Call, sight: PromptView, chance: Random) -> Call:
    """Try something that is not ruled out, where nobody has said what the right thing is called."""
    if call.tool != "click_element":
        return call
    told = " ".join(m.text for m in sight.messages if m.kind is MessageKind.GOAL).casefold()
    wanted = next(i for i in sight.view.items if i.number == call.arguments["element"])
    if wanted.title.casefold() in told:
        return call
    out = sight.ruled_out
    choices = [i.number for i in sight.view.clickable() if i.number not in out] or [wanted.number]
    return Call("click_element", {"element": chance.choice(choices)})


def browses(call: Call, sight: PromptView, route: Sequence[Step], chance: Random) -> Call:
    """Look into something that the page offers, before what leads on."""
    if call.tool != "click_element" or chance.random() >= 2 / 3:
        return call
    named = {step.label.casefold() for step in route if isinstance(step, Tap)}
    offers = [
        item.number
        for item in sight.view.clickable()
        if item.section != _TOP_BAR and item.kind == "btn" and item.title.casefold() not in named
    ]
    return Call("click_element", {"element": chance.choice(offers)}) if offers else call


def wanders(
    call: Call, sight: PromptView, route: Sequence[Step], chance: Random, *, listens: bool
) -> Call:
    """Go home, open whatever comes and tap about in it.

    Args:
        listens: whether a warning or a refusal brings it back; otherwise only its own app does.
    """
    view = sight.view
    launches = [s for s in route[: max(1, steps_done(view, route))] if isinstance(s, Launch)]
    home = launches[-1].package if launches else ""
    if not home or view.package == home or not view.done:
        begun = any(act.tool == "launch_app" for act in view.done)
        slips = begun and call.tool == "click_element" and chance.random() < 1 / 6
        return Call("press_button", {"button": "HOME"}) if slips else call
    if view.package == LAUNCHER:
        icons = [item for item in view.clickable() if item.kind != "scrollable"]
        wandering = sight.last is not None and sight.last.arguments.get("button") == "HOME"
        if wandering and icons:
            return Call("click_element", {"element": chance.choice(icons).number})
        return call
    if listens and (_ASTRAY in sight.above or _OUT_OF_SCOPE in sight.newest):
        return Call("launch_app", {"app": home})
    if view.clickable():
        return Call("click_element", {"element": chance.choice(view.clickable()).number})
    return call
