"""A turn from its device to its end: results, failures, drafts and the wait for a phone."""

import asyncio

import pytest
from msgspec.structs import replace

from agent import protocol
from agent.errors import (
    DeviceLostError,
    ErrorKind,
    ModelError,
    SwitchboardError,
    UsageError,
    WrongStateError,
)
from agent.loop.conversation.turn_prompt import TurnPrompt
from agent.loop.task_context import TaskContext, TurnEnd
from agent.protocol import (
    ErrorEvent,
    ResultPublished,
    SessionAssigned,
    SessionCreate,
    SessionStart,
    TaskComplete,
    TaskStarted,
    TurnAborted,
)
from agent.records import SessionState, WatcherType
from tests.fakes import FakeModel
from tests.stage import Cue, Stage, ends, of_type, states, waiting_at

COMPLETED, FAILED = SessionState.COMPLETED, SessionState.FAILED
CANCELLED, CREATED = SessionState.CANCELLED, SessionState.CREATED
QUEUED, RUNNING = SessionState.QUEUED, SessionState.RUNNING
WAITING = SessionState.WAITING_FOR_USER


async def test_a_session_goes_from_queued_to_running_to_completed_with_its_result(
    stage: Stage,
) -> None:
    async with stage.play():
        session_id = await stage.create("look around")
        session = await stage.reach(session_id, COMPLETED)
        msgs = await stage.msgs(session_id)
    assert states(msgs) == [QUEUED, RUNNING, COMPLETED]
    assert of_type(msgs, ResultPublished) == [ResultPublished(text="done: look around")]
    assert len(of_type(msgs, TaskStarted)) == len(ends(msgs)) == 1
    assert session.turn_id == "" and session.serial == "phone-1"
    assert of_type(msgs, SessionAssigned) == [SessionAssigned(serial="phone-1")]


@pytest.mark.parametrize("end", [COMPLETED, CANCELLED])
async def test_words_to_a_session_that_ended_are_its_next_task_only_where_that_is_asked_for(
    stage: Stage, end: SessionState
) -> None:
    async with stage.play():
        session_id = await stage.create("look around")
        await stage.reach(session_id, COMPLETED)
        if end is CANCELLED:
            session_id = await stage.create("look around", start=False)
            await stage.do(protocol.SessionCancel(session_id=session_id))
            await stage.reach(session_id, CANCELLED)
        said = protocol.UserInput(session_id=session_id, text="now look at the clock")
        with pytest.raises(WrongStateError, match="sessions resume"):
            await stage.do(said)
        before = len(await stage.msgs(session_id))
        await stage.do(replace(said, resumes=True))

        async def ended() -> list[object] | None:
            later = (await stage.msgs(session_id))[before:]
            return later if of_type(later, TaskComplete) else None

        msgs = await stage.until(ended, "the end of a turn with the new words")
    kinds = [type(msg) for msg in msgs]
    continued, message = of_type(msgs, protocol.SessionContinued)[0], msgs[1]
    assert continued.generation == 1 and kinds[0] is protocol.SessionContinued
    assert isinstance(message, protocol.UserMessage)
    assert (message.text, message.steer) == ("now look at the clock", False)
    prompt = TurnPrompt()
    for msg in msgs[: kinds.index(TaskStarted)]:
        prompt.fold(msg)  # type: ignore[arg-type]
    assert not prompt.goal


async def test_a_request_that_is_made_again_begins_nothing_new(stage: Stage) -> None:
    async with stage.play():
        core = stage.core
        op = SessionCreate(goal="look around", request_id="console-1")
        first, again = await core.request(op), await core.request(op)
        other = await core.request(SessionCreate(goal="look around", request_id="console-2"))
        assert first.session_id == again.session_id != other.session_id
        assert len(await core.sessions()) == 2
        assert 0 < first.event_id <= again.event_id <= other.event_id
        assert await core.history(first.session_id)
        with pytest.raises(UsageError, match="request_id"):
            await core.request(SessionCreate(goal="look", request_id="x" * 1000))


async def test_whatever_a_request_makes_it_makes_once(stage: Stage) -> None:
    async with stage.play():
        origin = await stage.create("look around")
        await stage.reach(origin, COMPLETED)
        soon = stage.clock() + 3_600_000
        for op in (
            protocol.JobCreate(title="job", prompt="look", interval_ms=60_000),
            protocol.WatcherCreate(watcher_type=WatcherType.TIME, next_run_at=soon),
            protocol.CommitmentCreate(title="call Ana"),
            protocol.SessionFork(session_id=origin),
        ):
            numbered = replace(op, request_id="r-1")
            first, again = [await stage.core.request(numbered) for _ in range(2)]
            other = await stage.core.request(replace(op, request_id="r-2"))

            def made(reply: protocol.Reply) -> object:
                one = reply.job or reply.watcher or reply.commitment
                return one.id if one else reply.session_id

            assert made(first) == made(again) != made(other), op


