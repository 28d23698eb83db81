"""Sentences of one operator, and what a second console, a shell and a phone do between its keys.

`crowded` makes a script of both from a seed; `Hands` does what the others do on a scripted core.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from agent import protocol, records
from agent.errors import SwitchboardError
from tests.console.burst.core import ScriptedCore
from tests.console.burst.grammar import ENTER, ESC, Act, Token, keys

_WAYS = ("!", "!!", "!!!!", "1g", "1gj", "1gjj", "1G", "1Gk", "1Gkk", "", "", "")
_OPENS = (
    "r",
    "r",
    "r",
    "m",
    "m",
    "i",
    "i",
    "i",
    "n",
    "s",
    "s",
    "h",
    "l",
    "E",
    "w",
    "!\r",
    "/",
    "f",
)
_WORDS = ("please do not", "send this", "end this", "xpc", "cc aa", "dDx", "a milk", "nos", "U x")


class Sentence(NamedTuple):
    """The numbers of the events of a sentence: its first word's key, and what ends it."""

    first: int
    last: int


class Meanwhile(NamedTuple):
    """What somebody else does when an event of the operator comes, so many seconds later."""

    at: int
    hand: str
    number: int
    delay_s: float


class Crowded(NamedTuple):
    """A script under many hands."""

    tokens: Act
    sentences: tuple[Sentence, ...]
    meanwhile: tuple[Meanwhile, ...]


def crowded(random: Random, acts: int) -> Crowded:
    """Make a script of so many sentences, each with others at its side."""
    made: list[Token] = []
    sentences: list[Sentence] = []
    meanwhile: list[Meanwhile] = []
    for _ in range(acts):
        begin = len(made)
        way = random.choice(_WAYS)
        made += [*keys("1"), ESC, *keys(way), *keys(random.choice(_OPENS))]
        first = len(made)
        made += keys(random.choice(_WORDS))
        sentences.append(Sentence(first, len(made)))
        made.append(random.choice((ENTER, ENTER, ENTER, ESC)))
        made += random.choice(((), (), (ESC,), (ESC, ESC)))
        for _ in range(random.choice((0, 1, 1, 2, 3))):
            meanwhile.append(
                Meanwhile(
                    at=random.randint(begin, len(made) - 1),
                    hand=random.choice(tuple(_HANDS)),
                    number=random.randint(0, 99),
                    delay_s=random.choice((0.0, 0.0, 0.002, 0.02, 0.08)),
                )
            )
    return Crowded(tuple(made), tuple(sentences), tuple(meanwhile))


class Hands:
    """What the others do.

    Args:
        core: whose sessions, questions and phones they change.
    """

    def __init__(self, core: ScriptedCore) -> None:
        self._core = core
        self._left: list[Meanwhile] = []
        self.moves = 0
        """How much of it changed something."""

    def plan(self, meanwhile: list[Meanwhile]) -> None:
        """Take what is to be done."""
        self._left = meanwhile

    def at(self, event: int) -> None:
        """Hear that the operator's event with this number is handled now."""
        for one in [one for one in self._left if one.at == event]:
            self._left.remove(one)
            if one.delay_s:
                asyncio.get_running_loop().call_later(one.delay_s, self._do, one)
            else:
                self._do(one)

    def _do(self, one: Meanwhile) -> None:
        before = self._core.state.event_id
        with suppress(SwitchboardError):
            _HANDS[one.hand](self._core, one.number)
        self.moves += self._core.state.event_id > before


def _session(core: ScriptedCore, number: int) -> str:
    ids = list(core.state.sessions)
    return ids[number % len(ids)]


def _answer(core: ScriptedCore, number: int) -> None:
    """Answer a question, as Ana does at her console."""
    asked = list(core.state.questions.values())
    if asked:
        one = asked[number % len(asked)]
        answer = one.options[0].label if one.options else "Approve"
        told = protocol.QuestionAnswered(
            question_id=one.question_id, answer=answer, answered_by="Ana: console (process 7)"
        )
        core.tell(told, one.session_id)


def _expire(core: ScriptedCore, number: int) -> None:
    asked = list(core.state.questions.values())
    if asked:
        one = asked[number % len(asked)]
        why = protocol.CloseReason.EXPIRED
        core.tell(protocol.QuestionClosed(question_id=one.question_id, reason=why), one.session_id)


def _ask(core: ScriptedCore, number: int) -> None:
    """Ask for an approval, from a step of a session that works."""
    at_work = [one for one, view in core.state.sessions.items() if view.session.turn_id]
    if at_work:
        session_id = at_work[number % len(at_work)]
        question = records.Question(
            question_id=f"o{core.state.event_id}",
            session_id=session_id,
            text="Send it?",
            asked_ms=core.now_ms,
            kind=records.QuestionKind.APPROVAL if number % 2 else records.QuestionKind.QUESTION,
        )
        core.tell(protocol.RequestUserInput(question=question), session_id)


def _complete(core: ScriptedCore, number: int) -> None:
    session_id = _session(core, number)
    session = core.state.sessions[session_id].session
    if session.turn_id:
        core.tell(protocol.TaskComplete(turn_id=session.turn_id), session_id)
        if number % 2:
            ended = records.SessionState.COMPLETED
            core.tell(protocol.SessionStateChanged(state=ended), session_id)


def _phone(core: ScriptedCore, number: int) -> None:
    """Lose a phone, or find it again."""
    device = core.state.devices[f"phone-{1 + number % 2}"]
    is_online = device.state is records.DeviceState.ONLINE
    state = records.DeviceState.GONE if is_online else records.DeviceState.ONLINE
    core.tell(protocol.DeviceChanged(device=replace(device, state=state)))


def _delete(core: ScriptedCore, number: int) -> None:
    """Delete a session that has ended, as the shell does."""
    session_id = _session(core, number)
    if core.state.sessions[session_id].session.state.is_terminal:
        core.tell(protocol.SessionsDeleted(session_ids=(session_id,)))


def _ops(op: Callable[[str], protocol.Op]) -> Callable[[ScriptedCore, int], None]:
    return lambda core, number: core.carry_out_for_another(op(_session(core, number)))


_HANDS: dict[str, Callable[[ScriptedCore, int], None]] = {
    "console: answers": _answer,
    "console: answers again": _answer,
    "console: prompts": _ops(lambda one: protocol.UserInput(session_id=one, text="Go on")),
    "console: resumes": _ops(lambda one: protocol.SessionResume(session_id=one)),
    "console: stops": _ops(lambda one: protocol.Interrupt(session_id=one)),
    "console: takes the wheel": lambda core, number: core.carry_out_for_another(
        protocol.WheelHandBack(serial=f"phone-{1 + number % 2}")
    ),
    "shell: cancels": _ops(lambda one: protocol.SessionCancel(session_id=one)),
    "shell: deletes": _delete,
    "phone: asks": _ask,
    "phone: completes": _complete,
    "phone: goes or comes": _phone,
    "core: expires": _expire,
}
