"""The card of an open question: its text, its options as keys, how long it waits.

Draws a question and says which key was pressed; the answer is the console's business. Invariants:
it never takes focus; a key that was pressed less than half a second after a question came by itself
is ignored, however late it is handled; nothing is chosen until a key names it; what has no room is
scrolled to, and the card says that there is more.
"""

from collections.abc import Callable, Iterable
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import (
    Click,
    Leave,
    MouseDown,
    MouseMove,
    MouseScrollDown,
    MouseScrollUp,
    Resize,
)
from textual.message import Message
from textual.widgets import Static

from agent.records import Question, QuestionKind
from agent.state.approval_card import approval_card
from agent.state.reducer import Item, QuestionItem
from agent.state.terms import CAPABILITIES
from agent.text import clean, one_line
from widgets.base import causality, formatting
from widgets.base.fault_isolation import FaultIsolated
from widgets.base.rich_parts import to_content
from widgets.base.rows import Parts
from widgets.questions.effect_lines import card_lines

GRACE_S = 0.5
_SHORT_ROWS = 24  # Rows of a screen that is too short for more than the least of a card.
_TALL_ROWS = 40
"""Rows of a screen on which an approval is read whole, with its options, beside the transcript."""
_MOST_ROWS_TALL, _MOST_ROWS, _MOST_ROWS_SHORT = 18, 14, 9
_UNLAID = 1_000  # The width of lines before the card has one.
Given = tuple[tuple[str, str], ...]
"""The parts of a question that are answered already, each by its name and its answer."""


