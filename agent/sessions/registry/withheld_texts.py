"""What the operator wrote and the redactor took out, kept until the operator decides on it.

Not the store. Invariants: it is in this process's memory only, for the newest sessions only; it is
dropped once the operator lets it through or the session is deleted.
"""

from collections import OrderedDict

_MOST_SESSIONS = 200
_MOST_TEXTS = 8


class WithheldTexts:
    """The texts of one core's sessions that were stored redacted, as they were written."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def keep(self, session_id: str, text: str) -> None:
        """Keep a text of a session, in the place of the oldest when there are too many."""
        kept = (*self._texts.pop(session_id, ()), text)
        self._texts[session_id] = kept[-_MOST_TEXTS:]
        while len(self._texts) > _MOST_SESSIONS:
            self._texts.popitem(last=False)

    def of(self, session_id: str) -> tuple[str, ...]:
        """Return the texts of a session, oldest first."""
        return self._texts.get(session_id, ())

    def drop(self, session_id: str) -> None:
        self._texts.pop(session_id, None)
