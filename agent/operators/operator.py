"""Define an operator: rights on phones, and credentials. Pure.

`agent.operators.register` stores operators. Invariants: every right includes `watch`, and
`administer` includes all; what is not granted is refused.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection, Iterable

import msgspec

from agent.errors import UsageError
from agent.records import Right

NAME = re.compile(r"[a-z][a-z0-9._-]{0,31}")
_EMAIL = re.compile(r"[!-?A-~]+@[!-?A-~]+")
MOST_GRANTS = 50
MOST_CREDENTIALS = 20
_TOKEN_PREFIX = "swb"


class _StrictRecord(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Base of the register's records; an unknown field is refused, because it may be a
    restriction.
    """


class Grant(_StrictRecord, frozen=True, kw_only=True):
    """One right, on the phones with one of the tags."""

    right: Right
    tags: tuple[str, ...] = ()  # Empty: on all phones, and on what is of no phone.


class OperatorKey(_StrictRecord, frozen=True, kw_only=True):
    """A public Ed25519 key that the operator signs in with."""

    key_id: str
    public: bytes  # The 32 bytes of it.
    added_ms: int


class OperatorToken(_StrictRecord, frozen=True, kw_only=True):
    """A token that the operator signs in with; the token itself is not stored."""

    token_id: str
    sha256: str
    made_ms: int
    expires_ms: int
    identity_id: str = ""
    """Of a sign-in: the identity that it was given to; empty: the owner made it."""
    proof: str = ""
    """Of a sign-in: the SHA-256 of the ID token that it was given for, which counts once."""


class Identity(_StrictRecord, frozen=True, kw_only=True):
    """An account at an OpenID issuer that the operator signs in with: a subject or an e-mail."""

    identity_id: str
    issuer: str
    subject: str = ""
    email: str = ""
    added_ms: int

    @property
    def text(self) -> str:
        """Return the account, as the issuer names it."""
        return self.email or self.subject


class Operator(_StrictRecord, frozen=True, kw_only=True):
    """A person, or their program, who may use the core."""

    name: str
    grants: tuple[Grant, ...] = ()
    keys: tuple[OperatorKey, ...] = ()
    tokens: tuple[OperatorToken, ...] = ()
    identities: tuple[Identity, ...] = ()
    made_ms: int = 0

    def may(self, needs: Iterable[Right], tags: Collection[str] | None) -> bool:
        """Return whether they have one of the rights on a phone.

        Args:
            needs: any of these is enough.
            tags: the phone's; None: it concerns all phones, or none.
        """
        wanted = frozenset(needs)
        return any(
            bool(wanted & held_in(grant.right))
            and (not grant.tags or (tags is not None and not set(grant.tags).isdisjoint(tags)))
            for grant in self.grants
        )

    @property
    def sees_all(self) -> bool:
        """Return whether they see all phones, and what belongs to no phone."""
        return self.may((Right.WATCH,), None)

    def is_sign_in(self, credential_id: str) -> bool:
        """Return whether a token was given to a person who signed in with an account."""
        return any(one.token_id == credential_id and one.identity_id for one in self.tokens)

    def has_credential(self, credential_id: str, now_ms: int) -> bool:
        """Return whether the credential of a sign-in is still valid."""
        if any(one.key_id == credential_id for one in self.keys):
            return True
        return any(one.token_id == credential_id and now_ms < one.expires_ms for one in self.tokens)


def held_in(right: Right) -> frozenset[Right]:
    """Return the rights that a granted one includes."""
    if right is Right.ADMINISTER:
        return frozenset(Right)
    return frozenset({right, Right.WATCH})


def checked_name(name: str) -> str:
    """Return an operator's name. Raises UsageError if it is invalid."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name[:40]!r} is not a name for an operator.",
            "Use up to 32 lowercase letters, digits, dots, dashes and underscores; a letter first.",
        )
    return name


def made_token(
    now_ms: int, life_ms: int, *, identity_id: str = "", proof: str = ""
) -> tuple[str, OperatorToken]:
    """Make a token: the secret to hand out, and the record to store.

    Args:
        now_ms: milliseconds since the epoch.
        life_ms: how long it lasts.
        identity_id: of a sign-in: the identity that it is for.
        proof: of a sign-in: the SHA-256 of its ID token.
    """
    token_id = secrets.token_hex(4)
    token = f"{_TOKEN_PREFIX}_{token_id}_{secrets.token_urlsafe(32)}"
    kept = OperatorToken(
        token_id=token_id,
        sha256=_hashed(token),
        made_ms=now_ms,
        expires_ms=now_ms + life_ms,
        identity_id=identity_id,
        proof=proof,
    )
    return token, kept


def identity_at(issuer: str, added_ms: int, *, subject: str = "", email: str = "") -> Identity:
    """Make an identity from a subject or an e-mail address. Raises UsageError unless exactly
    one is given.
    """
    if not issuer:
        raise UsageError(
            "No OpenID issuer is set.", "Set oidc.issuer and oidc.client_id in the settings."
        )
    text = subject or email
    is_email = _EMAIL.fullmatch(email) is not None
    if bool(subject) is bool(email) or len(text) > 255 or not text.isprintable():
        raise UsageError("Name one account: --oidc SUBJECT or --oidc-email ADDRESS.")
    if email and not is_email:
        raise UsageError(
            f"{email[:80]!r} is not an e-mail address.", "Write it in ASCII, as the issuer has it."
        )
    kind = "email" if email else "sub"
    named = "\0".join((issuer, kind, text)).encode("utf-8", "surrogateescape")
    return Identity(
        identity_id=hashlib.sha256(named).hexdigest()[:16],
        issuer=issuer,
        subject=subject,
        email=email,
        added_ms=added_ms,
    )


def token_of(operators: Iterable[Operator], shown: str, now_ms: int) -> tuple[Operator, str] | None:
    """Return a token's operator and its id; None if it is unknown or expired."""
    hashed = _hashed(shown)
    found = None
    for operator in operators:
        for token in operator.tokens:
            if hmac.compare_digest(token.sha256, hashed) and now_ms < token.expires_ms:
                found = operator, token.token_id
    return found


def _hashed(token: str) -> str:
    # Not stretched: it holds 256 random bits, which nobody guesses.
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
