"""Judge a parent's goal by its requirements, with what its children were verified by. Pure.

A child's verdict is on its objective alone; whether the objectives are the goal is compared here.
Invariants: a requirement is met only where verified children on its phone were judged by all of its
words, in their objective or handed on to them; the weakest word counts; a child that nobody
verified verifies nothing; what only a person can say is not met.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from agent.language.tokens import words
from agent.loop.verification.coverage import uncovered
from agent.protocol import Event, VerificationRecorded
from agent.records import (
    Evidence,
    GoalVerdict,
    Requirement,
    RequirementOrigin,
    RequirementVerdict,
    Session,
    Verification,
    VerifiedBy,
)
from agent.records.requirements import wanted
from agent.records.verification import STRENGTH, together
from agent.sessions.rules.rollup import part_name
from agent.text import one_line

MAX_EVIDENCE = 12


def verification_in(events: Sequence[Event]) -> Verification:
    """Return the newest verification of a session."""
    found = (e.msg for e in reversed(events) if isinstance(e.msg, VerificationRecorded))
    newest = next(found, None)
    return Verification() if newest is None else newest.verification


def parent_verification(
    parent: Session, children: Sequence[Session], found: Mapping[str, Verification]
) -> Verification:
    """Return whether a parent's goal is met, requirement by requirement.

    Args:
        children: those that count.
        found: the newest verification of each, by its id.
    """
    listed = wanted(parent.requirements)
    from_goal = [one for one in listed if not one.is_operators]
    if not from_goal:
        # The operator divided the goal: each part is a requirement.
        parts = [
            _part(at, child, found.get(child.session_id, Verification()))
            for at, child in enumerate(children, start=1)
        ]
        listed = tuple(one for one in listed if one.is_operators)
        return together([*parts, *(_judged(one, children, found) for one in listed)])
    return together([_judged(one, children, found) for one in listed])


def _part(number: int, child: Session, said: Verification) -> RequirementVerdict:
    reason = f"Not confirmed: {part_name(child)}"
    if child.verdict is GoalVerdict.NOT_MET:
        reason = f"Not met: {part_name(child)}"
    verdict = child.verdict if child.is_verified else _unmet(child)
    return RequirementVerdict(
        number=number,
        text=one_line(child.goal, 500),
        verdict=verdict,
        verified_by=child.verified_by,
        reason="" if child.is_verified else reason,
        evidence=_evidence(child, said),
    )


def _unmet(child: Session) -> GoalVerdict:
    denied = child.verdict is GoalVerdict.NOT_MET
    return GoalVerdict.NOT_MET if denied else GoalVerdict.CANNOT_TELL


def _judged(
    one: Requirement, children: Sequence[Session], found: Mapping[str, Verification]
) -> RequirementVerdict:
    verdict = RequirementVerdict(number=one.number, text=one.text)
    if one.origin is RequirementOrigin.PLAN:
        return replace(verdict, reason="Only a person can say that the plan is what was meant")
    carry = [child for child in children if _carries(one, child)]
    if not one.phone:
        # What the operator requires of all together may be done by several.
        carry = carry or [child for child in children if _says_some(one, child)]
        done = (Requirement(number=0, text=child.goal) for child in carry)
        if missing := uncovered(one.text, done):
            reason = f"No subtask says “{one_line(missing[0], 120)}”"
            return replace(verdict, reason=reason)
    if not carry:
        where = f" on {one.phone}" if one.phone else ""
        return replace(verdict, reason=f"No subtask{where} says “{one_line(one.text, 120)}”")
    denied = [child for child in carry if child.verdict is GoalVerdict.NOT_MET]
    open_ones = [child for child in carry if not child.is_verified]
    evidence = [e for c in carry for e in _evidence(c, found.get(c.session_id, Verification()))]
    if denied:
        return replace(
            verdict,
            verdict=GoalVerdict.NOT_MET,
            verified_by=denied[0].verified_by,
            reason=f"Not met: {part_name(denied[0])}",
        )
    if open_ones:
        named = ", ".join(map(part_name, open_ones))
        return replace(verdict, reason=f"Not confirmed: {named}")
    by = min((child.verified_by for child in carry), key=STRENGTH.index)
    if by is VerifiedBy.NOBODY:
        return verdict
    return replace(
        verdict, verdict=GoalVerdict.MET, verified_by=by, evidence=tuple(evidence[:MAX_EVIDENCE])
    )


def _carries(one: Requirement, child: Session) -> bool:
    """Return whether a child was verified against the words of a requirement, on its phone."""
    if one.phone and child.serial != one.phone:
        return False
    handed = (r.text for r in wanted(child.requirements) if r.origin is RequirementOrigin.PLAN)
    return any(_is_said(said, one.text) for said in (child.goal, *handed))


def _says_some(one: Requirement, child: Session) -> bool:
    """Return whether a child's objective is about a requirement at all."""
    return uncovered(one.text, (Requirement(number=0, text=child.goal),)) != (one.text,)


def _is_said(text: str, part: str) -> bool:
    """Return whether a text has all words of a part, in order."""
    said = iter(words(text))
    return all(word in said for word in words(part))


def _evidence(child: Session, said: Verification) -> tuple[Evidence, ...]:
    """Return what a child was verified by, as a parent names it."""
    pointed: Iterable[Evidence] = (
        *said.evidence,
        *(evidence for one in said.requirements for evidence in one.evidence),
    )
    return tuple(
        replace(one, session_id=one.session_id or child.session_id)
        for one in dict.fromkeys(pointed)
        if one.step or one.effect
    )[:MAX_EVIDENCE]
