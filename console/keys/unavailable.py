"""What is said when a key is pressed whose action can do nothing now.

A table beside the registry of actions; an action that is not in it says its own sentence, or is
done whatever `can` says. Invariant: no key of the registry is met with silence.
"""

STILL_OPENING = "Still opening: the sessions are being read."
ONLY_LOOKS = "Read-only. To answer and act: switchboard web --drive"
NEED_PHONES = frozenset({"phone.text", "phone.closer", "wheel.take", "device.open"})
"""Actions that would say while the console opens that no phone is there."""
_NO_APPROVAL = "Nothing to approve."
_NO_SESSION = "No session here. Press n to start one."
_ONE_HOST = "Only one host is known."

WHY_NOT = {
    "session.stop": "No running session is selected.",
    "session.pause": _NO_SESSION,
    "session.let_through": "Nothing that you wrote to the selected session was redacted.",
    "session.confirm": "Select a completed session to confirm its result.",
    "session.wrong": "Select a completed session to mark its result wrong.",
    "session.cancel": "No open session is selected.",
    "session.replay": _NO_SESSION,
    "session.copy": _NO_SESSION,
    "session.keep": _NO_SESSION,
    "question.next": "No open questions.",
    "question.approve": _NO_APPROVAL,
    "question.reject": _NO_APPROVAL,
    "question.modify": _NO_APPROVAL,
    "question.dismiss": "Go to “Waiting for you” first: what can be dismissed is listed there.",
    "notice.done": "No unread notice here.",
    "job.edit": "Only an active or paused job can be changed.",
    "job.run": "This job is already running or queued.",
    "job.pause": "Only an active or paused job can be paused or resumed.",
    "job.review": "Only a job that waits for your review can be reviewed.",
    "job.stop": "This has already ended.",
    "job.replay": "This job has no stored runs.",
    "job.read": "Nothing unread here.",
    "job.done": "Only an open commitment can be completed.",
    "job.snooze": "Only a commitment can be snoozed.",
    "wall.group": _ONE_HOST,
    "job.group": _ONE_HOST,
    "history.group": _ONE_HOST,
    "job.copy": "Nothing is under the cursor.",
    "history.save": "No filter to save: type one after /, such as is:failed since:7d.",
    "history.measure": "Show the spending first (s).",
    "phone.text": "No phone here.",
    "phone.closer": "Zoom is for a picture, and none is shown here: t changes from text to it.",
    "device.closer": "Zoom is for a picture, and none is shown here: t changes from text to it.",
    "phone.farther": "The picture is whole.",
    "device.farther": "The picture is whole.",
    "replay.farther": "The picture is whole.",
    "device.press": "Take the wheel first, and choose an element.",
}
"""By the id of the action."""
