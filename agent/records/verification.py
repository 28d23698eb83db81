"""Define the verification of a goal: by whom, on which evidence, with each value's source."""

from enum import StrEnum

from agent.records.record import Record


class VerifiedBy(StrEnum):
    """Who confirmed, or denied, that a goal is met."""

    VERIFIER = "verifier"
    """A model, in a conversation of its own, by evidence that stands on a stored screen."""
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
    """Words that were quoted, and the stored screen that shows them."""

    quote: str
    step: int = 0
    """The step whose screen shows them; 0 = no stored screen does."""
    digest: str = ""
    """The stored tree of that screen, else its frame, in hex; empty when it has neither."""


class FieldSource(Record, frozen=True, kw_only=True):
    """Where one value of a result was read."""

    path: str  # Of the value in the result, as `$.items[0].price`.
    step: int = 0  # The step whose screen shows the value; 0 = it is on no stored screen.
    digest: str = ""
    session_id: str = ""  # Whose step that is, in the result of a parent; empty: the session's own.


class Verification(Record, frozen=True, kw_only=True):
    """What came of looking whether a goal is met."""

    verified_by: VerifiedBy = VerifiedBy.NOBODY
    verdict: GoalVerdict = GoalVerdict.CANNOT_TELL
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()

    @property
    def is_met(self) -> bool:
        """Return whether someone other than the model that did the work confirmed it."""
        return self.verdict is GoalVerdict.MET and self.verified_by is not VerifiedBy.NOBODY
