"""An action is aimed at the screen as it is now, not as it was when the model began to think."""

from collections.abc import Sequence

from agent.models.model import ModelReply, ModelRequest
from agent.protocol import ToolCallFinished
from agent.records import ActionOutcome, UiNode
from tests.loop.paper_phone import PaperPhone, button
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, Turn, says, scripted, task

THOUGHT_MS = 9_000


class Surprise:
    """A phone on which a dialog comes up while the model thinks."""

    def __init__(self, *dialog: UiNode) -> None:
        self.shown: Sequence[UiNode] = (button("Save", 0.2), button("Back", 0.8))
        self.dialog = dialog
        self.phone = PaperPhone(lambda: self.shown)

    def context(self, *turns: Turn) -> MemoryContext:
        self.made = MemoryContext(scripted(*turns), self.phone)
        return self.made

    def think_long(self, _request: ModelRequest) -> ModelReply:
        """Answer for the screen that was shown, long after it has gone."""
        self.made.clock += THOUGHT_MS
        self.shown = self.dialog
        return says("click_element", element=1)


async def test_a_dialog_that_came_during_a_long_model_call_never_gets_the_tap() -> None:
    surprise = Surprise(button("Delete everything", 0.2), button("Cancel", 0.8))
    # The dialog is still open, so the first claim is refused.
    context = surprise.context(surprise.think_long, DONE, DONE)
    await task().run(context)
    assert surprise.phone.done == []
    results = [e.msg for e in context.events if isinstance(e.msg, ToolCallFinished)]
    assert results[0].outcome is ActionOutcome.FAILED
    assert "The screen changed in the meantime" in results[0].text


async def test_what_is_still_there_is_tapped_although_it_has_another_number_now() -> None:
    surprise = Surprise(button("A notice", 0.05), button("Save", 0.2), button("Back", 0.8))
    context = surprise.context(surprise.think_long, DONE)
    await task().run(context)
    assert surprise.phone.done == ["tap Save"]


async def test_a_screen_from_before_somebody_else_had_the_phone_is_old_at_once() -> None:
    surprise = Surprise(button("Delete everything", 0.2))

    def quick(request: ModelRequest) -> ModelReply:
        surprise.shown = surprise.dialog
        surprise.made.disturbed_ms = surprise.made.clock
        return says("click_element", element=1)

    await task().run(surprise.context(quick, DONE))
    assert surprise.phone.done == []
