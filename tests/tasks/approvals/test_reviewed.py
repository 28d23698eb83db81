"""The regular task in the background: it asks for a review, and does what was approved, once."""

import re
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from agent import protocol
from agent.loop.task_context import Grant, TurnEnd
from agent.models.model import ModelReply, ModelRequest
from agent.records import ActionOutcome, Question, UiNode
from agent.safety.review_binding import params_digest
from tests.loop.paper_phone import PaperPhone, button, field, node
from tests.safety.reviewer.reader import Reader, read_by
from tests.safety.reviewer.reader import says as reviewer_says
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, ScriptedModel, Turn, raw, says, scripted, task


class Chat:
    """A chat with a field, a button that sends, and a clock."""

    def __init__(self) -> None:
        self.sent = 0
        self.clock = "9:41"
        self.draft = "See you at six"
        self.has_send = True
        self.phone = PaperPhone(self.screen, self.on)

    def screen(self) -> Sequence[UiNode]:
        rows = [
            node(self.clock, (0.1, 0.0, 0.3, 0.03)),
            node(f"sent {self.sent}", (0.1, 0.4, 0.9, 0.45)),
            field("Message", 0.5, self.draft),
        ]
        return (*rows, button("Send", 0.6)) if self.has_send else tuple(rows)

    def on(self, what: str) -> None:
        if what == "tap Send":
            self.sent += 1


async def ask(chat: Chat, call: Turn | None = None) -> tuple[MemoryContext, Question]:
    """Let a background turn come to its wish to press Send; returns what it asks.

    Args:
        call: how it wants it; by the number of Send without.
    """
    context = MemoryContext(scripted(call or tap_send), chat.phone, background=True)
    end = await task().run(context)
    assert isinstance(end, TurnEnd) and end.review is not None
    return context, end.review


def tap_send(request: ModelRequest) -> ModelReply:
    """Find the number of Send in what the model is shown, and press it."""
    found = re.findall(r"\[(\d+)\][^\[]*?Send", repr(request.messages))
    return says("click_element", element=int(found[-1]))


async def go_on(
    chat: Chat, asked: MemoryContext, question: Question, *then: object
) -> tuple[MemoryContext, TurnEnd, ScriptedModel]:
    """Approve, and run the next turn of the same session."""
    assert question.review is not None
    past = [*asked.events]
    for msg in (
        protocol.RequestUserInput(question=question),
        protocol.TurnAborted(turn_id="t-1", reason=protocol.AbortReason.AWAITING_REVIEW),
        protocol.QuestionAnswered(question_id=question.question_id, answer="Approve"),
        protocol.SessionContinued(generation=0, after_step=1, job_id=1),
    ):
        last = past[-1]
        past.append(replace(last, event_id=last.event_id + 1, seq=last.seq + 1, msg=msg))
    model = scripted(*(then or (DONE,)))  # type: ignore[arg-type]
    context = MemoryContext(
        model,
        chat.phone,
        background=True,
        past=past,
        turn_id="t-2",
        grant=Grant(call_id=question.call_id, screen_digest=question.review.screen_digest),
    )
    return context, await task().run(context), model


def results(context: MemoryContext) -> list[protocol.ToolCallFinished]:
    return [
        m for m in context.of(protocol.ToolCallFinished) if isinstance(m, protocol.ToolCallFinished)
    ]


async def test_what_is_asked_names_the_element_the_frame_and_the_digests() -> None:
    chat = Chat()
    _, question = await ask(chat)
    assert 'Press "Send"' in question.text
    assert question.subject is not None and question.subject.element is not None
    assert question.subject.element.label == "Send" and question.subject.frame is not None
    ticket = question.review
    assert ticket is not None and ticket.tool == "click_element"
    number = question.subject.element.number
    assert ticket.params_digest == params_digest("click_element", {"element": number})
    assert len(ticket.screen_digest) == 64 and chat.phone.done == []


async def test_the_approved_action_is_done_once_after_a_fresh_look_and_the_turn_goes_on() -> None:
    chat = Chat()
    asked, question = await ask(chat)
    context, end, _ = await go_on(chat, asked, question)
    assert (end.completed, chat.sent, chat.phone.done) == (True, 1, ["tap Send"])
    first = results(context)[0]
    assert (first.call_id, first.outcome) == (question.call_id, ActionOutcome.DONE)


NAMES: tuple[dict[str, object], ...] = (
    {"label": "Send"},
    {"element": "Send"},
    {"label": "Send", "element": None},
)


@pytest.mark.parametrize("name", NAMES, ids=repr)
async def test_an_approved_action_is_found_again_however_its_element_was_named(
    name: dict[str, object],
) -> None:
    chat = Chat()
    asked, question = await ask(chat, says("click_element", **name))
    chat.clock = "10:02"
    context, _, _ = await go_on(chat, asked, question)
    assert (chat.sent, results(context)[0].outcome) == (1, ActionOutcome.DONE)


