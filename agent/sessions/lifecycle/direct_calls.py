"""Carry out the calls of direct sessions, and return the views for their programs.

`agent.direct` passes calls and views. Invariant: a call comes from the client that created the
session.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable
from secrets import token_hex

from msgspec.structs import replace

from agent import records
from agent.core import ClientInfo
from agent.direct.programs import Programs
from agent.errors import SwitchboardError, UsageError, WrongStateError
from agent.protocol import MAX_DIRECT_WAIT_S, DirectCall, SessionCreate
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.rules.creation import requested_id
from agent.text import one_line

_NAME_CHARS = 60
_log = logging.getLogger(__name__)


class DirectCalls:
    """The direct sessions of one core."""

    def __init__(self, parts: Services, programs: Programs, operations: Operations) -> None:
        self._parts = parts
        self._programs = programs
        self._operations = operations

    async def create(
        self, op: SessionCreate, client: ClientInfo, submission_id: str = ""
    ) -> tuple[records.Session, ...]:
        """Create a session whose calls the client makes.

        Raises:
            UsageError: the request cannot be carried out; nothing was created.
        """
        if op.targets or not op.start:
            raise UsageError(
                "A direct session starts at once, on one phone.", "Omit targets and start."
            )
        if not op.serial:
            online = [
                one
                for one in self._parts.fleet.devices()
                if one.state is records.DeviceState.ONLINE
            ]
            if len(online) > 1:
                serials = ", ".join(one.serial for one in online[:10])
                raise UsageError(
                    f"{len(online)} phones are online, and none was named.", f"Name one: {serials}."
                )
        program = one_line(op.model or client.name, _NAME_CHARS).removeprefix(records.DIRECT)
        request_id = op.request_id or token_hex(16)
        session_id = requested_id(request_id)
        made = replace(op, model=f"{records.DIRECT}{program}", request_id=request_id)
        if await self._is_known(session_id):
            return await self._operations.create(made, submission_id)
        # Before its turn begins, which asks for the exchange at once.
        self._programs.admit(session_id, client.client_id, program)
        try:
            return await self._operations.create(made, submission_id)
        except BaseException:
            self._programs.forget(session_id)
            raise

    async def _is_known(self, session_id: str) -> bool:
        try:
            await self._parts.registry.get(session_id)
        except UsageError:
            return False
        return True

    async def call(self, op: DirectCall, client: ClientInfo) -> records.DirectView:
        """Carry out one call, and return the view afterwards.

        Raises:
            UsageError: no such session, or a wait that is out of bounds.
            WrongStateError: another program makes the session's calls, or it waits for none.
        """
        if not (math.isfinite(op.wait_s) and 0 <= op.wait_s <= MAX_DIRECT_WAIT_S):
            raise UsageError(f"wait_s is {op.wait_s}.", f"Use 0 to {MAX_DIRECT_WAIT_S:g}.")
        live = await self._parts.registry.get(op.session_id)
        exchange = self._programs.of(live.session_id)
        if exchange is None or exchange.client_id != client.client_id:
            raise WrongStateError(
                f"The calls of session {live.session_id} belong to another client.",
                "Create a session with direct, and call its tools on the same connection.",
            )
        if op.withdraw:
            exchange.withdraw()
        if op.tool and live.turn is not None:
            exchange.call(op.tool, op.arguments)
        await self._settled(live, exchange.until_ready(), op.wait_s)
        if exchange.is_ready:
            picture = ""
            if op.picture and exchange.picture is not None:
                store = self._parts.store
                picture = await store.blobs.put(exchange.picture, exchange.picture_type)
            return records.DirectView(
                status=records.DirectStatus.READY,
                text=exchange.text,
                picture=picture,
                picture_type=exchange.picture_type if picture else "",
                failed=exchange.failed,
            )
        if live.turn is None:
            exchange.clear()
            return records.DirectView(status=records.DirectStatus.OVER, text=_ending(live.record))
        return records.DirectView(status=records.DirectStatus.WAITING, text=self._why(live.record))

    async def leave(self, client: ClientInfo) -> None:
        """End the direct sessions of a disconnected or dead client."""
        for session_id in self._programs.made_by(client.client_id):
            try:
                await self._end(
                    session_id, f"{client.name}, which made its calls, has disconnected"
                )
            except SwitchboardError as error:
                _log.warning("Session %s was not ended with its program: %s", session_id, error)
            finally:
                # After its end: a turn that waits for a call would fail for want of a program.
                self._programs.forget(session_id)

    async def _end(self, session_id: str, reason: str) -> None:
        try:
            live = await self._parts.registry.get(session_id)
        except UsageError:
            return  # deleted meanwhile
        if not live.record.state.is_terminal:
            await self._operations.cancel(session_id, reason=reason)

    async def _settled(self, live: LiveSession, ready: Awaitable[object], wait_s: float) -> None:
        """Wait until the session is ready for a call, its turn ends, or time runs out."""
        turn = live.turn
        waits: list[asyncio.Future[object]] = [asyncio.ensure_future(ready)]
        if turn is not None:
            waits.append(asyncio.ensure_future(turn.over.wait()))
            await asyncio.wait(waits, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)

    def _why(self, record: records.Session) -> str:
        for asked in self._parts.questions.of(record.session_id):
            return f"The operator is asked: {asked.shown}"
        if record.state is records.SessionState.QUEUED:
            return f"{record.serial or 'The phone'} is in use; the session waits for it."
        if record.lost:
            return f"{record.serial} is disconnected; the session waits for it."
        if record.paused:
            return "The operator has paused the session."
        return "The last call is not over yet."


def _ending(record: records.Session) -> str:
    match record.state:
        case records.SessionState.COMPLETED:
            return f"The session is done. {record.latest_result}".strip()
        case records.SessionState.FAILED:
            said = record.latest_error or record.latest_result
            return f"The session failed. {said}".strip()
        case records.SessionState.CANCELLED:
            return "The session was cancelled."
        case _:
            return "The operator stopped the session; only the operator resumes it."
