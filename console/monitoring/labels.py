"""Values of labels: few, short and printable, whatever a model or a server called something.

A monitoring system keeps a series for each value for ever, so values that a model makes up would
grow it without bound.
"""

import re

OTHER = "other"
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@+-]{0,79}")


class LabelValues:
    """Let the first values of one label through, and call every further one `other`.

    Args:
        most: how many different values there may be.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = set()

    def of(self, name: str) -> str:
        """Return the value for a name: itself, or `other`."""
        if name in self._known:
            return name
        if len(self._known) >= self._most or not _WORD.fullmatch(name):
            return OTHER
        self._known.add(name)
        return name
