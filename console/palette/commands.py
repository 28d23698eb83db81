"""The verbs of the command line in the palette: all of them by name, and a typed line completed.

Reads click's own tree, so a new verb is found without being listed here; only what cannot run
beside a console is. Invariant: nothing is run here; a line is split as a shell splits it, and no
shell ever sees it.
"""

import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import click
from click.shell_completion import ShellComplete

from console.palette.entry import Entry, Kind

_OWN_TERMINAL = "It opens a console of its own: run it in a shell."
_RUNS_ON = "It runs until it is stopped: run it in a shell."
_SHELL_ONLY = {
    "demo": _OWN_TERMINAL,
    "sessions attach": _OWN_TERMINAL,
    "sessions create-attach": _OWN_TERMINAL,
    "replay": "Choose “Replay” and the session here.",
    "daemon run": _RUNS_ON,
    "web": _RUNS_ON,
    "phone serve": _RUNS_ON,
    "devices share": _RUNS_ON,
    "bench": _RUNS_ON,
    "drill": _RUNS_ON,
}
"""By the words of the verb."""
ASKS = frozenset({"models setup", "login", "devices pair"})
"""Verbs that ask on the terminal, which is lent to them."""
IN_BROWSER = "Not from a browser: run it in a shell."


class Verb(NamedTuple):
    """One verb of the command line."""

    path: str  # Its words, as in `jobs create`.
    command: click.Command
    sentence: str


class Line(NamedTuple):
    """A typed line, split."""

    words: tuple[str, ...]  # The complete words.
    partial: str  # The word at the end that is still being typed; empty after a space.
    error: str = ""

    @property
    def all_words(self) -> list[str]:
        """All words, as the command gets them."""
        return [*self.words, *([self.partial] if self.partial else [])]


@cache
def verbs() -> tuple[Verb, ...]:
    """List every verb, in the order of the help page."""
    from console.cli import cli

    return tuple(_below(cli, ()))


def _below(command: click.Command, path: tuple[str, ...]) -> Iterator[Verb]:
    if not isinstance(command, click.Group):
        yield Verb(" ".join(path), command, command.get_short_help_str(200))
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        if found is not None and not found.hidden:
            yield from _below(found, (*path, name))


def why_not(path: str, *, is_web: bool, lends: bool) -> str:
    """Return why a verb cannot be run from this console; empty when it can."""
    if path in _SHELL_ONLY:
        return _SHELL_ONLY[path]
    if is_web:
        return IN_BROWSER
    return "It asks on a terminal, and this console has none." if path in ASKS and not lends else ""


def split(text: str) -> Line:
    """Split a line into words; an open quote is closed at its end."""
    for closing in ("", '"', "'"):
        try:
            words = shlex.split(text + closing)
        except ValueError:
            continue
        is_open = bool(text) and (bool(closing) or not text[-1].isspace())
        error = "A quote is not closed." if closing else ""
        return (
            Line(tuple(words[:-1]), words[-1], error)
            if is_open and words
            else Line(tuple(words), "", error)
        )
    return Line((), text, "It ends in a backslash.")


def verb_of(words: Sequence[str]) -> Verb | None:
    text = " ".join(words) + " "
    found = [verb for verb in verbs() if text.startswith(verb.path + " ")]
    return max(found, key=lambda verb: len(verb.path), default=None)


def is_command(text: str) -> bool:
    """Return whether a typed text begins with a verb or a group of verbs, and a space."""
    line = split(text)
    return bool(line.words) and any(
        verb.path == line.words[0] or verb.path.startswith(line.words[0] + " ") for verb in verbs()
    )


Values = Callable[[str], Sequence[tuple[str, str]]]
"""Gives what may stand for an argument or option by its name, each with a word about it."""


def completed(text: str, values: Values, *, is_web: bool, lends: bool) -> list[Entry]:
    """List what a typed line may become, the line itself first where it is one.

    Args:
        text: what was typed, which `is_command` says is one.
        values: what is known of sessions, phones and jobs.
        is_web: whether the console is in a browser.
        lends: whether another program may have the terminal.
    """
    from console.cli import cli

    line = split(text)
    verb = verb_of(line.all_words)
    found: list[Entry] = []
    if verb is not None:
        blocked = why_not(verb.path, is_web=is_web, lends=lends)
        wrong = line.error or _missing(verb, line.all_words)
        # The bare verb that lacks a word is completed by enter, as one chosen by its name is.
        is_bare = text.strip() == verb.path and not text[-1].isspace()
        found.append(
            Entry(
                Kind.COMMAND,
                verb.path,
                text.strip(),
                verb.sentence,
                completes=f"{verb.path} " if wrong and is_bare else "",
                why_not=blocked or ("" if is_bare else wrong),
                line=text.strip(),
            )
        )
    head = text[: len(text) - len(_typed_word(text))]
    for item in ShellComplete(cli, {}, "switchboard", "").get_completions(
        list(line.words), line.partial
    ):
        if item.value == line.partial or item.value in {"-h", "--help", "--version"}:
            continue
        name = " ".join([*line.words, item.value])
        completes = f"{head}{item.value} "
        found.append(Entry(Kind.OPTION, name, item.value, item.help or "", completes=completes))
    found += _known(verb, line, head, values)
    return found


def _known(verb: Verb | None, line: Line, head: str, values: Values) -> Iterator[Entry]:
    """List sessions, phones and jobs where the line has room for one."""
    if verb is None:
        return
    name = _awaited(verb, line.words[len(verb.path.split()) :])
    if not name:
        return
    wanted = line.partial.casefold()
    for value, about in values(name):
        if wanted in f"{value} {about}".casefold():
            shown = shlex.quote(value)
            yield Entry(Kind.OPTION, value, value, about, completes=f"{head}{shown} ")


def _awaited(verb: Verb, words: Sequence[str]) -> str:
    """Return the name of the parameter whose value is typed next; empty where none is awaited."""
    by_flag = {
        flag: param
        for param in verb.command.params
        if isinstance(param, click.Option)
        for flag in (*param.opts, *param.secondary_opts)
    }
    given, awaiting = 0, ""
    for word in words:
        if awaiting:
            awaiting = ""
        elif word in by_flag:
            option = by_flag[word]
            awaiting = "" if option.is_flag else option.name or ""
        else:
            given += 1
    if awaiting:
        return awaiting
    arguments = [param for param in verb.command.params if isinstance(param, click.Argument)]
    return (arguments[given].name or "") if given < len(arguments) else ""


def _missing(verb: Verb, words: Sequence[str]) -> str:
    """Return what click would refuse of a line, without running it; empty when it takes it."""
    rest = list(words[len(verb.path.split()) :])
    if {"-h", "--help"} & set(rest):
        return ""
    try:
        verb.command.make_context(verb.path, rest, resilient_parsing=False).close()
    except click.UsageError as error:
        return error.format_message()
    except (click.exceptions.Exit, click.Abort):
        return ""
    return ""


def _typed_word(text: str) -> str:
    """Return the word at the end as it was typed, with its quotes."""
    if not text or text[-1].isspace():
        return ""
    lexer = shlex.shlex(text, posix=False, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        last = list(lexer)[-1]
    except ValueError:
        return text[max(text.rfind('"'), text.rfind("'")) :]
    return last if text.endswith(last) else ""
