"""Judge a parent's goal by its requirements, with what its children were verified by. Pure.

A child's verdict is on its objective alone; whether the objectives are the goal is compared here.
Invariants: a requirement is met only where verified children carry all of its words, on the phone
that it names; the weakest word counts; a child that nobody verified verifies nothing.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from agent.loop.verification.coverage import says_own, shared_words, uncovered
from agent.protocol import Event, VerificationRecorded
from agent.records import (
    Evidence,
    GoalVerdict,
    Requirement,
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
        return together([*parts, *(_judged(one, parent, children, found) for one in listed)])
    return together([_judged(one, parent, children, found) for one in listed])


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
    one: Requirement,
    parent: Session,
    children: Sequence[Session],
    found: Mapping[str, Verification],
) -> RequirementVerdict:
    ours = [c for c in children if not one.phone or c.serial == one.phone]
    carry = [c for c in ours if one.phone or _says_some(one, c)]
    where = f" on {one.phone}" if one.phone else ""
    verdict = RequirementVerdict(number=one.number, text=one.text)
    said = (Requirement(number=0, text=f"{child.goal} {one.object}") for child in carry)
    if not carry or (missing := uncovered(one.text, said)):
        lacking = one.text if not carry else missing[0]
        return replace(verdict, reason=f"No subtask{where} says “{one_line(lacking, 120)}”")
    parts = [other.text for other in wanted(parent.requirements)]
    if one.phone and not says_own(one.text, parts, "\n".join(child.goal for child in carry)):
        return replace(verdict, reason=f"No subtask{where} says “{one_line(one.text, 120)}”")
    if not one.phone and (shared := shared_words(one.text, [c.goal for c in carry], one.object)):
        return replace(verdict, reason=f"No subtask says “{one_line(shared, 120)}”")
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


def _says_some(one: Requirement, child: Session) -> bool:
    """Return whether a child's objective is about a requirement at all."""
    whole = uncovered(one.text, (Requirement(number=0, text=f"{child.goal} {one.object}"),))
    return whole != (one.text,)


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
