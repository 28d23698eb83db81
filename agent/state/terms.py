"""The word a person reads for each state, kind and outcome of the records.

Tables only. Invariant: no term is an identifier: none has an underscore, a dot or capital letters
throughout, so that a value of the records never stands on a screen by itself.
"""

from __future__ import annotations

import re
from enum import StrEnum

from agent.protocol import AbortReason
from agent.records import (
    GoalVerdict,
    JobStatus,
    JobType,
    RunOutcome,
    SessionKind,
    SessionState,
    TargetPresentation,
    TargetRuntime,
    Trigger,
    WatcherType,
)

STOPPED = "stopped"
_TERMS: dict[StrEnum, str] = {
    SessionState.CREATED: "draft",
    SessionState.WAITING_FOR_USER: "idle",
    SessionState.COMPLETED: "done",
    SessionKind.AGENT: "agent session",
    SessionKind.GENIE: "subtask",
    SessionKind.HOME: "session of one app",
    TargetRuntime.NONE: "not opened",
    TargetRuntime.ATTACHED: "on the main display",
    TargetRuntime.DETACHED_LAUNCHING: "starting on a hidden display",
    TargetRuntime.DETACHED_HIDDEN: "on a hidden display",
    TargetRuntime.DETACHED_SHOWN: "on a display of its own",
    TargetRuntime.MISSING: "lost with its display",
    TargetPresentation.ATTACHED: "on the main display",
    TargetPresentation.DETACHED_HIDDEN: "on a hidden display",
    TargetPresentation.DETACHED_SHOWN: "on a display of its own",
    TargetPresentation.AGENT_CHOICE: "as the agent chooses",
    GoalVerdict.CANNOT_TELL: "not known",
    JobStatus.AWAITING_REVIEW: "waits for your review",
    JobStatus.COMPLETED: "done",
    JobType.AGENT_TURN: "agent",
    JobType.SYSTEM_EVENT: "message",
    AbortReason.INTERRUPTED: STOPPED,
    AbortReason.BUDGET_LIMITED: "budget used up",
    AbortReason.AWAITING_REVIEW: "waits for your review",
    AbortReason.RECOVERED: "the core was restarted",
    RunOutcome.FINISHED: "done",
    RunOutcome.FAILED: "failed",
    RunOutcome.DURATION_LIMIT: "stopped at the time limit",
    RunOutcome.STEP_LIMIT: "stopped at the step limit",
    RunOutcome.NO_PROGRESS: "stopped without progress",
    RunOutcome.DENIED: "the review was refused",
    RunOutcome.EXPIRED: "not reviewed in time",
    RunOutcome.UNKNOWN: "the outcome of a reviewed action is not known",
    RunOutcome.RESTARTED: "the core was restarted",
    RunOutcome.STUCK: "stopped: it no longer ran",
    RunOutcome.ERROR: "could not run",
    Trigger.DEVICE_CONNECTED: "a phone is connected",
    Trigger.DEVICE_BOOTED: "a phone has booted",
    Trigger.APP_UPDATED: "an app was updated",
    Trigger.CONSOLE_START: "the console starts",
    WatcherType.MESSAGE_REPLY: "messages",
    WatcherType.CALL_BACK: "calls",
    WatcherType.WEB_CHANGE: "a page",
    WatcherType.SCREEN_TEXT: "a screen",
}
CAPABILITIES = {
    "screen.read.visible": "read the screen",
    "input.navigate": "move the view",
    "input.perform": "press, type or swipe",
    "apps.launch": "open another app",
    "apps.install": "install something",
    "permissions.grant": "let an app have a permission",
    "payments.make": "spend money",
    "data.delete": "destroy or put away something",
    "messages.send": "send something to other people",
    "calls.place": "call somebody",
    "share.content": "carry data out of the app",
    "settings.protect": "change what protects the phone or connects it",
    "background.run": "create work that goes on by itself",
    "account.access": "use a password or another secret",
    "tools.read": "read with another program's tool",
    "tools.act.trusted": "act with another program's tool",
    "tools.act": "act with another program's tool",
}
"""What an action may do, by the capability that it takes."""
_CODE = re.compile(r"\b(?:background|task)\.[a-z_]{1,60}(?:: ?|\b)")


def term(value: StrEnum) -> str:
    """Return the word for a value of the records."""
    return _TERMS.get(value) or value.value.lower().replace("_", " ")


def without_codes(text: str) -> str:
    """Return a text without the codes that the core files results under.

    A refused review is stored as `background.action_denied: the operator refused …`.
    """
    return _CODE.sub("", text).strip()
