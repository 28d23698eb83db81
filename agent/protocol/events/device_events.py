"""Define the events of devices, jobs and the core itself."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import EventBase
from agent.records import ActionOutcome, DeviceInfo, Job


class DeviceChanged(EventBase, frozen=True, kw_only=True, tag="device_changed"):
    """A device appeared, changed state, changed driver or went away."""

    of_no_session: ClassVar[bool] = True

    device: DeviceInfo


class AdbServerChanged(EventBase, frozen=True, kw_only=True, tag="adb_server_changed"):
    """A watched adb server went away, or answers again."""

    of_no_session: ClassVar[bool] = True

    address: str  # As host:port.
    why: str = ""  # What happened, and what to do about it; empty when it answers again.


class HostForgotten(EventBase, frozen=True, kw_only=True, tag="host_forgotten"):
    """A host that had left for good was removed from the fleet, with its phones."""

    of_no_session: ClassVar[bool] = True

    host: str
    by: str = ""  # Who asked for it.
    jobs_to: str = ""  # The host that got its jobs, watchers and commitments, if it had any.


class WheelTaken(EventBase, frozen=True, kw_only=True, tag="wheel_taken"):
    """The operator drives a device; its session, if it has one, waits."""

    serial: str


class WheelActed(EventBase, frozen=True, kw_only=True, tag="wheel_acted"):
    """The operator used the wheel; of typed text only the length is stored."""

    serial: str
    said: str
    outcome: ActionOutcome
    detail: str = ""


class WheelHandedBack(EventBase, frozen=True, kw_only=True, tag="wheel_handed_back"):
    """The operator gave the wheel back."""

    serial: str
    note: str = ""


class JobChanged(EventBase, frozen=True, kw_only=True, tag="job_changed"):
    """A job was created, claimed, finished, stopped or repaired; the record is complete."""

    of_no_session: ClassVar[bool] = True

    job: Job
    reason: str = ""


class ShutdownComplete(EventBase, frozen=True, kw_only=True, tag="shutdown_complete"):
    """The core has closed cleanly."""

    of_no_session: ClassVar[bool] = True


AnyDeviceEvent: TypeAlias = (
    DeviceChanged
    | AdbServerChanged
    | HostForgotten
    | WheelTaken
    | WheelActed
    | WheelHandedBack
    | JobChanged
    | ShutdownComplete
)
