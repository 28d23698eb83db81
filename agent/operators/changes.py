"""Change an operator's grants, keys and tokens. Pure.

`agent.operators.register` stores them. Invariants: grants are unique; a key, and an account at an
issuer, belongs to one operator.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from agent.errors import NotAllowedError, UsageError
from agent.operators.operator import Grant, Identity, Operator, OperatorKey, OperatorToken
from agent.records import Right

MOST_SIGN_INS = 10  # How many sign-ins of one operator count at the same time.
_TAG = re.compile(r"[\w][\w.:+-]{0,39}")


def granted(operator: Operator, rights: Iterable[Right], tags: Iterable[str]) -> Operator:
    """Add rights on the phones that have one of the tags, or on all. Raises UsageError."""
    kept = checked_tags(tags)
    more = tuple(Grant(right=right, tags=kept) for right in dict.fromkeys(rights))
    return replace(operator, grants=tuple(dict.fromkeys((*operator.grants, *more))))


def without(operator: Operator, rights: Iterable[Right], tags: Iterable[str]) -> Operator:
    """Remove rights: on the phones with the tags, or those on all phones. Raises UsageError if
    there are none.

    A grant on several tags loses the named ones.
    """
    gone, named = frozenset(rights), set(checked_tags(tags))
    left: list[Grant] = []
    for grant in operator.grants:
        if grant.right not in gone or (named and not named & set(grant.tags)):
            left.append(grant)
            continue
        rest = tuple(one for one in grant.tags if one not in named)
        if named and rest:
            left.append(replace(grant, tags=rest))
    if tuple(left) == operator.grants:
        raise UsageError(
            f"{operator.name} has no such right.", "List them: switchboard operators list"
        )
    return replace(operator, grants=tuple(left))


def with_key(operator: Operator, key: OperatorKey, others: Iterable[Operator]) -> Operator:
    """Add a key. Raises UsageError if it belongs to another operator."""
    for other in others:
        if other.name != operator.name and any(one.public == key.public for one in other.keys):
            raise UsageError(
                f"That key belongs to {other.name}.", "Each operator has their own keys."
            )
    kept = tuple(one for one in operator.keys if one.key_id != key.key_id)
    return replace(operator, keys=(*kept, key))


def with_token(operator: Operator, token: OperatorToken, now_ms: int) -> Operator:
    """Add a token, and drop expired ones."""
    kept = tuple(one for one in operator.tokens if now_ms < one.expires_ms)
    return replace(operator, tokens=(*kept, token))


def with_identity(operator: Operator, identity: Identity, others: Iterable[Operator]) -> Operator:
    """Add an account at an issuer. Raises UsageError if it belongs to another operator."""
    for other in others:
        if other.name != operator.name and any(
            one.identity_id == identity.identity_id for one in other.identities
        ):
            raise UsageError(
                f"That account is {other.name}'s.", "Each operator has their own accounts."
            )
    kept = tuple(one for one in operator.identities if one.identity_id != identity.identity_id)
    return replace(operator, identities=(*kept, identity))


def signed_in(operator: Operator, token: OperatorToken, now_ms: int) -> Operator:
    """Add the token of a sign-in, dropping the oldest ones if there are too many.

    Raises NotAllowedError: its identity was revoked, or its ID token was used before.
    """
    if all(one.identity_id != token.identity_id for one in operator.identities):
        raise NotAllowedError("That account was revoked.", "Ask an administrator.")
    if any(one.proof == token.proof for one in operator.tokens):
        raise NotAllowedError("That ID token was used before.", "Sign in again.")
    sign_ins = [one for one in operator.tokens if one.identity_id]
    oldest = set(sign_ins[: max(len(sign_ins) + 1 - MOST_SIGN_INS, 0)])
    kept = tuple(one for one in operator.tokens if one not in oldest)
    return with_token(replace(operator, tokens=kept), token, now_ms)


def without_credential(operator: Operator, credential_id: str) -> Operator:
    """Remove a key, token or identity; `all` for every one. Raises UsageError if there is none.

    The sign-ins of an identity are removed with it.
    """
    if credential_id == "all":
        return replace(operator, keys=(), tokens=(), identities=())
    left = replace(
        operator,
        keys=tuple(one for one in operator.keys if one.key_id != credential_id),
        tokens=tuple(
            one for one in operator.tokens if credential_id not in {one.token_id, one.identity_id}
        ),
        identities=tuple(one for one in operator.identities if one.identity_id != credential_id),
    )
    if left == operator or not credential_id:
        raise UsageError(
            f"{operator.name} has no credential {credential_id[:40]!r}.",
            "List them: switchboard operators list",
        )
    return left


def merged(known: Mapping[str, Operator], brought: Operator) -> Operator:
    """Return an operator for import into a register.

    Raises UsageError: another operator has the name, or one of the credentials.
    """
    there = known.get(brought.name)
    if there is not None and there != brought:
        raise UsageError(
            f"The register has another {brought.name} already.",
            f"Remove one of the two: switchboard operators remove {brought.name}",
        )
    for key in brought.keys:
        with_key(brought, key, known.values())
    for identity in brought.identities:
        with_identity(brought, identity, known.values())
    return brought


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags without duplicates, sorted. Raises UsageError for an invalid tag."""
    kept = tuple(sorted(set(tags)))
    for tag in kept:
        if not _TAG.fullmatch(tag):
            raise UsageError(
                f"{tag[:40]!r} is not a tag.", "Use letters, digits, dots and dashes; no spaces."
            )
    return kept
