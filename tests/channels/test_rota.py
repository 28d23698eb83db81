"""Who is told when, and how urgent a notice is; pure."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.channels.rota import due_people, in_order
from agent.channels.urgency import Urgency, quiet_until_ms, urgency_of
from agent.records import Notice, NoticeKind, Question, QuestionKind
from agent.settings import NoticeLevel

MINUTE_MS = 60_000
NAMES = ("ana", "ben", "cleo", "dan")


@given(
    needed=st.integers(1, 3),
    minutes=st.lists(st.integers(0, 100), min_size=2, max_size=2).map(sorted),
    every=st.integers(0, 20),
    busy=st.dictionaries(st.sampled_from(NAMES), st.integers(1, 60), max_size=4),
)
def test_whoever_is_told_stays_told_and_nobody_busy_is_waited_for(
    needed: int, minutes: list[int], every: int, busy: dict[str, int]
) -> None:
    def free_ms(name: str) -> int:
        return busy.get(name, 0) * MINUTE_MS

    def due(minute: int) -> tuple[str, ...]:
        found = due_people(
            NAMES,
            needed=needed,
            asked_ms=0,
            every_ms=every * MINUTE_MS,
            now_ms=minute * MINUTE_MS,
            free_ms=free_ms,
        )
        assert found.next_ms == 0 or found.next_ms > minute * MINUTE_MS
        return found.people

    before, after = (due(minute) for minute in minutes)
    free = [one for one in NAMES if busy.get(one, 0) <= minutes[0]]
    assert len(before) >= min(needed, len(free))
    assert all(busy.get(one, 0) <= minutes[0] for one in before)
    if not busy:
        assert set(before) <= set(after)
        passed = minutes[1] // every if every else 0
        assert after == NAMES[: needed + passed]


def test_people_are_told_in_the_order_that_is_set_and_the_others_last() -> None:
    assert in_order(("cleo", "ana", "ben", "ana"), ("ben", "nobody", "cleo")) == (
        *("ben", "cleo", "ana"),
    )


@pytest.mark.parametrize(
    ("kind", "asked", "urgency"),
    [
        (NoticeKind.WAITING, QuestionKind.APPROVAL, Urgency.URGENT),
        (NoticeKind.WAITING, QuestionKind.QUESTION, Urgency.NORMAL),
        (NoticeKind.WAITING, None, Urgency.NORMAL),
        (NoticeKind.FAILED, None, Urgency.NORMAL),
        (NoticeKind.COMPLETED, None, Urgency.LOW),
        (NoticeKind.CANCELLED, None, Urgency.LOW),
        (NoticeKind.REMINDER, None, Urgency.LOW),
    ],
)
def test_an_approval_is_urgent_and_what_asks_nothing_waits(
    kind: NoticeKind, asked: QuestionKind | None, urgency: Urgency
) -> None:
    notice = Notice(token="n", session_id="s", kind=kind, title="t")
    question = asked and Question(question_id="q", session_id="s", text="?", asked_ms=0, kind=asked)
    assert urgency_of(notice, question or None, (NoticeLevel.APPROVAL,)) is urgency


def test_quiet_hours_reach_over_midnight_and_end_in_the_computers_own_time() -> None:
    def at(hour: int, minute: int = 0) -> int:
        return round(datetime(2026, 3, 4, hour, minute).astimezone().timestamp() * 1000)

    assert quiet_until_ms("22:00-07:00", at(2)) == at(7)
    assert quiet_until_ms("22:00-07:00", at(23)) == at(7) + 24 * 60 * MINUTE_MS
    assert quiet_until_ms("22:00-07:00", at(7)) == 0
    assert quiet_until_ms("22:00-07:00", at(21, 59)) == 0
    assert quiet_until_ms("", at(2)) == quiet_until_ms("08:00-08:00", at(8)) == 0
