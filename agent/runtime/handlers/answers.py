"""The table of look-ups and the methods that answer them, read from the methods themselves.

Invariant: a look-up has at most one method.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar, get_type_hints

from agent.protocol import LOOK_UPS, Answer, LookUp, answer_type

Answerer: TypeAlias = Callable[[Any], Awaitable[Any]]
_Room = TypeVar("_Room")
_Query = TypeVar("_Query", bound=LookUp[Any])
_MARK = "_answers_a_look_up"


def answers(
    method: Callable[[_Room, _Query], Awaitable[Answer]],
) -> Callable[[_Room, _Query], Awaitable[Answer]]:
    """Mark the method that answers the look-up its parameter `query` is annotated with."""
    setattr(method, _MARK, True)
    return method


def answerers_in(rooms: Iterable[object]) -> dict[type, Answerer]:
    """Collect the marked methods of some objects by look-up.

    Raises:
        TypeError: a look-up has two methods, or one that returns another type than declared.
    """
    table: dict[type, Answerer] = {}
    for room in rooms:
        for name, function in vars(type(room)).items():
            if not hasattr(function, _MARK):
                continue
            hints = get_type_hints(function)
            kind = hints["query"]
            if kind in table:
                raise TypeError(f"{kind.__name__} has two methods; {name} is one of them.")
            if hints["return"] != answer_type(kind):
                raise TypeError(f"{name} returns another type than {kind.__name__} declares.")
            table[kind] = getattr(room, name)
    return table


def check_complete(table: Mapping[type, Answerer]) -> None:
    """Refuse a table that leaves a look-up unanswered. Raises TypeError."""
    missing = [kind.__name__ for kind in LOOK_UPS.values() if kind not in table]
    if missing:
        raise TypeError(f"No method marked with @answers answers {', '.join(missing)}.")
