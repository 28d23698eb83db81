"""The word a person reads for each state, kind and outcome of the records.

Tables only. Invariant: no term is an identifier: none has an underscore, a dot or capital letters
throughout, so that a value of the records never stands on a screen by itself.
"""

import re
from enum import StrEnum

from agent import records
from agent.protocol import AbortReason

STOPPED = "stopped"
_TERMS: dict[StrEnum, str] = {
    records.FieldFate.NONE: "in no field",
    records.SessionState.CREATED: "draft",
    records.SessionState.WAITING_FOR_USER: "idle",
    records.SessionState.COMPLETED: "done",
    records.SessionKind.AGENT: "agent session",
    records.SessionKind.GENIE: "subtask",
    records.SessionKind.HOME: "session of one app",
    records.TargetRuntime.NONE: "not opened",
    records.TargetRuntime.ATTACHED: "on the main display",
    records.TargetRuntime.DETACHED_LAUNCHING: "starting on a hidden display",
    records.TargetRuntime.DETACHED_HIDDEN: "on a hidden display",
    records.TargetRuntime.DETACHED_SHOWN: "on a display of its own",
    records.TargetRuntime.MISSING: "lost with its display",
    records.TargetPresentation.ATTACHED: "on the main display",
    records.TargetPresentation.DETACHED_HIDDEN: "on a hidden display",
    records.TargetPresentation.DETACHED_SHOWN: "on a display of its own",
    records.TargetPresentation.AGENT_CHOICE: "as the agent chooses",
    records.GoalVerdict.CANNOT_TELL: "not known",
    records.JobStatus.AWAITING_REVIEW: "waits for your review",
    records.JobStatus.COMPLETED: "done",
    records.JobType.AGENT_TURN: "agent",
    records.JobType.SYSTEM_EVENT: "message",
    records.JobType.CAMPAIGN: "campaign",
    AbortReason.INTERRUPTED: STOPPED,
    AbortReason.BUDGET_LIMITED: "budget used up",
    AbortReason.AWAITING_REVIEW: "waits for your review",
    AbortReason.RECOVERED: "the core was restarted",
    records.RunOutcome.FINISHED: "done",
    records.RunOutcome.FAILED: "failed",
    records.RunOutcome.DURATION_LIMIT: "stopped at the time limit",
    records.RunOutcome.STEP_LIMIT: "stopped at the step limit",
    records.RunOutcome.NO_PROGRESS: "stopped without progress",
    records.RunOutcome.DENIED: "the review was refused",
    records.RunOutcome.EXPIRED: "not reviewed in time",
    records.RunOutcome.UNKNOWN: "the outcome of a reviewed action is not known",
    records.RunOutcome.RESTARTED: "the core was restarted",
    records.RunOutcome.STUCK: "stopped: it no longer ran",
    records.RunOutcome.ERROR: "could not run",
    records.Trigger.DEVICE_CONNECTED: "a phone is connected",
    records.Trigger.DEVICE_BOOTED: "a phone has booted",
    records.Trigger.APP_UPDATED: "an app was updated",
    records.Trigger.CONSOLE_START: "the console starts",
    records.WatcherType.MESSAGE_REPLY: "messages",
    records.WatcherType.CALL_BACK: "calls",
    records.WatcherType.WEB_CHANGE: "a page",
    records.WatcherType.SCREEN_TEXT: "a screen",
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
    "background.run": "create standing work",
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
