"""A route: how somebody who knows a phone reaches a goal, as steps.

Not the following of one. It documents an exercise, and test models follow it.
"""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Launch:
    """Bring an app to the front."""

    package: str


@dataclass(frozen=True)
class Tap:
    """Tap what is called so; optional when it may not be there."""

    label: str
    kind: str = ""  # Only an element of this kind, such as `btn` or `switch`.
    nth: int = 1  # Which of several, from 1.
    optional: bool = False


@dataclass(frozen=True)
class Hold:
    """Press what is called so for long."""

    label: str


@dataclass(frozen=True)
class Write:
    """Type into the field that is called so, by its label or its id, or into the only one."""

    text: str
    field: str = ""
    clear: bool = False  # Whether what the field holds goes first.


@dataclass(frozen=True)
class Back:
    """Press the back button."""


@dataclass(frozen=True)
class Ask:
    """Ask the operator something; what is done with the answer are further steps."""

    question: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Await:
    """Wait until words are on the screen."""

    words: str


Step: TypeAlias = Launch | Tap | Hold | Write | Back | Ask | Await
