"""Who says that a goal is met: in the record, for a parent by its children, and after the end."""

import pytest

from agent.errors import UsageError, WrongStateError
from agent.loop.task_context import TaskContext, TurnEnd
from agent.protocol import SessionResume, SessionStateChanged, SessionVerify, VerificationRecorded
from agent.records import GoalVerdict, Session, SessionState, Verification, VerifiedBy
from agent.sessions.rules.parent_verdict import parent_verification
from agent.sessions.rules.rollup import results
from agent.state.event_text import UNVERIFIED
from tests.fakes import Part
from tests.stage import Stage

SHOWN = Verification(verified_by=VerifiedBy.VERIFIER, verdict=GoalVerdict.MET)
PARENT = Session(session_id="p", goal="both", created_ms=1)
RULED = Verification(verified_by=VerifiedBy.RULES, verdict=GoalVerdict.MET)
COMPLETED = SessionState.COMPLETED


def ends(found: Verification, result: str = "") -> Part:
    async def part(context: TaskContext) -> TurnEnd:
        await context.emit(VerificationRecorded(verification=found, step=1))
        return TurnEnd(completed=True, message="Done.", verification=found, result=result)

    return part


async def reasons(stage: Stage, session_id: str) -> list[str]:
    events = await stage.core.history(session_id)
    msgs = (event.msg for event in events)
    return [m.reason for m in msgs if isinstance(m, SessionStateChanged) and m.state is COMPLETED]


async def test_a_record_says_who_verified_it_and_so_does_the_reason(stage: Stage) -> None:
    stage.parts["shown"], stage.parts["said"] = ends(SHOWN), ends(Verification())
    async with stage.play():
        shown = await stage.reach(await stage.create("shown"), COMPLETED)
        assert (shown.is_verified, shown.verified_by) == (True, VerifiedBy.VERIFIER)
        assert await reasons(stage, shown.session_id) == [
            "the goal is met, verified by the verifier"
        ]
        said = await stage.reach(await stage.create("said"), COMPLETED)
        assert (said.is_verified, said.verified_by) == (False, VerifiedBy.NOBODY)
        assert await reasons(stage, said.session_id) == [UNVERIFIED]


async def test_the_operator_confirms_or_calls_wrong_and_the_newest_word_counts(
    stage: Stage,
) -> None:
    async with stage.play():
        done = await stage.reach(await stage.create("anything"), COMPLETED)
        assert not done.is_verified
        await stage.do(SessionVerify(session_id=done.session_id, reason="I looked."))
        now = await stage.store.session(done.session_id)
        assert (now.is_verified, now.verified_by) == (True, VerifiedBy.OPERATOR)
        wrong = SessionVerify(session_id=done.session_id, verdict=GoalVerdict.NOT_MET)
        await stage.do(wrong)
        now = await stage.store.session(done.session_id)
        assert (now.state, now.is_verified, now.verdict) == (COMPLETED, False, GoalVerdict.NOT_MET)
        await stage.do(SessionVerify(session_id=done.session_id, verified_by=VerifiedBy.CHECKER))
        assert (await stage.store.session(done.session_id)).verified_by is VerifiedBy.CHECKER


async def test_nobody_speaks_as_the_verifier_nor_of_a_session_that_claims_nothing(
    stage: Stage,
) -> None:
    async with stage.play():
        draft = await stage.create("draft", start=False)
        with pytest.raises(WrongStateError):
            await stage.do(SessionVerify(session_id=draft))
        done = await stage.reach(await stage.create("anything"), COMPLETED)
        for by in (VerifiedBy.VERIFIER, VerifiedBy.RULES, VerifiedBy.NOBODY):
            with pytest.raises(UsageError):
                await stage.do(SessionVerify(session_id=done.session_id, verified_by=by))
        with pytest.raises(UsageError):
            op = SessionVerify(session_id=done.session_id, verdict=GoalVerdict.CANNOT_TELL)
            await stage.do(op)


async def test_what_was_said_of_an_earlier_turn_ends_with_the_next(stage: Stage) -> None:
    stage.parts["goal"] = ends(SHOWN, '{"a": 1}')
    async with stage.play():
        done = await stage.reach(await stage.create("goal"), COMPLETED)
        assert (done.is_verified, done.result_json) == (True, '{"a": 1}')
        stage.parts["goal"] = ends(Verification())
        await stage.do(SessionResume(session_id=done.session_id))

        async def again_done() -> Session | None:
            now = await stage.store.session(done.session_id)
            return now if now.state is COMPLETED and now.generation == 1 else None

        again = await stage.until(again_done, "the second turn to end")
        assert (again.is_verified, again.result_json) == (False, "")


async def test_a_parent_is_as_verified_as_the_weakest_of_its_children(stage: Stage) -> None:
    stage.parts["a"], stage.parts["b"] = ends(SHOWN, "[1]"), ends(RULED)
    async with stage.play():
        parent = await stage.reach(await stage.create("both", "a", "b"), COMPLETED)
        assert (parent.is_verified, parent.verified_by) == (True, VerifiedBy.RULES)
        assert parent.result_json == "[[1], null]"


async def test_a_parent_follows_what_the_operator_says_of_a_child_later(stage: Stage) -> None:
    stage.parts["a"], stage.parts["b"] = ends(SHOWN), ends(Verification())
    async with stage.play():
        parent = await stage.reach(await stage.create("both", "a", "b"), COMPLETED)
        assert not parent.is_verified
        assert UNVERIFIED in (await reasons(stage, parent.session_id))[0]
        assert "(unverified)" in parent.latest_result
        children = (await stage.core.overview()).sessions
        child = next(one for one in children if one.goal == "b")
        await stage.do(SessionVerify(session_id=child.session_id))

        async def followed() -> Session | None:
            now = await stage.store.session(parent.session_id)
            return now if now.is_verified else None

        now = await stage.until(followed, "the parent to follow")
        assert now.verified_by is VerifiedBy.VERIFIER


def session(verdict: GoalVerdict, by: VerifiedBy, state: SessionState = COMPLETED) -> Session:
    return Session(
        session_id="s", goal="g", created_ms=1, state=state, verdict=verdict, verified_by=by
    )


def test_a_cancelled_child_and_a_wrong_one_keep_a_parent_from_being_verified() -> None:
    good = session(GoalVerdict.MET, VerifiedBy.OPERATOR)
    cancelled = session(GoalVerdict.CANNOT_TELL, VerifiedBy.NOBODY, SessionState.CANCELLED)
    wrong = session(GoalVerdict.NOT_MET, VerifiedBy.CHECKER)
    assert parent_verification(PARENT, (good,), {}).is_met
    assert not parent_verification(PARENT, (good, cancelled), {}).is_met
    assert parent_verification(PARENT, (good, wrong), {}).verdict is GoalVerdict.NOT_MET
    assert not parent_verification(PARENT, (), {}).is_met
    assert results((good,)) == ""
