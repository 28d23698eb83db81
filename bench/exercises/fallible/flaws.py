"""The fallible models: a competent next call, spoilt by a seeded flaw.

Pure. Invariants: everything is decided from the request's messages, the flaw's name and the seed,
so the same conversation gets the same answer; a flaw is overcome only by what the prompt says.
"""

from collections.abc import Sequence
from enum import StrEnum
from random import Random
from typing import assert_never

from agent.exercises.route import Step
from agent.models.model import Message, MessageKind
from agent.models.pilot.reading import View, read
from bench.exercises.fallible import fixations, prompt_view, reading, slips
from bench.exercises.route import Call, name_of, next_call, steps_done


class Flaw(StrEnum):
    """What a model is bad at; each is a model name, `fallible-<flaw>`."""

    NONE = "none"
    """Follows the route: what the others would be without their flaw."""
    FORGETFUL = "forgetful"
    """Sees only the newest messages."""
    NARROW = "narrow"
    """Sees only the newest messages that fit a short context, and keeps no plan."""
    MISCLICKING = "misclicking"
    """Taps a neighbour of what it means, one time in six."""
    OVEREAGER = "overeager"
    """Claims success before the end, one time in eight."""
    LIAR = "liar"
    """Claims success at once, or before the end, and goes on; quotes what is not shown."""
    COLLUDING = "colluding"
    """The same, and as its own verifier it quotes true words of the last screen for its lie."""
    BELIEVER = "believer"
    """Does again whatever a warning says did not work."""
    TALKATIVE = "talkative"
    """Only talks, one time in four, and goes on talking until it is told to call a tool."""
    HASTY = "hasty"
    """Gives up when the first screen that it sees has next to nothing to use."""
    TRUSTING = "trusting"
    """Goes by results alone: what one calls OK is behind, what one warns of is done again."""
    WATCHFUL = "watchful"
    """Goes by the line of changes alone: what changed nothing is done again."""
    STRANGER = "stranger"
    """Does not know the app: what neither goal nor card names, it looks for by trial."""
    CURIOUS = "curious"
    """Looks into what a page offers, two times in three, before it takes what leads on."""
    LOOPING = "looping"
    """Falls into repeating its last call, until anything in the prompt says so."""
    STUBBORN = "stubborn"
    """Presses what is no button, again and again, until that is refused."""
    FUMBLING = "fumbling"
    """Presses one thing after another that is no button, until warned."""
    WAVERING = "wavering"
    """Doubts a switch that it has just pressed and presses it again, until warned."""
    FIXATED = "fixated"
    """Opens the same wrong page and leaves it again, until the prompt rules that page out."""
    SCROLLING = "scrolling"
    """Once it scrolls, scrolls down and up past what it looks for, until warned."""
    DISTRACTED = "distracted"
    """Wanders off to another app, one time in six, until a warning or a refusal says so."""
    TRUNCATED = "truncated"
    """Answers that are cut off at the output limit, one time in four, until there is more room."""
    TEXTER = "texter"
    """Writes its calls as text, in one dialect after another."""
    READER = "reader"
    """Keeps each step that it has done as a fact, and knows of its past nothing but its facts."""
    DAZED = "dazed"
    """Wanders off too, and nothing that is said brings it back: only its own app in front does."""


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
    _believe(view, seen, messages, flaw)
    marked = prompt_view.marked(messages)
    chance = Random(
        f"{seed} {flaw} {view.goal} {sum(m.kind is MessageKind.REPLY for m in messages)}"
    )
    if flaw is Flaw.TALKATIVE and slips.talks(messages, chance):
        return Call("", {})
    if flaw is Flaw.HASTY and not view.done and len(view.clickable()) < slips.WORTH_A_LOOK:
        return Call("finish", {"success": False, "summary": "There is nothing on the screen."})
    if tracker and flaw not in {Flaw.NARROW, Flaw.READER}:
        shown = prompt_view.shows_plan(messages)
        planning = _planning(view, route, marked, keeps_it=flaw is Flaw.FORGETFUL, shown=shown)
        if planning is not None:
            return planning
    if flaw is Flaw.READER:
        return reading.with_facts(view, route, messages)
    call = next_call(view, route, from_step=marked if flaw is Flaw.FORGETFUL else 0)
    return _spoil(call, prompt_view.PromptView(view, messages), route, flaw, chance, seed)


def _remembered(messages: Sequence[Message], flaw: Flaw) -> list[Message]:
    match flaw:
        case Flaw.FORGETFUL:
            return prompt_view.newest(messages)
        case Flaw.NARROW:
            return prompt_view.what_fits(messages)
        case Flaw.READER:
            return prompt_view.newest(messages)
        case _:
            return list(messages)


def _believe(view: View, seen: Sequence[Message], messages: Sequence[Message], flaw: Flaw) -> None:
    if flaw is Flaw.TRUSTING:
        view.done = prompt_view.by_results(view.done)
    elif flaw is Flaw.WATCHFUL:
        view.done = prompt_view.by_changes(view.done, seen)
    elif flaw is Flaw.SCROLLING:
        above = prompt_view.PromptView(view, messages).above
        if any(word in above for word in fixations.SCROLLED):
            view.done = prompt_view.without_aimless(view.done)


def _planning(
    view: View, route: Sequence[Step], marked: int, *, keeps_it: bool, shown: bool
) -> Call | None:
    """Write the plan down at the start and, for who forgets, again whenever a step is behind.

    Args:
        shown: whether the prompt shows a plan already.
    """
    planned = [act for act in view.done if act.tool == "update_plan"]
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
    call: Call,
    sight: prompt_view.PromptView,
    route: Sequence[Step],
    flaw: Flaw,
    chance: Random,
    seed: int,
) -> Call:
    match flaw:
        case Flaw.NONE | Flaw.FORGETFUL | Flaw.NARROW | Flaw.TALKATIVE | Flaw.HASTY:
            return call
        case Flaw.TRUSTING | Flaw.WATCHFUL | Flaw.TRUNCATED | Flaw.TEXTER | Flaw.READER:
            return call
        case Flaw.MISCLICKING:
            return slips.neighbour(call, sight.view) if chance.random() < 1 / 6 else call
        case Flaw.OVEREAGER:
            return slips.claims(call, sight, chance)
        case Flaw.LIAR | Flaw.COLLUDING:
            return slips.claims_early(call, sight, route, Random(f"{seed} {sight.view.goal}"))
        case Flaw.BELIEVER:
            return fixations.believes(call, sight)
        case Flaw.STRANGER:
            return slips.guess(call, sight, chance)
        case Flaw.CURIOUS:
            return slips.browses(call, sight, route, chance)
        case Flaw.LOOPING:
            return fixations.again(call, sight, chance)
        case Flaw.STUBBORN:
            return fixations.insists(call, sight, route, chance)
        case Flaw.FUMBLING:
            return fixations.fumbles(call, sight, route, chance)
        case Flaw.WAVERING:
            return fixations.doubts(call, sight)
        case Flaw.FIXATED:
            return fixations.returns(call, sight, route, Random(f"{seed} {sight.view.goal}"))
        case Flaw.SCROLLING:
            return fixations.scrolls_on(call, sight, chance)
        case Flaw.DISTRACTED:
            return slips.wanders(call, sight, route, chance, listens=True)
        case Flaw.DAZED:
            return slips.wanders(call, sight, route, chance, listens=False)
        case _:
            assert_never(flaw)
