"""Edges of a core that belong to no one room; docs/contracts.md lists them."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import protocol
from agent.errors import RpcCode, StoreError, UsageError
from agent.loop.task_context import TaskContext
from agent.records import Budget, SessionState, TimeSplit, Usage
from agent.rpc.rpc_messages import CALLS_AT_ONCE, CALLS_IN_RESERVE
from agent.runtime.harmless_ops import harmless
from agent.runtime.op_queue import QUEUE_LIMIT, OpQueue, Submission
from agent.store.embedded.sqlite_store import DATABASE_NAME, SqliteStore
from agent.store.embedded.upkeep import check as check_store
from agent.tasks.targets import FORBIDDEN_PACKAGES
from agent.text import without_controls
from tests.daemon.bench import raw, serving
from tests.stage import Cue, Stage, waiting_at

COMMANDS = "a\x1b]0;owned\x07\x1b[31mb\x9b5mc\x00d\x7fe\u0085f"
_CONTROLS = {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0))} - {"\n", "\t"}


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in (*value, *value.values()):
            yield from texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts(one)


def commands_in(value: Any) -> list[str]:
    return [one for one in texts(msgspec.to_builtins(value)) if _CONTROLS & set(one)]


# --- a place for what stops ----------


async def test_a_full_queue_has_room_for_what_stops_and_keeps_its_order() -> None:
    queue = OpQueue()
    for _ in range(QUEUE_LIMIT):
        await queue.put(Submission(protocol.JobList(), answered=False))
    beyond = asyncio.create_task(queue.put(Submission(protocol.JobList(), answered=False)))
    for kind in (protocol.Interrupt(), protocol.SessionPause(session_id="x")):
        async with asyncio.timeout(5):
            await queue.put(Submission(kind, answered=False))
    assert not beyond.done()
    taken = [(await queue.take()).op for _ in range(QUEUE_LIMIT + 3)]
    assert [type(op) for op in taken if op.stops] == [protocol.Interrupt, protocol.SessionPause]
    assert type(taken[0]) is protocol.JobList
    await beyond


async def test_a_client_whose_calls_all_wait_can_stop_and_look_all_the_same(tmp_path: Path) -> None:
    async with serving(tmp_path) as bench:
        waiting = [
            asyncio.create_task(bench.client.request(protocol.JobList()))
            for _ in range(CALLS_AT_ONCE + 5)
        ]
        async with asyncio.timeout(30):
            await bench.client.request(protocol.Interrupt())
            await bench.client.overview()
            await bench.client.status()
            assert await bench.client.sessions() == ()
        bench.core.stuck.set()
        await asyncio.gather(*waiting)


async def test_what_is_reserved_is_bounded_too(tmp_path: Path) -> None:
    async with serving(tmp_path) as bench, raw(bench) as client:
        stuck = b'{"id":1,"method":"request","params":{"op":{"type":"job_list"}}}'
        await client.say(*[stuck] * (CALLS_AT_ONCE + 1))
        assert (await client.hear())["error"]["code"] == RpcCode.WRONG_STATE
        for method in ("status", "overview", "sessions"):
            await client.say(json.dumps({"id": 2, "method": method}).encode())
            assert "result" in await client.hear()
        stop = {"id": 3, "method": "request", "params": {"op": {"type": "interrupt"}}}
        await client.say(json.dumps(stop).encode())
        assert "result" in await client.hear()
        assert CALLS_IN_RESERVE < CALLS_AT_ONCE
        bench.core.stuck.set()


# --- escape sequences ----------


async def test_no_text_of_an_op_leaves_the_core_as_a_command_to_a_terminal(stage: Stage) -> None:
    cue = Cue()
    stage.parts["waits"] = waiting_at(cue)
    async with stage.play():
        made = await stage.create("waits")
        await cue.there()
        for op in (
            protocol.SessionCreate(
                goal=COMMANDS, title=COMMANDS, start=False, requires=(COMMANDS,)
            ),
            protocol.SessionRename(session_id=made, title=COMMANDS),
            protocol.UserInput(session_id=made, text=COMMANDS),
            protocol.SessionCreate(
                goal="x", start=False, targets=(protocol.Target(objective=COMMANDS),)
            ),
        ):
            await stage.do(op)
        sessions = await stage.store.sessions()
        msgs = [msg for one in sessions for msg in await stage.msgs(one.session_id)]
        assert commands_in(msgs) == []
        assert commands_in(await stage.core.overview()) == []
        assert any("abcd" in one for one in texts(msgspec.to_builtins(msgs)))


@given(st.text())
def test_a_text_without_controls_keeps_all_else_and_stays_so(text: str) -> None:
    cleaned = without_controls(text)
    assert not _CONTROLS & set(cleaned)
    assert without_controls(cleaned) == cleaned
    if not _CONTROLS & set(text) and not set("\u2028\u2029") & set(text):
        assert cleaned == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_an_op_keeps_what_commands_nothing(text: str) -> None:
    op = protocol.SessionCreate(goal=text, title="t", tool_servers=("a", text))
    if text.strip() and not without_controls(text).strip():
        with pytest.raises(UsageError, match="`goal` is only control characters"):
            harmless(op)
        return
    made = harmless(op)
    assert isinstance(made, protocol.SessionCreate)
    assert commands_in(made) == []
    if not _CONTROLS & set(text):
        assert made is op or made == op


# --- refusals ----------


@pytest.mark.parametrize("name", Budget.__struct_fields__)
@pytest.mark.parametrize("value", [-1, -0.5, float("nan"), float("inf")])
async def test_a_budget_below_zero_or_without_end_is_refused_by_name(
    stage: Stage, name: str, value: float
) -> None:
    async with stage.play():
        budget = Budget(**{name: value})
        with pytest.raises(UsageError, match=f"budget.{name}"):
            await stage.do(protocol.SessionCreate(goal="x", budget=budget))
        assert await stage.store.sessions() == ()


async def test_the_systems_own_interface_is_no_target(stage: Stage) -> None:
    async with stage.play():
        for package in sorted(FORBIDDEN_PACKAGES):
            target = protocol.Target(objective="x", package=package)
            for op in (
                protocol.SessionCreate(goal="x", target_package=package),
                protocol.SessionCreate(goal="x", targets=(target,)),
            ):
                with pytest.raises(UsageError, match="part of the system"):
                    await stage.do(op)
        assert await stage.store.sessions() == ()


async def test_a_call_with_a_field_that_it_does_not_have_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as bench, raw(bench) as client:
        for line in (
            b'{"id":1,"method":"ping","session_id":"x"}',
            b'{"id":1,"method":"request","op":{"type":"interrupt"},"params":{}}',
            b'{"id":1,"method":"request","params":{"op":{"type":"interrupt","all":true}}}',
            b'{"id":1,"method":"request","params":{"op":{"type":"session_create","goal":"x",'
            b'"budget":{"tokns":5}}}}',
        ):
            await client.say(line)
            assert (await client.hear())["error"]["code"] == RpcCode.INVALID_ARGUMENT


async def test_a_folder_in_the_place_of_the_store_is_called_one(tmp_path: Path) -> None:
    (tmp_path / DATABASE_NAME).mkdir()
    with pytest.raises(StoreError, match="is a folder") as refused:
        async with SqliteStore.open(tmp_path):
            raise AssertionError
    assert "Move that folder away" in refused.value.remedy
    with pytest.raises(StoreError, match="is a folder"):
        await check_store(tmp_path)


# --- what a session says of itself ----------


async def test_an_error_of_an_older_generation_goes(stage: Stage) -> None:
    cue, tries = Cue(), 0

    async def fails(context: TaskContext) -> str:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise RuntimeError("It went wrong.")
        await cue.wait()
        return "done"

    stage.parts["fails"] = fails
    async with stage.play():
        session_id = await stage.create("fails")
        await stage.reach(session_id, SessionState.FAILED)
        assert "went wrong" in (await stage.store.session(session_id)).latest_error
        await stage.do(protocol.UserInput(session_id=session_id, text="again", resumes=True))
        await cue.there()
        now = await stage.store.session(session_id)
        assert (now.latest_error, now.generation) == ("", 1)


async def test_a_fork_of_a_first_turn_has_its_steps_or_is_refused(stage: Stage) -> None:
    began, stepped = Cue(), Cue()

    async def part(context: TaskContext) -> str:
        await began.wait()
        for step in (1, 2):
            await context.emit(protocol.StepStarted(step=step))
            await context.emit(protocol.StepCompleted(step=step, time=TimeSplit(), usage=Usage()))
        await context.emit(protocol.StepStarted(step=3))
        await stepped.wait()
        return "done"

    stage.parts["works"] = part
    async with stage.play():
        origin = await stage.create("works")
        await began.there()
        with pytest.raises(UsageError, match="not ended a step yet"):
            await stage.do(protocol.SessionFork(session_id=origin))
        began.go.set()
        await stepped.there()
        own = (await stage.do(protocol.SessionFork(session_id=origin))).session_id
        copied = [type(msg) for msg in await stage.msgs(own)]
        assert copied.count(protocol.StepCompleted) == 2
        assert (await stage.store.session(own)).state is SessionState.WAITING_FOR_USER


async def test_words_to_a_turn_that_waits_for_an_answer_leave_its_question_open(
    stage: Stage,
) -> None:
    async def part(context: TaskContext) -> str:
        answer = await context.ask("Which one?", call_id="c", step=1)
        hints = [hint.text for hint in context.take_steering()]
        return f"{answer} {hints}"

    stage.parts["asks"] = part
    async with stage.play():
        session_id = await stage.create("asks")
        question = await stage.until(lambda: first_question(stage), "the question")
        await stage.do(protocol.UserInput(session_id=session_id, text="the red one"))
        (still,) = await stage.store.open_questions()
        assert still.question_id == question.question_id
        op = protocol.UserInputAnswer(question_id=question.question_id, answer="the left one")
        await stage.do(op)
        await stage.reach(session_id, SessionState.COMPLETED)
        session = await stage.store.session(session_id)
        assert session.latest_result == "the left one ['the red one']"


async def first_question(stage: Stage) -> Any:
    return next(iter(await stage.store.open_questions()), None)
