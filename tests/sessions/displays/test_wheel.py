"""The wheel: who drives, what is stored of it, and what the model is told."""

from pathlib import Path

import pytest

from agent import protocol
from agent.errors import UsageError, WrongStateError
from agent.loop.conversation.operator_words import OperatorWords
from agent.loop.task_context import TaskContext
from agent.records import ActionOutcome, Point, SessionState
from agent.state.event_text import sentence
from tests.fakes import FakeFleet
from tests.stage import Cue, Stage, of_type, waiting_at

MIDDLE = Point(x=0.5, y=0.25)


async def test_a_session_waits_while_the_operator_drives_and_is_told_what_was_done(
    tmp_path: Path,
) -> None:
    stage, acting = Stage(tmp_path, FakeFleet("p1")), Cue()
    heard: list[str] = []
    disturbed: list[int] = []

    async def work(context: TaskContext) -> str:
        await acting.wait()
        await context.device.tap(Point(x=0.1, y=0.1))
        await context.checkpoint()
        heard.extend(hint.text for hint in context.take_steering())
        disturbed.append(context.disturbed_ms)
        return "done"

    stage.parts["go"] = work
    async with stage.play():
        session_id = await stage.create("go", serial="p1")
        await acting.there()
        reply = await stage.do(protocol.WheelTake(serial="p1"))
        assert reply.session_id == session_id
        assert stage.fleet.infos["p1"].driver == "operator"
        assert (await stage.store.session(session_id)).paused
        tap = await stage.core.submit(
            protocol.WheelAct(serial="p1", gesture=protocol.WheelTap(at=MIDDLE))
        )
        assert tap
        # The step that was in flight ends first, then the operator's tap is done.
        acting.go.set()
        await stage.do(
            protocol.WheelAct(session_id=session_id, gesture=protocol.WheelText(text="s3cret"))
        )
        await stage.do(protocol.WheelAct(serial="p1", gesture=protocol.WheelButton(button="BACK")))
        device = await stage.fleet.device("p1")
        assert device.done == ["tap 0.1 0.1", "tap 0.5 0.25", "type s3cret", "press BACK"]
        await stage.do(protocol.WheelHandBack(serial="p1", note="you were on the wrong page"))
        await stage.reach(session_id, SessionState.COMPLETED)
        msgs = await stage.msgs(session_id)
        assert of_type(msgs, protocol.WheelTaken) and of_type(msgs, protocol.WheelHandedBack)
        assert [(m.said, m.outcome) for m in of_type(msgs, protocol.WheelActed)] == [
            ("tapped at (0.50, 0.25)", ActionOutcome.DONE),
            ("typed 6 characters", ActionOutcome.DONE),
            ("pressed BACK", ActionOutcome.DONE),
        ]
        [told] = of_type(msgs, protocol.UserMessage)
        assert told.steer and "typed 6 characters" in told.text and "wrong page" in told.text
        assert "s3cret" not in repr(msgs)
        assert heard == [told.text]
        assert disturbed[0] > 0
        tellings = [sentence(msg)[1] for msg in msgs if not isinstance(msg, protocol.UserMessage)]
        assert [said for said in tellings if "wheel" in said] == [
            "The operator has the wheel.",
            "The operator handed the wheel back.",
        ]


async def test_a_model_is_told_once_of_all_that_was_done_since_it_was_told_last(
    tmp_path: Path,
) -> None:
    stage, idle, acting = Stage(tmp_path, FakeFleet("p1")), Cue(), Cue()
    cues = [idle, acting]
    heard: list[list[str]] = []
    said: list[str] = []

    async def work(context: TaskContext) -> str:
        taken = context.take_steering()
        heard.append([hint.text for hint in taken])
        await context.emit(*(protocol.SteerApplied(message_id=h.message_id, step=1) for h in taken))
        await cues.pop(0).wait()
        await context.checkpoint()
        taken = context.take_steering()
        heard.append([hint.text for hint in taken])
        said.extend(context.operator_texts)
        return "done"

    async def press(button: str, note: str = "") -> None:
        await stage.do(protocol.WheelAct(serial="p1", gesture=protocol.WheelButton(button=button)))
        await stage.do(protocol.WheelHandBack(serial="p1", note=note))

    stage.parts["go"] = work
    async with stage.play():
        session_id = await stage.create("go", serial="p1")
        await idle.there()
        await stage.do(protocol.Interrupt(session_id=session_id))
        await stage.idle(session_id)
        for button, note in (("BACK", "one"), ("HOME", ""), ("ENTER", "two")):
            await stage.do(protocol.WheelTake(session_id=session_id))
            await press(button, note)
        await stage.do(protocol.SessionResume(session_id=session_id))
        await acting.there()
        await stage.do(protocol.WheelTake(session_id=session_id))
        acting.go.set()
        await press("BACK")
        await stage.reach(session_id, SessionState.COMPLETED)
        msgs = await stage.msgs(session_id)
    nothing, [first], [second] = heard
    assert nothing == []
    assert [f"pressed {b} (done)" in first for b in ("BACK", "HOME", "ENTER")] == [True] * 3
    assert "The operator says: one two" in first
    assert "pressed BACK" in second and "ENTER" not in second and "one" not in second.split()
    # The notes are the operator's words, and what Switchboard tells is not.
    assert set(said) == {"go", "one\ntwo"}
    assert OperatorWords("", msgs).written == ("go", "one\ntwo")
    assert OperatorWords("", msgs).texts == ("go", "one\ntwo")


