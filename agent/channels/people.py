"""What the people of channels may see and answer: the operators of the core, as it knows them now.

Where the core has no operators, every channel is its owner's. Invariant: an answer passes the same
door as one of an operator who signed in, with the rights of that moment.
"""

from typing import NamedTuple

from agent.core import ClientInfo
from agent.errors import NotAllowedError
from agent.operators.door import Door
from agent.operators.operator import Operator
from agent.operators.operator_core import OperatorCore
from agent.operators.visibility import GuardedCore, Visibility
from agent.protocol import Reply, UserInputAnswer
from agent.records import Notice, Question, Right
from agent.state.device_names import device_names


class OpenQuestion(NamedTuple):
    """An open question, and the generation of its session."""

    question: Question
    generation: int
    serial: str


class People:
    """The people of one core's channels.

    Args:
        core: what they see and answer.
        door: who its operators are.
    """

    def __init__(self, core: GuardedCore, door: Door) -> None:
        self._core = core
        self._door = door

    async def may_see(self, name: str, notice: Notice) -> bool:
        """Return whether a person may be told of a notice; a nameless channel is the owner's."""
        if not name or not self._door.is_shut:
            return True
        operator = self._door.register.find(name)
        if operator is None:
            return False
        if operator.sees_all:
            return True
        return await Visibility(self._core, lambda: operator).sees_notice(notice)

    def may_answer(self, name: str, asked: OpenQuestion) -> bool:
        """Return whether a person may answer a question now."""
        if not self._door.is_shut:
            return True
        operator = self._door.register.find(name)
        phone = next((one for one in self._core.phones() if one.serial == asked.serial), None)
        needs = (Right.APPROVE,) if asked.question.is_approval else UserInputAnswer.needs
        return operator is not None and operator.may(needs, phone.tags if phone else None)

    def phone_name(self, serial: str) -> str:
        """Return what the operator calls a phone; its serial where it is not known."""
        phones = {one.serial: one for one in self._core.phones()}
        return device_names(phones).get(serial, serial)

    async def open_question(self, question_id: str) -> OpenQuestion | None:
        """Return an open question; None: it is not open."""
        found = (one for one in (await self._core.overview()).questions)
        question = next((one for one in found if one.question_id == question_id), None)
        if question is None:
            return None
        session = await self._core.session(question.session_id)
        return OpenQuestion(question, session.generation, session.serial)

    async def answer(self, name: str, channel: str, op: UserInputAnswer) -> Reply:
        """Carry out a person's answer and return its reply.

        Args:
            name: of the operator.
            channel: by which it came, for people.

        Raises:
            NotAllowedError: they are no operator any more, or lack the right.
            UsageError: they may not see the phone.
            WrongStateError: it is not open any more.
        """
        client_id = f"channel.{name}"
        if not self._door.is_shut:
            return await self._core.request_as(
                ClientInfo(client_id, f"{name} by {channel}" if name else channel), op
            )
        client = ClientInfo(client_id, f"{name}: {channel}", name)
        return await OperatorCore(self._core, lambda: self._operator(name)).request_as(client, op)

    def _operator(self, name: str) -> Operator:
        found = self._door.register.find(name)
        if found is None:
            raise NotAllowedError(
                f"There is no operator {name!r} in this core any more.", "Ask its owner."
            )
        return found
