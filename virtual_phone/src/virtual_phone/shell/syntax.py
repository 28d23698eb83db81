"""The shell's syntax tree. Data only; `parser` makes it and `interpreter` walks it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Text:
    """Literal characters; quoted ones are not split, globbed or taken for reserved words."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$x`, `${x}`, `${#x}`, `${x:-word}`, `${x#pattern}` …; operator "" is the plain value."""

    name: str
    quoted: bool
    operator: str = ""
    argument: Word | None = None


@dataclass(frozen=True, slots=True)
class CommandSubstitution:
    """`$(…)` or backquotes."""

    script: Script
    quoted: bool


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((…))`: the expression's text, with parameters still to be expanded."""

    expression: Word
    quoted: bool


Part = Text | Parameter | CommandSubstitution | Arithmetic
Word = tuple[Part, ...]


class RedirectKind(StrEnum):
    """What a redirection does with its target."""

    READ = "<"
    WRITE = ">"
    APPEND = ">>"
    CLOBBER = ">|"
    READ_WRITE = "<>"
    DUPLICATE_OUT = ">&"
    DUPLICATE_IN = "<&"
    HERE_DOCUMENT = "<<"


@dataclass(slots=True)
class Redirect:
    """One redirection of a file descriptor.

    Not frozen: a here-document's target is read after the line that announces it.
    """

    descriptor: int
    kind: RedirectKind
    target: Word


@dataclass(frozen=True, slots=True)
class Simple:
    """Assignments, words and redirections."""

    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """`a | b`; negated by `!`."""

    commands: tuple[Command, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class AndOr:
    """`a && b || c`: the first pipeline, then operator and pipeline pairs."""

    first: Pipeline
    rest: tuple[tuple[str, Pipeline], ...]
    background: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """A list of commands."""

    items: tuple[AndOr, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """`{ …; }`, or `( … )` when `subshell`."""

    body: Script
    subshell: bool
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    """`if … then … elif … else … fi`."""

    branches: tuple[tuple[Script, Script], ...]
    otherwise: Script | None
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """`while`, or `until` when `negated`."""

    condition: Script
    body: Script
    negated: bool
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class For:
    """`for name in words`; words None means "$@"."""

    name: str
    words: tuple[Word, ...] | None
    body: Script
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """`case word in pattern) … ;; esac`."""

    subject: Word
    branches: tuple[tuple[tuple[Word, ...], Script], ...]
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """`name() { …; }`."""

    name: str
    body: Command


Command = Simple | Group | If | Loop | For | Case | Function
