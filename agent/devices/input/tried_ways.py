"""What became of each way to type one text, and how that is told.

Pure. Invariant: what was typed, and what a field holds, is told in numbers, never quoted.
"""

from agent.devices.input import field_verify, input_text
from agent.devices.input.input_methods import ADB_KEYBOARD
from agent.devices.protocols import TextWay, Typed
from agent.errors import DeviceError, InputRefusedError, TextEntryError
from agent.text import one_line

NOT_PUT_BACK = "what it held before could not be put back"
_NAMES = {
    TextWay.KEYS: "keys",
    TextWay.INPUT_METHOD: "an input method",
    TextWay.ACCESSIBILITY: "the tree service",
    TextWay.CLIPBOARD: "the clipboard",
}


class TriedWays:
    """The ways that were tried with one text.

    Args:
        before: what the field held before the first.
    """

    def __init__(self, serial: str, text: str, before: str) -> None:
        self._serial = serial
        self._text = text
        self._before = before
        self._wrong: list[tuple[TextWay, str]] = []
        self._not_sent: list[tuple[TextWay, DeviceError]] = []
        self.complaint: DeviceError | None = None
        """What the phone said about text that it may have taken in part."""

    @property
    def needs_undoing(self) -> bool:
        """Whether the field holds something else than before."""
        return bool(self._wrong) and self._wrong[-1][1] != self._before

    def not_sent(self, way: TextWay, error: DeviceError) -> None:
        """Take note that a way typed nothing."""
        self._not_sent.append((way, error))

    def arrived_wrong(self, way: TextWay, held: str) -> bool:
        """Take note of what a field holds in place of the text; return whether to try another way.

        Two ways of which a field made the same say that it is the field that limits or formats. An
        Enter may have sent something away, so that a text with line breaks is typed once.
        """
        again = any(one == held for _, one in self._wrong) and held != self._before
        self._wrong.append((way, held))
        entered = "\n" in self._text and (way is TextWay.KEYS or held != self._before)
        return not again and not entered

    def result(self, typed: Typed) -> Typed:
        """Return a result with the way that worked after others had not."""
        failed = [_NAMES[way] for way, _ in self._wrong]
        failed += [_NAMES[way] for way, error in self._not_sent if _matters(way, error)]
        if not failed or (typed.note and not typed.is_read_back):
            return typed
        said = f"It went by {_NAMES[typed.way]}: {' and '.join(failed)} had not typed it."
        note = f"{typed.note} {said}".strip()
        return Typed(way=typed.way, is_read_back=typed.is_read_back, unread=typed.unread, note=note)

    def error(self, reason: str = "") -> DeviceError:
        """Return the error of a text that has not arrived."""
        if self._wrong:
            held = self._wrong[-1][1]
            reason = f"; {reason}" if reason else ""
            by = " and ".join(dict.fromkeys(_NAMES[way] for way, _ in self._wrong))
            said = "" if self.complaint is None else f" ({one_line(self.complaint.message, 160)})"
            return TextEntryError(
                f"The text did not arrive on {self._serial} as it is, by {by}: "
                f"{field_verify.difference(self._before, self._text, held)}{reason}{said}.",
                "Look at the field: it may limit, format or correct what is typed.",
            )
        for _, error in self._not_sent:
            if isinstance(error.__cause__, InputRefusedError):
                return error.__cause__
        return self._no_way()

    def _no_way(self) -> TextEntryError:
        install = (
            "Install ADBKeyBoard on the phone and make it the current keyboard with "
            f"`adb shell ime set {ADB_KEYBOARD.id}`, or take the wheel and type it there."
        )
        lacking = [c for c in self._text if not input_text.has_keys(c, unicode_input=False)]
        if not lacking:
            why = "; ".join(one_line(error.message, 120) for _, error in self._not_sent)
            return TextEntryError(f"No way to type on {self._serial} works: {why}.", install)
        return TextEntryError(
            f"{self._serial} can type only ASCII by adb, but the text contains {lacking[0]!r} "
            f"(U+{ord(lacking[0]):04X}).",
            install,
        )


def _matters(way: TextWay, error: DeviceError) -> bool:
    """Return whether a way that typed nothing is worth telling: keys that a phone refuses are."""
    return way is TextWay.KEYS and isinstance(error.__cause__, InputRefusedError)
