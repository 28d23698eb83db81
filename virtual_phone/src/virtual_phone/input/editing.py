"""Edit the text of a field: insert, delete, move and select, by characters as people see them.

Works on `FieldState` alone. Invariant: 0 <= start <= end <= len(text), whatever is typed.
"""

from virtual_phone.display.fonts import clusters
from virtual_phone.state.records import FieldState

TEXT_LIMIT = 100_000
"""Characters a field takes; what comes after is dropped, as a length filter does."""


def settle(field: FieldState) -> None:
    """Bring a selection back inside the text."""
    size = len(field.text)
    start, end = sorted((field.start, field.end))
    field.start, field.end = min(max(start, 0), size), min(max(end, 0), size)


def storable(text: str, *, multiline: bool) -> str:
    """Return what a field keeps of typed text: no lone surrogates, no controls but line breaks."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = []
    for char in text:
        code = ord(char)
        if 0xD800 <= code <= 0xDFFF:
            kept.append("\ufffd")
        elif char == "\n":
            kept.append("\n" if multiline else " ")
        elif char == "\t" or (code >= 0x20 and not 0x7F <= code < 0xA0):
            kept.append(char)
    return "".join(kept)


def insert(field: FieldState, text: str, *, multiline: bool) -> None:
    """Replace the selection by text, the cursor behind it."""
    settle(field)
    room = TEXT_LIMIT - (len(field.text) - (field.end - field.start))
    text = storable(text, multiline=multiline)[: max(0, room)]
    field.text = field.text[: field.start] + text + field.text[field.end :]
    field.start = field.end = field.start + len(text)


def backspace(field: FieldState) -> None:
    """Delete the selection, or the character before the cursor."""
    settle(field)
    if field.start == field.end:
        field.start = _before(field.text, field.start)
    _cut(field)


def delete_forward(field: FieldState) -> None:
    """Delete the selection, or the character after the cursor."""
    settle(field)
    if field.start == field.end:
        field.end = _after(field.text, field.end)
    _cut(field)


def move(field: FieldState, step: int) -> None:
    """Move the cursor one character left (-1) or right (1); a selection collapses to that side."""
    settle(field)
    if field.start != field.end:
        at = field.start if step < 0 else field.end
    else:
        at = _before(field.text, field.start) if step < 0 else _after(field.text, field.start)
    field.start = field.end = at


def move_to(field: FieldState, at: int) -> None:
    """Put the cursor at an offset."""
    field.start = field.end = at
    settle(field)


def move_to_line_end(field: FieldState, *, start: bool) -> None:
    """Put the cursor at the start or the end of its line."""
    settle(field)
    if start:
        move_to(field, field.text.rfind("\n", 0, field.start) + 1)
    else:
        end = field.text.find("\n", field.end)
        move_to(field, len(field.text) if end < 0 else end)


def move_line(field: FieldState, step: int) -> bool:
    """Move the cursor a line up (-1) or down (1); return whether there was one."""
    settle(field)
    line_start = field.text.rfind("\n", 0, field.start) + 1
    column = field.start - line_start
    if step < 0:
        if line_start == 0:
            return False
        before = field.text.rfind("\n", 0, line_start - 1) + 1
        move_to(field, min(before + column, line_start - 1))
        return True
    end = field.text.find("\n", field.start)
    if end < 0:
        return False
    after = field.text.find("\n", end + 1)
    move_to(field, min(end + 1 + column, len(field.text) if after < 0 else after))
    return True


def select_all(field: FieldState) -> None:
    """Select the whole text."""
    field.start, field.end = 0, len(field.text)


def select_word(field: FieldState, at: int) -> None:
    """Select the word around an offset, as a long press does."""
    text = field.text
    start = end = min(max(at, 0), len(text))
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    field.start, field.end = start, end


def _cut(field: FieldState) -> None:
    field.text = field.text[: field.start] + field.text[field.end :]
    field.end = field.start


def _before(text: str, at: int) -> int:
    if at <= 0:
        return 0
    window = max(0, at - 64)
    return at - len(clusters(text[window:at])[-1])


def _after(text: str, at: int) -> int:
    if at >= len(text):
        return len(text)
    return at + len(clusters(text[at : at + 64])[0])
