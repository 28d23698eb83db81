"""What the operator let through for a session, kept where every search for secrets sees it.

Not the search (`agent.safety.redacting.finding`) and not the operator's decision, which is an event
of the session. Invariants: what is let through holds for the session's own turns and texts, in this
context and those that it starts; outside them everything is found again. A text is compared in its
normal form, without what separates digits, so "4111 1111" and "41111111" are one.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from agent.language.normal_form import normal_form
from agent.safety.redacting.requested_details import showing

MOST_TEXTS = 32  # What one session may have let through; more is no oversight of the redactor.


def _nothing() -> Collection[str]:
    return ()


_current: ContextVar[Callable[[], Collection[str]]] = ContextVar("let_through", default=_nothing)


@contextmanager
def letting_through(texts: Callable[[], Collection[str]]) -> Iterator[None]:
    """Let texts through for the length of a block.

    Args:
        texts: returns what is let through by now; read at each search, so that what the operator
            allows while a turn is open counts from then on.
    """
    token = _current.set(texts)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def letting_nothing_through() -> Iterator[None]:
    """Find everything for the length of a block: what is written there is of no one session."""
    with letting_through(_nothing), showing(frozenset):
        yield


def is_anything_let_through() -> bool:
    """Return whether the operator let anything through for the session that is at work."""
    return bool(_current.get()())


def is_let_through(text: str) -> bool:
    """Return whether the operator let a text through that looks like a secret."""
    texts = _current.get()()
    return bool(texts) and _key(text) in {_key(one) for one in texts}


@lru_cache(maxsize=1024)
def _key(text: str) -> str:
    shown = normal_form(text).text.strip()
    plain = "".join(char for char in shown if char.isalnum())
    return plain if plain.isdigit() else shown
