"""Split styled text into lines of so many cells. Pure."""

from rich.cells import cell_len

from widgets.base.rows import Parts


def split(parts: Parts, room: int) -> tuple[Parts, Parts]:
    """Split styled text where a line of so many cells ends, between words if there is a blank.

    Returns:
        what fits, and the rest; the blank between them is in neither.
    """
    plain = "".join(text for text, _ in parts)
    if cell_len(plain) <= room:
        return parts, ()
    end = cells = 0
    while end < len(plain) and cells + cell_len(plain[end]) <= room:
        cells += cell_len(plain[end])
        end += 1
    blank = plain.rfind(" ", 1, end + 1)
    at, after = (blank, blank + 1) if blank > end // 2 else (max(end, 1), max(end, 1))
    return _slice(parts, 0, at), _slice(parts, after, len(plain))


def _slice(parts: Parts, start: int, end: int) -> Parts:
    found: list[tuple[str, str]] = []
    at = 0
    for text, style in parts:
        if cut := text[max(0, start - at) : max(0, end - at)]:
            found.append((cut, style))
        at += len(text)
    return tuple(found)
