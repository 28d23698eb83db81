"""What goes wrong with a fallible model: a competent next call, spoilt by a seeded flaw.

Pure. Invariants: everything is decided from the request's messages, the flaw's name and the seed,
so the same conversation gets the same answer; a flaw is overcome only by what the prompt says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from random import Random

from agent.models.model import Message, MessageKind
from agent.models.pilot.reading import View, read
from bench.exercises.route import Call, Launch, Step, name_of, next_call, steps_done

DISTRACTION = "com.android.calculator2"
FORGETS_AFTER = 6
"""Messages that a forgetful model keeps in mind beside its instructions and goal."""
_DONE = re.compile(r"^\[x\] (\d+)\. ", re.MULTILINE)
NARROW_WINDOW_CHARS = 8_000
"""What a narrow model keeps of the newest messages, about 2,000 tokens."""
_BANNED = re.compile(r"^Do not press again \(it led nowhere\): (.*)$", re.MULTILINE)
_NUMBER = re.compile(r"\[(\d+)\]")
_TRACKER = "## Progress Tracker"
_REMINDED = "You did not call a tool"
_REPEATS = ("NO_CHANGE", "going back and forth", "changed nothing", "exactly this twice")
_ASTRAY = ("but this session works in",)
_UNFINISHED = ("not completed", "still open", "unfinished")


class Flaw(StrEnum):
    """What a model is bad at; each is a model name, `fallible-<flaw>`."""

    NONE = "none"
    """Follows the route: what the others would be without their flaw."""
    FORGETFUL = "forgetful"
    """Sees only the newest messages."""
    MISCLICKING = "misclicking"
    """Taps a neighbour of what it means, one time in six."""
    LOOPING = "looping"
    """Falls into repeating its last call, until the prompt says that it repeats itself."""
    OVEREAGER = "overeager"
    """Claims success before the end, one time in eight."""
    NARROW = "narrow"
    """Sees only the newest messages that fit a short context, and keeps no plan."""
    TALKATIVE = "talkative"
    """Only talks, one time in four, and goes on talking until it is told to call a tool."""
    STRANGER = "stranger"
    """Does not know the app: what neither goal nor card names, it looks for by trial."""
    DISTRACTED = "distracted"
    """Opens an app that has nothing to do with it, one time in ten, and stays there."""


def think(
    messages: Sequence[Message], route: Sequence[Step], flaw: Flaw, seed: int, *, tracker: bool
) -> Call:
    """Choose the next call.

    Args:
        messages: the conversation as the prompt gives it.
        route: what the model knows of the goal.
        flaw: what it is bad at.
        seed: of its chances.
        tracker: whether it keeps a plan, which the prompt then shows it again.
    """
    seen = _remembered(messages, flaw)
    view = read(seen)
    marked = _marked(messages)
    chance = Random(
        f"{seed} {flaw} {view.goal} {sum(m.kind is MessageKind.REPLY for m in messages)}"
    )
    if flaw is Flaw.TALKATIVE and _talks(messages, chance):
        return Call("", {})
    if tracker and flaw is not Flaw.NARROW:
        planning = _planning(
            view,
            route,
            marked,
            keeps_it=flaw is Flaw.FORGETFUL,
            shown=any(_TRACKER in m.text for m in messages[-3:]),
        )
        if planning is not None:
            return planning
    known = marked if flaw is Flaw.FORGETFUL else 0
    call = next_call(view, route, from_step=known)
    if flaw is Flaw.STRANGER:
        return _guess(call, view, messages, chance)
    return _spoil(call, view, route, flaw, chance, newest=_newest(messages))


def _remembered(messages: Sequence[Message], flaw: Flaw) -> list[Message]:
    """Give what a model has before it: its instructions, its goal, and as much as it can hold."""
    lasting = [m for m in messages if m.kind in (MessageKind.INSTRUCTIONS, MessageKind.GOAL)]
    rest = [m for m in messages if m not in lasting]
    match flaw:
        case Flaw.FORGETFUL:
            return lasting + rest[-FORGETS_AFTER:]
        case Flaw.NARROW:
            held, room = 0, NARROW_WINDOW_CHARS
            for message in reversed(rest):
                room -= len(message.text) + sum(len(c.arguments) for c in message.tool_calls)
                if room < 0:
                    break
                held += 1
            return lasting + rest[len(rest) - max(held, 1) :]
        case _:
            return list(messages)


def _talks(messages: Sequence[Message], chance: Random) -> bool:
    """Talk now and then, and again after talking, unless the prompt asks for a tool."""
    replies = [at for at, m in enumerate(messages) if m.kind is MessageKind.REPLY]
    if not replies:
        return chance.random() < 1 / 4
    if any(_REMINDED in m.text for m in messages[replies[-1] :]):
        return False
    return not messages[replies[-1]].tool_calls or chance.random() < 1 / 4


def _guess(call: Call, view: View, messages: Sequence[Message], chance: Random) -> Call:
    """Try something that is not ruled out, where nobody has said what the right thing is called."""
    if call.tool != "click_element":
        return call
    told = " ".join(m.text for m in messages if m.kind is MessageKind.GOAL).casefold()
    wanted = next(i for i in view.items if i.number == call.arguments["element"])
    if wanted.title.casefold() in told:
        return call
    banned = _BANNED.search(_newest(messages))
    out = set(map(int, _NUMBER.findall(banned[1]))) if banned else set()
    choices = [i.number for i in view.clickable() if i.number not in out] or [wanted.number]
    return Call("click_element", {"element": chance.choice(choices)})


def _newest(messages: Sequence[Message]) -> str:
    return "\n".join(m.text for m in messages[-3:] if m.kind is not MessageKind.REPLY)


def _marked(messages: Sequence[Message]) -> int:
    """Count the steps that the newest observation's plan shows as done."""
    for message in reversed(messages):
        if message.kind is MessageKind.OBSERVATION and _TRACKER in message.text:
            return len(_DONE.findall(message.text))
    return 0


