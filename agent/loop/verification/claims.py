"""Decide what a claim of success comes to: refused with the reason, believed, or the end.

Not the checks (`structure`) and not the verifier. Invariants: a claim is refused once, and once
more only after something has taken effect since; of which a model cannot tell is refused once at
most; what nobody confirms is told as unverified; a claim that is shown to be false fails the
session with the evidence.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from agent.loop.conversation.prompts import UNFINISHED
from agent.loop.verification.claim_history import DO_AGAIN, ClaimHistory
from agent.loop.verification.goals import asks_only_to_look, asks_to_tell
from agent.loop.verification.structure import objections
from agent.loop.verification.verifier import Claim, Verified, Verifier
from agent.records import GoalVerdict, Usage, Verification
from agent.state.event_text import evidence_words

MAX_REFUSALS = 2
MARK_THEM = "Mark those that are done with update_plan"
NOT_SHOWN = "The goal is not shown to be met"
NOT_TOLD = "What the verifier was shown does not tell whether the goal is met"


@dataclass(frozen=True, slots=True)
class Refused:
    """The claim is refused; the model reads why and goes on."""

    reason: str
    verification: Verification | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The session is completed; whether anybody confirmed it, the verification says."""

    verification: Verification
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Rejected:
    """The claim was shown to be false twice: the session fails."""

    message: str
    verification: Verification
    usage: Usage = field(default_factory=Usage)


Decided: TypeAlias = Refused | Accepted | Rejected


@dataclass(slots=True)
class Claims:
    """The claims of success of one turn."""

    past: ClaimHistory
    verifier: Verifier | None  # None: nobody verifies.
    checks: bool = True  # Whether claims are checked at all; switched off only to measure.

    async def decide(
        self, open_items: str, *, answer: str = "", values: tuple[str, ...] = ()
    ) -> Decided:
        """Decide on a claim.

        Args:
            open_items: what of the model's own plan is open; empty: nothing.
            answer: what the model says of the outcome.
            values: words of its result, where the goal asks for data.
        """
        if not self.checks:
            return Accepted(Verification())
        against = objections(self.past)
        looks = asks_only_to_look(self.past.goal)
        if self._has_chance and (against or open_items):
            plan = (f"{UNFINISHED}: {open_items}", MARK_THEM)
            return self._refuse((*against, *(plan if open_items else ())))
        if self.verifier is None:
            return Accepted(Verification(reason=_as_sentences(against)))
        tells = (
            looks or asks_to_tell(self.past.goal) or any(map(asks_only_to_look, self.past.hints))
        )
        claim = Claim(answer=answer if tells or values else "", values=values, looks_only=looks)
        found = await self.verifier.verify(self.past, claim)
        return self._conclude(found, against)

    def _conclude(self, found: Verified, against: tuple[str, ...]) -> Decided:
        done, usage = found.verification, found.usage
        if done.is_met or not found.answered:
            return Accepted(done, usage)
        denied = done.verdict is GoalVerdict.NOT_MET
        shown = any(one.step for one in done.evidence)
        if found.missing and not against and self.past.refusals == 0:
            # One look more often settles what no screen has shown yet.
            refused = self._refuse((NOT_TOLD, found.missing))
            return Refused(refused.reason, done, usage)
        if not denied and not against:
            return Accepted(done, usage)
        if self._has_chance:
            refused = self._refuse((NOT_SHOWN, *filter(None, (_reason_with_evidence(done),))))
            return Refused(refused.reason, done, usage)
        if (denied and shown) or against:
            why = _as_sentences((*against, *filter(None, (_reason_with_evidence(done),))))
            message = f"The model says that the goal is met, and it is not shown to be. {why}"
            return Rejected(message.strip(), done, usage)
        # A denial that quotes no screen proves nothing either.
        return Accepted(Verification(reason=done.reason, evidence=done.evidence), usage)

    @property
    def _has_chance(self) -> bool:
        past = self.past
        if past.refusals == 0:
            return True
        return past.refusals < MAX_REFUSALS and past.effects > past.effects_at_refusal

    def _refuse(self, reasons: tuple[str, ...]) -> Refused:
        return Refused(f"FAILED: {_as_sentences(reasons)} {DO_AGAIN}.")


def _reason_with_evidence(done: Verification) -> str:
    shown = evidence_words(done)
    return f"{done.reason} ({shown})" if shown and done.reason else done.reason or shown


def _as_sentences(reasons: tuple[str, ...]) -> str:
    return " ".join(f"{reason.rstrip('.')}." for reason in reasons if reason)
