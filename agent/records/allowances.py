"""Define allowances: what a session may send or spend without approval, and how much is used."""

from agent.records.effects import EffectVerb
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
