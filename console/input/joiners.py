"""Let the characters through that join letters and emoji, and print nothing themselves.

A terminal sends a family emoji one character after the other, with ZERO WIDTH JOINERs between them.
Textual inserts only what Python calls printable, which those are not (UAX #29, UTS #51).
"""

from textual.events import Event, Key

_JOINERS = frozenset("\u200c\u200d")
_TAGS = range(0xE0020, 0xE0080)  # Of the flags of regions: UTS #51, emoji tag sequences.


class _Joiner(Key):
    """A key that puts such a character where one types."""

    @property
    def is_printable(self) -> bool:
        return True


_Joiner.handler_name = Key.handler_name


def joined(event: Event) -> Event:
    """Return the event, as one that is inserted where it is a joiner."""
    if not isinstance(event, Key) or event.character is None or len(event.character) != 1:
        return event
    if event.character not in _JOINERS and ord(event.character) not in _TAGS:
        return event
    joiner = _Joiner(event.key, event.character)
    joiner.time = event.time
    return joiner
