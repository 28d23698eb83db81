"""Say what a report of the mouse means, in cells of the terminal.

Invariants: a report of a place that is no place, or of a button that the console has no event for,
is nothing; no numbers raise.
"""

from textual import events

_SHIFT, _META, _CTRL, _MOVES, _WHEEL, _MORE_BUTTONS = 4, 8, 16, 32, 64, 128
_NO_BUTTON = 3
_MOST_PLACE = 100_000  # More than any terminal has.
_X10_OFFSET = 32
_WHEELS = (
    events.MouseScrollUp,
    events.MouseScrollDown,
    events.MouseScrollLeft,
    events.MouseScrollRight,
)


class Mouse:
    """Where the pointer was, and what was pressed."""

    def __init__(self) -> None:
        self._at = (0.0, 0.0)
        self._pressed = 0
        """The button that an older form releases without saying which."""

    def sgr(self, numbers: list[int], *, is_release: bool) -> events.MouseEvent | None:
        """Return the event of `CSI < button ; x ; y M`, or `m` for a release."""
        code, x, y = numbers
        return self._event(code, x - 1.0, y - 1.0, is_release=is_release)

    def older(self, code: int, x: int, y: int) -> events.MouseEvent | None:
        """Return the event of the forms of X10 and urxvt, whose numbers begin at 32."""
        code -= _X10_OFFSET
        is_release = code >= 0 and code & 3 == _NO_BUTTON and not code & (_MOVES | _WHEEL)
        if is_release:
            code = code & ~3 | max(0, self._pressed - 1)
        return self._event(code, x - 1.0, y - 1.0, is_release=is_release)

    def _event(
        self, code: int, x: float, y: float, *, is_release: bool
    ) -> events.MouseEvent | None:
        if not (0 <= code < _MORE_BUTTONS and 0 <= x < _MOST_PLACE and 0 <= y < _MOST_PLACE):
            return None
        if code & _WHEEL:
            if is_release or code & _MOVES:
                return None
            kind: type[events.MouseEvent] = _WHEELS[code & 3]
            button = 0
        else:
            button = (code + 1) & 3
            if code & _MOVES or not button:
                kind = events.MouseMove
            else:
                kind = events.MouseUp if is_release else events.MouseDown
                self._pressed = 0 if is_release else button
        moved = int(x) - int(self._at[0]), int(y) - int(self._at[1])
        self._at = (x, y)
        return kind(
            None,
            x,
            y,
            *moved,
            button,
            bool(code & _SHIFT),
            bool(code & _META),
            bool(code & _CTRL),
            screen_x=x,
            screen_y=y,
        )
