"""How many requests a form takes with one call in an answer and with several, and what calls cost.

`python -m bench answers`. The exercises whose routes fill in a form are played twice on a virtual
phone, through the real core, store and task: once with one call in an answer, once with every call
that the shown screen offers. No model: a policy that knows the route, sees only the prompt, and
plans first and ticks its plan off last, as the instructions ask. So this measures what the loop
allows and what it costs, not whether a model gives several calls. Tokens are o200k's, without
pictures and tools.
"""

import asyncio
import itertools
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent.config import load_settings
from agent.exercises.exercise import Exercise
from agent.exercises.route import Step, Tap, Write
from agent.exercises.suite import EXERCISES
from agent.loop.conversation.masking import AGAIN, is_masked, mask
from agent.models.model import Message, MessageKind, ModelReply, ModelRequest, ToolCall
from agent.models.pilot.reading import PastAction, View, read
from bench._tokens import count_tokens
from bench.exercises.house import house
from bench.exercises.route import Call, name_of, next_call
from bench.exercises.trial import attempt

_BOUND_S = 120.0
_MOST = 12  # Calls in one answer.
_LONG = 3  # Acts in a row from the first text on, from which on a form counts as a long one.
_ON_PAGE = frozenset({"click_element", "type_text"})


def main() -> None:
    """Print the table."""
    asyncio.run(_print())


def form_goals() -> tuple[Exercise, ...]:
    """Return the exercises that fill in a form: a text, and another act after it."""
    return tuple(e for e in EXERCISES if _fills(e.route))


def _fills(route: Sequence[Step]) -> bool:
    return any(
        isinstance(first, Write) and isinstance(then, Write | Tap)
        for first, then in itertools.pairwise(route)
    )


def _longest_run(route: Sequence[Step]) -> Sequence[Step]:
    """Return the most acts in a row from the first text of a form to its button."""
    at = next((n for n, step in enumerate(route) if isinstance(step, Write)), len(route))
    return tuple(itertools.takewhile(lambda step: isinstance(step, Write | Tap), route[at:]))


@dataclass
class RoutePolicy:
    """Implements `agent.models.model.Model`: follows a route, with so many calls in an answer."""

    route: Sequence[Step]
    most: int
    requests: list[ModelRequest] = field(default_factory=list)
    name: str = "route"
    notice: str = ""
    sees: bool = False

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        self.requests.append(request)
        view = read(request.messages)
        calls = [
            ToolCall(
                call_id=f"call-{len(self.requests)}-{at}",
                name=call.tool,
                arguments=json.dumps(call.arguments, ensure_ascii=False),
            )
            for at, call in enumerate(planned(view, self.route, self.most))
        ]
        return ModelReply(tool_calls=tuple(calls))

    async def close(self) -> None:
        return None


def planned(view: View, route: Sequence[Step], most: int) -> list[Call]:
    """Return the next calls with those that make the plan and tick it off."""
    plans = sum(
        act.tool == "update_plan" and not act.result.startswith("FAILED") for act in view.done
    )
    view.done = [act for act in view.done if act.tool != "update_plan"]
    calls = answer(view, route, max(most - 1, 1))
    if not plans or (plans == 1 and calls[0].tool == "finish"):
        status = "completed" if plans else "in_progress"
        items = [{"step": step, "status": status} for step in map(name_of, route)]
        calls.insert(0, Call("update_plan", {"plan": items}))
    return calls[:most]


def answer(view: View, route: Sequence[Step], most: int) -> list[Call]:
    """Return the next calls, as far as the shown screen has their elements."""
    calls = [next_call(view, route)]
    while len(calls) < most and calls[-1].tool in _ON_PAGE:
        last = calls[-1]
        label = next((i.label for i in view.items if i.number == last.arguments.get("element")), "")
        result = f'OK: Clicked [1] "{label}".'
        view.done.append(PastAction(last.tool, last.arguments, result, view.package, view.activity))
        if last.tool == "type_text":
            # What a form has only for a filled field is enabled once it is filled.
            view.items = tuple(replace(i, states=i.states - {"DISABLED"}) for i in view.items)
        following = next_call(view, route)
        # The same button again is the one of a dialog that is not shown yet.
        if following.tool not in _ON_PAGE or (following == last and last.tool == "click_element"):
            break
        calls.append(following)
    return calls


