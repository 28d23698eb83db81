"""Approvals that need two people: who counts, through restarts, expiry and revocation."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.audit.audit_writer import AuditWriter
from agent.errors import NotAllowedError, SwitchboardError, UsageError, WrongStateError
from agent.operators.changes import without
from agent.operators.operator import Operator
from agent.protocol import (
    ApprovalGiven,
    OperatorActed,
    QuestionAnswered,
    SessionCreate,
    UserInputAnswer,
)
from agent.records import Allowance, EffectVerb, Question, QuestionKind, Right, SessionState
from agent.sessions.rules.two_person_approval import approvers_of
from tests.operators.house import House, opened


@pytest.fixture
async def two_person_house(tmp_path: Path) -> AsyncIterator[House]:
    async with opened(tmp_path, two_people=(EffectVerb.UNKNOWN, EffectVerb.SEND)) as made:
        for name in ("ana", "ben", "cleo"):
            await made.add(name, Right.APPROVE, tags=("bank",))
        yield made


def yes(house: House, answer: str = "yes") -> UserInputAnswer:
    return UserInputAnswer(question_id=house.questions["bank"].question_id, answer=answer)


async def asked(house: House) -> Question:
    (found,) = (
        one
        for one in await house.stage.store.open_questions()
        if one.session_id == house.sessions["bank"]
    )
    return found


async def ended(house: House) -> str:
    session = await house.stage.reach(house.sessions["bank"], SessionState.COMPLETED)
    return session.latest_result


async def test_the_first_yes_is_one_of_two_and_the_second_does_it(two_person_house: House) -> None:
    ana, ben = await two_person_house.come("ana"), await two_person_house.come("ben")
    assert "It takes 2 operators." in (await asked(two_person_house)).shown
    await ana.request(yes(two_person_house))
    assert "It takes 2 operators: 1 of 2, by ana." in (await asked(two_person_house)).shown
    (shown,) = (await ben.overview()).questions
    assert shown.yes_by == ("ana",)
    with pytest.raises(UsageError, match="already approved"):
        await ana.request(yes(two_person_house))
    await ben.request(yes(two_person_house))
    assert "yes" in await ended(two_person_house)
    told = await two_person_house.stage.store.session_events(two_person_house.sessions["bank"])
    answered = [e.msg for e in told if isinstance(e.msg, QuestionAnswered)]
    assert [one.answered_by for one in answered] == ["ana and ben"]
    acted = [e.msg.operator for e in told if isinstance(e.msg, OperatorActed)]
    assert acted == ["ana", "ana", "ben"]
    facts = [fact for e in told if (fact := AuditWriter().fact(e)) is not None]
    assert [f["caller"] for f in facts if f["event_type"] == "operator_acted"] == acted
    assert [f["caller"] for f in facts if f["event_type"] == "confirmation_seconded"] == ["ana"]


async def test_one_no_is_enough(two_person_house: House) -> None:
    ana, ben = await two_person_house.come("ana"), await two_person_house.come("ben")
    await ana.request(yes(two_person_house))
    await ben.request(yes(two_person_house, "no"))
    assert "no" in await ended(two_person_house)
    with pytest.raises((WrongStateError, UsageError)):
        await (await two_person_house.come("cleo")).request(yes(two_person_house))


async def test_the_yes_of_one_who_may_approve_no_more_counts_no_more(
    two_person_house: House,
) -> None:
    ana, ben = await two_person_house.come("ana"), await two_person_house.come("ben")
    await ana.request(yes(two_person_house))

    def less(known: Mapping[str, Operator]) -> Operator:
        return without(known["ana"], [Right.APPROVE], ())

    await two_person_house.register.change("ana", less)
    await ben.request(yes(two_person_house))
    assert (await asked(two_person_house)).yes_by == ("ben",)
    await (await two_person_house.come("cleo")).request(yes(two_person_house))
    await ended(two_person_house)


async def test_nobody_says_yes_without_a_name(two_person_house: House) -> None:
    with pytest.raises(NotAllowedError, match="2 signed-in operators"):
        await two_person_house.stage.do(yes(two_person_house))
    await two_person_house.stage.do(yes(two_person_house, "no"))
    await ended(two_person_house)


@pytest.mark.parametrize("answer", ["Approve for this session", "approve with: something else"])
async def test_more_than_a_plain_yes_is_refused(two_person_house: House, answer: str) -> None:
    ana = await two_person_house.come("ana")
    with pytest.raises(UsageError, match="unchanged"):
        await ana.request(yes(two_person_house, answer))
    assert (await asked(two_person_house)).yes_by == ()


async def test_a_question_that_expires_is_no(two_person_house: House) -> None:
    ana = await two_person_house.come("ana")
    await ana.request(yes(two_person_house))
    question_id = two_person_house.questions["bank"].question_id
    await two_person_house.stage.do(UserInputAnswer(question_id=question_id, expired=True))
    assert "None" in await ended(two_person_house)


async def test_an_allowance_is_no_way_around(two_person_house: House) -> None:
    allowance = Allowance(verb=EffectVerb.SEND, limit=3, recipients=("Bo",))
    with pytest.raises(UsageError, match="Two operators"):
        await two_person_house.stage.do(
            SessionCreate(goal="x", serial="lab-1", allowances=(allowance,))
        )


@pytest.mark.parametrize("leaves", [False, True], ids=["ana may still", "ana may no more"])
async def test_the_first_yes_is_there_after_the_core_was_killed(
    tmp_path: Path, leaves: bool
) -> None:
    """Another process says the first yes and is killed; the question waits for the second."""
    program = f"""
