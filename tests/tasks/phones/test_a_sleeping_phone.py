"""A turn that begins on a phone whose screen is off."""

from collections.abc import Sequence

import pytest

from agent.errors import DeviceError, DeviceLostError, TreeUnavailableError
from agent.loop.turn.observation_cache import SWITCHED_ON
from agent.protocol import EventMsg, ObservationRecorded, WarningEvent
from agent.records import Autonomy, UiNode
from tests.loop.paper_phone import PaperPhone
from tests.tasks.context import MemoryContext
from tests.tasks.counter import Counter
from tests.tasks.scripted import DONE, says, scripted, task


class Sleeper(Counter):
    """A counter whose screen is off until a key wakes it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_awake = False
        self.phone = PaperPhone(self.screen, self.on)

    def screen(self) -> Sequence[UiNode]:
        if not self.is_awake:
            raise TreeUnavailableError("paper gave no UI tree: the screen is off.")
        return super().screen()

    def on(self, what: str) -> None:
        super().on(what)
        if what == "key WAKEUP":
            self.is_awake = True
        elif what == "press POWER":
            self.is_awake = not self.is_awake


def warnings(context: MemoryContext) -> list[str]:
    return [m.message for m in context.of(WarningEvent) if isinstance(m, WarningEvent)]


def screens(context: MemoryContext) -> list[str]:
    seen = context.of(ObservationRecorded)
    return [m.observation.screen_text for m in seen if isinstance(m, ObservationRecorded)]


async def test_the_screen_is_switched_on_before_a_model_is_asked() -> None:
    sleeper = Sleeper()
    context = MemoryContext(scripted(DONE), sleeper.phone)
    told_before: list[tuple[EventMsg, int]] = []
    context.on_emit = lambda msg: told_before.append((msg, len(sleeper.phone.done)))
    end = await task().run(context)
    assert end.completed
    assert sleeper.phone.done == ["key WAKEUP"]
    assert (WarningEvent(message=SWITCHED_ON), 0) in told_before
    [screen] = screens(context)
    assert '[1] btn: "Press"' in screen


@pytest.mark.parametrize(
    "more",
    [{"dry_run": True}, {"autonomy": Autonomy.OBSERVE_ONLY}, {"background": True}],
    ids=["a dry run", "observe only", "a job"],
)
async def test_what_may_not_touch_the_phone_leaves_its_screen_off(more: dict[str, object]) -> None:
    sleeper = Sleeper()
    context = MemoryContext(scripted(DONE), sleeper.phone, **more)  # type: ignore[arg-type]
    await task().run(context)
    assert sleeper.phone.done == []
    assert warnings(context) == []
    assert "the screen is off" in screens(context)[0]


async def test_a_screen_that_the_work_switched_off_stays_off() -> None:
    sleeper = Sleeper()
    off = says("press_button", button="POWER")
    context = MemoryContext(scripted(off, says("wait", seconds=5), DONE), sleeper.phone)
    await task().run(context)
    assert sleeper.phone.done == ["key WAKEUP", "press POWER"]
    assert "the screen is off" in screens(context)[-1]


async def test_a_phone_that_does_not_wake_is_shown_as_it_is() -> None:
    sleeper = Sleeper()
    sleeper.phone.failures["key"] = [DeviceError("paper refused the key.")]
    context = MemoryContext(scripted(DONE), sleeper.phone)
    end = await task().run(context)
    assert end.completed
    told = "The screen could not be switched on: paper refused the key."
    assert warnings(context) == [SWITCHED_ON, told]
    assert "the screen is off" in screens(context)[0]


async def test_a_phone_that_goes_away_as_it_is_woken_is_waited_for() -> None:
    sleeper = Sleeper()
    sleeper.phone.failures["key"] = [DeviceLostError("paper went away.")]
    context = MemoryContext(scripted(DONE), sleeper.phone)

    def returns() -> None:
        sleeper.is_awake = True

    context.on_wait = returns
    end = await task().run(context)
    assert end.completed
    assert context.waits_for_device == 1
    assert '[1] btn: "Press"' in screens(context)[0]