@dataclass(frozen=True)
class Played:
    """What one session came to."""

    requests: int
    tokens: int  # Of all requests, without their tools.
    growth: float  # Tokens that an act leaves for good: its call, its result, its screen in a line.
    why: str  # Why the goal was not met; empty: it was.


def grown(messages: Sequence[Message]) -> float:
    """Return the tokens that an act leaves in a conversation once its screen is an old one.

    Plans are left out: they are as long as they are written.
    """
    plans = {c.call_id for m in messages for c in m.tool_calls if c.name == "update_plan"}
    acts = sum(len(m.tool_calls) for m in messages) - len(plans)
    kinds = {MessageKind.REPLY, MessageKind.RESULT, MessageKind.OBSERVATION}
    left = [
        m
        for m in mask(messages, keep=0)
        if m.kind in kinds
        and m.text != AGAIN
        # The newest screen, where it is one that was looked at again.
        and (m.kind is not MessageKind.OBSERVATION or is_masked(m))
        and m.call_id not in plans
        and not any(call.call_id in plans for call in m.tool_calls)
    ]
    return sum(_tokens(m) for m in left) / max(acts, 1)


def _tokens(message: Message) -> int:
    calls = "".join(f"{call.name} {call.arguments}" for call in message.tool_calls)
    return count_tokens(message.text + calls)


async def _print() -> None:
    print(
        "| goal | requests, one call an answer | several | ratio | input tokens | several "
        "| growth an act | several |\n|---|---|---|---|---|---|---|---|"
    )
    one = await play(form_goals(), 1)
    several = await play(form_goals(), _MOST)
    met: list[tuple[Played, Played]] = []
    long: list[tuple[Played, Played]] = []
    for exercise, before, after in zip(form_goals(), one, several, strict=True):
        why = before.why or after.why
        if not why:
            met.append((before, after))
            if len(_longest_run(exercise.route)) >= _LONG:
                long.append((before, after))
        print(_row(f"{exercise.name}{f' (not met: {why})' if why else ''}", [(before, after)]))
    print(_row("**all that were met**", met))
    print(_row(f"**of them with {_LONG} or more acts in a row**", long))


def _row(name: str, played: Sequence[tuple[Played, Played]]) -> str:
    one, several = ([pair[at] for pair in played] for at in (0, 1))
    requests = [sum(p.requests for p in arm) for arm in (one, several)]
    tokens = [sum(p.tokens for p in arm) for arm in (one, several)]
    growth = [sum(p.growth for p in arm) / max(len(arm), 1) for arm in (one, several)]
    ratio = requests[1] / max(requests[0], 1)
    return (
        f"| {name} | {requests[0]} | {requests[1]} | {ratio:.2f} | {tokens[0]:,} | {tokens[1]:,} "
        f"| {growth[0]:.0f} | {growth[1]:.0f} |"
    )


async def play(exercises: Sequence[Exercise], most: int) -> list[Played]:
    """Play each goal once on a virtual phone, with at most so many calls in an answer."""
    with tempfile.TemporaryDirectory(prefix="answers-") as folder:
        overrides = {
            "data_dir": f"{folder}/data",
            "model.verifier": "off",
            "safety.reviewer": "off",
        }
        policy = RoutePolicy((), most)
        settings = load_settings(overrides=overrides)
        async with house(
            Path(folder), settings, phones=1, models=lambda _session: policy
        ) as stands:
            played = []
            for exercise in exercises:
                policy.route, policy.requests = exercise.route, []
                outcome = await attempt(
                    stands,
                    stands.serials[0],
                    exercise,
                    model="route",
                    seed=1,
                    repeat=1,
                    without=(),
                    bound_s=_BOUND_S,
                )
                sent = [request.messages for request in policy.requests]
                played.append(
                    Played(
                        requests=len(sent),
                        tokens=sum(_tokens(m) for messages in sent for m in messages),
                        growth=grown(sent[-1]) if sent else 0.0,
                        why=outcome.why,
                    )
                )
            return played
