"""Whether an element shows a text that was typed: whole, shortened, or a number written otherwise.

Pure, and of no language. Invariant: a short text counts only as a text or a word of its own.
"""

import re
from collections.abc import Iterable

from agent.language.fold import folded
from agent.loop.effects.pages import JOINT
from agent.loop.screen.windows import STATUS_BAR
from agent.records import Element

_COMPARED = 300
_LEAST_SHORTENED = 8  # Characters that are left of a text that an app shortened.
_LEAST_DIGITS = 4
_DOTS = ("…", "...")
_LEAST_INSIDE = 8


def showing(text: str, elements: Iterable[Element]) -> list[Element]:
    """Return what shows a text, fields apart."""
    return [
        element
        for element in elements
        if not element.editable and element.kind != STATUS_BAR and shows(text, element)
    ]


def shows(text: str, element: Element) -> bool:
    wanted = _plain(text)
    if not wanted:
        return False
    parts = [part for part in (*element.label.split(JOINT), *element.more.split(JOINT)) if part]
    return any(_matches(wanted, _plain(part)) for part in (*parts, element.label) if part)


def _matches(wanted: str, said: str) -> bool:
    if wanted == said:
        return True
    if said.endswith(_DOTS):
        begun = said.rstrip("….").rstrip()
        if len(begun) >= _LEAST_SHORTENED and wanted.startswith(begun):
            return True
    digits = _digits(wanted)
    if len(digits) >= _LEAST_DIGITS and not any(map(str.isalpha, wanted)):
        # A telephone number or an amount gets spaces and signs of the app's own.
        return digits == _digits(said)
    if wanted not in said:
        return False
    if len(wanted) >= _LEAST_INSIDE:
        return True
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", said) is not None


def _plain(text: str) -> str:
    return folded(text[: 2 * _COMPARED])[:_COMPARED]


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))
