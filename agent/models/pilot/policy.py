"""The offline pilot: a model without a network, for the demo and the tests.

A heuristic policy, not an agent to rely on: it knows a handful of intents and English. It gets what
any model gets, the messages and the tools, and answers with one tool call. Invariants: the same
conversation always gets the same answer; success is claimed only after each intent's own evidence
was on the screen.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import assert_never

from agent.models.model import ModelReply, ModelRequest, ToolCall
from agent.models.pilot import moves
from agent.models.pilot.choose import choose
from agent.models.pilot.compose import note, search, send, type_text
from agent.models.pilot.erase import delete
from agent.models.pilot.find import open_page, toggle
from agent.models.pilot.goal import parse
from agent.models.pilot.intents import (
    Choose,
    Delete,
    Intent,
    Note,
    Open,
    Press,
    Search,
    Send,
    Toggle,
    Type,
    Unclear,
)
from agent.models.pilot.match import likeness
from agent.models.pilot.moves import wait
from agent.models.pilot.planning import plan, read_goal
from agent.models.pilot.press import press
from agent.models.pilot.reading import Item, PastAction, View, read
from agent.models.pilot.reviewing import review, summarize
from agent.records import Usage
from agent.text import call_result_words, sentence

MAX_CALLS_PER_INTENT = 40
MAX_SWIPES = 3
MAX_NAMED_APPS = 20
"""So many are named to who asked for one that is not there."""
SCREEN_OFF = "the screen is off"
"""How the note of an observation ends when nothing is shown at all."""
_DISMISS = ("got it", "not now", "skip", "no thanks", "close app", "maybe later")


class Pilot:
    """Implements the Model protocol without a network."""

    @property
    def name(self) -> str:
        return "pilot"

    @property
    def sees(self) -> bool:
        return False

    @property
    def notice(self) -> str:
        return ""

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        """Choose the next tool call; without tools, sum up what happened."""
        view = read(request.messages)
        tools = {tool.name for tool in request.tools}
        if not tools:
            return ModelReply(text=summarize(request.messages), usage=Usage(calls=1))
        if "propose_targets" in tools:
            call = plan(request.messages)
        elif "read_goal" in tools:
            call = read_goal(request.messages)
        elif "publish_review" in tools:
            call = review(request.messages)
        else:
            call = decide(view)
        if on_text is not None:
            on_text(call.why)
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        stamp = hashlib.sha256(f"{len(view.done)} {call.tool} {arguments}".encode()).hexdigest()
        return ModelReply(
            text=call.why,
            tool_calls=(
                ToolCall(call_id=f"pilot_{stamp[:16]}", name=call.tool, arguments=arguments),
            ),
            usage=Usage(calls=1),
        )

    async def close(self) -> None:
        return None


HOW_TO_CONNECT = (
    "For any other goal, connect a model: press M in the console, or run switchboard models setup."
)


def decide(view: View) -> moves.Call:
    """Choose what to do in a conversation."""
    intents = _intents(view)
    refusal = _cannot(intents, view)
    if refusal:
        return _finish(False, refusal)
    plans = [at for at, act in enumerate(view.done) if act.tool == "update_plan"]
    if not plans:
        return _plan(intents, 0, "This is what the goal asks for, step by step.", first=True)
    planned = view.done[plans[-1]].arguments.get("plan")
    done = _completed(planned, intents)
    if done >= len(intents):
        evidence = [view.done[at].arguments.get("explanation") for at in plans[1:]]
        return _finish(True, " ".join(str(line) for line in evidence if line))
    if done < 0:
        return _plan(intents, 0, "The operator's hint changes the plan.", first=True)
    since = view.done[plans[-1] + 1 :]
    move = _move(intents[done], view, since)
    match move:
        case moves.Call():
            return move
        case moves.Done(evidence=evidence_now):
            told = sentence(evidence_now[:1].upper() + evidence_now[1:])
            return _plan(intents, done + 1, told)
        case moves.GiveUp(reason=reason):
            return _finish(False, sentence(reason[:1].upper() + reason[1:]))
        case _:
            assert_never(move)


def _intents(view: View) -> tuple[Intent, ...]:
    intents = parse(view.goal, view.apps)
    for hint in view.hints:
        further = parse(hint, view.apps)
        if further and not any(isinstance(intent, Unclear) for intent in further):
            intents += further
    return intents


def _cannot(intents: Sequence[Intent], view: View) -> str:
    """Return why a goal cannot be met, before anything is touched; empty when it may be."""
    if not intents:
        return "The goal says nothing that I could do."
    unclear = [intent for intent in intents if isinstance(intent, Unclear)]
    if unclear and unclear[0].app:
        sought = unclear[0].app[:60]
        return f"No app called “{sought}” is installed. {_what_there_is(view, sought)}"
    if unclear:
        return (
            f"I do not know how to do this: “{unclear[0].words[:200]}”. I can open apps and pages, "
            "turn switches on and off, set values, write notes, delete entries, send messages, "
            "search and type. "
            f'Try: turn on Bluetooth, or: send "I am late" to Ana Silva. {HOW_TO_CONNECT}'
        )
    homeless = [i for i in intents if not i.package and not isinstance(i, Type)]
    if homeless:
        return (
            f"No installed app fits this: “{homeless[0]}”. {_what_there_is(view, str(homeless[0]))}"
        )
    return ""


def _what_there_is(view: View, sought: str) -> str:
    """Name the apps of a phone, and say how the one most like what was sought is asked for."""
    if not view.apps:
        return "The phone gave no list of its apps: name the app by its package."
    shown = ", ".join(f"{app.name[:40]} ({app.package[:80]})" for app in view.apps[:MAX_NAMED_APPS])
    nearest = max(view.apps, key=lambda app: likeness(sought, app.name))
    more = len(view.apps) - MAX_NAMED_APPS
    rest = f" and {more} more" if more > 0 else ""
    return (
        f"The phone has: {shown}{rest}. Name one of these as it is written here, such as: "
        f"open {nearest.package[:80]}."
    )


def _move(intent: Intent, view: View, since: Sequence[PastAction]) -> moves.Move:
    trail = moves.IntentProgress.of(since)
    refused = next((act for act in since if act.refused), None)
    if refused is not None:
        return moves.GiveUp(f"“{intent}” was not done: {call_result_words(refused.result)}")
    unanswered = next((act for act in since if "Nobody answered" in act.result), None)
    if unanswered is not None:
        return moves.GiveUp("I needed an answer to continue, but nobody answered in time")
    if len(since) >= MAX_CALLS_PER_INTENT:
        return moves.GiveUp(f"“{intent}” takes more steps than I should spend on it")
    failures = [act for act in since[-3:] if act.result.startswith(("FAILED", "BLOCKED"))]
    if len(failures) >= 3:
        return moves.GiveUp(f"nothing that I try works: {call_result_words(failures[-1].result)}")
    obstacle = _obstacle(view, trail)
    if obstacle is not None:
        return obstacle
    match intent:
        case Toggle():
            return toggle(intent, view, trail)
        case Choose():
            return choose(intent, view, trail)
        case Press():
            return press(intent, view, trail)
        case Open():
            return open_page(intent, view, trail)
        case Note():
            return note(intent, view, trail)
        case Send():
            return send(intent, view, trail)
        case Delete():
            return delete(intent, view, trail)
        case Search():
            return search(intent, view, trail)
        case Type():
            return type_text(intent, view, trail)
        case Unclear():
            return moves.GiveUp(f"I do not know how to do “{intent.words}”")
        case _:
            assert_never(intent)


def _obstacle(view: View, trail: moves.IntentProgress) -> moves.Move | None:
    if SCREEN_OFF in view.note and trail.presses("POWER") < 2:
        return moves.wake()
    if not view.clickable() and any(_opens(item) for item in view.items):
        if trail.count("scroll") < MAX_SWIPES:
            return moves.swipe_up("The phone is locked and asks for no secret")
        return moves.GiveUp("the phone stays locked")
    if view.note or (view.empty and not view.items):
        waits = trail.count("wait")
        if waits < 3:
            return wait("The screen shows nothing yet")
        if trail.backs < 2:
            return moves.back("The screen stays empty")
        return moves.GiveUp(f"the screen cannot be read: {view.note or 'it stays empty'}")
    buttons = view.clickable()
    if len(buttons) <= 4:
        for button in buttons:
            if button.title.casefold() in _DISMISS and trail.clicks(button.label) < 2:
                return moves.click(button, "Put this message away")
    return None


def _opens(item: Item) -> bool:
    return item.title.casefold().startswith("swipe up to ")


def _plan(
    intents: Sequence[Intent], done: int, explanation: str, *, first: bool = False
) -> moves.Call:
    plan = [
        {
            "step": str(intent),
            "status": "completed" if at < done else "in_progress" if at == done else "pending",
        }
        for at, intent in enumerate(intents)
    ]
    required = {"requirements": [*map(_required, intents)]} if first else {}
    arguments: dict[str, object] = {"plan": plan, **required, "explanation": explanation}
    return moves.Call("update_plan", arguments, explanation)


def _required(intent: Intent) -> dict[str, str]:
    """Return what an intent requires, as any model writes it."""
    match intent:
        case Toggle(name=name, on=on):
            return {"text": str(intent), "object": name, "value": "on" if on else "off"}
        case Choose(name=name, value=value):
            return {"text": str(intent), "object": name, "value": value}
        case Delete(name=name):
            return {"text": str(intent), "object": name, "value": "gone"}
        case Send(recipient=who):
            return {"text": str(intent), "object": who, "to": who}
        case Open(name=name):
            return {"text": str(intent), "object": name, "kind": "open"}
        case _:
            return {"text": str(intent)}


def _completed(planned: object, intents: Sequence[Intent]) -> int:
    """Count the completed intents of the newest plan; −1 when it is a plan of other intents."""
    if not isinstance(planned, list) or len(planned) != len(intents):
        return -1
    done = 0
    for item, intent in zip(planned, intents, strict=True):
        if not isinstance(item, dict) or item.get("step") != str(intent):
            return -1
        done += int(item.get("status") == "completed")
    return done


def _finish(success: bool, summary: str) -> moves.Call:
    return moves.Call("finish", {"success": success, "summary": summary}, summary)
