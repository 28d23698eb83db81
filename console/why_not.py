"""What is said when a key is pressed whose action can do nothing now.

A table beside the registry of actions; an action that is not in it says its own sentence, or is
done whatever `can` says. Invariant: no key of the registry is met with silence.
"""

from __future__ import annotations

_NO_APPROVAL = "Nothing is to be approved here."
_NO_SESSION = "There is no session here. Press n to begin one."

WHY_NOT = {
    "session.stop": "No session is selected that is at work.",
    "session.pause": _NO_SESSION,
    "session.cancel": "No session is selected that could still be ended.",
    "session.replay": _NO_SESSION,
    "session.copy": _NO_SESSION,
    "question.next": "Nobody asks anything.",
    "question.approve": _NO_APPROVAL,
    "question.reject": _NO_APPROVAL,
    "question.modify": _NO_APPROVAL,
    "question.dismiss": "What can be dismissed stands under “Waiting for you”: go there first.",
    "notice.done": "No notice of it waits to be read.",
    "job.edit": "Only a job that is active or paused can be changed.",
    "job.run": "Only a job that is not at work can be run.",
    "job.pause": "Only a job that is active or paused can be held, or let go on.",
    "job.stop": "Only a job or a watcher that is not over can be stopped.",
    "job.replay": "No run of it is stored.",
    "job.read": "Nothing of it is unread.",
    "job.done": "Only a commitment that is open can be completed.",
    "job.snooze": "Only a commitment can be put off.",
    "job.copy": "Nothing is under the cursor.",
    "history.measure": "Show what was spent first: its bars are what is measured.",
    "device.press": "Take the wheel first, and choose an element.",
}
"""By the id of the action."""
