"""Define a phone's passport: what was tried on it, what came of each, and which way is best.

Not the trying (`agent.devices.qualify`) and not its file (`passport_file`). Invariants: a row that
nobody could answer is unknown, never a failure; a passport is of one build of one phone.
"""

from collections.abc import Mapping
from enum import StrEnum

from agent.devices.protocols import TextWay
from agent.records.record import Record

VERSION = 1
"""Of the file; a passport of another one is made again."""


class Area(StrEnum):
    """What a row is about; the order is the page's."""

    LINK = "link"
    DISPLAYS = "displays"
    PEOPLE = "people"
    POWER = "power"
    CAPTURE = "capture"
    TREE = "tree"
    INPUT = "input"
    TEXT = "text"


class Outcome(StrEnum):
    """What came of a row."""

    WORKS = "works"
    FAILS = "fails"
    ABSENT = "absent"  # The phone, or this computer, does not have it; something else does instead.
    UNKNOWN = "unknown"  # Nobody could answer, or it was not tried; the detail says why.


class Row(Record, frozen=True, kw_only=True):
    """One thing that was asked or tried.

    Attributes:
        detail: what was found, or why it is unknown; foreign text in it is cleaned.
        remedy: what to do about it; empty where nothing is to be done.
        line: the line of the phone's own words that it was read from; empty where there is none.
    """

    area: Area
    name: str
    outcome: Outcome
    detail: str
    took_ms: int = 0
    remedy: str = ""
    line: str = ""


class CaptureWay(StrEnum):
    """How a picture is taken."""

    SCREENCAP = "screencap"
    VIDEO = "video"


class TreeWay(StrEnum):
    """Where a UI tree comes from."""

    SERVICE = "service"
    DUMP = "dump"


class InputWay(StrEnum):
    """How touches and keys reach the phone."""

    CONTROL = "control"  # A scrcpy server's control socket.
    SHELL = "input"  # The shell's `input` command.


class Choices(Record, frozen=True, kw_only=True):
    """The best way for each capability; None or nothing where no way was seen to work.

    Attributes:
        capture_ms: how long a picture by `screencap` took; 0 when it gave none.
        trees_failing: sources of trees that were tried and failed; one that was not there is none.
        inputs_failing: ways of touching that were tried and had no effect.
        text: the ways of typing by script, best first; only those that were read back exactly.
    """

    capture: CaptureWay | None = None
    capture_ms: int = 0
    tree: TreeWay | None = None
    trees_failing: tuple[TreeWay, ...] = ()
    input: InputWay | None = None
    inputs_failing: tuple[InputWay, ...] = ()
    text: Mapping[str, tuple[TextWay, ...]] = {}


class Passport(Record, frozen=True, kw_only=True):
    """What is known of one build of one phone.

    Attributes:
        phone: the serial number that the phone gives itself; the one of adb where it gives none.
        fingerprint: `ro.build.fingerprint`, which changes with every build.
    """

    version: int = VERSION
    serial: str
    phone: str
    fingerprint: str
    maker: str = ""
    model: str = ""
    android: str = ""
    made_ms: int = 0
    took_ms: int = 0
    rows: tuple[Row, ...] = ()
    choices: Choices = Choices()

    def is_of(self, phone: str, fingerprint: str) -> bool:
        """Return whether it speaks of this phone as it is now; false where either is unknown."""
        return bool(phone and fingerprint) and (phone, fingerprint) == (
            self.phone,
            self.fingerprint,
        )
