"""What the pilot can be asked for: one small struct per intent, each able to name itself.

No behaviour: `agent.models.pilot.goal` reads them from words, the skills carry them out.
"""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Open:
    """Bring an app to the front, or a thing in it onto the screen."""

    name: str
    package: str = ""

    def __str__(self) -> str:
        return f"Open {self.name}"


@dataclass(frozen=True, slots=True)
class Toggle:
    """Bring a switch into a state."""

    name: str
    on: bool
    package: str = ""

    def __str__(self) -> str:
        return f"Turn {'on' if self.on else 'off'} {self.name}"


@dataclass(frozen=True, slots=True)
class Choose:
    """Bring a setting to a value: one of a list, or a text."""

    name: str
    value: str
    package: str = ""

    def __str__(self) -> str:
        return f"Set {self.name} to {self.value}"


@dataclass(frozen=True, slots=True)
class Press:
    """Open a thing and press the button on it that is called so."""

    verb: str
    name: str
    what: str = ""
    package: str = ""

    def __str__(self) -> str:
        return f"{self.verb.capitalize()} the {self.what or 'entry'} “{self.name}”"


@dataclass(frozen=True, slots=True)
class Note:
    """Write a new note."""

    text: str
    title: str = ""
    package: str = ""

    def __str__(self) -> str:
        return f"Write the note “{self.text or self.title}”"


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message to somebody."""

    text: str
    recipient: str
    package: str = ""

    def __str__(self) -> str:
        return f"Send “{self.text}” to {self.recipient}"


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a thing from a list."""

    name: str
    what: str
    package: str = ""

    def __str__(self) -> str:
        return f"Delete the {self.what} “{self.name}”"


@dataclass(frozen=True, slots=True)
class Search:
    """Look something up in an app's search."""

    text: str
    package: str = ""

    def __str__(self) -> str:
        return f"Search for “{self.text}”"


@dataclass(frozen=True, slots=True)
class Type:
    """Type into a field of the screen in front."""

    text: str
    name: str = ""
    package: str = ""

    def __str__(self) -> str:
        return f"Type “{self.text}”" + (f" into {self.name}" if self.name else "")


@dataclass(frozen=True, slots=True)
class Unclear:
    """Words that no intent fits."""

    words: str
    package: str = ""
    app: str = ""  # What was to be opened, where no app that is installed is called so.

    def __str__(self) -> str:
        return self.words


Intent: TypeAlias = Open | Toggle | Choose | Press | Note | Send | Delete | Search | Type | Unclear