async def test_a_text_that_was_approved_for_a_field_by_its_label_goes_into_that_field() -> None:
    chat = Chat()
    asked, question = await ask(chat, says("type_text", label="Message", text=" sharp"))
    await go_on(chat, asked, question)
    assert chat.phone.done == ["tap See you at six", "type  sharp"]


async def test_another_action_after_the_approved_one_is_asked_for_again() -> None:
    chat = Chat()
    asked, question = await ask(chat)
    _, end, _ = await go_on(chat, asked, question, tap_send)
    assert chat.sent == 1 and end.review is not None
    assert end.review.call_id != question.call_id


async def test_a_clock_that_went_on_voids_nothing() -> None:
    chat = Chat()
    asked, question = await ask(chat)
    chat.clock = "10:02"
    await go_on(chat, asked, question)
    assert chat.sent == 1


async def test_another_text_on_the_screen_voids_the_approval_and_it_is_asked_anew() -> None:
    chat = Chat()
    asked, question = await ask(chat)
    chat.draft = "I quit"
    context, end, _ = await go_on(chat, asked, question)
    assert chat.sent == 0 and chat.phone.done == []
    assert end.review is not None and end.review.review is not None
    assert question.review is not None
    assert end.review.call_id == question.call_id
    assert end.review.review.screen_digest != question.review.screen_digest
    assert any("approval is void" in w.message for w in context.of(protocol.WarningEvent))  # type: ignore[attr-defined]


async def test_an_element_that_is_gone_is_told_to_the_model_and_nothing_is_done() -> None:
    chat = Chat()
    asked, question = await ask(chat)
    chat.has_send = False
    context, end, _ = await go_on(chat, asked, question)
    assert end.completed and chat.phone.done == []
    assert results(context)[0].outcome is ActionOutcome.FAILED
    assert context.of(protocol.ObservationRecorded)


async def test_what_looks_like_a_secret_is_put_into_no_review() -> None:
    chat = Chat()
    secret = "Bearer abcdef0123456789"
    model = scripted(raw("type_text", f'{{"text": "{secret}"}}'), DONE)
    context = MemoryContext(model, chat.phone, background=True)
    end = await task().run(context)
    assert end.completed and end.review is None and chat.phone.done == []
    assert results(context)[0].outcome is ActionOutcome.FAILED


async def test_a_dry_run_asks_for_no_review_for_it_does_nothing() -> None:
    chat = Chat()
    context = MemoryContext(scripted(tap_send), chat.phone, background=True, dry_run=True)
    end = await task().run(context)
    assert end.completed and end.review is None and chat.phone.done == []


class Pages:
    """A list whose row opens a page, with a switch beside it; each act is noted."""

    def __init__(self) -> None:
        self.phone = PaperPhone(self.screen)

    def screen(self) -> Sequence[UiNode]:
        area = node(at=(0, 0.1, 1, 0.9), scrollable=True, class_name="a.RecyclerView")
        row = node("Order 1042", (0, 0.3, 1, 0.4), clickable=True, parent=0)
        switch = node(
            "Night light", (0, 0.5, 1, 0.6), class_name="a.Switch", checkable=True, clickable=True
        )
        return (area, row, switch, node(f"seen {len(self.phone.done)}", (0, 0.92, 1, 0.95)))


async def in_background(call: ModelReply, reader: Reader | None = None) -> tuple[Pages, TurnEnd]:
    pages = Pages()
    more = {} if reader is None else {"reviewing": read_by(reader)}
    context = MemoryContext(
        scripted(call, DONE, DONE),
        pages.phone,
        goal="tell me what is in order 1042",
        background=True,
        **more,  # type: ignore[arg-type]
    )
    return pages, await task().run(context)


@pytest.mark.parametrize(
    "call",
    [
        says("scroll", direction="down"),
        says("press_button", button="BACK"),
        says("launch_app", app="Settings"),
    ],
)
async def test_a_job_looks_around_without_a_review(call: ModelReply) -> None:
    pages, end = await in_background(call)
    assert end.review is None
    assert len(pages.phone.done) == 1


@pytest.mark.parametrize("call", [says("press_button", button=b) for b in ("ENTER", "VOLUME_UP")])
async def test_a_key_that_may_do_something_is_reviewed(call: ModelReply) -> None:
    pages, end = await in_background(call)
    assert end.review is not None and pages.phone.done == []


@pytest.mark.parametrize(
    ("number", "said", "done"),
    [
        (2, None, False),
        (2, reviewer_says(), True),
        (2, reviewer_says(effect="switch"), False),
        (2, reviewer_says(verdict="ask", effect="other"), False),
        (2, "no JSON", False),
        (3, reviewer_says(), False),
    ],
    ids=["no reviewer", "opens", "switches", "asks", "a reviewer that fails", "a switch"],
)
async def test_a_press_of_a_job_is_reviewed_unless_the_reviewer_says_that_it_only_opens(
    number: int, said: dict[str, object] | str | None, done: bool
) -> None:
    reader = None if said is None else Reader(lambda _text: said)
    pages, end = await in_background(says("click_element", element=number), reader)
    assert bool(pages.phone.done) is done
    assert (end.review is None) is done
