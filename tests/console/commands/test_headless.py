"""Follow a tree without a screen: when it has come to rest, and when it has not."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.protocol import (
    AbortReason,
    Event,
    EventMsg,
    SessionHosted,
    SessionStateChanged,
    TaskStarted,
    TurnAborted,
)
from agent.records import Question, QuestionKind, ReviewTicket, Session, SessionState
from console.cli_support.exits import ExitCode
from console.runs.run_follower import Follower, FollowOptions
from console.terminal.signals import StopRequest

QUEUED, RUNNING = SessionState.QUEUED, SessionState.RUNNING
WAITING, COMPLETED = SessionState.WAITING_FOR_USER, SessionState.COMPLETED


def following(*states: tuple[str, SessionState], questions: tuple[Question, ...] = ()) -> Follower:
    """Begin with a tree of `root` and its children as they stand in the store."""
    follower = Follower(FollowOptions(quiet=True, silent=True))
    follower.use(cast(Any, SimpleNamespace(core=None, trouble=str)), "root")
    members = tuple(
        Session(
            session_id=session_id,
            goal="work",
            created_ms=at,
            state=state,
            parent_id="" if session_id == "root" else "root",
        )
        for at, (session_id, state) in enumerate(states)
    )
    follower.load(members, questions)
    return follower


async def feed(*moves: tuple[str, SessionState]) -> AsyncIterator[Event]:
    for event_id, (session_id, state) in enumerate(moves, start=1):
        yield Event(
            event_id=event_id,
            session_id=session_id,
            seq=event_id,
            ts_ms=event_id,
            msg=SessionStateChanged(state=state),
        )


async def test_a_tree_whose_children_are_queued_again_before_its_roll_up_is_followed_on() -> None:
    follower = following(("root", WAITING), ("a", QUEUED), ("b", QUEUED))
    moves = feed(("root", RUNNING), ("a", COMPLETED), ("b", COMPLETED), ("root", COMPLETED))
    assert await follower.follow(moves, StopRequest()) is ExitCode.UNVERIFIED
    assert follower.seen_id == 4


def moved(*rest: EventMsg) -> AsyncIterator[Event]:
    """Return what is stored while a queued session goes to another host, and what comes then."""
    hosted = SessionHosted(host="rack-2", serial="rack-2/phone", goes_on=True)
    return stored(SessionStateChanged(state=WAITING), hosted, *rest)


async def stored(*msgs: EventMsg) -> AsyncIterator[Event]:
    for number, msg in enumerate(msgs, start=1):
        yield Event(event_id=number, session_id="root", seq=number, ts_ms=number, msg=msg)
    await asyncio.Event().wait()


async def test_a_session_that_is_moved_is_followed_to_its_end() -> None:
    follower = following(("root", QUEUED))
    rest = (TaskStarted(turn_id="t2"), SessionStateChanged(state=COMPLETED))
    assert await follower.follow(moved(*rest), StopRequest()) is ExitCode.UNVERIFIED


async def test_a_stop_at_the_new_host_ends_the_run_as_any_stop_does() -> None:
    follower = following(("root", QUEUED))
    stopped = TurnAborted(turn_id="t2", reason=AbortReason.INTERRUPTED)
    rest = (TaskStarted(turn_id="t2"), stopped, SessionStateChanged(state=WAITING))
    assert await follower.follow(moved(*rest), StopRequest()) is ExitCode.INTERRUPTED


async def test_a_session_that_nobody_takes_up_after_a_move_says_where_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("console.runs.run_follower.MOVES_S", 0.01)
    follower = following(("root", QUEUED))
    assert await follower.follow(moved(), StopRequest()) is ExitCode.FAILED
    told = "session root was moved but not resumed. It is at host rack-2 now."
    assert told in capsys.readouterr().err


async def test_a_turn_that_a_move_ended_is_followed_by_the_next_one() -> None:
    follower = following(("root", RUNNING))
    ended = TurnAborted(turn_id="t1", reason=AbortReason.REPLACED)
    rest = (SessionStateChanged(state=WAITING), TaskStarted(turn_id="t2"))
    done = SessionStateChanged(state=COMPLETED)
    assert await follower.follow(stored(ended, *rest, done), StopRequest()) is ExitCode.UNVERIFIED


async def test_a_tree_whose_members_all_wait_and_that_asks_nothing_was_stopped() -> None:
    follower = following(("root", WAITING), ("a", WAITING), ("b", COMPLETED))
    assert await follower.follow(feed(), StopRequest()) is ExitCode.INTERRUPTED


def asked(*, review: bool) -> Question:
    ticket = ReviewTicket(
        job_id=7,
        confirmation_id="job-confirm-1",
        tool="click_element",
        params_digest="d",
        screen_digest="s",
    )
    return Question(
        question_id="q1",
        session_id="root",
        text="May I press Send?",
        asked_ms=0,
        kind=QuestionKind.APPROVAL,
        review=ticket if review else None,
    )


async def silence() -> AsyncIterator[Event]:
    await asyncio.Event().wait()
    yield  # type: ignore[misc]  # never reached: it makes this a feed


async def test_what_a_job_asks_is_left_to_whoever_answers_where_nobody_sits_here(
    capsys: pytest.CaptureFixture[str],
) -> None:
    follower = following(("root", WAITING), questions=(asked(review=True),))
    async with asyncio.timeout(30):
        assert await follower.follow(silence(), StopRequest()) is ExitCode.NEEDS_ANSWER
    said = capsys.readouterr().err
    assert "Job 7 asks: May I press Send?" in said
    assert "switchboard sessions answer root" in said
