"""Define targets: where a session's app is displayed, and whether it is still there."""

from enum import StrEnum

from agent.records.record import Record


class TargetPresentation(StrEnum):
    """Where a target's app is to be, or is."""

    ATTACHED = "ATTACHED"  # On the main display, like any app of the phone's owner.
    DETACHED_HIDDEN = "DETACHED_HIDDEN"  # On a display of its own that nobody sees.
    DETACHED_SHOWN = "DETACHED_SHOWN"  # On a display of its own that the console shows.
    AGENT_CHOICE = "AGENT_CHOICE"  # As a requirement only: any will do.

    @property
    def is_detached(self) -> bool:
        """Return whether it occupies a display beyond the main one."""
        return self in {TargetPresentation.DETACHED_HIDDEN, TargetPresentation.DETACHED_SHOWN}


class TargetRuntime(StrEnum):
    """What has been observed of a target on its phone."""

    NONE = "NONE"
    ATTACHED = "ATTACHED"
    DETACHED_LAUNCHING = "DETACHED_LAUNCHING"
    DETACHED_HIDDEN = "DETACHED_HIDDEN"
    DETACHED_SHOWN = "DETACHED_SHOWN"
    MISSING = "MISSING"  # It was on a display of its own, and the display is gone.


class TargetAction(StrEnum):
    """What may be asked of a target."""

    ENSURE_HIDDEN = "ensure_hidden"
    SHOW = "show"
    HIDE = "hide"
    ATTACH = "attach"
    CAPTURE = "capture"
    CLOSE = "close"


class TargetStatus(StrEnum):
    """What came of it."""

    OK = "OK"
    NO_DETACHED_DISPLAY = "NO_DETACHED_DISPLAY"
    NO_TARGET_TASK = "NO_TARGET_TASK"
    LAUNCH_FAILED = "LAUNCH_FAILED"
    CAPTURE_FAILED = "CAPTURE_FAILED"
    INTERNAL_ERROR = "INTERNAL_ERROR"


class TargetResult(Record, frozen=True, kw_only=True):
    """The outcome of one call about a target."""

    status: TargetStatus
    runtime: TargetRuntime
    display: int = 0  # Android's number of the display that it is on; 0 = the main one, or none.
    message: str = ""
    digest: str = ""  # The picture that a capture took, as a blob.

    @property
    def needs_recovery(self) -> bool:
        """Return whether hiding it again may help."""
        return self.runtime is TargetRuntime.MISSING or self.status in {
            TargetStatus.NO_DETACHED_DISPLAY,
            TargetStatus.NO_TARGET_TASK,
        }
