"""What is approved for a session passes again there, and nothing beside it does."""

from collections.abc import Sequence

from agent.records import Autonomy, UiNode
from agent.safety.approval import FOR_SESSION, is_yes, typed_instead
from tests.loop.paper_phone import PaperPhone, button, field
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, says, scripted, task


class Mailbox:
    """Mails that can be deleted one by one, one that can be paid, and a search."""

    def __init__(self) -> None:
        self.deleted = 0
        self.typed = ""
        self.phone = PaperPhone(self.screen, self.on)

    def screen(self) -> Sequence[UiNode]:
        return (
            field("Search", 0.2, self.typed, focused=True),
            button(f"Mail {self.deleted}", 0.3),
            button("Delete", 0.4),
            button("Pay now", 0.5),
        )

    def on(self, what: str) -> None:
        self.deleted += what == "tap Delete"
        if what.startswith("type "):
            self.typed = what.removeprefix("type ")


async def turn(mailbox: Mailbox, answer: str, *elements: int, **more: object) -> MemoryContext:
    calls = [says("click_element", element=number) for number in elements]
    context = MemoryContext(
        scripted(*calls, DONE),
        mailbox.phone,
        answer=lambda question: answer,
        **more,  # type: ignore[arg-type]
    )
    await task().run(context)
    return context


async def test_the_same_button_passes_for_the_rest_of_the_session() -> None:
    mailbox = Mailbox()
    context = await turn(mailbox, FOR_SESSION, 3, 3)
    assert (mailbox.deleted, len(context.questions)) == (2, 1)
    # A turn after a restart reads it from what is stored.
    later = await turn(mailbox, "Deny", 3, past=tuple(context.events))
    assert (mailbox.deleted, len(later.questions)) == (3, 0)


async def test_another_button_and_an_approval_for_once_are_asked_about_again() -> None:
    mailbox = Mailbox()
    context = await turn(mailbox, "Approve", 3, 3)
    assert len(context.questions) == 2
    context = await turn(mailbox, FOR_SESSION, 3, 4)
    assert len(context.questions) == 2


async def test_money_is_never_approved_for_longer_than_once() -> None:
    mailbox = Mailbox()
    context = await turn(mailbox, FOR_SESSION, 4, 4)
    assert len(context.questions) == 2


def test_only_plain_words_grant() -> None:
    assert is_yes(FOR_SESSION)
    assert is_yes("Approve with: hello")
    assert typed_instead("approve with:  hello there ") == "hello there"
    assert typed_instead("Approve with:") is None
    assert not is_yes("Approve this session of something else")
    assert not is_yes("Deny: instead, approve with: x")


async def test_what_the_operator_writes_instead_is_typed() -> None:
    mailbox = Mailbox()
    context = MemoryContext(
        scripted(says("type_text", element=1, text="eggs"), DONE),
        mailbox.phone,
        answer=lambda question: "Approve with: milk",
        autonomy=Autonomy.ASK_BEFORE_ACTION,
    )
    await task().run(context)
    assert [question.subject is not None for question in context.questions] == [True]
    assert mailbox.typed == "milk"
