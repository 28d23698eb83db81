"""Notices in a running core: told once, answered through, done with, gone on from."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from agent import protocol, records
from agent.errors import WrongStateError
from agent.loop.task_context import TaskContext
from agent.sessions.registry.live_session import LiveSession
from tests.fakes import FakeFleet
from tests.stage import Cue, Stage

COMPLETED, WAITING = records.SessionState.COMPLETED, records.SessionState.WAITING_FOR_USER


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "data", FakeFleet("phone-1"))


async def asks(context: TaskContext) -> str:
    """Ask, and give the answer as the result."""
    return f"answer: {await context.ask('Which one?', call_id='c1', step=1)}"


async def shown(stage: Stage, session_id: str, kind: records.NoticeKind) -> records.Notice:
    async def found() -> records.Notice | None:
        notices = (await stage.core.overview()).notices
        fits = [n for n in notices if (n.session_id, n.kind) == (session_id, kind)]
        return fits[0] if fits else None

    return await stage.until(found, f"a notice that {session_id} is {kind}")


async def test_a_question_is_answered_from_its_notice_which_goes_first(stage: Stage) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        notice = await shown(stage, session_id, records.NoticeKind.WAITING)
        assert notice.text == "Which one?" and notice.may_reply
        reply = protocol.NoticeReply(session_id=session_id, token=notice.token, text="this")
        await stage.do(reply)
        session = await stage.reach(session_id, COMPLETED)
        with pytest.raises(WrongStateError):
            await stage.do(reply)
        told = [event.msg for event in await stage.all_events()]
    assert session.latest_result == "answer: this"
    [withdrawn] = [
        at
        for at, msg in enumerate(told)
        if isinstance(msg, protocol.NoticeWithdrawn)
        and msg.reason is protocol.WithdrawReason.SUPPRESSED
    ]
    [answered] = [at for at, msg in enumerate(told) if getattr(msg, "answer", None) == "this"]
    assert withdrawn < answered


async def test_an_answer_from_elsewhere_takes_the_notice_away_and_the_end_is_told(
    stage: Stage,
) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        notice = await shown(stage, session_id, records.NoticeKind.WAITING)
        await stage.do(protocol.UserInputAnswer(question_id=notice.question_id, answer="that"))
        ended = await shown(stage, session_id, records.NoticeKind.COMPLETED)
        assert ended.text == "The agent says: answer: that" and ended.token != notice.token
        await stage.do(protocol.NoticeDone(session_id=session_id))
        assert (await stage.core.overview()).notices == ()
        posted = [
            e.msg for e in await stage.all_events() if isinstance(e.msg, protocol.NoticePosted)
        ]
    assert [msg.notice.kind for msg in posted] == [
        records.NoticeKind.WAITING,
        records.NoticeKind.COMPLETED,
    ]


async def test_of_a_tree_only_the_parent_speaks_and_what_a_child_asks_is_its_parents(
    stage: Stage,
) -> None:
    stage.parts["part"] = asks
    async with stage.play():
        parent_id = await stage.create("whole", "part")
        notice = await shown(stage, parent_id, records.NoticeKind.WAITING)
        assert notice.text == "Which one?"
        await stage.do(protocol.NoticeReply(session_id=parent_id, token=notice.token, text="this"))
        await shown(stage, parent_id, records.NoticeKind.COMPLETED)
        told = {
            e.msg.notice.session_id
            for e in await stage.all_events()
            if isinstance(e.msg, protocol.NoticePosted)
        }
    assert told == {parent_id}


async def test_a_parent_whose_child_was_just_answered_is_not_told_to_wait(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.parts["part"] = asks
    cue = Cue()
    async with stage.play():
        parent_id = await stage.create("whole", "part")
        notice = await shown(stage, parent_id, records.NoticeKind.WAITING)
        settle = stage.core._tree.settle

        async def late(parent: LiveSession) -> None:
            await cue.wait()
            await settle(parent)

        monkeypatch.setattr(stage.core._tree, "settle", late)
        await stage.do(protocol.UserInputAnswer(question_id=notice.question_id, answer="this"))
        await cue.there()
        assert (await stage.store.session(parent_id)).state is WAITING
        await stage.core._notices._tell(parent_id)
        cue.go.set()

        async def ended() -> list[records.NoticeKind] | None:
            posted = [
                e.msg for e in await stage.all_events() if isinstance(e.msg, protocol.NoticePosted)
            ]
            kinds = [msg.notice.kind for msg in posted]
            return kinds if records.NoticeKind.COMPLETED in kinds else None

        kinds = await stage.until(ended, "the notice of its end")
    assert kinds == [records.NoticeKind.WAITING, records.NoticeKind.COMPLETED]


async def test_send_goes_on_from_a_home_session_in_a_new_one_and_from_an_agents_in_itself(
    stage: Stage,
) -> None:
    async with stage.play():
        home_id = (
            await stage.do(protocol.SessionCreate(goal="look", target_package="org.virtual.notes"))
        ).session_id
        await shown(stage, home_id, records.NoticeKind.COMPLETED)
        again = await stage.do(protocol.NoticeSend(session_id=home_id, text="look again"))
        new = await stage.reach(again.session_id, COMPLETED)
        assert new.session_id != home_id and new.kind is records.SessionKind.HOME
        assert new.goal.startswith("look again") and "done: look" in new.goal
        agent_id = await stage.create("work")
        await shown(stage, agent_id, records.NoticeKind.COMPLETED)
        before = await stage.store.session(agent_id)
        assert (
            await stage.do(protocol.NoticeSend(session_id=agent_id, text="more"))
        ).session_id == agent_id

        async def gone_on() -> bool | None:
            session = await stage.store.session(agent_id)
            risen = session.generation == before.generation + 1
            return True if risen and session.state is COMPLETED else None

        await stage.until(gone_on, "the agent session to go on")
        assert "more" in (await stage.store.session(agent_id)).latest_result


async def test_what_goes_on_from_a_home_session_is_bound_as_it_was(stage: Stage) -> None:
    bounds: dict[str, Any] = {
        "reasoning_effort": records.ReasoningEffort.HIGH,
        "max_steps": 7,
        "budget": records.Budget(seconds=60, tokens=9_000, cost_usd=0.5),
        "at_limit": records.AtLimit.STOP,
        "autonomy": records.Autonomy.OBSERVE_ONLY,
        "dry_run": True,
    }
    async with stage.play():
        op = protocol.SessionCreate(goal="look", target_package="org.virtual.notes", **bounds)
        home_id = (await stage.do(op)).session_id
        await shown(stage, home_id, records.NoticeKind.COMPLETED)
        again = await stage.do(protocol.NoticeSend(session_id=home_id, text="look again"))
        new = await stage.store.session(again.session_id)
    assert {name: getattr(new, name) for name in bounds} == bounds


async def test_the_operators_command_shows_a_notice_and_its_reply_is_the_answer(
    stage: Stage, tmp_path: Path
) -> None:
    script = "import sys, json; told = json.load(sys.stdin); print('said by ' + told['kind'])"
    stage.set(notices={"command": (sys.executable, "-c", script)})
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        session = await stage.reach(session_id, COMPLETED)
    assert session.latest_result == "answer: said by waiting"


async def test_what_a_notice_command_prints_approves_nothing(stage: Stage, tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    script = f"import sys; open({str(told)!r}, 'w').write(sys.stdin.read()); print('Approve')"
    stage.set(notices={"command": (sys.executable, "-c", script)})

    async def asks_leave(context: TaskContext) -> str:
        answer = await context.ask("May I?", call_id="c1", step=1, approval=True)
        return f"answer: {answer}"

    stage.parts["ask"] = asks_leave
    async with stage.play():
        session_id = await stage.create("ask")
        notice = await shown(stage, session_id, records.NoticeKind.WAITING)
        handed = json.loads(await asyncio.to_thread(told.read_text))
        assert handed["mayReply"] is False
        answer = protocol.UserInputAnswer(question_id=notice.question_id, answer="no: not now")
        await stage.do(answer)
        session = await stage.reach(session_id, COMPLETED)
    assert session.latest_result == "answer: no: not now"


async def test_a_core_that_starts_again_tells_of_what_still_waits(stage: Stage) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        first = await shown(stage, session_id, records.NoticeKind.WAITING)
    async with stage.play():
        again = await shown(stage, session_id, records.NoticeKind.WAITING)
    assert again.token != first.token and again.question_id == first.question_id


async def test_the_notice_of_an_end_outlives_the_core_and_is_done_with_by_its_own_token(
    stage: Stage,
) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        ended_id = await stage.create("at once")
        ended = await shown(stage, ended_id, records.NoticeKind.COMPLETED)
        read_id = await stage.create("read")
        await shown(stage, read_id, records.NoticeKind.COMPLETED)
        await stage.do(protocol.NoticeDone(session_id=read_id))
        waiting_id = await stage.create("ask")
        asked = await shown(stage, waiting_id, records.NoticeKind.WAITING)
    async with stage.play():
        again = await shown(stage, waiting_id, records.NoticeKind.WAITING)
        notices = (await stage.core.overview()).notices
        assert [n for n in notices if n.session_id != waiting_id] == [ended]
        assert again.token != asked.token, "who waits is told of anew"
        posted = [
            event.msg.notice.token
            for event in await stage.all_events()
            if isinstance(event.msg, protocol.NoticePosted)
        ]
        assert posted.count(ended.token) == 1, "it is shown again, not posted again"
        await stage.do(protocol.NoticeDone(session_id=ended_id))
    async with stage.play():
        await shown(stage, waiting_id, records.NoticeKind.WAITING)
        assert ended_id not in {n.session_id for n in (await stage.core.overview()).notices}
