"""Define devices, their apps and frames, and the hosts of a fleet."""

from enum import StrEnum

from agent.records.record import Record


class DeviceState(StrEnum):
    """What the adb server says of a device; the words are adb's own."""

    ONLINE = "device"
    OFFLINE = "offline"
    UNAUTHORIZED = "unauthorized"
    AUTHORIZING = "authorizing"
    CONNECTING = "connecting"
    NO_PERMISSIONS = "no permissions"
    RECOVERY = "recovery"
    SIDELOAD = "sideload"
    BOOTLOADER = "bootloader"
    GONE = "gone"
    UNKNOWN = "unknown"


NO_HOST = frozenset("/@:")
"""What no name of a host has, so that a phone's name tells where it ends."""


_SHORTEST_HARDWARE_SERIAL = 4
_SHARED_SERIALS = frozenset({"0123456789abcdef", "0123456789", "12345678", "unknown", "00000000"})


def at_host(host: str, serial: str) -> str:
    """Return a phone's name within a fleet; without a host, its serial."""
    return f"{host}/{serial}" if host else serial


def host_of(serial: str) -> str:
    """Return the host in a phone's name; empty if it has none.

    A serial may contain a slash, in the path of an adb server's socket after an @.
    """
    host, slash, _ = serial.partition("/")
    return host if slash and not NO_HOST & set(host) else ""


def on_host(serial: str) -> str:
    """Return a phone's name without its host."""
    return serial.removeprefix(f"{host_of(serial)}/")


def identifies(hardware_serial: str) -> bool:
    """Return whether a phone's serial alone identifies it."""
    return (
        len(hardware_serial) >= _SHORTEST_HARDWARE_SERIAL
        and hardware_serial.lower() not in _SHARED_SERIALS
    )


class Transport(StrEnum):
    """How a device is reached."""

    USB = "usb"
    TCP = "tcp"
    EMULATOR = "emulator"
    VIRTUAL = "virtual"


class ServerAway(Record, frozen=True, kw_only=True):
    """An adb server that was to be watched and does not answer."""

    address: str  # As host:port.
    why: str  # What happened, and what to do about it.


class DeviceInfo(Record, frozen=True, kw_only=True):
    """One phone or emulator as the operator knows it."""

    serial: str
    """Its name in this core: adb's serial, or serial@host:port where two servers list the same."""
    state: DeviceState
    name: str = ""
    """What the operator calls it."""
    tags: tuple[str, ...] = ()
    notes: str = ""
    """What the operator wrote down about it."""
    transport: Transport | None = None
    server: str = ""
    """The adb server that lists it, as host:port."""
    listed_as: str = ""
    """The serial that server knows it by, where it is not `serial`."""
    hardware_serial: str = ""
    """What the phone itself says: the same over USB and over every wireless port."""
    product: str = ""
    model: str = ""
    android: str = ""
    width_px: int = 0
    height_px: int = 0
    virtual: bool = False
    driver: str = ""
    """Who holds the lease: a session id, "operator", or empty."""
    note: str = ""
    """Why the device cannot be used and what to do about it, when it cannot."""
    dismissed: bool = False
    """Whether the operator has dismissed that note; until the state changes."""

    @property
    def identity(self) -> str:
        """Return what identifies the phone across all hosts; empty if nothing does.

        Virtual phones of several computers have the same serials.
        """
        if not identifies(self.hardware_serial):
            return ""
        return (
            f"{self.hardware_serial} at {on_host(self.serial)}"
            if self.virtual
            else self.hardware_serial
        )


class AppInfo(Record, frozen=True, kw_only=True):
    """One installed app that can be started."""

    package: str
    label: str = ""


class Foreground(Record, frozen=True, kw_only=True):
    """The app in front; the keyboard, the shade and system windows never count."""

    package: str
    activity: str = ""
    keyboard_shown: bool | None = False
    """None where the phone did not say so."""


class FrameSource(StrEnum):
    """Where a frame came from."""

    SCRCPY = "scrcpy"
    CAPTURE = "capture"
    STORED = "stored"


class FrameStatus(StrEnum):
    """What a frame is worth now; the honest label of the console."""

    LIVE = "live"
    STATIC = "static"
    STALE = "stale"
    SECURE = "secure"
    UNKNOWN = "unknown"
    LOST = "lost"
    ERROR = "error"


class Frame(Record, frozen=True, kw_only=True):
    """A stored picture of a device's screen; its bytes are the blob with this digest."""

    digest: str
    width_px: int
    height_px: int
    captured_ms: int  # When taking it began.
    ended_ms: int = 0  # When it was whole; 0 where that is not known.
    source: FrameSource = FrameSource.CAPTURE
    media_type: str = "image/png"


class LiveFrame(Record, frozen=True, kw_only=True):
    """The newest picture of a device, at the size a reader asked for; never stored."""

    serial: str
    width_px: int
    height_px: int
    rgb: bytes
    """height_px × width_px × 3 bytes, row by row; empty when the status is lost or error."""
    captured_ms: int
    source: FrameSource
    status: FrameStatus
    detail: str = ""
    """What is wrong, in a sentence, when the status is lost or error."""


class HostState(StrEnum):
    """Whether a host can be worked with."""

    HERE = "here"
    GONE = "gone"  # It ended out of turn, stands still, or its network is cut.
    LEFT = "left"  # It ended in order.


class HostInfo(Record, frozen=True, kw_only=True):
    """A host of the fleet."""

    name: str
    state: HostState
    draining: bool = False
    """Whether the operator wants no more turns to begin there."""
    is_here: bool = False
    """Whether it is the one whose core says so."""
    beat_ms: float | None = None
    """How long its newest heartbeat took to the database and back; None where it is not known."""
    reply_ms: float | None = None
    """How long the core that says so waited for its newest answer; None where it asks nothing."""