class QuestionCard(FaultIsolated, Static, can_focus=True):
    """One question, answered by keys."""

    DEFAULT_CSS = """
    QuestionCard { height: auto; max-height: 18; display: none; }
    QuestionCard.-shown { display: block; }
    """
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(n), f"choose({n})", f"Option {n}", show=False) for n in range(1, 10)),
        Binding("enter", "write", "Write an answer", show=False),
        Binding("t", "app.act('question.wheel')", "By hand", show=False, id="question.wheel"),
        Binding("backspace", "go_back", "The part before", show=False),
        Binding("down,j", "move(1)", "Down", show=False, id="view.down"),
        Binding("up,k", "move(-1)", "Up", show=False, id="view.up"),
        Binding("ctrl+d,pagedown", "page(1)", "Half a page down", show=False, id="view.page_down"),
        Binding("ctrl+u,pageup", "page(-1)", "Half a page up", show=False, id="view.page_up"),
    ]

    class Chosen(Message):
        """The operator pressed an option's key, or clicked it."""

        def __init__(self, question: Question, answer: str, *, by_mouse: bool = False) -> None:
            super().__init__()
            self.question = question
            self.answer = answer
            self.by_mouse = by_mouse

    class Write(Message):
        """The operator wants to answer in words."""

    class Back(Message):
        """The operator wants to answer the part before once more."""

    def __init__(
        self,
        *,
        id: str | None = None,
        clock_s: Callable[[], float] = monotonic,
        only_looks: bool = False,
    ) -> None:
        super().__init__(id=id, markup=False)
        self._only_looks = only_looks
        self.question: Question | None = None
        self.clock_s = clock_s
        self._came_s = 0.0
        self._now_ms = 0
        self._others = 0
        self._note = ""
        self._given: Given = ()
        self._phone = ""
        self._look: object = None
        self._first_line = 0
        self._room, self._length = 0, 0
        self._above = 0
        self._starts: tuple[int, ...] = ()
        """The line of the body on which each option begins, and where the last one ends."""
        self._hovered = 0
        self._pressed = 0

    def show_question(
        self,
        question: Question | None,
        *,
        now_ms: int,
        others: int = 0,
        note: str = "",
        given: Given = (),
        known_s: float | None = None,
        phone: str = "",
    ) -> None:
        """Show a question, or none.

        Args:
            question: what is asked.
            now_ms: the time of day, to count its silence down.
            others: how many more wait in the same session.
            note: what became of an earlier answer to it.
            given: what was answered of the same request already, and is not sent yet.
            known_s: since when it is told of on the screen, by `clock_s`; now when None.
            phone: what the operator calls the phone of the effect; its serial when empty.
        """
        self._now_ms, self._others, self._note, self._given = now_ms, others, note, given
        self._phone = phone
        # The next part of several is as new to the eye as another question.
        before = (self.question.question_id, self.question.text) if self.question else None
        if question is not None and (question.question_id, question.text) != before:
            # What a key brings was asked for; what comes by itself came under typing hands.
            brought = causality.current() is not None and known_s is not None
            self._came_s = known_s if brought and known_s is not None else self.clock_s()
            self._first_line = 0
        self.question = question
        self.set_class(question is not None, "-shown")
        if question is None:
            return
        left = (
            f"{formatting.time_left(question.deadline_ms - now_ms)} left"
            if question.deadline_ms
            else ""
        )
        width, height = self.content_size.width, self.screen.size.height if self.is_attached else 0
        look = (
            (question, others, left, self.has_focus, note, given, phone),
            (width, height, self._first_line, self._hovered),
        )
        if look != self._look:
            self._look = look
            self.update(self._lay_out(question, others, left, width, height))

    @property
    def is_ready(self) -> bool:
        """Whether keys count: the one that is handled was pressed half a second after it came."""
        pressed_s = self.clock_s() - causality.lag_s()
        return self.question is not None and pressed_s - self._came_s >= GRACE_S

    def _lay_out(
        self, question: Question, others: int, left: str, width: int, height: int
    ) -> Content:
        """Put what is asked between its title and its keys, as much of it as there is room for."""
        title = to_content(self._title(question, others, left))
        hint = to_content(((self._hint(question), "$faint"),))
        if not width:
            # Not laid out yet: it is drawn again as soon as it has a width.
            return Content("\n").join([title, *self._question_lines(question, _UNLAID)[0], hint])
        above, below = title.wrap(width), hint.wrap(width)
        asked, self._starts = self._question_lines(question, width)
        self._above = len(above)
        most = _MOST_ROWS if height >= _SHORT_ROWS else _MOST_ROWS_SHORT
        most = _MOST_ROWS_TALL if height >= _TALL_ROWS else most
        room = max(2, most - len(above) - len(below))
        if len(asked) > room:
            room -= 1
        self._room, self._length = room, len(asked)
        self._first_line = max(0, min(self._first_line, len(asked) - room))
        end = self._first_line + room
        lines = [*above, *asked[self._first_line : end]]
        if len(asked) > room:
            more = to_content(((_more(self._first_line, len(asked) - end), "bold $warn"),))
            lines.append(more.truncate(width, ellipsis=True))
        return Content("\n").join([*lines, *below])

    def _question_lines(
        self, question: Question, width: int
    ) -> tuple[list[Content], tuple[int, ...]]:
        """Return the lines of what is asked and of its options, and where each option begins.

        The words of an option stand under each other, beside its number; the last number is of the
        line after the last option, and there is none without options.
        """
        card = approval_card(question, self._phone)
        if card is None:
            lines = list(to_content(self._body(question)).wrap(width))
        else:
            lines = [*self._given_lines(width)]
            lines += card_lines(card, width)
        if not question.options:
            return lines, ()
        lines.append(Content(""))
        starts: list[int] = []
        for number, option in enumerate(question.options, 1):
            starts.append(len(lines))
            label = one_line(formatting.option_words(question, option), 300)
            hovered = " underline" if number == self._hovered else ""
            words: Parts = ((label, f"$foreground{hovered}"),)
            if option.description:
                words = (*words, (f"  {one_line(option.description, 300)}", "$muted"))
            key = to_content(((f" {number} ", "$key"), (" ", "")))
            for line in to_content(words).wrap(max(1, width - key.cell_length)):
                lines.append(Content.assemble(key, line))
                key = Content(" " * key.cell_length)
        return lines, (*starts, len(lines))

    def _title(self, question: Question, others: int, left: str) -> Parts:
        approval = question.kind is QuestionKind.APPROVAL
        title = one_line(question.header, 60) or ("Approval" if approval else "Question")
        parts: list[tuple[str, str]] = [(f"{'◆' if approval else '?'} {title}", "bold $ask")]
        if question.step:
            parts.append((f"  step {question.step}", "$muted"))
        if others:
            parts.append((f"  and {others} more", "$muted"))
        if left:
            then = ", then rejected" if approval else " to answer"
            parts.append((f"  {left}{then}", "$warn"))
        if self._note:
            parts.append((f"\n{one_line(self._note, 200)}", "$warn"))
        return tuple(parts)

    def _body(self, question: Question) -> Parts:
        """Write what is asked, without its options."""
        parts = [*self._given_parts()]
        parts.append((with_phone(question, self._phone), "$foreground"))
        if about := about_subject(question):
            parts.append((f"\n{about}", "$muted"))
        return tuple(parts)

    def _given_parts(self) -> Parts:
        parts: list[tuple[str, str]] = []
        for name, answer in self._given:
            parts += [("✓ ", "$good"), (f"{one_line(name, 60)}: ", "$muted")]
            parts.append((f"{one_line(answer, 200)}\n", "$foreground"))
        return tuple(parts)

    def _given_lines(self, width: int) -> list[Content]:
        return list(to_content(self._given_parts()).wrap(width)) if self._given else []

    def _hint(self, question: Question) -> str:
        if self._only_looks:
            return "read-only: it is answered in a console that acts"
        if question.kind is QuestionKind.APPROVAL:
            return f"{'a' if self.has_focus else 'a a'} approve · r reject with a reason"
        hint = "enter to type an answer"
        if question.options:
            numbers = "1" if len(question.options) == 1 else "a number"
            hint = f"{numbers}, or {hint}"
        if self._given:
            hint += " · backspace for the previous part"
        return hint if self.has_focus else f"tab, then {hint}"

    def on_focus(self) -> None:
        # Textual sets has_focus after the handlers of subclasses.
        self.call_later(self._redraw)

    def on_blur(self) -> None:
        self.call_later(self._redraw)

    def on_resize(self, _event: Resize) -> None:
        self._redraw()

    def _redraw(self) -> None:
        self._look = None
        if self.question is not None:
            self.show_question(
                self.question,
                now_ms=self._now_ms,
                others=self._others,
                note=self._note,
                given=self._given,
                phone=self._phone,
            )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Take only the digits that name an option; the others are keys of the screen.

        A card that has just come takes them all, and does nothing: they were meant for another. So
        does the next part of a question, which digits were typed for in a row.
        """
        if action == "go_back":
            return bool(self._given)
        if action != "choose" or self.question is None or not self.is_ready or self._given:
            return True
        return parameters[0] in range(1, len(self.question.options) + 1)

    def action_choose(self, number: int) -> None:
        """Answer with an option; a number without one does nothing."""
        question = self.question
        if question is not None and self.is_ready and number <= len(question.options):
            self.post_message(self.Chosen(question, question.options[number - 1].label))

    # --- the mouse ----------

    def option_at(self, y: int) -> int:
        """Return the number of the option that is drawn at a line; 0 where none is."""
        line = y - self._above + self._first_line
        shown = 0 <= y - self._above < min(self._room, self._length - self._first_line)
        if not shown or len(self._starts) < 2 or not self._starts[0] <= line < self._starts[-1]:
            return 0
        return sum(start <= line for start in self._starts[:-1])

    def on_mouse_down(self, event: MouseDown) -> None:
        # With the focus the card may get another height: what counts is where it was pressed.
        self._pressed = self.option_at(event.get_content_offset_capture(self).y)

    def on_click(self, _event: Click) -> None:
        question, number = self.question, self._pressed
        if question is not None and number and self.is_ready:
            label = question.options[number - 1].label
            self.post_message(self.Chosen(question, label, by_mouse=True))

    def on_mouse_move(self, event: MouseMove) -> None:
        self._hover(self.option_at(event.get_content_offset_capture(self).y))

    def on_leave(self, _event: Leave) -> None:
        self._hover(0)

    def _hover(self, number: int) -> None:
        if number != self._hovered:
            self._hovered = number
            self._redraw()

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.action_move(1)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.action_move(-1)

    def action_write(self) -> None:
        """Answer in words."""
        if self.is_ready:
            self.post_message(self.Write())

    def action_go_back(self) -> None:
        """Take back what was answered last of several."""
        if self.is_ready:
            self.post_message(self.Back())

    def action_move(self, lines: int) -> None:
        self._first_line = max(0, min(self._first_line + lines, self._length - self._room))
        self._redraw()

    def action_page(self, by: int) -> None:
        """Move what is asked by half of what is seen."""
        self.action_move(by * max(1, self._room // 2))


def _more(above: int, below: int) -> str:
    """Return how much of a card is not seen, and how to see it."""
    where = [f"{above} above ↑"] if above > 0 else []
    where += [f"{below} more below ↓"] if below > 0 else []
    return f"… {' · '.join(where)} · j k moves"


def void_note(question: Question, items: Iterable[Item]) -> str:
    """Return that an approval was given before for the same call and was not used; else nothing."""
    for item in items:
        if (
            isinstance(item, QuestionItem)
            and item.question.kind is QuestionKind.APPROVAL
            and item.question.question_id != question.question_id
            and question.call_id
            and item.question.call_id == question.call_id
            and item.answer is not None
        ):
            return "Asked again: the previous answer is void, for the screen moved or work was cut."
    return ""


def with_phone(question: Question, phone: str) -> str:
    """Return what is asked, with the phone of the effect as the operator calls it."""
    asked = clean(question.shown, 6_000).strip()
    effect = question.subject.effect if question.subject is not None else None
    if not phone or effect is None or not effect.phone:
        return asked
    lines = asked.split("\n")
    for at, line in enumerate(lines):
        # The line that Switchboard wrote; what an app wrote stays as it is.
        if line.startswith("Where: ") and line.endswith(f" phone {effect.phone}"):
            lines[at] = line.removesuffix(effect.phone) + phone
    return "\n".join(lines)


def about_subject(question: Question) -> str:
    """Return an approval's subject: its element as the frame numbers it, its app, its effects.

    Empty where the approval states its effect, which says all of this in words.
    """
    subject = question.subject
    if subject is None or subject.effect is not None:
        return ""
    element = subject.element
    said = [f"[{element.number}] {element.kind} in {element.package}"] if element else []
    if may := CAPABILITIES.get(subject.capability):
        said.append(f"it may {may}")
    said += [subject.risk] if subject.risk else []
    return one_line(" · ".join(said), 200)
