"""Say clauses and uses of warrants in words."""

from collections.abc import Sequence
from datetime import datetime

from agent.records import BorderlineCase, Clause, EffectVerb, ReviewVerdict, Warrant, WarrantUse
from agent.safety.warrants.reach import MOST_USES, Reach, money
from agent.text import counted, one_line

_NAMES_CHARS = 200


def clause_line(clause: Clause, number: int, uses: Sequence[WarrantUse]) -> str:
    """Return a clause in a line, with what is left of it."""
    own = [use for use in uses if use.clause == number]
    to = f" to {_names(clause.recipients)}" if clause.recipients else ""
    where = f" in {one_line(clause.app, 60)}" if clause.app else ""
    until = f", until {moment(clause.until_ms)}" if clause.until_ms else ""
    match clause.verb:
        case EffectVerb.SPEND:
            said = f"pay{to}{where}: {_amounts(clause, own)}"
            if clause.items:
                said += f", only for {_names(clause.items)} (a reviewer or you have to read them)"
        case verb:
            noun = "message" if verb is EffectVerb.SEND else "call"
            many = counted(clause.count, noun) if clause.count else f"{noun}s, any number"
            said = f"{'send' if verb is EffectVerb.SEND else 'call'}{to}{where}: {many}"
            said += f", {max(clause.count - len(own), 0)} left" if clause.count else ""
    return f"{number}. {said}{until}"


def _amounts(clause: Clause, own: Sequence[WarrantUse]) -> str:
    parts = []
    if clause.limit:
        left = max(clause.limit - sum(use.amount for use in own), 0)
        of = "" if left == clause.limit else f", {money(left, clause.currency)} left"
        parts.append(f"{money(clause.limit, clause.currency)} in total{of}")
    if clause.each:
        parts.append(f"{money(clause.each, clause.currency)} at once")
    if clause.count:
        left_times = max(clause.count - len(own), 0)
        parts.append(f"{counted(clause.count, 'payment')}, {left_times} left")
    return ", ".join(parts) or "no amount"


def clause_lines(warrant: Warrant, uses: Sequence[WarrantUse]) -> tuple[str, ...]:
    """Return the clauses of a warrant, a line each."""
    lines = [clause_line(one, at, uses) for at, one in enumerate(warrant.clauses, 1)]
    if any(one.verb is not EffectVerb.SPEND and not one.count for one in warrant.clauses):
        lines.append(f"At most {MOST_USES} acts in all.")
    return tuple(lines)


def case_lines(cases: Sequence[BorderlineCase]) -> tuple[str, ...]:
    """Return borderline cases, a line each, with the verdict in front."""
    return tuple(
        f"{case.number:>2} {'yes' if case.verdict is ReviewVerdict.ALLOW else 'no '}  {case.says}"
        + (f": {case.why}" if case.why else "")
        for case in cases
    )


def cited(warrant_id: str, clause: int) -> str:
    """Return how a clause is cited: on cards, in transcripts and in the audit."""
    return f"warrant {warrant_id}, clause {clause}"


def reach_words(warrant_id: str, reach: Reach) -> str:
    """Return how an act stands to a clause, for a card."""
    name = cited(warrant_id, reach.clause)
    return f"inside {name}" if reach.is_inside else f"beyond {name}: {reach.beyond}"


def moment(at_ms: int) -> str:
    """Return a moment by this computer's clock; the end of a day as that day."""
    when = datetime.fromtimestamp(at_ms / 1000).astimezone()
    if (when.hour, when.minute, when.second) == (0, 0, 0):
        day = datetime.fromtimestamp(at_ms / 1000 - 1).astimezone()
        return f"the end of {day:%Y-%m-%d}"
    return f"{when:%Y-%m-%d %H:%M}"


def _names(names: Sequence[str]) -> str:
    return one_line(", ".join(names), _NAMES_CHARS)