import asyncio, os, pathlib, signal
from agent.records import EffectVerb, Right
from agent.protocol import UserInputAnswer
from tests.operators.house import opened
async def main():
    async with opened(pathlib.Path({str(tmp_path)!r}), two_people=(EffectVerb.UNKNOWN,)) as house:
        for name in ("ana", "ben", "cleo"):
            await house.add(name, Right.APPROVE, tags=("bank",))
        ana = await house.come("ana")
        asked = house.questions["bank"].question_id
        await ana.request(UserInputAnswer(question_id=asked, answer="yes"))
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    root = Path(__file__).parent.parent.parent
    done = subprocess.run(  # noqa: ASYNC221
        [sys.executable, "-c", program],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    async with opened(tmp_path, two_people=(EffectVerb.UNKNOWN,), again=True) as house:
        kept = await asked(house)
        assert (kept.yes_by, kept.people) == (("ana",), 2)
        told = await house.stage.store.session_events(kept.session_id)
        assert [e.msg.yes_by for e in told if isinstance(e.msg, ApprovalGiven)] == [("ana",)]
        ana, ben = await house.come("ana"), await house.come("ben")
        with pytest.raises(UsageError, match="already approved"):
            await ana.request(yes(house))
        if leaves:
            await house.register.change("ana", lambda _one: None)
        await ben.request(yes(house))
        if leaves:
            assert (await asked(house)).yes_by == ("ben",)
            await (await house.come("cleo")).request(yes(house))
        told = await house.stage.store.session_events(kept.session_id)
        (answered,) = (e.msg for e in told if isinstance(e.msg, QuestionAnswered))
        assert answered.answered_by == ("ben and cleo" if leaves else "ana and ben")


NAMES = st.sampled_from(["ana", "ben", "cleo", "dora", ""])


@given(st.lists(st.tuples(NAMES, st.frozensets(NAMES)), max_size=12))
def test_it_always_takes_two_who_may(steps: list[tuple[str, frozenset[str]]]) -> None:
    question = Question(
        question_id="q", session_id="s", text="?", asked_ms=0, kind=QuestionKind.APPROVAL, people=2
    )
    for name, allowed in steps:
        try:
            given_by = approvers_of(question, "yes", name, allowed.__contains__)
        except SwitchboardError:
            continue
        assert name
        assert len(set(given_by)) == len(given_by)
        assert set(given_by) <= allowed
        assert name in given_by
        if len(given_by) >= 2:
            return
        question = Question(
            question_id="q",
            session_id="s",
            text="?",
            asked_ms=0,
            kind=QuestionKind.APPROVAL,
            people=2,
            yes_by=given_by,
        )
