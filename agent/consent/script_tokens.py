"""Tokens by which a script may allow something, each within limits, for a time.

Invariants: a token is printed once, its hash alone is stored; a limit that cannot be compared with
what is asked refuses; what a payment used is stored before the payment is allowed.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from agent.consent.private_record import PrivateRecord
from agent.errors import UsageError
from agent.language.fold import folded
from agent.records import Allowance, Effect, EffectVerb, Question, Source
from agent.safety.allowances.covering import covering
from agent.safety.approval import is_for_session, typed_instead

FILE_NAME = "script-tokens.json"
ANYBODY = "*"
PREFIX = "swa"
MOST_TOKENS = 100
_COUNTED = frozenset({EffectVerb.SEND, EffectVerb.SPEND})
_READ = frozenset({Source.SCREEN, Source.TYPED})


class ScriptToken(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """What one token may allow."""

    token_id: str
    name: str
    sha256: str
    made_ms: int
    until_ms: int
    verbs: tuple[EffectVerb, ...] = ()
    """The effects that it may approve; empty: everything, also what names no effect."""
    to: tuple[str, ...] = ()
    """To whom, as the phone shows it; `*`: to anybody."""
    up_to: int = 0
    """What its payments may come to, in hundredths of the currency; 0: it approves none."""
    currency: str = ""
    used: int = 0
    """What they have come to."""

    @property
    def allows_all(self) -> bool:
        return not self.verbs

    def refuses(self, question: Question | None, answers: tuple[str, ...]) -> str:
        """Return why it does not cover a yes to a question, as a clause; empty: it does.

        Args:
            question: None for an op that is no answer.
            answers: what would be answered.
        """
        if self.allows_all:
            return ""
        if question is None or question.subject is None or question.subject.effect is None:
            return "it names its effects, and this has none"
        if any(is_for_session(one) or typed_instead(one) is not None for one in answers):
            return "it approves one act at a time, as it is asked"
        effect = question.subject.effect
        if effect.verb not in self.verbs:
            return f"it may not approve {effect.verb.value}"
        if effect.verb in _COUNTED:
            return "" if self.uses(effect) is not None else self._beyond(effect)
        if ANYBODY in self.to or effect.recipient is None:
            return ""
        known = {folded(one) for one in self.to}
        is_known = effect.recipient.source in _READ and folded(effect.recipient.text) in known
        return "" if is_known else "its recipients do not name this one"

    def uses(self, effect: Effect) -> int | None:
        """Return how much a message or a payment takes of its limit; None: it is not covered."""
        names = self.to
        if ANYBODY in names and effect.recipient is not None:
            names = (effect.recipient.text,)
        is_payment = effect.verb is EffectVerb.SPEND
        allowance = Allowance(
            verb=effect.verb,
            limit=self.up_to if is_payment else 1,
            used=self.used if is_payment else 0,
            recipients=names,
            currency=self.currency if is_payment else "",
        )
        found = covering(effect, [allowance], effect.shown)
        return None if found is None else found.amount if is_payment else 0

    def _beyond(self, effect: Effect) -> str:
        if effect.verb is EffectVerb.SPEND:
            left = max(0, self.up_to - self.used) / 100
            return f"the payment or its recipient is beyond its limits ({left:.2f} are left)"
        return "its recipients do not name this one, or it cannot be read"


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tokens: tuple[ScriptToken, ...] = ()


class ScriptTokens:
    """The tokens of one data directory, read from its file each time."""

    def __init__(self, data_dir: Path) -> None:
        self._file = PrivateRecord(
            data_dir / FILE_NAME,
            _File,
            what="The tokens",
            remedy="Remove the file, and create the tokens again.",
        )

    def all(self) -> tuple[ScriptToken, ...]:
        """Return them. Raises ConfigError: the file cannot be read, or others may read it."""
        kept = self._file.read()
        return () if kept is None else kept.tokens

    def create(self, kept: ScriptToken) -> str:
        """Store a token; returns the secret that is shown once.

        Args:
            kept: with its limits; its id and hash are made here.

        Raises:
            UsageError: its limits cannot be used, or there are too many.
        """
        _check(kept)
        living = [one for one in self.all() if kept.made_ms < one.until_ms]
        if len(living) >= MOST_TOKENS:
            raise UsageError(f"There are {len(living)} tokens.", "Revoke some.")
        token_id = secrets.token_hex(4)
        secret = f"{PREFIX}_{token_id}_{secrets.token_urlsafe(32)}"
        self._write([*living, replace(kept, token_id=token_id, sha256=_hashed(secret))])
        return secret

    def revoke(self, token_id: str) -> None:
        """Remove a token. Raises UsageError: there is none of that id."""
        known = self.all()
        left = [one for one in known if one.token_id != token_id]
        if len(left) == len(known):
            raise UsageError(f"There is no token {token_id[:40]!r}.", "switchboard tokens list")
        self._write(left)

    def find(self, secret: str, now_ms: int) -> ScriptToken | None:
        """Return a token by its secret; None if it is unknown or over."""
        hashed, found = _hashed(secret), None
        for one in self.all():
            if hmac.compare_digest(one.sha256, hashed) and now_ms < one.until_ms:
                found = one
        return found

    def use(self, token_id: str, amount: int) -> None:
        """Store what a payment takes of a token's limit."""
        if amount:
            self._write(
                replace(one, used=one.used + amount) if one.token_id == token_id else one
                for one in self.all()
            )

    def _write(self, tokens: Iterable[ScriptToken]) -> None:
        self._file.write(_File(tokens=tuple(tokens)))


def _check(kept: ScriptToken) -> None:
    if kept.until_ms <= kept.made_ms:
        raise UsageError("The token would be over already.", "Give a later --until.")
    if EffectVerb.SPEND in kept.verbs and not (kept.up_to > 0 and kept.currency):
        raise UsageError("A token for payments needs a limit.", 'Add one: --up-to "20 EUR"')
    if not kept.allows_all and _COUNTED & set(kept.verbs) and not kept.to:
        raise UsageError(
            "A token for messages or payments names its recipients.",
            "Add --to NAME for each, as the phone shows it; --to '*' for anybody.",
        )


def _hashed(secret: str) -> str:
    # Not stretched: it holds 256 random bits, which nobody guesses.
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