async def test_a_hint_of_the_wheel_that_was_taken_back_is_not_told_again(tmp_path: Path) -> None:
    stage, at_work = Stage(tmp_path, FakeFleet("p1")), Cue()
    stage.parts["go"] = waiting_at(at_work, "done")
    async with stage.play():
        session_id = await stage.create("go", serial="p1")
        await at_work.there()
        await stage.do(protocol.Interrupt(session_id=session_id))
        await stage.idle(session_id)
        for button in ("HOME", "BACK"):
            await stage.do(protocol.WheelTake(session_id=session_id))
            await stage.do(
                protocol.WheelAct(serial="p1", gesture=protocol.WheelButton(button=button))
            )
            await stage.do(protocol.WheelHandBack(serial="p1"))
            told = of_type(await stage.msgs(session_id), protocol.UserMessage)[-1]
            if button == "HOME":
                taken = protocol.SteerWithdraw(session_id=session_id, message_id=told.message_id)
                await stage.do(taken)
    assert "BACK" in told.text and "HOME" not in told.text


async def test_a_free_phone_can_be_driven_and_is_leased_meanwhile(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeFleet("p1"))
    async with stage.play():
        assert (await stage.do(protocol.WheelTake(serial="p1"))).session_id == ""
        swipe = protocol.WheelSwipe(start=MIDDLE, end=Point(x=0.5, y=0.75))
        await stage.do(protocol.WheelAct(serial="p1", gesture=swipe))
        session_id = await stage.create("go", serial="p1")
        assert stage.fleet.infos["p1"].driver == "operator"
        await stage.do(protocol.WheelHandBack(serial="p1"))
        await stage.reach(session_id, SessionState.COMPLETED)


async def test_who_does_not_have_the_wheel_can_do_nothing(tmp_path: Path) -> None:
    stage, acting = Stage(tmp_path, FakeFleet("p1")), Cue()

    async def work(context: TaskContext) -> str:
        await context.checkpoint()
        await acting.wait()
        return "done"

    stage.parts["go"] = work
    async with stage.play():
        with pytest.raises(WrongStateError, match="does not have the wheel"):
            await stage.do(protocol.WheelAct(serial="p1", gesture=protocol.WheelTap(at=MIDDLE)))
        with pytest.raises(WrongStateError):
            await stage.do(protocol.WheelHandBack(serial="p1"))
        session_id = await stage.create("go", serial="p1")
        await acting.there()
        await stage.do(protocol.WheelTake(session_id=session_id))
        await stage.do(protocol.SessionResume(session_id=session_id))
        # Resuming it took the wheel away.
        with pytest.raises(WrongStateError, match="does not have the wheel"):
            await stage.do(protocol.WheelAct(serial="p1", gesture=protocol.WheelTap(at=MIDDLE)))
        acting.go.set()


@pytest.mark.parametrize(
    "op",
    [
        protocol.WheelAct(serial="p1", gesture=protocol.WheelTap(at=Point(x=1.5, y=0.0))),
        protocol.WheelAct(serial="p1", gesture=protocol.WheelLongPress(at=MIDDLE, duration_ms=0)),
        protocol.WheelAct(serial="p1", gesture=protocol.WheelText(text="")),
        protocol.WheelAct(serial="p1", gesture=protocol.WheelButton(button="EJECT")),
        protocol.WheelTake(),
        protocol.WheelTake(serial="p1", session_id="s"),
        protocol.WheelTake(serial="nosuch"),
        protocol.DeviceTag(serial="nosuch", name="x"),
    ],
)
async def test_what_cannot_be_done_at_a_wheel_is_refused(
    tmp_path: Path, op: protocol.WheelAct | protocol.WheelTake | protocol.DeviceTag
) -> None:
    stage = Stage(tmp_path, FakeFleet("p1"))
    async with stage.play():
        with pytest.raises(UsageError):
            await stage.do(op)


async def test_naming_a_device_leaves_what_was_not_said(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeFleet("p1"))
    async with stage.play():
        await stage.do(protocol.DeviceTag(serial="p1", name="Left", tags=("bench",)))
        await stage.do(protocol.DeviceTag(serial="p1", notes="cracked"))
        info = stage.fleet.infos["p1"]
        assert (info.name, info.tags, info.notes) == ("Left", ("bench",), "cracked")
