"""A label that is not on the screen: the result says where it may be, and never names another."""

from collections.abc import Sequence

from agent.records import Foreground, UiNode
from tests.loop.paper_phone import APP, PaperPhone, button, field
from tests.tasks.context import MemoryContext
from tests.tasks.counter import results
from tests.tasks.scripted import says, scripted, task

FAILS = says("finish", success=False, summary="It cannot be done.")


class Contacts:
    """A list of people over a field; the keyboard covers what is below the field."""

    def __init__(self) -> None:
        self.typing = False
        self.phone = PaperPhone(self.screen, self.on)

    def screen(self) -> Sequence[UiNode]:
        people = [button("Anna Berg", 0.2), button("Anna Bergmann", 0.3)]
        below = [] if self.typing else [button("Keep", 0.8)]
        return (*people, field("Note", 0.5, focused=self.typing), *below)

    def on(self, what: str) -> None:
        if what == "tap Note":
            self.typing = True
            self.phone.front = Foreground(package=APP, activity=".Main", keyboard_shown=True)


async def told(*calls: str) -> str:
    contacts = Contacts()
    turns = [says("click_element", label=label) for label in calls]
    context = MemoryContext(scripted(*turns, FAILS), contacts.phone)
    await task().run(context)
    return results(context)[len(calls) - 1]


async def test_another_persons_name_is_never_offered() -> None:
    said = await told("Anna Bergman")
    assert 'is called "Anna Bergman"' in said
    assert "Anna Berg " not in said and "Bergmann" not in said


async def test_what_the_keyboard_covers_is_said_to_be_below_it() -> None:
    assert "the keyboard covers it now" in await told("Note", "Keep")
