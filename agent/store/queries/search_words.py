"""Define searchable text of events, and the operator's query syntax. Pure.

Each store has its own index. Messages, thoughts, questions, answers, actions and results are
indexed; text on screens is not, because it is most of a store and least of its meaning. Invariant:
no query is a syntax error.
"""

import re
from typing import NamedTuple

import msgspec

from agent import protocol
from agent.errors import UsageError
from agent.language.tokens import UNSPACED
from agent.protocol.session_filter import foldable

LONGEST_TEXT_CHARS = 20_000
LONGEST_QUERY_CHARS = 1_000
MOST_TERMS = 32

SEPARATOR = "\u200b"
"""Parts the letters of a script without spaces; `agent.text.clean` lets none into stored text."""
LETTER_ALONE = re.compile(f"([{UNSPACED}])")
"""A letter of a script without spaces, which is a word to the indexes."""
MARK_START, MARK_END = "\ue000", "\ue001"
SNIPPET_MARKS = (MARK_START, MARK_END, "…")
"""What stands around a match and at the ends of a snippet, for SQLite's `snippet`."""
_TERM = re.compile(r'(-?)(?:"([^"]*)"?|([^\s"]+))(\*?)')


_WORDED = (
    protocol.SessionConfigured,
    protocol.UserMessage,
    protocol.AgentMessage,
    protocol.ResultPublished,
    protocol.TaskComplete,
    protocol.ToolCallRequested,
    protocol.ToolCallFinished,
    protocol.RequestUserInput,
    protocol.QuestionAnswered,
    protocol.QuestionClosed,
    protocol.SessionStateChanged,
    protocol.ErrorEvent,
    protocol.WarningEvent,
    protocol.PlanUpdate,
    protocol.FactsUpdate,
    protocol.RequirementsUpdate,
    protocol.SessionAssigned,
    protocol.SessionsDeleted,
)
WORDED = tuple(str(kind.__struct_config__.tag) for kind in _WORDED)
"""The types of events that the index has to read; a test holds this and `text_of` together."""


def text_of(msg: protocol.EventMsg) -> str:
    """Return an event's searchable text; empty if it has none."""
    text = ""
    match msg:
        case protocol.SessionConfigured(session=session):
            text = "\n".join((session.title, session.goal, session.target_package))
        case (
            protocol.UserMessage(text=said)
            | protocol.AgentMessage(text=said)
            | protocol.ResultPublished(text=said)
        ):
            text = said
        case protocol.TaskComplete(last_agent_message=said):
            text = said
        case protocol.ToolCallRequested(tool=tool, arguments=arguments, element=element):
            label = element.label if element is not None else ""
            text = "\n".join((tool.replace("_", " "), _values_of(arguments), label))
        case protocol.ToolCallFinished(text=said):
            text = said
        case protocol.RequestUserInput(question=question):
            options = (option.label for option in question.options)
            text = "\n".join((question.header, question.text, *options))
        case protocol.QuestionAnswered(answer=answer):
            text = answer
        case protocol.QuestionClosed(reason=reason) | protocol.SessionStateChanged(reason=reason):
            text = reason
        case protocol.ErrorEvent(message=message, remedy=remedy):
            text = f"{message}\n{remedy}"
        case protocol.WarningEvent(message=message):
            text = message
        case protocol.PlanUpdate(plan=plan, explanation=explanation):
            text = "\n".join((explanation, *(item.step for item in plan)))
        case protocol.FactsUpdate(facts=facts):
            text = "\n".join(facts)
        case protocol.RequirementsUpdate(requirements=requirements):
            text = "\n".join(one.text for one in requirements)
        case protocol.SessionAssigned(serial=serial):
            text = serial
        case _:
            pass
    return text.strip()[:LONGEST_TEXT_CHARS]


def _values_of(arguments: str) -> str:
    """Return what the arguments of a call say, without their braces and names; JSON or not."""
    try:
        left: list[object] = [msgspec.json.decode(arguments.encode(errors="replace"))]
    except (msgspec.DecodeError, RecursionError):
        return arguments
    words: list[str] = []
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left.extend(reversed(one.values()))
        elif isinstance(one, list):
            left.extend(reversed(one))
        elif isinstance(one, str):
            words.append(one)
        elif isinstance(one, int | float) and not isinstance(one, bool):
            words.append(str(one))
    return " ".join(words)


def folded(query: str) -> str:
    """Return a query's part for texts that are case-folded.

    Raises:
        UsageError: it is too long; the index takes memory for each of its characters.
    """
    return foldable(_bounded(query))


def _bounded(query: str) -> str:
    if len(query) > LONGEST_QUERY_CHARS:
        raise UsageError(
            f"The query has {len(query):,} letters.", f"Use at most {LONGEST_QUERY_CHARS:,}."
        )
    # A lone surrogate is nobody's word.
    return query.encode(errors="replace").decode()


class Term(NamedTuple):
    """A word of a query, or words that stand together."""

    text: str
    is_beginning: bool  # Whether a word that begins with it counts as well.
    is_unwanted: bool


def terms_of(query: str) -> tuple[Term, ...]:
    """Read what an operator typed: the wanted terms, in order, then the unwanted ones.

    All words must occur, in any case and with or without accents. `"two words"` stand together,
    `wor*` begins so, `-word` must not occur.

    Raises:
        UsageError: nothing to look for, or too much.
    """
    wanted: list[Term] = []
    unwanted: list[Term] = []
    for minus, phrase, word, star in _TERM.findall(_bounded(query)):
        term = phrase or word
        starred = bool(star) or term.endswith("*")
        term = term.rstrip("*")
        if any(letter.isalnum() for letter in term):
            (unwanted if minus else wanted).append(Term(term, starred, bool(minus)))
    if not wanted:
        raise UsageError(
            "There is no word to look for.",
            'Type words; "two words" finds a phrase, wor* a beginning, -word excludes.',
        )
    if len(wanted) + len(unwanted) > MOST_TERMS:
        raise UsageError(f"The query has more than {MOST_TERMS} words.")
    return (*wanted, *unwanted)


class Snippet(NamedTuple):
    """A text on one line, and where the matches are in it."""

    text: str
    matches: tuple[tuple[int, int], ...]


def snippet_of(marked: str) -> Snippet:
    """Read a marked text: take the marks out and remember where they were."""
    line = re.sub(r"\s+", " ", marked.replace(SEPARATOR, ""))
    letters: list[str] = []
    matches: list[tuple[int, int]] = []
    begun = -1
    for letter in line:
        if letter == MARK_START:
            begun = len(letters)
        elif letter == MARK_END:
            if begun >= 0:
                matches.append((begun, len(letters)))
            begun = -1
        else:
            letters.append(letter)
    return Snippet("".join(letters), tuple(matches))
