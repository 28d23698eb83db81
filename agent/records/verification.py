"""Define the verification of a goal, requirement by requirement: by whom, on which evidence."""

from collections.abc import Iterable
from enum import StrEnum

from agent.records.record import Bounds, Record


class VerifiedBy(StrEnum):
    """Who confirmed, or denied, that a goal is met."""

    VERIFIER = "verifier"
    """A model, in a conversation of its own, by evidence that stands on a stored screen."""
    EFFECTS = "effects"
    """What was seen to change on the phone, or to stand on its screens, compared as values."""
    RULES = "rules"
    """The offline pilot's reading of the screens."""
    CHECKER = "checker"
    """A program that looked at the phone's true state."""
    OPERATOR = "operator"
    NOBODY = "nobody"
    """Only the model that did the work says so."""


class GoalVerdict(StrEnum):
    """Whether a goal is met."""

    MET = "met"
    NOT_MET = "not_met"
    CANNOT_TELL = "cannot_tell"


class Evidence(Record, frozen=True, kw_only=True):
    """What was pointed at: an effect, or an element or a region of a stored screen."""

    quote: str
    """What it says; older records have the words that a verifier quoted."""
    step: int = 0
    """The step whose screen shows it; 0 = no stored screen does."""
    digest: str = ""
    """The stored tree of that screen, else its frame, in hex; empty when it has neither."""
    effect: int = 0
    """Its number in the session's ledger; 0: it is no effect."""
    element: int = 0
    """The element's number on the screen of the step; 0: it is none."""
    region: Bounds | None = None
    """The region of the picture, where no element says it."""
    session_id: str = ""
    """Whose effect or step it is, in the verification of a parent; empty: the session's own."""


class FieldSource(Record, frozen=True, kw_only=True):
    """Where one value of a result was read."""

    path: str  # Of the value in the result, as `$.items[0].price`.
    step: int = 0  # The step whose screen shows the value; 0 = it is on no stored screen.
    digest: str = ""
    session_id: str = ""  # Whose step that is, in the result of a parent; empty: the session's own.


class RequirementVerdict(Record, frozen=True, kw_only=True):
    """What came of looking whether one requirement is met."""

    number: int
    text: str
    """The operator's words for the requirement, as they were then."""
    verdict: GoalVerdict = GoalVerdict.CANNOT_TELL
    verified_by: VerifiedBy = VerifiedBy.NOBODY
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()


class Verification(Record, frozen=True, kw_only=True):
    """What came of looking whether a goal is met."""

    verified_by: VerifiedBy = VerifiedBy.NOBODY
    verdict: GoalVerdict = GoalVerdict.CANNOT_TELL
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    requirements: tuple[RequirementVerdict, ...] = ()
    """Each requirement with its own verdict; empty in older records."""

    @property
    def is_met(self) -> bool:
        """Return whether someone other than the model that did the work confirmed it."""
        return self.verdict is GoalVerdict.MET and self.verified_by is not VerifiedBy.NOBODY


STRENGTH = (
    VerifiedBy.NOBODY,
    VerifiedBy.RULES,
    VerifiedBy.VERIFIER,
    VerifiedBy.EFFECTS,
    VerifiedBy.CHECKER,
    VerifiedBy.OPERATOR,
)


def together(verdicts: Iterable[RequirementVerdict], reason: str = "") -> Verification:
    """Return the verification of a goal from those of its requirements: the weakest word counts.

    Args:
        reason: what else is to be said; empty: what is said of those that are not met.
    """
    each = tuple(verdicts)
    unmet = [one for one in each if one.verdict is not GoalVerdict.MET]
    unmet += [one for one in each if one not in unmet and one.verified_by is VerifiedBy.NOBODY]
    why = reason or "; ".join(one.reason for one in unmet if one.reason)
    denied = [one for one in unmet if one.verdict is GoalVerdict.NOT_MET]
    if denied:
        by = denied[0].verified_by
        return Verification(
            verified_by=by, verdict=GoalVerdict.NOT_MET, reason=why, requirements=each
        )
    if unmet or not each:
        return Verification(reason=why, requirements=each)
    weakest = min((one.verified_by for one in each), key=STRENGTH.index)
    return Verification(
        verified_by=weakest, verdict=GoalVerdict.MET, reason=reason, requirements=each
    )
