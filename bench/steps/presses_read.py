"""`python -m bench presses_read`: how many presses are read first, as apps get known.

Every exercise is walked once a round, each by a session of its own, by a model that knows the way,
on a virtual phone that is as it was each time; a reader answers that it may. A round is a session
of each app's every goal, so that the second finds apps that one session of each kind has used.
Presses are those of elements; scrolls, keys, texts and launches are none.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from agent import protocol
from agent.config import load_settings
from agent.exercises.exercise import Exercise, Tag
from agent.exercises.suite import EXERCISES
from agent.knowledge.navigation_map import NavigationMap
from agent.loop.acting.acts import stored_acts
from agent.models.model import ModelReply, ModelRequest, ToolCall
from agent.models.reviewers.reviewing import Reviewing
from agent.records import Observation, SeenEffectKind, Usage
from agent.safety.effects.acts import ActKind
from agent.safety.navigation.known_presses import KNOWN_RULE
from bench.exercises.fallible.flaws import Flaw
from bench.exercises.fallible.server import PREFIX, fallible_models
from bench.exercises.house import House, house
from bench.exercises.trial import attempt

_BOUND_S = 240.0
_PASSES: dict[str, Any] = {
    **dict.fromkeys(("object", "reaches", "amount", "asked_by"), ""),
    **{"effect": "none", "reversible": True, "approved": False, "verdict": "allow"},
    "reason": "It may.",
}


@dataclass
class Reader:
    """A reader that lets all pass as without effect, and counts nothing."""

    name: str = "reader"
    sees: bool = False
    notice: str = ""

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        arguments = msgspec.json.encode(_PASSES).decode()
        call = ToolCall(call_id="c", name="give_review", arguments=arguments)
        return ModelReply(tool_calls=(call,), usage=Usage(calls=1))

    async def close(self) -> None:
        return None


@dataclass
class Presses:
    """Presses of sessions: how many were done, read, known, and asked about. Those that were read
    are named, too.
    """

    done: int = 0
    read: int = 0
    known: int = 0
    with_effect: int = 0
    """Of those that were read, the ones that something was seen to change by."""
    asked: int = 0
    read_on: list[str] = field(default_factory=list)

    def take(self, events: Sequence[protocol.Event]) -> None:
        """Count the presses of a session."""
        read = {e.msg.call_id for e in events if isinstance(e.msg, protocol.ActReviewed)}
        asked = {
            e.msg.question.call_id for e in events if isinstance(e.msg, protocol.RequestUserInput)
        }
        changed = {
            effect.call_id
            for e in events
            if isinstance(e.msg, protocol.EffectsSeen)
            for effect in e.msg.effects
            if effect.kind is not SeenEffectKind.DIALOG_OPENED
        }
        seen: Observation | None = None
        for event in events:
            match event.msg:
                case protocol.ObservationRecorded(observation=observation):
                    seen = observation
                case protocol.ToolCallRequested(kind="action") as call:
                    acts = stored_acts(call, seen)
                    if not any(act.kind is ActKind.PRESS for act in acts):
                        continue
                    self.done += 1
                    self.read += call.call_id in read
                    self.asked += call.call_id in asked
                    self.known += call.rule == KNOWN_RULE
                    self.with_effect += call.call_id in read & changed
                    if call.call_id in read and call.element is not None and seen is not None:
                        e = call.element
                        self.read_on.append(
                            f"{seen.foreground.package} | {e.kind} | {e.label} | {e.resource_id}"
                        )
                case _:
                    pass

    def __str__(self) -> str:
        share = self.read / self.done if self.done else 0.0
        parts = (self.done, self.read, f"{share:.0%}", self.with_effect, self.known, self.asked)
        return " | ".join(map(str, parts))


def main(given: Sequence[str] = ()) -> None:
    """Print how many presses are read in each round."""
    parser = argparse.ArgumentParser(prog="python -m bench presses_read", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="sessions of each goal")
    parser.add_argument("--only", action="append", default=[], help="names of exercises")
    parser.add_argument("--list", action="store_true", help="name the presses that were read")
    options = parser.parse_args(list(given))
    chosen = [
        e
        for e in EXERCISES
        if e.route and Tag.PICTURE not in e.tags and (not options.only or e.name in options.only)
    ]
    with tempfile.TemporaryDirectory(prefix="presses-") as folder:
        asyncio.run(_rounds(chosen, options.rounds, Path(folder), named=options.list))


async def _rounds(chosen: Sequence[Exercise], rounds: int, folder: Path, *, named: bool) -> None:
    settings = load_settings(overrides={"data_dir": str(folder / "data")})
    model = f"{PREFIX}{Flaw.NONE.value}"
    routes = {e.goal: e.route for e in chosen}
    async with fallible_models(routes, seed=1) as url:
        settings = replace(settings, model=replace(settings.model, base_url=url, vision=False))
        async with house(
            folder, settings, phones=1, reviewers=lambda _model, _session: Reviewing(model=Reader())
        ) as stands:
            print("| round | presses | read | share | with effect | known | asked | goals met |")
            print("|---|---:|---:|---:|---:|---:|---:|---:|")
            for number in range(1, rounds + 1):
                presses, met = Presses(), 0
                for exercise in chosen:
                    met += await _walk(stands, exercise, model, number, presses)
                print(f"| {number} | {presses} | {met} of {len(chosen)} |", flush=True)
                if named:
                    print("\n".join(sorted(presses.read_on)))
        for app in await NavigationMap(settings.data_dir, lambda: 0).apps():
            print(app)


async def _walk(
    stands: House, exercise: Exercise, model: str, number: int, presses: Presses
) -> bool:
    outcome = await attempt(
        stands,
        stands.serials[0],
        exercise,
        model=model,
        seed=1,
        repeat=number,
        without=(),
        bound_s=_BOUND_S,
    )
    found: list[protocol.Event] = []
    if outcome.session_id:
        while page := await stands.core.history(
            outcome.session_id, after_seq=found[-1].seq if found else 0
        ):
            found += page
    presses.take(found)
    return outcome.ok
