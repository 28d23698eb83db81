"""A page that counts, and turns of the regular task on it."""

from collections.abc import Sequence

from agent.protocol import ToolCallFinished
from agent.records import Question, UiNode
from tests.loop.paper_phone import PaperPhone, button, field, node
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import ScriptedModel, task


class Counter:
    """A page with a button that counts its presses, a field, and a button that sends."""

    def __init__(self) -> None:
        self.count = 0
        self.text = ""
        self.focused = False
        self.phone = PaperPhone(self.screen, self.on)

    def screen(self) -> Sequence[UiNode]:
        return (
            button("Press", 0.3),
            node(f"pressed {self.count}", (0.1, 0.4, 0.9, 0.45)),
            field("Message", 0.5, self.text, focused=self.focused),
            button("Send", 0.6),
        )

    def on(self, what: str) -> None:
        if what in {"tap Press", "tap Send"}:
            self.count += 1
        elif what == "tap Message":
            self.focused = True
        elif what == "clear":
            self.text = ""
        elif what.startswith("type "):
            self.text += what.removeprefix("type ")


def results(context: MemoryContext) -> list[str]:
    return [m.text for m in context.of(ToolCallFinished) if isinstance(m, ToolCallFinished)]


def yes(_question: Question) -> str:
    return "Approve"


async def run(
    model: ScriptedModel, counter: Counter | None = None, **more: object
) -> MemoryContext:
    context = MemoryContext(model, (counter or Counter()).phone, **more)  # type: ignore[arg-type]
    await task().run(context)
    return context
