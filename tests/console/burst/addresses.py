"""Whether each text went where it was begun for, and no word of it was a command.

Compares what the field said when the first word came with the address of what the core was asked.
"""

from typing import Any

from agent import protocol
from agent.protocol import Op
from console.app import SwitchboardApp
from console.input.stray_words import Hands
from console.screens.deck.deck import DeckScreen
from tests.console.burst.core import ScriptedCore
from tests.console.burst.crowd import Sentence
from widgets.questions.composer import Mode, Purpose

_ALL = "whatever is sent"
_OF_QUESTIONS = frozenset({Mode.ANSWER, Mode.REASON, Mode.MODIFY})


class Addresses:
    """Watches the sentences of one script.

    Args:
        app: the console that they are typed to.
        core: what it asks.
    """

    def __init__(self, app: SwitchboardApp, core: ScriptedCore) -> None:
        self._app = app
        self._core = core
        self._sentences: list[Sentence] = []
        self._begun: tuple[str, ...] = ()
        self._asked = 0
        self._typing: Sentence | None = None
        self.wrong: list[str] = []
        """What went astray, in sentences."""
        self.sent = 0
        """How many texts were sent."""

    def plan(self, sentences: list[Sentence]) -> None:
        """Take the numbers of the events of all sentences."""
        self._sentences = sentences

    def before(self, event: int) -> None:
        """Hear that an event is handled now."""
        self._look(event)
        starts = next((one for one in self._sentences if one.first == event), None)
        if starts is not None:
            self._typing, self._begun = starts, self._shown()
            self._asked = len(self._acting())

    def close(self) -> None:
        """Hear that everything was typed and has had its effect."""
        self._look(1 << 30)

    def _look(self, event: int) -> None:
        typing = self._typing
        if typing is None:
            return
        new = self._acting()[self._asked :]
        self._asked += len(new)
        if event > typing.last:
            self._typing = None
        for op in new:
            address = _address(op)
            is_word = event <= typing.last
            told = f"{_named(op)} at event {event} of {typing}, begun for {self._begun}"
            if is_word and not isinstance(op, protocol.WheelAct):
                self.wrong.append(f"a word was a command: {told}")
            elif not is_word and address is not None and not self._is_for(address):
                self.wrong.append(f"sent elsewhere: {told}")
            else:
                self.sent += 1

    def _is_for(self, address: tuple[str, ...]) -> bool:
        if not self._begun:
            return False
        if self._begun[0] == "sessions":
            return address[0] in {"session", "tag"} and address[1] in self._begun
        return address[: len(self._begun)] == self._begun

    def _acting(self) -> list[Op]:
        return [op for op in self._core.asked if not op.changes_nothing]

    def _shown(self) -> tuple[str, ...]:
        """Return what the field says that is typed into; nothing where there is none."""
        app = self._app
        if app.keyboard._hands() is not Hands.IN_FIELD:
            return ()
        top = app.top
        if not isinstance(top, DeckScreen) or top.composer.field is not app.focused:
            wheel = top.wheel.serial if isinstance(top, DeckScreen) else ""
            return ("phone", wheel) if wheel else ("field",)
        composer = top.composer
        return () if composer.undeliverable else _of(composer.purpose, composer.choice)


def _of(purpose: Purpose, choice: str) -> tuple[str, ...]:
    mode, subject = purpose
    if mode in _OF_QUESTIONS:
        return ("question", subject.partition("/")[0])
    match mode:
        case Mode.NEW | Mode.DRAFT:
            return ("new", choice)
        case Mode.NOTE:
            return ("phone", subject)
        case Mode.EACH | Mode.FOLLOW_UP | Mode.TAG | Mode.RENAME:
            return ("sessions", *subject.split())
        case Mode.STEER:
            return ("session", subject, "steers")
        case Mode.PROMPT:
            return ("session", subject, "starts")
        case Mode.EDIT:
            return ("hint", subject)
        case _:
            return ("session", subject, "next")


def _address(op: Op) -> tuple[str, ...] | None:
    match op:
        case protocol.UserInput(session_id=one, steers=steers):
            how = {True: "steers", False: "starts", None: _ALL}[steers]
            return ("session", one, how)
        case protocol.SessionStart(session_id=one):
            return ("session", one, "starts")
        case protocol.NoticeSend(session_id=one):
            return ("session", one, "next")
        case protocol.UserInputAnswer(question_id=one):
            return ("question", one)
        case protocol.SteerEdit(session_id=one, message_id=message):
            return ("hint", f"{one}/{message}")
        case protocol.SessionCreate(serial=serial):
            return ("new", serial)
        case protocol.WheelAct(serial=serial) | protocol.WheelHandBack(serial=serial):
            return ("phone", serial)
        case protocol.WheelTake():
            return None
        case protocol.SessionTag(session_id=one) | protocol.SessionRename(session_id=one):
            return ("tag", one)
        case _:
            return ("command",)


def _named(op: Any) -> str:
    return f"{type(op).__name__} {_address(op)}"
