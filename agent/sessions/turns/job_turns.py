"""Start the turns of jobs, and resume them after a review.

The jobs are in `agent.jobs`. Invariants: a job's turn is a background turn, and after a crash its
session is known to have worked for that job; a decision and the resume are stored together.
"""

from secrets import token_hex

from agent.errors import WrongStateError
from agent.protocol import EventMsg, UserMessage
from agent.sessions.registry.live_session import Errand, LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.rules.resuming import Resuming, way_on
from agent.sessions.turns.turns import Turns
from agent.store.store import EventDraft


class JobTurns:
    """The sessions of one core, as its jobs handle them."""

    def __init__(self, parts: Services, turns: Turns) -> None:
        self._parts = parts
        self._turns = turns
        self._resuming = Resuming(parts.assignment)

    async def prompt(
        self, session_id: str, prompt: str, errand: Errand, *before: EventMsg
    ) -> LiveSession:
        """Begin a job's turn in a session that is idle or settled.

        Args:
            session_id: which.
            prompt: what it is to do.
            errand: for which job, and within which bounds.
            before: facts of the session that are stored with it.

        Raises:
            UsageError: there is no such session.
            WrongStateError: it is at work, a draft, or delegates.
        """
        live = await self._parts.registry.get(session_id)
        async with live.lock:
            settled = live.record.state.is_terminal
            if live.delegates or not (live.is_idle or (settled and live.turn is None)):
                raise WrongStateError(
                    f"Session {live.session_id} is {live.record.state}.",
                    "A job continues only in a session that is idle or settled and works itself.",
                )
            if self._parts.questions.of(live.session_id):
                raise WrongStateError(
                    f"Session {live.session_id} waits for an answer.", "Answer its question."
                )
            message = UserMessage(
                text=prompt,
                message_id=f"m-{token_hex(6)}",
                job_id=errand.job_id,
                output_schema=errand.output_schema,
                requires=errand.requires,
            )
            moves = self._resuming.resume_one(
                live, live.record.generation + 1, reason=f"taken on by job {errand.job_id}"
            )
            # After the resume, which would begin the goal again; before the queueing, to be staged.
            await self._parts.registry.append(
                *live.drafts(*moves[:-1], *before, message, moves[-1])
            )
            self._turns.begin(live, errand=errand)
        return live

    async def resume(
        self, live: LiveSession, errand: Errand, *decided: EventDraft, reason: str
    ) -> None:
        """Resume a session whose action was reviewed, in one append with the decision.

        Args:
            live: the session.
            errand: for which job, and within which bounds.
            decided: what is stored before it continues.
            reason: why it continues, for people.

        Raises:
            WrongStateError: it does not wait any more; nothing was then stored.
        """
        async with live.lock:
            if not live.is_idle:
                raise WrongStateError(
                    f"Session {live.session_id} is {live.record.state}.", way_on(live)
                )
            continuing = self._resuming.continuing(live, reason, job_id=errand.job_id)
            await self._parts.registry.append(*decided, *live.drafts(*continuing))
            self._turns.begin(live, errand=errand)
