"""Decide what a claim of success comes to: refused with the reasons, or the end.

Structure first (`refusals`, `decisions`), then one call of the verifier for what is left.
Invariants: what structure denies nobody overrules; nothing is asked twice while nothing was done or
seen in between; a claim ends the session at last, verified or not, and never as failed.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from agent.loop.conversation.prompts import UNFINISHED
from agent.loop.verification.acceptance import objection
from agent.loop.verification.claim_history import DO_AGAIN, ClaimHistory
from agent.loop.verification.decisions import decided, nothing_else_changed, verdict_of
from agent.loop.verification.named_things import other_thing
from agent.loop.verification.refusals import refusals
from agent.loop.verification.scopes import Scope, scopes
from agent.loop.verification.verifier import Case, Verified, Verifier
from agent.records import (
    GoalVerdict,
    Requirement,
    RequirementKind,
    RequirementVerdict,
    Usage,
    Verification,
    VerifiedBy,
)
from agent.records.requirements import wanted
from agent.records.verification import together
from agent.state.event_text import pointed_words
from agent.text import one_line

MAX_REFUSALS = 3
MARK_THEM = "Mark those that are done with update_plan"
NOT_SHOWN = "Nothing that was done or seen shows it"
BLOCKED = "BLOCKED: The work is not accepted as done"

_CONDITIONS = frozenset({RequirementKind.CONDITION})
_CHANGES = frozenset({RequirementKind.CHANGE, RequirementKind.ANY})

AskPerson: TypeAlias = Callable[[Requirement], Awaitable[bool | None]]


class Claim(NamedTuple):
    """What is claimed, and what it is judged by."""

    requirements: tuple[Requirement, ...]
    answer: str = ""
    """What the agent tells the operator, with its result as data."""
    open_items: str = ""
    """What of the model's own plan is open; empty: nothing."""
    phone: str = ""
    """The phone's date, time and language when the work began."""
    today: date | None = None


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


Decided: TypeAlias = Refused | Accepted


