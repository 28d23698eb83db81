"""What the operator has asked for and the core has not answered yet.

A key that toggles, or that answers once, is decided from this before it is decided from what has
come back. Not the picture itself, which is the core's. Invariant: what is noted here goes with the
answer, so that a refusal leaves nothing behind.
"""

from agent import protocol


class PendingOps:
    """The ops that are under way, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._ops: list[protocol.Op] = []

    def note(self, op: protocol.Op) -> None:
        self._ops.append(op)

    def settle(self, op: protocol.Op) -> None:
        """Forget an op: its answer is in the picture, or it was refused."""
        at = next(at for at, one in enumerate(self._ops) if one is op)
        del self._ops[at]

    def pauses(self, session_id: str, serial: str = "") -> bool | None:
        """Return whether a session will be paused; None where that was not asked for.

        Args:
            session_id: the session.
            serial: the phone that it works on: it waits while somebody has the wheel.
        """
        for op in reversed(self._ops):
            match op:
                case protocol.SessionPause() | protocol.SessionResume() if (
                    op.session_id == session_id
                ):
                    return isinstance(op, protocol.SessionPause)
                case protocol.WheelTake() | protocol.WheelHandBack() if (
                    serial and op.serial == serial
                ):
                    return isinstance(op, protocol.WheelTake)
        return None

    def keeps(self, session_id: str) -> bool | None:
        """Return whether a tree will be kept for ever; None where that was not asked for."""
        asked = (
            op.kept
            for op in reversed(self._ops)
            if isinstance(op, protocol.SessionKeep) and op.session_id == session_id
        )
        return next(asked, None)

    def pauses_job(self, job_id: int) -> bool | None:
        """Return whether a job will be paused; None where that was not asked for."""
        asked = (
            isinstance(op, protocol.JobPause)
            for op in reversed(self._ops)
            if isinstance(op, protocol.JobPause | protocol.JobResume) and op.job_id == job_id
        )
        return next(asked, None)

    def begins_work(self, session_id: str) -> bool:
        """Return whether something was asked for that sets a session to work."""
        return any(
            isinstance(op, protocol.UserInput | protocol.SessionStart | protocol.SessionResume)
            and op.session_id == session_id
            for op in self._ops
        )

    def is_answered(self, question_id: str) -> bool:
        """Return whether an answer to a question is under way."""
        return any(
            isinstance(op, protocol.UserInputAnswer) and op.question_id == question_id
            for op in self._ops
        )
