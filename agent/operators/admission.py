"""Authorise an operator's ops: each by the right it needs on the phones it concerns.

`agent.operators.visibility` filters what they see. Invariant: an op reaches the core only if the
operator has the right on every phone that it concerns.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from agent.devices.fleet.naming import with_serials
from agent.errors import NotAllowedError, UsageError
from agent.operators.scope import LISTS, OpScope, concern_of, needs_of, phones_of_job
from agent.operators.visibility import GuardedCore, Visibility
from agent.protocol import Interrupt, JobCreate, NoticeReply, Op, SessionCreate, UserInputAnswer
from agent.protocol.base import CreatingOp
from agent.records import Right


class Admission:
    """Checks each op of one operator.

    Args:
        core: the core that ops are for.
        sight: what they see.
    """

    def __init__(self, core: GuardedCore, sight: Visibility) -> None:
        self._core = core
        self._sight = sight

    async def check(self, op: Op) -> None:
        concern = concern_of(op)
        groups = needs_of(op, self._core.default_autonomy)
        if isinstance(op, UserInputAnswer | NoticeReply):
            groups = await self._needs_to_answer(op)
        for needs in groups:
            await self._check_one(op, needs, concern)

    async def _needs_to_answer(
        self, op: UserInputAnswer | NoticeReply
    ) -> tuple[tuple[Right, ...], ...]:
        asked = [
            one
            for one in (await self._core.overview()).questions
            if (isinstance(op, UserInputAnswer) and one.question_id == op.question_id)
            or (isinstance(op, NoticeReply) and one.session_id == op.session_id)
        ]
        approves = any(one.is_approval for one in asked)
        # One that is not open is refused by the core; nothing is learnt from who asks it.
        return ((Right.APPROVE,),) if approves else (op.needs,)

    async def _check_one(self, op: Op, needs: tuple[Right, ...], concern: OpScope) -> None:
        operator = self._sight.operator()
        if operator.may(needs, None):
            return
        if isinstance(op, LISTS) and not concern.is_named:
            if any(operator.may(needs, grant.tags) for grant in operator.grants):
                return
            raise refused(op, needs)
        serials = [*concern.serials]
        session_ids = [*concern.session_ids]
        if concern.question_id:
            asked = (await self._core.overview()).questions
            found = [one for one in asked if one.question_id == concern.question_id]
            if not found or not await self._sight.sees_session(found[0].session_id):
                raise UsageError(
                    f"There is no open question {concern.question_id[:80]!r}.",
                    "List them: switchboard sessions list",
                )
            session_ids.append(found[0].session_id)
        for session_id in session_ids:
            session = await self._sight.visible(session_id)
            if session.serial:
                serials.append(session.serial)
            elif not self._sight.may_on(needs, session):
                raise refused(op, needs)
        if concern.job_id:
            job = await self._sight.job(concern.job_id)
            named, tags = phones_of_job(job)
            if not named and not operator.may(needs, tags or None):
                raise refused(op, needs)
            serials += named
        if concern.watcher_id:
            serials.append(await self._sight.phone_of_watcher(concern.watcher_id))
        if concern.tags and not operator.may(needs, concern.tags):
            raise refused(op, needs)
        if concern.everything or not (concern.is_named or concern.tags):
            raise refused(op, needs)
        for serial in serials:
            if not self._sight.sees_phone(serial):
                raise UsageError(f"There is no device {serial[:80]!r}.", "switchboard devices list")
            if not self._sight.may(needs, serial):
                raise refused(op, needs)

    async def admitted(self, op: Op) -> Op:
        op = with_serials(op, self._sight.phones())
        await self.check(op)
        if isinstance(op, CreatingOp) and op.request_id:
            # Else a request of another operator would answer with what they made.
            op = replace(op, request_id=own_request(self._sight.operator().name, op.request_id))
        # Nobody uses up the share of another.
        name = self._sight.operator().name
        if isinstance(op, SessionCreate):
            op = replace(op, account=name)
        elif isinstance(op, JobCreate):
            campaign = op.campaign and replace(op.campaign, account=name)
            op = replace(op, account=name, campaign=campaign)
        return op

    def stops_all(self, op: Op) -> bool:
        if not isinstance(op, Interrupt) or op.session_id:
            return False
        return not self._sight.operator().may(op.needs, None)


def own_request(operator: str, request_id: str) -> str:
    """Return the id under which a core knows the request of an operator; empty: of its owner."""
    return f"{operator}.{request_id}" if operator else request_id


def refused(op: Op, needs: Iterable[Right]) -> NotAllowedError:
    """Return the error that names the missing right."""
    what = str(op.__struct_config__.tag)
    return NotAllowedError(
        f"You may not do this: {what} needs the right to {' or '.join(needs)} there.",
        "Ask the owner of the core: switchboard operators grant",
    )
