"""One line of the palette: its name, what choosing it does, or why it cannot be done now."""

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What an entry is about; the word beside it in the list."""

    ACTION = "action"
    SESSION = "session"
    REPLAY = "replay"
    EXPORT = "export"
    PHONE = "phone"
    JOB = "job"
    WATCHER = "watcher"
    COMMITMENT = "commitment"
    SETTING = "setting"
    COMMAND = "command"
    OPTION = "option"


class Entry(NamedTuple):
    """One line of the palette."""

    kind: Kind
    about: str
    """What it is of: an action's id, a session's, a serial, a number, a setting, a command's words.
    With the kind it names the entry for good."""
    name: str
    sentence: str = ""
    keys: str = ""
    """The operator's keys for it."""
    words: str = ""
    """More to find it by."""
    completes: str = ""
    """What the field holds once it is chosen: it needs more words. Empty where it is done."""
    why_not: str = ""
    """Why it cannot be done now."""
    line: str = ""
    """What was typed, for an entry made from it."""

    @property
    def key(self) -> str:
        """Its name among what was chosen before."""
        return f"{self.kind.value}:{self.about}"
