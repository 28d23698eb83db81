"""Notice rows that fit the operator's words equally well, so that the model asks which is meant.

By structure: no list of words in any language. A name is a word of the operator's that begins in a
capital letter, or that nothing else on the screen has. Pure. Invariant: nothing is said where one
row alone has all its words from the operator, or more of them than the others.
"""

import re
from collections.abc import Sequence

from agent.records import Element
from agent.safety.words import words
from agent.text import one_line

_FEWEST_LETTERS = 2
_MOST_ROWS = 4  # What fits more rows is what the list is about, not a name in it.
_TITLE_CHARS = 40
_SHOWN_CHARS = 40
_WORD = re.compile(r"\w+")


def equal_rows_warning(said: Sequence[str], elements: Sequence[Element]) -> str:
    """Return that several rows fit equally, and which; empty where one does or none.

    Args:
        said: what the operator asked for and answered, oldest first.
    """
    rows = [e for e in elements if _is_row(e)]
    if len(rows) < 2:
        return ""
    told = {word for text in said for word in words(text)}
    titles = {row.number: words(_title(row)) for row in rows}
    named = [row for row in rows if told & set(titles[row.number])]
    names = _names(said, [e for e in elements if e not in named])
    fits = {row.number: names & set(titles[row.number]) for row in named}
    most = max((len(fits[row.number]) for row in named), default=0)
    best = [row for row in named if most and len(fits[row.number]) == most]
    best = [row for row in best if fits[row.number] == fits[best[0].number]]
    whole = [row for row in best if set(titles[row.number]) <= told]
    best = whole or _told_apart(best, told)
    if not 2 <= len(best) <= _MOST_ROWS:
        return ""
    name = " ".join(word for word in titles[best[0].number] if word in fits[best[0].number])
    shown = ", ".join(f'[{row.number}] "{one_line(_title(row), _SHOWN_CHARS)}"' for row in best)
    return f'WARNING: "{name}" fits {shown} equally. Unless you know which is meant, ask.'


def _told_apart(rows: Sequence[Element], told: set[str]) -> list[Element]:
    """Return the rows of which as much as possible, beside the title, was said."""
    scores = [len(set(words(row.label)) & told) for row in rows]
    return [row for row, score in zip(rows, scores, strict=True) if score == max(scores)]


def _names(said: Sequence[str], others: Sequence[Element]) -> set[str]:
    """Return the operator's words that may name somebody or something on this screen."""
    elsewhere = {word for element in others for word in words(element.label)}
    found: set[str] = set()
    for text in said:
        for match in _WORD.finditer(text):
            folded = words(match[0])
            if len(folded) != 1 or len(folded[0]) < _FEWEST_LETTERS or folded[0].isdigit():
                continue
            is_first = not text[: match.start()].strip(" \"'“„«(¿¡")
            is_name = match[0][0].isupper() and not is_first
            if is_name or folded[0] not in elsewhere:
                found.add(folded[0])
    return found


def _is_row(element: Element) -> bool:
    """Return whether an element is a row that is opened: not a button of one, nor a field."""
    is_plain = element.kind == "btn" and element.clickable and not element.checkable
    return is_plain and len(_title(element)) <= _TITLE_CHARS


def _title(element: Element) -> str:
    return element.label.split(" | ", 1)[0]
