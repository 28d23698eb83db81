"""Define what may be done without approval: a session's allowances, an operator's warrants.

A warrant says in a sentence or two what is allowed, as clauses, signed and for a time;
`agent.safety.warrants` reads, checks and compares them. Invariant: all that a warrant says is under
its signature; its status and its uses are facts of their own.
"""

from enum import StrEnum

from agent.records.effects import EffectVerb, ReviewVerdict
from agent.records.record import Record


class Allowance(Record, frozen=True, kw_only=True):
    """A limit on one kind of effect, to named recipients."""

    verb: EffectVerb  # `send` or `spend`.
    limit: int  # Messages; for `spend` hundredths of the currency.
    recipients: tuple[str, ...]  # Names as the phone shows them.
    currency: str = ""  # ISO 4217 code, or the sign that screens show; empty for `send`.
    used: int = 0  # In the unit of the limit.

    @property
    def left(self) -> int:
        """Return how much may still be used."""
        return max(0, self.limit - self.used)


class Clause(Record, frozen=True, kw_only=True):
    """One kind of act that a warrant allows, and its limits."""

    verb: EffectVerb
    """`send`, `spend` or `call`; nothing else can be in a warrant."""
    app: str = ""
    """The package, or what people call the app; empty: any app."""
    recipients: tuple[str, ...] = ()
    """Names as the phone shows them; empty for `spend` alone: the app itself is paid."""
    items: tuple[str, ...] = ()
    """The only things that may be bought; empty: anything."""
    limit: int = 0
    """What all its payments may come to, in hundredths of the currency."""
    each: int = 0
    """What one payment may come to, in hundredths; 0: all that is left of the limit."""
    currency: str = ""
    """ISO 4217 code, or the sign that screens show."""
    count: int = 0
    """How often at most; 0: as often as the limit lasts, which is no number for messages."""
    until_ms: int = 0
    """When it ends; 0: with the warrant."""


class WarrantStatus(StrEnum):
    """What became of a warrant; whether it is over, the time says."""

    DRAFT = "draft"
    SIGNED = "signed"
    REVOKED = "revoked"


class Correction(Record, frozen=True, kw_only=True):
    """The operator's other verdict on a borderline case."""

    case: int  # Its number, from 1.
    allows: bool


class Warrant(Record, frozen=True, kw_only=True):
    """What one operator allows."""

    warrant_id: str
    words: str
    """What the operator wrote."""
    clauses: tuple[Clause, ...] = ()
    expires_ms: int = 0
    session_id: str = ""
    """The one session that it is for; empty: each that the operator began."""
    proposed_by: str = ""
    """The model that read the words; empty: the operator filled in the clauses."""
    made_ms: int = 0
    status: WarrantStatus = WarrantStatus.DRAFT
    signed_by: str = ""
    signed_ms: int = 0
    mac: str = ""
    """HMAC-SHA256 in hex of all but the status, with the operator's key."""


class WarrantUse(Record, frozen=True, kw_only=True):
    """One act that passed under a warrant, or was let pass and may not have been done."""

    warrant_id: str
    number: int  # From 1, without gaps.
    clause: int  # From 1.
    amount: int = 0  # In hundredths, of a payment.
    session: str = ""
    call_id: str = ""
    mac: str = ""  # HMAC-SHA256 in hex of the rest, with the operator's key.


class BorderlineCase(Record, frozen=True, kw_only=True):
    """An invented act at the edge of a clause, and what the warrant says of it."""

    number: int  # From 1.
    clause: int  # From 1.
    says: str
    """The act, as a sentence without its end."""
    verdict: ReviewVerdict
    """`allow` or `ask`."""
    why: str = ""
    """What is beyond the clause, as a clause of a sentence; empty: nothing."""


class WarrantView(Record, frozen=True, kw_only=True):
    """A warrant, what was used of it, and how it stands now."""

    warrant: Warrant
    uses: tuple[WarrantUse, ...] = ()
    trouble: str = ""
    """Why it allows nothing, as a clause: it is over, revoked, not signed, or was changed."""
    gaps: tuple[str, ...] = ()
    """What its words do not say and a clause needs, a sentence each; it cannot be signed so."""
    cases: tuple[BorderlineCase, ...] = ()
    lines: tuple[str, ...] = ()
    """Its clauses in words, a line each, with what is left."""
