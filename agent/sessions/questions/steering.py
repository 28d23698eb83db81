"""Change or take back what the operator told a running session, while no step has applied it.

Not the telling (`agent.sessions.lifecycle.operations`). Invariant: what a step has applied stays as
it was said; what is changed here is what the step will read, also after a restart.
"""

from msgspec.structs import replace

from agent.core import ClientInfo
from agent.errors import WrongStateError
from agent.protocol import SteerEdit, SteerEdited, SteerWithdraw, SteerWithdrawn
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.rules.operator_text import read_operator_text
from agent.sessions.rules.rollback import visible
from agent.sessions.rules.turn_input import stage


class Steerings:
    """The hints of one core's sessions that wait for a step."""

    def __init__(self, parts: Services) -> None:
        self._parts = parts

    async def edit(
        self, op: SteerEdit, submission_id: str = "", *, by: ClientInfo | None = None
    ) -> None:
        """Change a hint.

        Raises:
            UsageError: there is no such session, or nothing in the text.
            WrongStateError: a step has applied it, it was taken back, there is no such hint, or
                another client drives the session.
        """
        live = await self._parts.registry.get(op.session_id)
        async with live.lock:
            self._parts.clients.check_driver(live.session_id, by)
            await self._check_waits(live, op.message_id)
            said = read_operator_text(
                op.text, "The message", known=live.record.let_through, let_through=op.let_through
            )
            text = said.text
            edited = SteerEdited(message_id=op.message_id, text=text)
            # Before the store has it: a step that takes it meanwhile must not read the old words.
            live.steering[:] = [
                replace(hint, text=text) if hint.message_id == op.message_id else hint
                for hint in live.steering
            ]
            msgs = (*said.events, edited)
            await self._parts.registry.append(*live.drafts(*msgs, submission_id=submission_id))
            if said.withheld:
                self._parts.withheld.keep(live.session_id, said.withheld)

    async def withdraw(
        self, op: SteerWithdraw, submission_id: str = "", *, by: ClientInfo | None = None
    ) -> None:
        """Take a hint back. Raises as `edit` does."""
        live = await self._parts.registry.get(op.session_id)
        async with live.lock:
            self._parts.clients.check_driver(live.session_id, by)
            await self._check_waits(live, op.message_id)
            withdrawn = SteerWithdrawn(message_id=op.message_id)
            live.steering[:] = [h for h in live.steering if h.message_id != op.message_id]
            await self._parts.registry.append(*live.drafts(withdrawn, submission_id=submission_id))

    async def _check_waits(self, live: LiveSession, message_id: str) -> None:
        waiting = {hint.message_id for hint in live.steering}
        if live.turn is None:
            history = visible(await self._parts.registry.events(live.session_id))
            waiting |= {hint.message_id for hint in stage(history).steering}
        if message_id not in waiting:
            raise WrongStateError(
                f"No hint {message_id!r} of session {live.session_id} waits for a step.",
                "A step has applied it already; say something new instead.",
            )