def _planning(
    view: View, route: Sequence[Step], marked: int, *, keeps_it: bool, shown: bool
) -> Call | None:
    """Write the plan down at the start and, for who forgets, again whenever a step is behind.

    Args:
        shown: whether the prompt shows a plan already.
    """
    planned = [deed for deed in view.done if deed.tool == "update_plan"]
    done = max(marked, steps_done(view, route, from_step=marked))
    begun = bool(planned or view.done) or shown
    if begun and (not keeps_it or done <= marked):
        return None
    plan = [
        {
            "step": f"{at + 1}. {name_of(step)}",
            "status": "completed" if at < done else "in_progress" if at == done else "pending",
        }
        for at, step in enumerate(route)
    ]
    return Call("update_plan", {"plan": plan, "explanation": ""})


def _spoil(
    call: Call, view: View, route: Sequence[Step], flaw: Flaw, chance: Random, *, newest: str
) -> Call:
    match flaw:
        case Flaw.NONE | Flaw.FORGETFUL | Flaw.NARROW | Flaw.TALKATIVE | Flaw.STRANGER:
            return call
        case Flaw.MISCLICKING:
            return _neighbour(call, view) if chance.random() < 1 / 6 else call
        case Flaw.LOOPING:
            return _again(call, view, chance, newest)
        case Flaw.OVEREAGER:
            if any(word in newest for word in _UNFINISHED) or chance.random() >= 1 / 8:
                return call
            return Call("finish", {"success": True, "summary": "That should be it."})
        case Flaw.DISTRACTED:
            return _elsewhere(call, view, route, chance, newest)


def _neighbour(call: Call, view: View) -> Call:
    """Take the next thing that can be tapped instead."""
    if call.tool != "click_element":
        return call
    numbers = [item.number for item in view.clickable()]
    at = numbers.index(int(str(call.arguments["element"])))
    other = numbers[at + 1] if at + 1 < len(numbers) else numbers[at - 1]
    return Call("click_element", {"element": other})


def _again(call: Call, view: View, chance: Random, newest: str) -> Call:
    """Repeat the last call; once begun, only the prompt ends it."""
    if not view.done or any(word.casefold() in newest.casefold() for word in _REPEATS):
        return call
    last = view.done[-1]
    twice = len(view.done) > 1 and _same_call(view.done[-2], last)
    if last.tool in {"update_plan", "finish", "ask_user"} or not (twice or chance.random() < 1 / 8):
        return call
    return Call(last.tool, dict(last.arguments))


def _same_call(one: object, other: object) -> bool:
    return (getattr(one, "tool", 0), getattr(one, "arguments", 0)) == (
        getattr(other, "tool", 1),
        getattr(other, "arguments", 1),
    )


def _elsewhere(call: Call, view: View, route: Sequence[Step], chance: Random, newest: str) -> Call:
    """Open another app and tap about in it, until the prompt says that it is the wrong one."""
    if Launch(DISTRACTION) in route:
        return call
    launches = [deed for deed in view.done if deed.tool == "launch_app"]
    lost = bool(launches) and launches[-1].arguments.get("app") == DISTRACTION
    aware = any(word in newest.casefold() for word in _ASTRAY)
    if lost and aware:
        home = next(s.package for s in reversed(_behind(route, view)) if isinstance(s, Launch))
        return Call("launch_app", {"app": home})
    if lost and view.clickable():
        return Call("click_element", {"element": chance.choice(view.clickable()).number})
    if call.tool in {"launch_app", "finish"} or chance.random() >= 1 / 10:
        return call
    return Call("launch_app", {"app": DISTRACTION})


def _behind(route: Sequence[Step], view: View) -> Sequence[Step]:
    """Give the steps that are done, at least the first."""
    return route[: max(1, steps_done(view, route))]
