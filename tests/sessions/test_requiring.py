"""What a goal requires is a list in the record: the operator edits it, another goal replaces it."""

import pytest

from agent.errors import UsageError, WrongStateError
from agent.protocol import (
    EditRequirements,
    Event,
    EventMsg,
    RequirementsUpdate,
    SessionCancel,
    SessionConfigured,
    SessionCreate,
    StepStarted,
    UserMessage,
)
from agent.records import Requirement, RequirementKind, RequirementOrigin, Session, SessionState
from agent.records.requirements import wanted, with_edits
from agent.state.session_fold import fold_all
from tests.stage import Stage

FROM_GOAL = Requirement(number=1, text="call Ana")


def _folded(*msgs: EventMsg) -> Session:
    session = Session(session_id="s", goal="call Ana", created_ms=1)
    events = (
        Event(event_id=f"e{at}", seq=at, session_id="s", ts_ms=at, msg=msg)
        for at, msg in enumerate((SessionConfigured(session=session), *msgs), start=1)
    )
    folded = fold_all(None, events)
    assert folded is not None
    return folded


async def test_the_operator_edits_the_list_and_it_outlives_the_core(stage: Stage) -> None:
    async with stage.play():
        reply = await stage.core.request(
            SessionCreate(goal="anything", requires=("it is  quiet",), start=False)
        )
        made = reply.session_id
        await stage.do(EditRequirements(session_id=made, add=("pay nothing",), withdraw=(1,)))
        await stage.do(EditRequirements(session_id=made, add=("it reads well",), person=True))
    async with stage.play():
        first, second, third = (await stage.store.session(made)).requirements
    assert first.withdrawn and first.text == "it is quiet"
    assert first.origin is RequirementOrigin.OPTION
    assert (second.number, second.text, second.origin) == (2, "pay nothing", "operator")
    assert third.kind is RequirementKind.PERSON
    assert [one.number for one in wanted((first, second, third))] == [2, 3]


async def test_what_cannot_be_edited_is_an_error_that_names_field_and_remedy(stage: Stage) -> None:
    async with stage.play():
        made = await stage.create("anything", start=False)
        with pytest.raises(UsageError, match="withdraw: there is no requirement 4"):
            await stage.do(EditRequirements(session_id=made, withdraw=(4,)))
        with pytest.raises(UsageError, match="requirement"):
            await stage.do(EditRequirements(session_id=made, add=("  ",)))
        with pytest.raises(UsageError, match="at most"):
            await stage.do(EditRequirements(session_id=made, add=("x",) * 31))
        await stage.do(SessionCancel(session_id=made))
        await stage.reach(made, SessionState.CANCELLED)
        with pytest.raises(WrongStateError, match="cancelled"):
            await stage.do(EditRequirements(session_id=made, add=("x",)))


async def test_an_edit_that_changes_nothing_stores_nothing(stage: Stage) -> None:
    async with stage.play():
        made = await stage.create("anything", start=False)
        await stage.do(EditRequirements(session_id=made))
        assert not any(isinstance(m, RequirementsUpdate) for m in await stage.msgs(made))


def test_another_goal_replaces_the_list_and_the_same_goal_keeps_it() -> None:
    listed = RequirementsUpdate(requirements=(FROM_GOAL,))
    step = StepStarted(step=1)
    same = UserMessage(text="call Ana ", message_id="m")
    other = UserMessage(text="call Ben", message_id="m", requires=("be brief",))
    assert _folded(listed, step, same).requirements == (FROM_GOAL,)
    [required] = _folded(listed, step, other).requirements
    assert (required.text, required.origin) == ("be brief", RequirementOrigin.OPTION)
    assert _folded(listed, step, UserMessage(text="other", message_id="m")).requirements == ()
    hint = UserMessage(text="other", message_id="m", steer=True)
    assert _folded(listed, step, hint).requirements == (FROM_GOAL,)


def test_numbers_are_never_used_again() -> None:
    once = with_edits((FROM_GOAL,), add=("b",), withdraw=(1,))
    twice = with_edits(once, add=("c",), withdraw=(2,))
    assert [(one.number, one.withdrawn) for one in twice] == [(1, True), (2, True), (3, False)]
