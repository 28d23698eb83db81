"""The phone's nouns: saved state, windows, results and its own errors.

Data only. Invariant: `PhoneState` holds everything that survives a restart, and nothing else does.
"""

from enum import StrEnum

import msgspec

from virtual_phone.errors import PhoneError
from virtual_phone.packages.installed import PackageInfo
from virtual_phone.state.profiles import DEFAULT_PROFILE

STATE_FORMAT = 1


class NotIdleError(PhoneError):
    """The screen is animating, so a UI dump cannot get an idle state."""


class NullRootError(PhoneError):
    """No window has a UI tree at the moment."""


class UnknownActivityError(PhoneError):
    """No package declares the activity that was asked for."""


class FieldState(msgspec.Struct):
    """Text being edited and its selection, as character offsets."""

    text: str = ""
    start: int = 0
    end: int = 0


class PageState(msgspec.Struct):
    """One activity on a stack: what it was started with and what its views remember."""

    activity: str
    args: dict[str, str] = {}
    scroll: dict[str, int] = {}
    fields: dict[str, FieldState] = {}
    local: dict[str, str] = {}
    focus: str = ""
    token: int = 0
    calling_package: str = ""


class TaskState(msgspec.Struct):
    """A stack of activities that belong together; the last page is on top."""

    id: int
    package: str
    pages: list[PageState] = []
    display: int = 0


class Notice(msgspec.Struct):
    """A notification in the shade."""

    id: int
    package: str
    title: str
    text: str
    when: float
    activity: str = ""
    args: dict[str, str] = {}
    ongoing: bool = False
    tag: str = ""


class DisplayState(msgspec.Struct):
    """A display; sizes in pixels before rotation, density in dots per inch."""

    id: int
    width: int
    height: int
    density: int
    name: str = ""


class Battery(msgspec.Struct):
    """What `dumpsys battery set` forced, beside the level and whether it charges."""

    forced: bool = False
    source: str = ""  # What powers the phone, where it is not what its kind is powered by.
    status: int = 0  # Of BatteryManager; 0 follows from whether it charges.
    scale: int = 100
    present: bool = True


class Policies(msgspec.Struct):
    """What shell programs were told of apps and that no screen of the phone shows."""

    app_ops: dict[str, dict[str, str]] = {}  # Mode by operation, by package.
    awake_list: list[str] = []  # Packages that a person has let run while the phone idles.
    buckets: dict[str, int] = {}  # Standby bucket by package.
    data_saver: bool = False
    forced_idle: bool = False
    idle_off: list[str] = []  # Which of `deep` and `light` idling are disabled.


class LockKind(StrEnum):
    """What the lock screen asks for."""

    NONE = ""
    PIN = "pin"
    PASSWORD = "password"


class LockState(msgspec.Struct):
    """The lock screen's secret, and what was typed so far."""

    kind: LockKind = LockKind.NONE
    secret: str = ""
    asks: bool = False
    typed: str = ""
    says: str = ""
    wrong: int = 0
    paused_until: float = 0.0  # Until when nothing is tried, in seconds since the epoch.


class PhoneState(msgspec.Struct):
    """Everything that a phone saves."""

    format: int = STATE_FORMAT
    settings: dict[str, dict[str, str | None]] = {}
    properties: dict[str, str] = {}
    installed: list[PackageInfo] = []
    displays: list[DisplayState] = []
    tasks: list[TaskState] = []
    """Back to front."""
    apps: dict[str, msgspec.Raw] = {}
    system: dict[str, PageState] = {}
    """What the shade, the keyguard and other system pages remember."""
    notices: list[Notice] = []
    granted: dict[str, list[str]] = {}
    clipboard: str = ""
    keyboard_shown: bool = False
    screen_on: bool = True
    locked: bool = False
    next_id: int = 100
    battery_level: int = 87
    battery_charging: bool = False
    battery: Battery = msgspec.field(default_factory=Battery)
    born: float = 0.0
    """When the phone was new, in seconds since the epoch; its first files are older."""
    profile: str = DEFAULT_PROFILE
    android: int = 0
    """Which version, where it is not its profile's."""
    display_order: list[int] = []
    """The displays that were touched or started on, the one on top last."""
    posture: int = 0
    """Which of its profile's screens it shows."""
    held: int = -1
    """How a hand holds it, in quarter turns; -1 while it lies flat."""
    turned: int = 0
    """How the screen is turned while it follows the sensor, in quarter turns."""
    policies: Policies = msgspec.field(default_factory=Policies)
    lock: LockState = msgspec.field(default_factory=LockState)

    def take_id(self) -> int:
        """Return a number that was not given out before."""
        self.next_id += 1
        return self.next_id


class StartStatus(StrEnum):
    """What became of a start request."""

    STARTED = "started"
    BROUGHT_TO_FRONT = "brought_to_front"
    DELIVERED_TO_TOP = "delivered_to_top"


class StartResult(msgspec.Struct, frozen=True):
    """Which activity a start request reached, and how."""

    component: str
    status: StartStatus
    task_id: int
    display: int = 0


class WindowInfo(msgspec.Struct, frozen=True):
    """A window as `dumpsys window` lists it; the frame in display pixels."""

    title: str  # What stands in `Window{token u0 title}`: a component, or a name such as StatusBar.
    package: str
    activity: str
    token: int
    type: str
    frame: tuple[int, int, int, int]
    display: int = 0
    task_id: int = 0
    focused: bool = False
    secure: bool = False

    @property
    def token_hex(self) -> str:
        """The token as `dumpsys` prints it."""
        return f"{self.token:x}"
