"""What may be changed of an operator: grants, keys and tokens. Pure.

Not the file (`agent.operators.register`). Invariants: a grant is there once; a key
is one operator's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from agent.errors import UsageError
from agent.operators.operator import Grant, Operator, OperatorKey, OperatorToken
from agent.records import Right

_TAG = re.compile(r"[\w][\w.:+-]{0,39}")


def granted(operator: Operator, rights: Iterable[Right], tags: Iterable[str]) -> Operator:
    """Add rights on the phones that have one of the tags, or on all. Raises UsageError."""
    kept = checked_tags(tags)
    more = tuple(Grant(right=right, tags=kept) for right in dict.fromkeys(rights))
    return replace(operator, grants=tuple(dict.fromkeys((*operator.grants, *more))))


def without(operator: Operator, rights: Iterable[Right], tags: Iterable[str]) -> Operator:
    """Take rights away: with tags on their phones, else on all. Raises UsageError: none is there.

    A grant on several tags loses those that are named.
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
    """Add a key. Raises UsageError: it is another operator's."""
    for other in others:
        if other.name != operator.name and any(one.public == key.public for one in other.keys):
            raise UsageError(f"That is a key of {other.name}.", "Each has keys of their own.")
    kept = tuple(one for one in operator.keys if one.key_id != key.key_id)
    return replace(operator, keys=(*kept, key))


def with_token(operator: Operator, token: OperatorToken, now_ms: int) -> Operator:
    """Add a token, and forget those that have expired."""
    kept = tuple(one for one in operator.tokens if now_ms < one.expires_ms)
    return replace(operator, tokens=(*kept, token))


def without_credential(operator: Operator, credential_id: str) -> Operator:
    """Take a key or a token away; `all` for every one. Raises UsageError: there is none."""
    if credential_id == "all":
        return replace(operator, keys=(), tokens=())
    keys = tuple(one for one in operator.keys if one.key_id != credential_id)
    tokens = tuple(one for one in operator.tokens if one.token_id != credential_id)
    if (keys, tokens) == (operator.keys, operator.tokens):
        raise UsageError(
            f"{operator.name} has no key or token {credential_id[:40]!r}.",
            "List them: switchboard operators list",
        )
    return replace(operator, keys=keys, tokens=tokens)


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags without repetition, sorted. Raises UsageError: one is no tag."""
    kept = tuple(sorted(set(tags)))
    for tag in kept:
        if not _TAG.fullmatch(tag):
            raise UsageError(
                f"{tag[:40]!r} is not a tag.", "Use letters, digits, dots and dashes; no spaces."
            )
    return kept
