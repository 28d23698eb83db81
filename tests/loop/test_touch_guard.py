"""A hand on the phone pauses the session before its next action."""

import asyncio
from collections.abc import AsyncGenerator

from agent.errors import DeviceError
from agent.loop.task_context import Limits
from agent.loop.turn.touch_guard import TOUCHED, watched
from agent.protocol import SessionFlagsChanged
from tests.loop.paper_phone import PaperPhone, button
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, Clock, says, scripted, task


class TouchedPhone(PaperPhone):
    def __init__(self) -> None:
        super().__init__(lambda: [button("Go", 0.3)])
        self.fingers: asyncio.Queue[int | None] = asyncio.Queue()
        self.followed = asyncio.Event()
        self.left = asyncio.Event()

    async def touches(self) -> AsyncGenerator[int, None]:
        self.followed.set()
        try:
            while (seen_ms := await self.fingers.get()) is not None:
                yield seen_ms
            raise DeviceError("the panel is closed")
        finally:
            self.left.set()


async def test_a_touch_pauses_the_session_and_a_resume_goes_on_after_a_fresh_look() -> None:
    phone = TouchedPhone()
    context = MemoryContext(scripted(says("click_element", element=1), DONE), phone)
    context.may_go.clear()
    paused = asyncio.Event()
    context.on_emit = lambda msg: paused.set() if isinstance(msg, SessionFlagsChanged) else None
    turn = asyncio.create_task(task().run(context))
    async with asyncio.timeout(30):
        await phone.followed.wait()
        phone.fingers.put_nowait(1)
        await paused.wait()
    assert context.pauses == [TOUCHED]
    assert phone.done == []
    await context.emit(SessionFlagsChanged(paused=False))
    context.may_go.set()
    async with asyncio.timeout(30):
        end = await turn
    assert end.completed
    assert phone.done == ["tap Go"]
    assert phone.left.is_set()


async def test_a_phone_that_shows_no_touches_is_driven_without_a_watch() -> None:
    phone = TouchedPhone()
    phone.fingers.put_nowait(None)
    context = MemoryContext(scripted(DONE), phone)
    async with watched(context, Clock().sleep), asyncio.timeout(30):
        await phone.left.wait()
    assert context.pauses == []


async def test_a_paused_session_is_not_paused_again() -> None:
    phone = TouchedPhone()
    context = MemoryContext(scripted(DONE), phone)
    async with watched(context, Clock().sleep), asyncio.timeout(30):
        for seen_ms in (1, 2, 3):
            phone.fingers.put_nowait(seen_ms)
        phone.fingers.put_nowait(None)
        await phone.left.wait()
    assert context.pauses == [TOUCHED]


async def test_where_it_is_not_wanted_nobody_watches() -> None:
    phone = TouchedPhone()
    phone.fingers.put_nowait(1)
    context = MemoryContext(scripted(DONE), phone, limits=Limits(pause_on_touch=False))
    await task().run(context)
    assert not phone.followed.is_set()
