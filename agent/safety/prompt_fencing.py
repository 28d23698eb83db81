"""Put what others wrote between two marks, so that a model takes it for data.

Pure. Invariant: nothing inside can end the fence.
"""

import re

_BEGIN, _END = "<<< SEEN", "SEEN >>>"
_MARKS = re.compile(r"[<>]{3,}")


def fenced(text: str) -> str:
    """Put a text between the marks."""
    return f"{_BEGIN}\n{unfenced(text)}\n{_END}"


def unfenced(text: str) -> str:
    """Take out of a text what could be taken for a mark."""
    return _MARKS.sub("…", text)