async def test_what_a_client_keeps_with_a_job_is_kept_whatever_its_request_is_called(
    stage: Stage,
) -> None:
    payload = {"request": "a day off", "request_id": 7}
    async with stage.play():
        op = protocol.JobCreate(title="job", prompt="look", payload=payload, request_id="r-1")
        job = (await stage.core.request(op)).job
        assert job is not None and payload.items() <= job.payload_json.items()


async def test_a_goal_that_cannot_be_met_fails_with_the_reason(stage: Stage) -> None:
    async def part(context: TaskContext) -> TurnEnd:
        return TurnEnd(completed=False, message="There is no Send button.")

    stage.parts["send it"] = part
    async with stage.play():
        session_id = await stage.create("send it")
        session = await stage.reach(session_id, FAILED)
        msgs = await stage.msgs(session_id)
    assert session.latest_error == "There is no Send button."
    assert of_type(msgs, ErrorEvent)[0].kind is ErrorKind.GOAL
    assert of_type(msgs, ResultPublished) == []
    assert len(ends(msgs)) == 1


@pytest.mark.parametrize(
    ("error", "state", "ending"),
    [
        (ModelError("No key.", "Set one.", retryable=False, status=401), FAILED, TaskComplete),
        (ModelError("Busy.", retryable=True, status=503), WAITING, TurnAborted),
        (DeviceLostError("The device phone-1 is gone."), WAITING, TurnAborted),
        (RuntimeError("a defect"), FAILED, TaskComplete),
        (asyncio.CancelledError(), FAILED, TaskComplete),
        (TimeoutError("its own"), FAILED, TaskComplete),
    ],
)
async def test_what_a_task_raises_decides_whether_it_can_go_on(
    stage: Stage, error: BaseException, state: SessionState, ending: type
) -> None:
    async def part(context: TaskContext) -> str:
        raise error

    stage.parts["try"] = part
    async with stage.play():
        session_id = await stage.create("try")
        session = await stage.reach(session_id, state)
        msgs = await stage.msgs(session_id)
    assert session.turn_id == ""
    assert [type(end) for end in ends(msgs)] == [ending]
    [told] = of_type(msgs, ErrorEvent)
    assert told.retryable is (ending is TurnAborted)
    if isinstance(error, SwitchboardError):
        assert (told.message, told.remedy) == (error.message, error.remedy)


async def test_a_model_that_cannot_be_had_fails_the_session_with_the_remedy(stage: Stage) -> None:
    def refuse(session: object) -> FakeModel:
        raise ModelError("No API key.", "Set OPENAI_API_KEY.", retryable=False)

    stage.make_model = refuse
    async with stage.play():
        session_id = await stage.create("try")
        await stage.reach(session_id, FAILED)
        [told] = of_type(await stage.msgs(session_id), ErrorEvent)
    assert told.remedy == "Set OPENAI_API_KEY."


async def test_the_model_of_a_turn_is_closed_with_it(stage: Stage) -> None:
    async with stage.play():
        await stage.reach(await stage.create("try"), COMPLETED)
    [model] = stage.models
    assert isinstance(model, FakeModel) and model.closed


async def test_a_draft_waits_until_it_is_started(stage: Stage) -> None:
    async with stage.play():
        session_id = await stage.create("later", start=False)
        assert (await stage.store.session(session_id)).state is CREATED
        await stage.do(SessionStart(session_id=session_id))
        await stage.reach(session_id, COMPLETED)
        with pytest.raises(WrongStateError, match="not a draft"):
            await stage.do(SessionStart(session_id=session_id))


async def test_an_unknown_serial_is_refused_at_once_and_names_the_known_ones(stage: Stage) -> None:
    async with stage.play():
        with pytest.raises(UsageError, match="phone-1"):
            await stage.create("go", serial="nowhere")
        assert await stage.store.sessions() == ()


@pytest.mark.parametrize("goal", ["", "  \n", "\ud800", "x" * 20_001])
async def test_a_goal_without_text_or_beyond_bounds_is_refused(stage: Stage, goal: str) -> None:
    async with stage.play():
        with pytest.raises(UsageError):
            await stage.create(goal)


async def test_a_session_waits_queued_until_a_device_is_free_and_the_first_come_is_served_first(
    stage: Stage,
) -> None:
    cue = Cue()
    stage.parts["long"] = waiting_at(cue)
    async with stage.play():
        first = await stage.create("long")
        await cue.there()
        second = await stage.create("second")
        third = await stage.create("third")
        assert (await stage.store.session(second)).state is QUEUED
        cue.go.set()
        await stage.reach(third, COMPLETED)
    assert [driver for _, driver in stage.fleet.drivers] == [first, second, third]


async def test_a_session_waits_queued_until_a_phone_is_plugged_in(stage: Stage) -> None:
    stage.fleet.unplug("phone-1")
    async with stage.play():
        session_id = await stage.create("go", serial="phone-1")
        assert (await stage.store.session(session_id)).state is QUEUED
        stage.fleet.plug("phone-1")
        await stage.reach(session_id, COMPLETED)
