"""Words that are typed for a field that did not open, or that closed under the hands.

A sentence that lost its field would be a row of commands. Not which fields there are. Invariants:
no character of such a sentence is a command; a pause or esc ends it, and so does any other kind of
input; what stops everything always counts.
"""

from collections.abc import Callable
from enum import Enum, auto

from textual.events import Event, Key, Paste

PAUSE_S = 1.0
"""After so long without a key, the next one is no word of the sentence before it."""
_ENDS = frozenset({"escape", "enter"})
_EDITS = frozenset({"backspace", "delete", "tab", "ctrl+j", "alt+enter", "ctrl+w"})
_OF_CARDS = frozenset({"enter", *"123456789"})
"""The keys that answer a question at its card, or open the field for it."""


class Hands(Enum):
    """Where what is typed now goes."""

    IN_FIELD = auto()  # Or to a phone that is driven.
    AT_CARD = auto()
    NOWHERE = auto()


class StrayWords:
    """Finds the words that have no field.

    Args:
        hands: returns where what is typed now goes.
        say: says why words are not taken.
    """

    def __init__(self, hands: Callable[[], Hands], say: Callable[[str], object]) -> None:
        self._hands = hands
        self._say = say
        self._expected: Hands | None = None
        self._left = Hands.NOWHERE
        self._goes_on = False
        self._last_s = 0.0

    def expect(self) -> None:
        """Hear that the key being handled opens a field, as far as it can."""
        self._expected = Hands.IN_FIELD

    def expect_card(self) -> None:
        """Hear that the key being handled goes to a question's card, if there is one."""
        self._expected = Hands.AT_CARD

    def rest(self) -> None:
        """Hear that everything an input caused is over."""
        self._left = self._hands()

    def takes(self, event: Event) -> bool:
        """Return whether an input is a word without a field, which nothing else may get."""
        paused = event.time - self._last_s > PAUSE_S
        meant = self._expected or self._left
        self._expected, self._left = None, Hands.NOWHERE
        self._last_s = event.time
        hands = self._hands()
        if hands is Hands.IN_FIELD or not isinstance(event, Key | Paste):
            self._goes_on = False
            return False
        if hands is Hands.AT_CARD and isinstance(event, Key) and event.key == "enter":
            # It opens the field to answer in, unless the card has just come.
            self._expected = Hands.IN_FIELD
        if meant is Hands.AT_CARD and hands is not meant and not (paused or self._goes_on):
            return self._takes_from_card(event)
        had = meant is Hands.IN_FIELD
        begins = had and not self._goes_on
        self._goes_on = (had or self._goes_on) and not paused
        if not self._goes_on:
            return False
        if isinstance(event, Key) and not (event.is_printable or event.key in _EDITS | _ENDS):
            self._goes_on = False
            return False
        if isinstance(event, Key) and event.key in _ENDS:
            self._goes_on = False
            # Alone it is no word: it does what it does.
            return not begins
        if begins:
            self._say(
                "No field is open for what you type: it is not taken. Pause or press esc first."
            )
        return True

    def _takes_from_card(self, event: Event) -> bool:
        """Return whether a key was for a card that has gone; after enter come words."""
        if not isinstance(event, Key) or event.key not in _OF_CARDS:
            return False
        if event.key == "enter":
            self._expected = Hands.IN_FIELD
        self._say("No question is open here: the key was not taken.")
        return True
