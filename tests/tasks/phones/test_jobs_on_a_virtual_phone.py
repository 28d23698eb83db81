"""Jobs at real work: how often a run on a virtual phone waits for a review."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from agent import protocol
from agent.devices.protocols import Button, Device
from agent.loop.task_context import Grant, TurnEnd
from agent.records import Question
from agent.tasks.regular import RegularTask
from tests.safety.reviewer.reader import Reader, read_by
from tests.safety.reviewer.reader import says as reviewer_says
from tests.tasks.context import MemoryContext
from tests.tasks.phones.test_effects_on_a_virtual_phone import presses
from tests.tasks.phones.test_pilot_on_a_virtual_phone import virtual_phone
from tests.tasks.scripted import ScriptedModel, Turn, says

BACK = says("press_button", button="BACK")
GREETING = "Good morning"
END = (says("finish", success=False, summary="Enough."),) * 3


def recipient_of(review: Question) -> str:
    """Return to whom a review says that something would be sent."""
    effect = review.subject.effect if review.subject is not None else None
    return effect.recipient.text if effect is not None and effect.recipient is not None else ""


def passes(_question: str) -> dict[str, object]:
    """Review as a reader that sees no effect anywhere, also where a message goes."""
    return reviewer_says()


class Run:
    """A run of a job: its turns, each of which goes on where a review let it."""

    def __init__(self, device: Device, goal: str, turns: Sequence[Turn]) -> None:
        self.device = device
        self.goal = goal
        self.model = ScriptedModel([*turns, *END])
        self.reviews: list[Question] = []
        self.results: list[str] = []
        self.meanwhile: Callable[[], Awaitable[object]] | None = None
        """What happens once, between the first review and its answer."""

    @property
    def sent(self) -> int:
        """Return how many messages it sent."""
        return sum("Send SMS" in text and text.startswith("OK") for text in self.results)

    async def work(self, answer: str = "Approve") -> None:
        """Work until nothing waits; each review gets the same answer."""
        past: list[protocol.Event] = []
        grant: Grant | None = None
        for turn in range(1, 9):
            context = MemoryContext(
                self.model,
                self.device,
                goal=self.goal,
                background=True,
                reviewing=read_by(Reader(passes)),
                past=past,
                turn_id=f"t-{turn}",
                grant=grant,
            )
            end = await RegularTask().run(context)
            assert isinstance(end, TurnEnd)
            self.results += [
                m.text
                for m in context.of(protocol.ToolCallFinished)
                if isinstance(m, protocol.ToolCallFinished)
            ][len(self.results) :]
            if end.review is None:
                return
            review = replace(end.review, question_id=f"q-{turn}")
            assert review.review is not None
            self.reviews.append(review)
            if self.meanwhile is not None:
                await self.meanwhile()
                self.meanwhile = None
            past = _with(
                context.events,
                protocol.RequestUserInput(question=review),
                protocol.TurnAborted(
                    turn_id=context.turn_id, reason=protocol.AbortReason.AWAITING_REVIEW
                ),
                protocol.QuestionAnswered(question_id=review.question_id, answer=answer),
                protocol.SessionContinued(generation=0, after_step=turn, job_id=1),
            )
            grant = Grant(call_id=review.call_id, screen_digest=review.review.screen_digest)
        raise AssertionError("it never came to an end")


def _with(events: Sequence[protocol.Event], *msgs: protocol.EventMsg) -> list[protocol.Event]:
    found = list(events)
    for msg in msgs:
        last = found[-1]
        found.append(replace(last, event_id=last.event_id + 1, seq=last.seq + 1, msg=msg))
    return found


def greets(name: str) -> tuple[Turn, ...]:
    return (
        says("launch_app", app="Messages"),
        presses(name),
        presses("Text message", "type_text", text=GREETING),
        presses("Send SMS"),
    )


async def test_a_job_is_reviewed_once_for_a_greeting_and_never_for_looking(tmp_path: Path) -> None:
    looks = (
        says("launch_app", app="Messages"),
        presses("Ben Carter"),
        BACK,
        says("scroll", direction="down"),
        says("press_button", button="HOME"),
        says("launch_app", app="Settings"),
        presses("Display"),
        says("press_button", button="HOME"),
    )
    async with virtual_phone(tmp_path) as device:
        looking = Run(device, "tell me what Ben wrote and how bright the screen is", looks)
        await looking.work()
        greeting = Run(device, f'send "{GREETING}" to Ben Carter', greets("Ben Carter"))
        await greeting.work()
    assert looking.reviews == []
    assert sum(text.startswith("OK") for text in looking.results) >= len(looks) - 1
    [review] = greeting.reviews
    assert review.text.startswith(f'Send to Ben Carter: "{GREETING}"')
    so_far = review.text.splitlines()[-1]
    assert so_far.startswith("So far: opened the app")
    assert 'pressed "Ben Carter' in so_far and f'typed "{GREETING}"' in so_far
    assert greeting.sent == 1


async def test_an_approval_counts_for_the_run_or_for_the_same_effect_elsewhere(
    tmp_path: Path,
) -> None:
    again = (presses("Text message", "type_text", text="And a good day"), presses("Send SMS"))
    other = (BACK, BACK, *greets("Ana Silva")[1:], says("press_button", button="HOME"))
    async with virtual_phone(tmp_path) as device:
        turns = (*greets("Ben Carter"), *again, *other)
        several = Run(device, "wish Ben Carter and Ana Silva a good morning", turns)
        await several.work("Approve for this run")
        # While the operator decides, somebody leaves the page: it is gone when it is approved.
        once = Run(device, f'greet "{GREETING}" to Chloe', greets("Chloe Dubois") * 2)
        once.meanwhile = lambda: device.press(Button.HOME)
        await once.work()
    assert [recipient_of(review) for review in several.reviews] == ["Ben Carter", "Ana Silva"]
    assert several.sent == 3
    assert [recipient_of(review) for review in once.reviews] == ["Chloe Dubois"]
    assert once.sent == 1 and any("nobody is asked" in text for text in once.results)
