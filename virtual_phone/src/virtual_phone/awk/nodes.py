"""What an awk program is made of, once it is read.

Not the reading and not the running. The grammar is that of POSIX awk, without what one-true-awk has
not. Invariant: expressions and statements are closed unions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Number:
    value: float


@dataclass(frozen=True, slots=True)
class Text:
    value: str


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression; by itself it asks whether the record matches."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Name:
    name: str


@dataclass(frozen=True, slots=True)
class Field:
    number: Expression


@dataclass(frozen=True, slots=True)
class Item:
    array: str
    subscripts: tuple[Expression, ...]


Target: TypeAlias = Name | Field | Item


@dataclass(frozen=True, slots=True)
class Assign:
    operator: str
    """Empty, or what is done with the value before."""
    target: Target
    value: Expression


@dataclass(frozen=True, slots=True)
class Step:
    """`++` or `--`."""

    by: float
    is_before: bool
    target: Target


@dataclass(frozen=True, slots=True)
class Unary:
    operator: Literal["-", "+", "!"]
    of: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, a comparison, `&&`, `||`, or with an empty operator both in a row."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Matches:
    is_not: bool
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Choice:
    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, slots=True)
class Contains:
    subscripts: tuple[Expression, ...]
    array: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Several expressions in parentheses, for `print` and `in`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the program's, or one that awk has."""

    name: str
    arguments: tuple[Expression, ...]
    is_own: bool


@dataclass(frozen=True, slots=True)
class Getline:
    kind: Literal["", "<", "|"]
    """Where from: what is read anyway, a file, a command."""
    target: Target | None
    source: Expression | None


Expression: TypeAlias = (
    Number
    | Text
    | Regex
    | Name
    | Field
    | Item
    | Assign
    | Step
    | Unary
    | Binary
    | Matches
    | Choice
    | Contains
    | Listing
    | Call
    | Getline
)


@dataclass(frozen=True, slots=True)
class Print:
    arguments: tuple[Expression, ...]
    is_formatted: bool
    redirect: Literal["", ">", ">>", "|"]
    to: Expression | None


@dataclass(frozen=True, slots=True)
class Evaluate:
    expression: Expression


@dataclass(frozen=True, slots=True)
class Block:
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If:
    condition: Expression
    yes: Statement
    no: Statement | None


@dataclass(frozen=True, slots=True)
class Loop:
    """`while`, `do` and `for`."""

    condition: Expression | None
    body: Statement
    after: Statement | None = None
    """What a `for` does between two rounds."""
    is_do: bool = False


@dataclass(frozen=True, slots=True)
class ForIn:
    name: str
    array: str
    body: Statement


@dataclass(frozen=True, slots=True)
class Delete:
    array: str
    subscripts: tuple[Expression, ...] | None
    """None empties the array."""


@dataclass(frozen=True, slots=True)
class Leave:
    """What ends more than itself."""

    kind: Literal["next", "nextfile", "exit", "return", "break", "continue"]
    value: Expression | None = None


Statement: TypeAlias = Print | Evaluate | Block | If | Loop | ForIn | Delete | Leave


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and its action."""

    pattern: Expression | None
    until: Expression | None
    """The end of a range that the pattern begins."""
    action: Block | None
    """None prints the record."""


@dataclass(frozen=True, slots=True)
class Function:
    parameters: tuple[str, ...]
    body: Block


@dataclass(slots=True)
class Program:
    begin: list[Block] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    end: list[Block] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
