"""What happened to devices, to jobs and to the core itself."""

from __future__ import annotations

from agent.protocol.base import EventBase
from agent.records import DeviceInfo, Job


class DeviceChanged(EventBase, frozen=True, kw_only=True, tag="device_changed"):
    """A device appeared, changed state, changed driver or went away."""

    device: DeviceInfo


class JobChanged(EventBase, frozen=True, kw_only=True, tag="job_changed"):
    """A job was created, claimed, finished, stopped or repaired; the record is whole."""

    job: Job
    reason: str = ""


class ShutdownComplete(EventBase, frozen=True, kw_only=True, tag="shutdown_complete"):
    """The core has closed in order."""