@dataclass(slots=True)
class Claims:
    """The claims of success of one turn."""

    past: ClaimHistory
    verifier: Verifier | None  # None: nobody verifies.
    ask_person: AskPerson
    checks: bool = True  # Whether claims are checked at all; switched off only to measure.
    _known: tuple[str, Verification] = ("", Verification())
    """What was known when the verifier was asked last, and what it said."""
    _told: dict[str, RequirementVerdict] = field(default_factory=dict)
    """What was told and confirmed: it was read then, and may stand on no newer screen."""
    _claimed: str = ""
    _refused_at: str = ""
    """What was known and claimed when a claim was refused last."""

    async def decide(self, claim: Claim) -> Decided:
        """Decide on a claim."""
        if not self.checks:
            return Accepted(Verification())
        listed = wanted(claim.requirements)
        against = refusals(listed, self.past, claim.today)
        found = self._decided(claim, listed)
        denied = [one for one in found.values() if one.verdict is not GoalVerdict.MET]
        self._claimed = f"{self.past.state} {claim.answer} {[(r.text, r.kind) for r in listed]}"
        if self._has_chance and (against or denied or claim.open_items):
            plan = (f"{UNFINISHED}: {claim.open_items}", MARK_THEM) if claim.open_items else ()
            return self._refused((*against, *map(_line, denied), *plan))
        if against or denied:
            return Accepted(_together(listed, found, "; ".join(against)))
        return await self._verified(claim, listed, found)

    def _decided(
        self, claim: Claim, listed: Sequence[Requirement]
    ) -> dict[int, RequirementVerdict]:
        """Return what structure decides; what was done to another thing is left to be looked at."""
        found: dict[int, RequirementVerdict] = {}
        own = self._scopes(listed)
        for one in listed:
            verdict = decided(one, listed, self.past, claim.answer, claim.today)
            if verdict is None:
                continue
            numbers = {pointer.effect for pointer in verdict.evidence}
            effects = [effect for effect in self.past.effects if effect.number in numbers]
            is_met = verdict.verdict is GoalVerdict.MET
            if not (is_met and other_thing(own[one.number], effects, self.past)):
                found[one.number] = verdict
        return found

    def _scopes(self, listed: Sequence[Requirement]) -> dict[int, Scope]:
        return scopes(listed, " ".join((self.past.goal, *self.past.hints)))

    async def _verified(
        self, claim: Claim, listed: Sequence[Requirement], found: dict[int, RequirementVerdict]
    ) -> Decided:
        left = [one for one in listed if one.number not in found]
        asked = tuple(one for one in left if one.kind is not RequirementKind.PERSON)
        usage, failure = Usage(), ""
        state = self._claimed
        if state == self._known[0]:
            return Accepted(self._known[1])
        if asked := self._without_kept(asked, listed, found):
            if self.verifier is None:
                return Accepted(_together(listed, found, ""))
            case = Case(self.past, asked, tuple(found.values()), claim.answer, claim.phone)
            done = await self.verifier.verify(case)
            usage, failure = done.usage, done.failure
            self._check(done, asked, claim, found)
        if not any(one.verdict is not GoalVerdict.MET for one in found.values()):
            for one in left:
                if one.kind is RequirementKind.PERSON:
                    found[one.number] = await self._asked_person(one)
        said = _together(listed, found, failure)
        self._known = state, said
        if said.is_met or failure or not self._has_chance:
            return Accepted(said, usage)
        unmet = [one for one in said.requirements if one.verdict is not GoalVerdict.MET]
        refused = self._refused(tuple(map(_line, unmet)))
        return Refused(refused.reason, said, usage)

    def _without_kept(
        self,
        asked: tuple[Requirement, ...],
        listed: Sequence[Requirement],
        found: dict[int, RequirementVerdict],
    ) -> tuple[Requirement, ...]:
        """Decide what is to be kept where each effect serves a requirement that is decided."""
        if any(one.number not in found for one in listed if one.kind in _CHANGES):
            return asked
        open_ones = []
        for one in asked:
            verdict = None
            if one.kind is RequirementKind.KEEP:
                verdict = nothing_else_changed(one, found.values(), self.past)
            if verdict is None:
                open_ones.append(one)
            else:
                found[one.number] = verdict
        return tuple(open_ones)

    def _check(
        self,
        done: Verified,
        asked: Sequence[Requirement],
        claim: Claim,
        found: dict[int, RequirementVerdict],
    ) -> None:
        """Keep the verifier's verdicts, each "met" only if what it points at agrees."""
        said = {one.number: one for one in done.verdicts}
        conditions = [one.number for one in claim.requirements if one.kind in _CONDITIONS]
        own = self._scopes(wanted(claim.requirements))
        taken: dict[int, str] = {}
        for shown in found.values():
            self._take(taken, shown.text, shown)
        for one in asked:
            verdict = said.get(one.number)
            if verdict is None:
                continue
            if verdict.verdict is GoalVerdict.CANNOT_TELL and one.text in self._told:
                verdict = replace(self._told[one.text], number=one.number)
            if verdict.verdict is GoalVerdict.NOT_MET and not verdict.evidence:
                # A denial that points at nothing proves nothing either.
                verdict = replace(
                    verdict, verdict=GoalVerdict.CANNOT_TELL, verified_by=VerifiedBy.NOBODY
                )
            elif verdict.verdict is GoalVerdict.MET and verdict.verified_by is VerifiedBy.VERIFIER:
                why = objection(
                    one,
                    verdict.evidence,
                    self.past,
                    answer=claim.answer,
                    today=claim.today,
                    scope=own.get(one.number),
                    taken=taken,
                    excused=self._excused(one, (*said.values(), *found.values())),
                    is_branch=conditions[:1] not in ([], [one.number]),
                )
                if why:
                    verdict = verdict_of(
                        one, GoalVerdict.CANNOT_TELL, VerifiedBy.NOBODY, why, verdict.evidence
                    )
            if verdict.verdict is GoalVerdict.MET and one.kind is RequirementKind.TELL:
                self._told[one.text] = verdict
            if verdict.verdict is GoalVerdict.MET and one.kind in _CHANGES:
                self._take(taken, f"{one.text} {one.object}", verdict)
            found[one.number] = verdict

    def _take(self, taken: dict[int, str], text: str, shown: RequirementVerdict) -> None:
        """Note that effects serve a requirement."""
        for pointer in shown.evidence:
            if pointer.effect:
                taken[pointer.effect] = f"{taken.get(pointer.effect, '')} {text}"

    def _excused(self, one: Requirement, verdicts: Sequence[RequirementVerdict]) -> frozenset[int]:
        """Return the effects that were taken back as this or another requirement asks for: one is
        shown by what was done, and the other by what took it back.
        """
        mine = {p.effect for v in verdicts if v.number == one.number for p in v.evidence}
        others = {p.effect for v in verdicts if v.number != one.number for p in v.evidence}
        return frozenset(
            e.number
            for e in self.past.own_effects
            if e.undone_by in others or (e.undone_by in mine and e.number in others)
        )

    async def _asked_person(self, one: Requirement) -> RequirementVerdict:
        answer = await self.ask_person(one)
        if answer is None:
            reason = "Nobody answered in time"
            return verdict_of(one, GoalVerdict.CANNOT_TELL, VerifiedBy.NOBODY, reason)
        verdict = GoalVerdict.MET if answer else GoalVerdict.NOT_MET
        return verdict_of(one, verdict, VerifiedBy.OPERATOR, "")

    @property
    def _has_chance(self) -> bool:
        past = self.past
        if past.refusals == 0:
            return True
        says_else = bool(self._refused_at) and self._claimed != self._refused_at
        is_new = says_else or past.state != past.state_at_refusal
        return past.refusals < MAX_REFUSALS and is_new

    def _refused(self, reasons: tuple[str, ...]) -> Refused:
        self._refused_at = self._claimed
        return Refused(f"{BLOCKED}. {_as_sentences(reasons)} {DO_AGAIN}.")


def _together(
    listed: Sequence[Requirement], found: dict[int, RequirementVerdict], reason: str
) -> Verification:
    """Return all verdicts as one; what nobody judged is told as such."""
    verdicts = [
        found.get(one.number)
        or verdict_of(one, GoalVerdict.CANNOT_TELL, VerifiedBy.NOBODY, "Nobody looked at it")
        for one in listed
    ]
    return together(verdicts, reason)


def _line(one: RequirementVerdict) -> str:
    """Return why a requirement is not shown to be met."""
    shown = pointed_words(one.evidence)
    why = one.reason.rstrip(".") or NOT_SHOWN
    evidence = f" ({one_line(shown, 200)})" if shown else ""
    return f'{one.number}. "{one_line(one.text, 120)}": {why}{evidence}'


def _as_sentences(reasons: Sequence[str]) -> str:
    return " ".join(f"{reason.rstrip('.')}." for reason in reasons if reason)
