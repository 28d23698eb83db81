"""Follow a tree without a screen: when it has come to rest, and when it has not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.protocol import Event, SessionStateChanged
from agent.records import Question, QuestionKind, ReviewTicket, Session, SessionState
from console.cli_support.exits import ExitCode
from console.runs.run_follower import Follower, FollowOptions
from console.terminal.signals import StopRequest

QUEUED, RUNNING = SessionState.QUEUED, SessionState.RUNNING
WAITING, COMPLETED = SessionState.WAITING_FOR_USER, SessionState.COMPLETED


def following(*states: tuple[str, SessionState], questions: tuple[Question, ...] = ()) -> Follower:
    """Begin with a tree of `root` and its children as they stand in the store."""
    follower = Follower(FollowOptions(quiet=True, silent=True))
    follower.take_up(cast(Any, SimpleNamespace(core=None, trouble=str)), "root")
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
    follower.begin_with(members, questions)
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
