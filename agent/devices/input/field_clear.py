"""Turn a field that holds text into device shell commands that empty it, best first.

Not the device: nothing is sent here. Invariant: each command empties any field that takes keys,
whatever the one before it did, so they may be tried in turn until the field reads back empty.

Android 12 brought `input keycombination` (AOSP `InputShellCommand`), by which everything can be
selected; older phones have single keys only: to the end, then delete both ways.
"""

from collections.abc import Iterator

from agent.devices.input import field_verify
from agent.errors import TextEntryError
from agent.records import UiNode

MAX_CHARS = 5000
"""A field that holds more is not deleted key by key."""
_PASSWORD_CHARS = 128
"""Keys for a field whose length nobody sees; keys in an empty field do nothing."""
FIRST_HINT_SDK = 26
"""Before Android 8 an empty field's tree gives its hint as its text: what no further key shortens
is taken for that."""
_FIRST_COMBINATION_SDK = 31
_CTRL_LEFT, _A, _DELETE, _FORWARD_DELETE, _MOVE_END = 113, 29, 67, 112, 123
_KEYS_A_COMMAND = 400


def commands(field: UiNode, *, sdk: int) -> Iterator[str]:
    """Yield the commands to try, in order.

    Args:
        field: what is to be emptied, as it was just read.
        sdk: the phone's API level; 0 when unknown.
    """
    if sdk >= _FIRST_COMBINATION_SDK:
        yield f"input keycombination {_CTRL_LEFT} {_A} && input keyevent {_DELETE}"
    held = _PASSWORD_CHARS if field.password else len(field_verify.content(field))
    if held > MAX_CHARS:
        return
    # A line's end is not the text's: what stands before goes first, then what stands after.
    keys = [_MOVE_END, *[_DELETE] * held, *[_FORWARD_DELETE] * held]
    pieces = [keys[at : at + _KEYS_A_COMMAND] for at in range(0, len(keys), _KEYS_A_COMMAND)]
    if 0 < sdk < FIRST_HINT_SDK:
        pieces.append([_DELETE, _FORWARD_DELETE])
    for piece in pieces:
        yield f"input keyevent {' '.join(map(str, piece))}"


def caret_to_end(*, sdk: int) -> str:
    """Return the command that puts the caret behind a field's text; see `commands`.

    With Ctrl the key goes to the end of the text, without to that of the line (AOSP
    `BaseMovementMethod.handleMovementKey`).
    """
    if sdk >= _FIRST_COMBINATION_SDK:
        return f"input keycombination {_CTRL_LEFT} {_MOVE_END}"
    return f"input keyevent {_MOVE_END}"


def cannot(serial: str, reason: str) -> TextEntryError:
    """Return the error for a field that could not be emptied."""
    return TextEntryError(
        f"The field on {serial} could not be emptied: {reason.rstrip('.')}.",
        "Touch the field first, or select its text and delete that.",
    )
