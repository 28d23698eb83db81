"""Words that are typed for a field that did not open, or that closed under the hands.

A sentence that lost its field would be a row of commands. Not which fields there are. Invariants:
no character of such a sentence is a command; a pause or esc ends it, and so does any other kind of
input; what stops everything always counts.
"""

from collections.abc import Callable

from textual.events import Event, Key, Paste

PAUSE_S = 1.0
"""After so long without a key, the next one is no word of the sentence before it."""
_ENDS = frozenset({"escape", "enter"})
_EDITS = frozenset({"backspace", "delete", "tab", "ctrl+j", "alt+enter", "ctrl+w"})


class StrayWords:
    """Finds the words that have no field.

    Args:
        has_field: returns whether what is typed now goes into a field, or to a driven phone.
        say: says why words are not taken.
    """

    def __init__(self, has_field: Callable[[], bool], say: Callable[[str], object]) -> None:
        self._has_field = has_field
        self._say = say
        self._is_expected = False
        self._had_field = False
        self._goes_on = False
        self._last_s = 0.0

    def expect(self) -> None:
        """Hear that the key being handled opens a field, as far as it can."""
        self._is_expected = True

    def rest(self) -> None:
        """Hear that everything an input caused is over."""
        self._had_field = self._has_field()

    def takes(self, event: Event) -> bool:
        """Return whether an input is a word without a field, which nothing else may get."""
        paused = event.time - self._last_s > PAUSE_S
        had, self._had_field = self._had_field or self._is_expected, False
        self._is_expected = False
        self._last_s = event.time
        if self._has_field() or not isinstance(event, Key | Paste):
            self._goes_on = False
            return False
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
