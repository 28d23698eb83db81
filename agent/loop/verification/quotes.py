"""Find quoted words on stored screens, however they are spaced, cased and punctuated. Pure.

Invariant: words are found as whole words in a row, on one screen; nothing is found in nothing.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from agent.language.tokens import words
from agent.loop.screen.elements import UNLABELED
from agent.loop.screen.screen_text import states_of
from agent.records import Element, Evidence, Observation

MAX_QUOTE_CHARS = 300
_CUT = re.compile(r"\s*(?:\.{3}|…)\s*")
_CUT_WORD = re.compile(r"\S*(?:\.{3}|…)\s*")
"""A cut in the middle of a word, with what is left of the word."""
_NUMBER = re.compile(r"^\s*\[\d+\]\s*")
_PLACE = re.compile(r"\((?:(?:far-)?(?:left|right|center)|cut off at the [a-z: ]+)\)")
_MARKS = re.compile(r"<-- NEW|\\n|\[(?:FOCUSED|SCROLLS)\]|(?<![\"“])\bid=\S+|\"unlabeled\"")
"""What the screen's text says of an element beyond what it shows."""
_KIND = re.compile(r"^(?:[A-Za-z]+(?:-[a-z]+)?):\s*(?=[\"“'])")


def normalised(text: str) -> str:
    """Return the words of a text, folded, each with a space on either side."""
    return f" {' '.join(words(text))} "


@dataclass(frozen=True)
class StoredScreen:
    """One stored screen, as words can be found on it; they are made out when first looked for."""

    step: int
    digest: str
    package: str
    lines: tuple[str, ...]  # What it shows, an element a line.
    fields: tuple[str, ...]  # What its fields hold.
    where: tuple[str, ...] = ()  # The app and the page in front.

    @property
    def is_reply(self) -> bool:
        """Whether it is what a service of the core replied, and no screen of the phone."""
        return not self.where

    @cached_property
    def text(self) -> str:
        """All of it, normalised; lines are parted by a bar, which no words hold."""
        return "|".join(map(normalised, (*self.where, *self.lines)))

    def shows(self, words: str) -> bool:
        """Return whether normalised words stand on it in a row."""
        return bool(words.strip()) and words in self.text


def stored_screen(step: int, seen: Observation) -> StoredScreen:
    """Return an observation as words can be found on it."""
    found = [line for e in seen.elements for line in _quotable_lines(e)]
    digest = seen.tree_digest or (seen.frame.digest if seen.frame is not None else "")
    return StoredScreen(
        step=step,
        digest=digest,
        package=seen.foreground.package,
        lines=tuple(found),
        fields=tuple(element.value for element in seen.elements if element.value),
        where=(seen.foreground.package, seen.foreground.activity.rsplit(".", 1)[-1]),
    )


def stored_reply(step: int, text: str) -> StoredScreen:
    """Return what a service of the core replied as words can be found in it."""
    return StoredScreen(step=step, digest="", package="", lines=(text,), fields=())


def find(quote: str, screens: Iterable[StoredScreen]) -> Evidence:
    """Return where words stand; newest screens first. Step 0 where none shows them."""
    said = quote[:MAX_QUOTE_CHARS]
    bare = _without_marks(said if said == quote else f"{said}…")
    newest_first = tuple(screens)[::-1]
    for cut in (_CUT, _CUT_WORD):
        wanted = [part for part in map(normalised, cut.split(bare)) if part.strip()]
        for screen in newest_first:
            if wanted and all(screen.shows(part) for part in wanted):
                return Evidence(quote=said, step=screen.step, digest=screen.digest)
    return Evidence(quote=said)


def _without_marks(quote: str) -> str:
    """Return a quote without what the screen's text puts around a label."""
    line = _KIND.sub("", _NUMBER.sub("", quote))
    return _PLACE.sub(" ", _MARKS.sub(" ", line))


def _quotable_lines(element: Element) -> Iterable[str]:
    """Return the lines that an element is: label, value and states together; then what it hides.

    In the order of `agent.loop.screen.screen_text.element_line`, which is what is quoted from.
    """
    label = "" if element.label == UNLABELED else element.label
    hidden = f"{element.length} hidden characters" if element.length else ""
    line = " ".join(filter(None, (label, element.value, hidden, *states_of(element))))
    return (part for part in (line, element.more) if part)
