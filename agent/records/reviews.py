"""Define the review of a finished session."""

from agent.records.record import Record


class Finding(Record, frozen=True, kw_only=True):
    """One thing that a review found."""

    title: str
    body: str = ""
    step: int = 0  # Where it shows first; 0 = nowhere in particular.
    confidence: float = 0.0  # From 0 to 1.


class Review(Record, frozen=True, kw_only=True):
    """A review: the findings, what went wrong first at the front."""

    findings: tuple[Finding, ...] = ()
    explanation: str = ""
    confidence: float = 0.0  # In the whole; from 0 to 1.
    app_card: str = ""  # What the next session in this app should know, in the form of an app card.
