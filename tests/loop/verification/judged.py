"""Claims that are judged as in a turn: from events, by verifiers that read only requests."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date

from msgspec.structs import replace

from agent import protocol
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.claims import Claim, Claims, Decided
from agent.loop.verification.coverage import Wished, covering
from agent.loop.verification.verifier import ModelVerifier
from agent.models.model import ModelReply, ModelRequest, ToolCall
from agent.records import (
    ActionOutcome,
    FieldFate,
    Observation,
    Requirement,
    SeenEffect,
    SeenEffectKind,
    UiNode,
    Usage,
)
from tests.loop.paper_phone import APP
from tests.loop.verification.screens import observation

TODAY = date(2026, 11, 28)
"""A Saturday."""
STATE, SENT, FIELD = SeenEffectKind.STATE, SeenEffectKind.SENT, SeenEffectKind.FIELD
ADDED, REMOVED = SeenEffectKind.ITEM_ADDED, SeenEffectKind.ITEM_REMOVED
APPROVED = SeenEffectKind.APPROVED


def effect(
    kind: SeenEffectKind, name: str, after: str = "", before: str = "", **more: object
) -> SeenEffect:
    """Make an effect; its number and steps are given when it is folded."""
    fields: dict[str, object] = {"app": APP, "page": "Page", **more}
    return SeenEffect(
        number=0,
        step=0,
        seen_step=0,
        kind=kind,
        object=name,
        before=before,
        after=after,
        **fields,  # type: ignore[arg-type]
    )


def typed(text: str, name: str = "Message") -> SeenEffect:
    return effect(FIELD, name, text, saved=FieldFate.TYPED)


@dataclass
class Work:
    """What was asked, done and seen: a screen, then acts with their effects and screens."""

    goal: str
    past: ClaimHistory = field(init=False)
    _step: int = 0
    _number: int = 0

    def __post_init__(self) -> None:
        self.past = ClaimHistory(self.goal)

    def see(self, *nodes: UiNode, effects: Sequence[SeenEffect] = ()) -> "Work":
        """Show a screen, on which some effects are seen."""
        self._step += 1
        seen: Observation = replace(observation(*nodes), fingerprint=f"f{self._step}")
        self.past.fold(protocol.ObservationRecorded(step=self._step, observation=seen))
        found = []
        for one in effects:
            self._number += 1
            found.append(
                replace(one, number=self._number, step=self._step - 1 or 1, seen_step=self._step)
            )
        if found:
            self.past.fold(protocol.EffectsSeen(step=self._step, effects=tuple(found)))
        return self

    def act(
        self,
        tool: str = "click_element",
        said: str = "OK: Done.",
        arguments: str = "{}",
        pressed: str = "",
    ) -> "Work":
        """Do something on the newest screen.

        Args:
            pressed: the label of what is pressed there.
        """
        call = f"c{self._step}-{len(self.past.actions)}"
        shown = self.past.last[1].elements if self.past.last else ()
        element = next((e for e in shown if pressed and e.label == pressed), None)
        asked = protocol.ToolCallRequested(
            step=self._step,
            call_id=call,
            tool=tool,
            arguments=arguments,
            kind="action",
            element=element,
        )
        self.past.fold(asked)
        done = ActionOutcome.DONE
        self.past.fold(
            protocol.ToolCallFinished(step=self._step, call_id=call, outcome=done, text=said)
        )
        return self


Verdicts = Callable[[str, list[int]], list[dict[str, object]]]


@dataclass
class Witness:
    """A model that is asked for verdicts; it reads nothing but the request."""

    gives: Verdicts
    requests: list[ModelRequest] = field(default_factory=list)
    name: str = "witness"
    sees: bool = False
    notice: str = ""

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        self.requests.append(request)
        text = "\n".join(message.text for message in request.messages[1:])
        listed = text.split("## Open requirements", 1)[1].split("\n## ", 1)[0]
        numbers = [int(number) for number in re.findall(r"^(\d+)\. ", listed, re.MULTILINE)]
        arguments = json.dumps({"verdicts": self.gives(text, numbers)})
        call = ToolCall(call_id="v", name="give_verdict", arguments=arguments)
        return ModelReply(tool_calls=(call,), usage=Usage(calls=1, input_tokens=9))

    async def close(self) -> None:
        return None


def all_ids(text: str) -> list[str]:
    """Return every id that a request shows: effects, and elements of its screens."""
    last = re.search(r"^## Last screen, S(\d+)", text, re.MULTILINE)
    elements = re.findall(r"^\[(\d+)\]", text, re.MULTILINE)
    step = last[1] if last else "0"
    return [
        *re.findall(r"^(E\d+) step", text, re.MULTILINE),
        *re.findall(r"^(S\d+\[\d+\])", text, re.MULTILINE),
        *(f"S{step}[{number}]" for number in elements),
    ]


def accomplice() -> Witness:
    """Call everything met, and point at all there is."""

    def gives(text: str, numbers: list[int]) -> list[dict[str, object]]:
        ids = all_ids(text)
        return [{"requirement": n, "verdict": "met", "evidence": ids} for n in numbers]

    return Witness(gives)


def sloppy() -> Witness:
    """Call everything met, and point at the newest effect, else at the first element."""

    def gives(text: str, numbers: list[int]) -> list[dict[str, object]]:
        ids = [one for one in all_ids(text) if one.startswith("E")][-1:] or all_ids(text)[:1]
        return [{"requirement": n, "verdict": "met", "evidence": ids} for n in numbers]

    return Witness(gives)


def says(verdict: str, *evidence: str) -> Witness:
    """Give one verdict on everything."""
    return Witness(
        lambda _text, numbers: [
            {"requirement": n, "verdict": verdict, "evidence": list(evidence)} for n in numbers
        ]
    )


def listed(goal: str, *wished: Wished) -> tuple[Requirement, ...]:
    return covering(wished, (), goal)


def claims(work: Work, witness: Witness | None, answers: dict[str, bool] | None = None) -> Claims:
    async def ask(one: Requirement) -> bool | None:
        return (answers or {}).get(one.text)

    async def no_blob(_digest: str) -> bytes:
        return b""

    verifier = None if witness is None else ModelVerifier(witness, no_blob)
    return Claims(work.past, verifier, ask)


def decide(
    work: Work,
    requirements: tuple[Requirement, ...],
    witness: Witness | None = None,
    *,
    answer: str = "Done.",
) -> Decided:
    """Judge one claim."""
    claim = Claim(requirements, answer=answer, today=TODAY)
    return asyncio.run(claims(work, witness).decide(claim))


def is_met(decided: Decided) -> bool:
    found = decided.verification
    return found is not None and found.is_met
