"""The questions of a headless run: answers given beforehand, typed here, or sent from elsewhere.

Not the console's question card. Invariant: waiting for a line never blocks the core, an answer
from elsewhere takes the prompt away, and silence is "no" to an approval and no answer to the rest;
what a job asks is left to its own deadline.
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext, suppress

from msgspec.structs import replace

from agent.errors import NotAllowedError, WrongStateError
from agent.protocol import UserInputAnswer
from agent.records import Question, QuestionKind, QuestionPart, Speaker
from agent.text import clean, one_line
from console.cli_support.exits import say
from console.core.command_settings import to_run
from console.core.host import Host
from console.runs.unlocking import request
from console.terminal.line_input import can_ask, hidden_input, next_line


def prompt_of(question: Question) -> str:
    """Lay a question out for a terminal; options are numbered."""
    # What is not Switchboard's stands in the words themselves, marked.
    own = question.speaker is Speaker.PRODUCT
    head = f"{one_line(question.header)}\n" if question.header and own else ""
    lines = [head + clean(question.shown, 4000)]
    for number, option in enumerate(question.options, start=1):
        about = f" – {one_line(option.description)}" if option.description else ""
        lines.append(f"  {number}. {one_line(option.shown)}{about}")
    if question.kind is QuestionKind.APPROVAL and not question.options:
        lines.append("  yes or no; nothing means no")
    return "\n".join(lines) + "\n> "


def chosen(question: Question, line: str) -> str:
    """Turn what was typed into an answer: a number names an option, anything else is itself."""
    typed = line.strip()
    if typed.isdecimal() and 1 <= int(typed) <= len(question.options):
        return question.options[int(typed) - 1].label
    if not typed and question.kind is QuestionKind.APPROVAL:
        return "no"
    return typed


async def ask_on_terminal(question: Question) -> str:
    """Wait for an answer typed on this terminal; asks again while nothing is typed.

    What is secret is typed unseen. Several questions are asked one after the other, and answered in
    one text that is split again where it arrives.

    Raises:
        EOFError: the terminal was closed, or its end-of-file key pressed.
    """
    if not question.parts:
        return await _ask_one(question)
    said = []
    for part in question.parts:
        alone = replace(
            question,
            text=part.text if part.speaker is Speaker.PRODUCT else _with_header(part),
            speaker=part.speaker,
            note="",
            header=part.header,
            options=part.options,
            secret=part.secret,
        )
        said.append(await _ask_one(alone))
    return "\n\n".join(said)


def _with_header(part: QuestionPart) -> str:
    return f"{part.header}: {part.text}" if part.header else part.text


async def _ask_one(question: Question) -> str:
    while True:
        with hidden_input() if question.secret else nullcontext():
            sys.stderr.write(prompt_of(question))
            sys.stderr.flush()
            typed = await next_line()
        answer = typed.rstrip("\r\n") if question.secret else chosen(question, typed)
        if question.secret:
            sys.stderr.write("\n")
        if answer.strip():
            return answer


class QuestionPrompts:
    """Open questions of the followed tree, oldest first, and who is being asked.

    Args:
        answers: answers given beforehand, used in the order in which questions come.
        timeout_s: how long a question waits for its answer.
    """

    def __init__(self, answers: Sequence[str], *, timeout_s: float) -> None:
        self._host: Host | None = None
        self._answers = list(answers)
        self._timeout_s = timeout_s
        self._open: dict[str, tuple[Question, float]] = {}
        self._typing: asyncio.Task[str] | None = None
        self._asked_id = ""
        self.went_unanswered = False
        """Whether the newest question closed without an answer."""

    def use(self, host: Host) -> None:
        """Set whose core answers go to."""
        self._host = host

    def open(self, question: Question) -> None:
        self._open[question.question_id] = (question, time.monotonic())
        self.went_unanswered = False

    def close(self, question_id: str, *, unanswered: bool = False) -> None:
        """Forget a question, and take its prompt away."""
        self._open.pop(question_id, None)
        self.went_unanswered = unanswered
        if self._asked_id == question_id:
            self.put_away()

    def put_away(self) -> None:
        """Stop asking on the terminal."""
        if self._typing is not None:
            self._typing.cancel()
            self._typing = None
        self._asked_id = ""

    def waits_for(self) -> tuple[asyncio.Future[str], ...]:
        """Return what ends when a line was typed."""
        return () if self._typing is None else (self._typing,)

    def due_at(self) -> float:
        """Return the monotonic moment at which silence counts; 0 when nothing is asked."""
        for _, since in self._open.values():
            return since + self._timeout_s
        return 0.0

    def leave_to_others(self) -> bool:
        """Return True, and print it, where a job asks and nobody is here: a job waits by itself.

        Its review has a deadline of its own, and outlives this process.
        """
        for question, _ in self._open.values():
            if question.review is None or self._answers or can_ask():
                return False
            say(f"Job {question.review.job_id} asks: {one_line(question.shown)}")
            say(f"Answer it with: {to_run(f'sessions answer {question.session_id} ANSWER')}")
            return True
        return False

    async def attend(self) -> bool:
        """Answer, ask or give up on the oldest question; True when nobody answered it in time."""
        for question, since in self._open.values():
            if self._answers:
                await self._answer(question, self._answers.pop(0))
                return False
            if self._typing is not None and self._typing.done():
                typed, self._typing = self._typing, None
                try:
                    line = typed.result()
                except EOFError:
                    return self._give_up(question)
                await self._answer(question, line)
                return False
            if time.monotonic() >= since + self._timeout_s:
                if question.kind is not QuestionKind.APPROVAL or question.review is not None:
                    return self._give_up(question)
                await self._expire(question)
                return False
            self._ask(question)
            return False
        return False

    def _ask(self, question: Question) -> None:
        if self._asked_id == question.question_id:
            return
        self.put_away()
        self._asked_id = question.question_id
        if can_ask():
            self._typing = asyncio.ensure_future(ask_on_terminal(question))
        else:
            say(f"Waiting for: {to_run(f'sessions answer {question.session_id} ANSWER')}")

    async def _answer(self, question: Question, answer: str) -> None:
        assert self._host is not None, "a core is named before questions come"
        self.close(question.question_id)
        try:
            await request(
                self._host, UserInputAnswer(question_id=question.question_id, answer=answer)
            )
        except NotAllowedError as error:
            # It stays open for whoever may.
            say(str(error))
            self.open(question)
        except WrongStateError:
            # Answered elsewhere or expired: which of the two, its own event says.
            say("The question closed before this answer arrived.")

    async def _expire(self, question: Question) -> None:
        """Have a question closed that nobody answered; what that means is the core's to say."""
        assert self._host is not None, "a core is named before questions come"
        self.close(question.question_id, unanswered=True)
        # It may have closed already, by an answer or at its own deadline: its event says so.
        with suppress(WrongStateError):
            await self._host.core.request(
                UserInputAnswer(question_id=question.question_id, answer="", expired=True)
            )

    def _give_up(self, question: Question) -> bool:
        say(f"switchboard: nobody answered: {one_line(question.shown)}")
        say(f"Answer and resume with: {to_run(f'sessions answer {question.session_id} ANSWER')}")
        return True
