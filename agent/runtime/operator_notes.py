"""Store which operator gives an op, before it is carried out.

Only where operators sign in: without them nothing is stored. Invariant: what an operator does to a
session or phone stands in the log under their name, whatever came of it.
"""

from agent.errors import UsageError
from agent.protocol import OperatorActed, SessionDetach, WheelAct
from agent.runtime.op_queue import Submission
from agent.sessions.registry.open_questions import Questions
from agent.store.store import EventDraft, Store

_UNTOLD = (SessionDetach, WheelAct)
"""Letting go does nothing, and gestures at the wheel are events of their own."""


class OperatorNotes:
    """The notes of one core."""

    def __init__(self, store: Store, questions: Questions) -> None:
        self._store = store
        self._questions = questions

    async def before(self, submission: Submission) -> None:
        """Note the op of an operator. Raises StoreError: then it is not carried out."""
        op = submission.op
        if op.changes_nothing or isinstance(op, _UNTOLD):
            return
        acted = OperatorActed(
            operator=submission.client.operator,
            op=str(op.__struct_config__.tag),
            serial=getattr(op, "serial", ""),
        )
        session_id = await self._session_of(submission)
        await self._store.append(EventDraft(session_id, acted, submission.submission_id))

    async def _session_of(self, submission: Submission) -> str:
        """Return the session that an op is about; empty where it is about none."""
        op = submission.op
        said = getattr(op, "session_id", "")
        asked = self._questions.find(getattr(op, "question_id", ""))
        if asked is not None:
            return asked.session_id
        if not said:
            return ""
        try:
            return (await self._store.session(said)).session_id
        except UsageError:
            # The op will say so.
            return ""
