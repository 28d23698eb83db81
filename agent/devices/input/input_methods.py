"""The input methods that type what adb broadcasts, and the broadcasts that each understands.

Not the borrowing (`agent.devices.input.borrowed_keyboard`). Sources: github.com/senzhk/ADBKeyBoard,
and uiautomator2 3.7 (`_input.py`), whose app answers each broadcast with a result.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass

PIECE_CHARS = 500
"""As base64 of the longest characters still below the 4096 bytes that old phones take."""


@dataclass(frozen=True, slots=True)
class InputMethod:
    """One input method: its id, its name for people, and its intent."""

    id: str
    name: str
    intent: Callable[[str], str]
    accepted: str  # What `am broadcast` says when the text was taken.

    def commands(self, text: str) -> list[str]:
        """Return the shell commands that have it type the text, in order."""
        return [
            f"am broadcast {self.intent(base64.b64encode(piece.encode()).decode())}"
            for piece in (
                text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS)
            )
        ]


ADB_KEYBOARD = InputMethod(
    id="com.android.adbkeyboard/.AdbIME",
    name="ADBKeyBoard",
    intent=lambda msg: f"-a ADB_INPUT_B64 --es msg {msg}",
    accepted="Broadcast completed",
)
UIAUTOMATOR_KEYBOARD = InputMethod(
    id="com.github.uiautomator/.AdbKeyboard",
    name="uiautomator2's keyboard",
    intent=lambda text: f"-a ADB_KEYBOARD_INPUT_TEXT --es text {text}",
    accepted="result=-1",
)
KNOWN = (UIAUTOMATOR_KEYBOARD, ADB_KEYBOARD)
"""The one that says whether it took the text comes first."""
