"""The offline pilot at real work: the regular task, a real adb server, a virtual phone.

What counts is the phone's true state, read after it has stopped, and what was asked on the way.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.adb_device import AdbDevice
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.devices.protocols import Device
from agent.loop.task_context import TurnEnd
from agent.loop.turn.observation_cache import SWITCHED_ON
from agent.loop.turn.touch_guard import TOUCHED
from agent.models.pilot import Pilot
from agent.protocol import SessionFlagsChanged, ToolCallFinished, ToolCallRequested, WarningEvent
from agent.records import Question, QuestionKind
from agent.tasks.regular import RegularTask
from tests.tasks.context import MemoryContext
from virtual_phone.phone import Phone

Answer = Callable[[Question], "str | None"]


def approve(question: Question) -> str | None:
    """Approve what needs approval, and answer nothing else."""
    return "Approve" if question.kind is QuestionKind.APPROVAL else None


@asynccontextmanager
async def virtual_phone(folder: Path) -> AsyncIterator[Device]:
    server = AdbServer(folder / "adb")
    phones = VirtualPhones(folder / "phones", server)
    try:
        [serial] = await phones.start()
        fleet = AdbFleet([server.address])
        await fleet.start()
        try:
            async with fleet.lease(serial, "test") as device:
                yield device
        finally:
            await fleet.close()
    finally:
        await phones.stop()
        await server.stop()


async def pursue(
    device: Device, goal: str, answer: Answer = approve
) -> tuple[TurnEnd, MemoryContext]:
    context = MemoryContext(Pilot(), device, goal=goal, answer=answer)
    return await RegularTask().run(context), context


async def met(device: Device, goal: str, answer: Answer = approve) -> MemoryContext:
    end, context = await pursue(device, goal, answer)
    story = [m for e in context.events if isinstance(m := e.msg, ToolCallFinished)]
    assert end.completed, (goal, end.message, [m.text for m in story])
    return context


def truth(folder: Path) -> dict[str, Any]:
    """Read the phone's true state from its own files."""
    [home] = [path for path in (folder / "phones").iterdir() if path.is_dir()]
    state: dict[str, Any] = Phone(home, name=home.name).state()
    return state


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_switches_end_in_the_state_that_the_goal_names(tmp_path: Path) -> None:
    async with virtual_phone(tmp_path) as device:
        await met(device, "open Settings and turn on Bluetooth")
        await met(device, "Please switch the dark mode on in the Settings app")
        await met(device, "turn Wi-Fi off")
        again = await met(device, "make sure that Bluetooth is on")
        # It was on already: what is as it should be is not touched.
        clicked = [m for m in again.of(ToolCallRequested) if isinstance(m, ToolCallRequested)]
        assert not any(
            m.element is not None and m.element.checkable for m in clicked if m.tool != "finish"
        )
        # Nobody has to press a key before the work begins.
        await device.key("SLEEP")
        woken = await met(device, "make sure that Bluetooth is on")
        assert WarningEvent(message=SWITCHED_ON) in woken.of(WarningEvent)
        assert not any(
            isinstance(m, ToolCallRequested) and m.tool == "press_button"
            for m in woken.of(ToolCallRequested)
        )
    state = truth(tmp_path)
    assert state["bluetooth"] is True
    assert state["wifi"] is False
    assert state["dark_theme"] is True


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_notes_are_written_told_apart_and_deleted(tmp_path: Path) -> None:
    asked: list[Question] = []

    def choose(question: Question) -> str | None:
        asked.append(question)
        if question.kind is QuestionKind.APPROVAL:
            return "Approve"
        return question.options[0].label

    async with virtual_phone(tmp_path) as device:
        await met(device, 'write a note saying "milk and eggs"')
        await met(device, 'jot down "milk and eggs"')
        await met(device, 'delete the note "milk and eggs"', choose)
        await met(device, "delete the Packing list note", choose)
        end, context = await pursue(device, 'delete the note "Unicorns"', choose)
        assert not end.completed
        assert "Unicorns" in end.message
        assert context.questions == []
    kinds = [question.kind for question in asked]
    assert kinds == [QuestionKind.QUESTION, QuestionKind.APPROVAL, QuestionKind.APPROVAL]
    assert len(asked[0].options) == 2
    notes = [f"{note['title']} {note['body']}".strip() for note in truth(tmp_path)["notes"]]
    assert notes.count("milk and eggs") == 1
    assert not any("Packing list" in note for note in notes)


@pytest.mark.timeout(300)
async def test_messages_leave_only_with_approval(tmp_path: Path) -> None:
    async with virtual_phone(tmp_path) as device:
        refused, context = await pursue(
            device, 'send "never mind" to Ben Carter', lambda _q: "Deny"
        )
        assert not refused.completed
        assert "rejected" in refused.message
        assert len(context.questions) == 1
        await met(device, 'text Dad "on my way"')
        # Nearly a name is not a name: it asks, and takes no answer for a no.
        end, unanswered = await pursue(device, 'send "hello" to Chlo')
        assert not end.completed
        assert unanswered.questions[0].kind is QuestionKind.QUESTION
    said = {
        thread["name"]: [m["body"] for m in thread["messages"] if m["mine"]]
        for thread in truth(tmp_path)["messages"]
    }
    assert "on my way" in said["Dad"]
    assert "never mind" not in said["Ben Carter"]


@pytest.mark.timeout(300)
async def test_what_cannot_be_done_is_said_and_never_claimed(tmp_path: Path) -> None:
    async with virtual_phone(tmp_path) as device:
        for goal, said in (
            ("book a flight to Mars", "book a flight to Mars"),
            ("open Spotify", "No app called “Spotify” is installed. The phone has: "),
            ("turn on the flux capacitor", "flux capacitor"),
        ):
            end, _ = await pursue(device, goal)
            assert not end.completed
            assert said in end.message
        await met(device, "open Notes")
        assert (await device.foreground()).package == "com.android.notes"


FINGER = " ; ".join(
    f"sendevent /dev/input/event1 {event}"
    for event in ("3 57 1", "1 330 1", "0 0 0", "3 57 -1", "1 330 0", "0 0 0")
)


async def test_a_finger_on_the_phone_pauses_the_session_and_its_own_taps_do_not(
    tmp_path: Path,
) -> None:
    server = AdbServer(tmp_path / "adb")
    phones = VirtualPhones(tmp_path / "phones", server)
    try:
        [serial] = await phones.start()
        client = AdbClient(server.address)
        device = AdbDevice(client, serial)
        untouched = await met(device, "turn on Bluetooth")
        assert untouched.pauses == []
        context = MemoryContext(Pilot(), device, goal="turn off Bluetooth")
        context.may_go.clear()
        paused = asyncio.Event()
        context.on_emit = lambda m: paused.set() if isinstance(m, SessionFlagsChanged) else None
        turn = asyncio.create_task(RegularTask().run(context))
        async with asyncio.timeout(60):
            while not paused.is_set():
                # The watch may not have begun when the first finger comes.
                await client.shell(serial, FINGER, features=frozenset({"shell_v2"}), timeout_s=30)
        assert context.pauses == [TOUCHED]
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)
    finally:
        await phones.stop()
        await server.stop()
