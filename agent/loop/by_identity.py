"""What was found out about a screen, or about two, is kept for whoever asks next.

A step asks the same of the same screens several times: verification, the record of effects, memory
and the prompt each want to know what changed. Invariant: a result is given again only for the very
objects it was made for, which are kept as long as it is, so that no other object can have their
identity; what may be changed in place is never kept.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

KEPT = 64
"""How many results of one function are kept: those of the newest step of so many sessions."""


def by_identity(make: Callable[P, T]) -> Callable[P, T]:
    """Keep the newest results of a pure function of screens, by the identity of its arguments.

    The arguments are positional and frozen: a call with a list is carried out every time.
    """
    kept: dict[tuple[int, ...], tuple[object, T]] = {}

    @wraps(make)
    def reuse(*args: P.args, **kwargs: P.kwargs) -> T:
        key = tuple(map(id, args))
        entry = kept.get(key)
        if entry is not None:
            return entry[1]
        made = make(*args, **kwargs)
        if kwargs or list in map(type, args):
            return made
        while len(kept) >= KEPT:
            kept.pop(next(iter(kept)), None)
        kept[key] = (args, made)
        return made

    return reuse
