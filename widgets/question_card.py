"""The card of an open question: its text, its options as keys, how long it waits.

Draws a question and says which key was pressed; the answer is the console's business. Invariants:
it never takes focus; keys are ignored for half a second after another question came; nothing is
chosen until a key names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from agent.records import Question, QuestionKind
from agent.state import Item, QuestionItem
from agent.text import clean, one_line
from widgets import phrases
from widgets.parts import to_content
from widgets.sturdy import Sturdy

GRACE_S = 0.5


class QuestionCard(Sturdy, Static, can_focus=True):
    """One question, answered by keys."""

    DEFAULT_CSS = """
    QuestionCard { height: auto; max-height: 14; display: none; }
    QuestionCard.-shown { display: block; }
    """
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(n), f"choose({n})", f"Option {n}", show=False) for n in range(1, 10)),
        Binding("enter", "write", "Write an answer", show=False),
    ]

    class Chosen(Message):
        """The operator pressed an option's key."""

        def __init__(self, question: Question, answer: str) -> None:
            super().__init__()
            self.question = question
            self.answer = answer

    class Write(Message):
        """The operator wants to answer in words."""

    def __init__(self, *, id: str | None = None, clock_s: Callable[[], float] = monotonic) -> None:
        super().__init__(id=id, markup=False)
        self.question: Question | None = None
        self.clock_s = clock_s
        self._came_s = 0.0
        self._now_ms = 0
        self._others = 0
        self._note = ""
        self._look: object = None

    def show_question(
        self, question: Question | None, *, now_ms: int, others: int = 0, note: str = ""
    ) -> None:
        """Show a question, or none; `others` more wait in the same session.

        `note` says what became of an earlier answer to it.
        """
        self._now_ms, self._others, self._note = now_ms, others, note
        # The next part of several is as new to the eye as another question.
        before = (self.question.question_id, self.question.text) if self.question else None
        if question is not None and (question.question_id, question.text) != before:
            self._came_s = self.clock_s()
        self.question = question
        self.set_class(question is not None, "-shown")
        if question is None:
            return
        left = (
            f"{phrases.clock(question.deadline_ms - now_ms)} left" if question.deadline_ms else ""
        )
        look = (question, others, left, self.has_focus, note)
        if look != self._look:
            self._look = look
            self.update(self._draw(question, others, left))

    @property
    def is_ready(self) -> bool:
        """Whether keys count: half a second has passed since the question came."""
        return self.question is not None and self.clock_s() - self._came_s >= GRACE_S

    def _draw(self, question: Question, others: int, left: str) -> Content:
        approval = question.kind is QuestionKind.APPROVAL
        title = one_line(question.header, 60) or ("Approval" if approval else "Question")
        parts: list[tuple[str, str]] = [(f"{'◆' if approval else '?'} {title}", "bold $ask")]
        if question.step:
            parts.append((f"  step {question.step}", "$muted"))
        if others:
            parts.append((f"  and {others} more", "$muted"))
        if left:
            parts.append((f"  {left}, then the answer is no", "$warn"))
        if self._note:
            parts.append((f"\n{one_line(self._note, 200)}", "$warn"))
        parts.append((f"\n{clean(question.text, 1_200).strip()}\n", "$foreground"))
        about = about_subject(question)
        if about:
            parts.append((f"{about}\n", "$muted"))
        for number, option in enumerate(question.options[:9], 1):
            label = one_line(phrases.answer_word(question, option.label), 80)
            parts += [(f"\n {number} ", "$key"), (f" {label}", "$foreground")]
            if option.description:
                parts.append((f"  {one_line(option.description, 120)}", "$muted"))
        if approval:
            again = "" if self.has_focus else " (press it twice)"
            hint = f"a approve{again} · r reject with a reason"
        elif question.options:
            hint = "press a number · enter to answer in words"
        else:
            hint = "enter to answer in words"
        if not self.has_focus and not approval:
            hint = f"tab here, then {hint}"
        parts.append((f"\n{hint}" if question.options else hint, "$faint"))
        return to_content(tuple(parts))

    def on_focus(self) -> None:
        # Textual sets has_focus after the handlers of subclasses.
        self.call_later(self._redraw)

    def on_blur(self) -> None:
        self.call_later(self._redraw)

    def _redraw(self) -> None:
        self._look = None
        if self.question is not None:
            self.show_question(
                self.question, now_ms=self._now_ms, others=self._others, note=self._note
            )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Take only the digits that name an option; the others are keys of the screen.

        A card that has just come takes them all, and does nothing: they were meant for another.
        """
        if action != "choose" or self.question is None or not self.is_ready:
            return True
        return parameters[0] in range(1, len(self.question.options) + 1)

    def action_choose(self, number: int) -> None:
        """Answer with an option; a number without one does nothing."""
        question = self.question
        if question is not None and self.is_ready and number <= len(question.options):
            self.post_message(self.Chosen(question, question.options[number - 1].label))

    def action_write(self) -> None:
        """Answer in words."""
        if self.is_ready:
            self.post_message(self.Write())


def void_note(question: Question, items: Iterable[Item]) -> str:
    """Say that an approval was given before for the same call and was not used; else nothing."""
    for item in items:
        if (
            isinstance(item, QuestionItem)
            and item.question.kind is QuestionKind.APPROVAL
            and item.question.question_id != question.question_id
            and question.call_id
            and item.question.call_id == question.call_id
            and item.answer is not None
        ):
            return "Asked again: the answer before is void, for the screen moved or work was cut."
    return ""


def about_subject(question: Question) -> str:
    """Say what an approval is about: its element as the frame numbers it, app and capability."""
    subject = question.subject
    if subject is None:
        return ""
    element = subject.element
    said = [f"[{element.number}] {element.kind} in {element.package}"] if element else []
    said += [text for text in (subject.capability, subject.risk) if text]
    return one_line(" · ".join(said), 200)
