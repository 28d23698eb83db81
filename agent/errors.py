"""The error tree. Each error says what failed, on what, and what to do next.

A leaf module: it imports nothing of Switchboard. The JSON-RPC codes are those that the desktop
bridge of Codex Android answers with, so that one table serves the socket, the console and the
exit status of the command line.
"""

from enum import IntEnum, StrEnum


class RpcCode(IntEnum):
    """JSON-RPC error codes of the daemon's socket."""

    PARSE = -32700
    UNKNOWN_METHOD = -32601
    INVALID_ARGUMENT = -32602
    INTERNAL = -32603
    WRONG_STATE = -32000


class ErrorKind(StrEnum):
    """What class of thing went wrong; stored with the event that reports it."""

    INTERNAL = "internal"
    USAGE = "usage"
    WRONG_STATE = "wrong_state"
    NOT_ALLOWED = "not_allowed"
    CONFIG = "config"
    STORE = "store"
    DEVICE = "device"
    DEVICE_LOST = "device_lost"
    ADB = "adb"
    MODEL = "model"
    WEB = "web"
    GOAL = "goal"  # Nothing broke: the goal could not be met, or not within its limits.


class SwitchboardError(Exception):
    """Base of every error that Switchboard raises on purpose.

    Args:
        message: what failed and on which device, session or key; one sentence.
        remedy: what the operator can do next; one sentence, or empty when nothing helps.
    """

    kind = ErrorKind.INTERNAL
    code = RpcCode.INTERNAL
    event_id = 0  # The newest event that was stored when an op was refused with this; 0 elsewhere.

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        if not self.remedy:
            return self.message
        stop = "" if self.message.endswith((".", "!", "?", ":", "…")) else "."
        return f"{self.message}{stop} {self.remedy}"


class UsageError(SwitchboardError):
    """A caller gave something that cannot be used: an unknown id, an empty goal, a bad field."""

    kind = ErrorKind.USAGE
    code = RpcCode.INVALID_ARGUMENT


class WrongStateError(SwitchboardError):
    """The call is known and its arguments are fine, but the session or job is not in that state."""

    kind = ErrorKind.WRONG_STATE
    code = RpcCode.WRONG_STATE


class NotAllowedError(SwitchboardError):
    """The operator who asks has no right to it, or nobody has signed in."""

    kind = ErrorKind.NOT_ALLOWED
    code = RpcCode.WRONG_STATE


class LockedError(NotAllowedError):
    """Only a person may, and the operator's passphrase would tell that one is there."""


class ConfigError(SwitchboardError):
    """A settings file cannot be used; names the file, the key and the nearest known key."""

    kind = ErrorKind.CONFIG
    code = RpcCode.INVALID_ARGUMENT


class StoreError(SwitchboardError):
    """The data directory or its database refused to read or write."""

    kind = ErrorKind.STORE


class UnwritableError(StoreError):
    """There is no room or no right to write now; what is stored may be readable all the same."""


class DirectoryInUseError(StoreError):
    """Another process owns the data directory, or reads it: at this moment, and maybe no longer."""


class StoreGoneError(StoreError):
    """The files of the store are gone, or others are in their place."""


class FencedError(StoreError):
    """A write came under a lease epoch that a newer owner has replaced."""


class RuntimeDiedError(SwitchboardError):
    """The core has ended; nothing submitted from now on will be answered."""

    code = RpcCode.WRONG_STATE


class UnansweredError(RuntimeDiedError):
    """The core ended before it answered; whether it did what was asked is unknown."""


class DeviceError(SwitchboardError):
    """A device answered, and the answer was a failure."""

    kind = ErrorKind.DEVICE


class DeviceTimeoutError(DeviceError):
    """A device call ran out of time; whether it took effect is unknown."""


class DeviceLostError(DeviceError):
    """The device is not there: unplugged, powered off, offline or no longer authorized."""

    kind = ErrorKind.DEVICE_LOST


class AdbError(DeviceError):
    """The adb server or its binary is missing, will not start, or speaks another version."""

    kind = ErrorKind.ADB


class TreeUnavailableError(DeviceError):
    """The device has a screen but gave no UI tree; the message says why."""


class InputRefusedError(DeviceError):
    """The phone takes no touches and keys from adb until its owner allows it; nothing was done."""


class TextEntryError(DeviceError):
    """The text cannot be typed exactly on this device."""


class ModelError(SwitchboardError):
    """A model call failed.

    Args:
        retryable: whether the same request may succeed later.
        status: the HTTP status when there was one.
        retry_after_s: what the endpoint asked to wait, in seconds, when it said so.
        broke_off: whether an answer had begun, and only the rest of it did not come.
        too_long: whether the conversation does not fit into the model's context window.
        window: the window in tokens, where the endpoint said it; 0: it did not.
    """

    kind = ErrorKind.MODEL

    def __init__(
        self,
        message: str,
        remedy: str = "",
        *,
        retryable: bool,
        status: int | None = None,
        retry_after_s: float | None = None,
        broke_off: bool = False,
        too_long: bool = False,
        window: int = 0,
    ) -> None:
        super().__init__(message, remedy)
        self.retryable = retryable
        self.status = status
        self.retry_after_s = retry_after_s
        self.broke_off = broke_off
        self.too_long = too_long
        self.window = window


class WebError(SwitchboardError):
    """A page could not be fetched, or may not be."""

    kind = ErrorKind.WEB
