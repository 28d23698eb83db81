"""What waits for the operator of jobs that have run: their own words, never a result or a trace."""

import pytest
from msgspec.structs import replace

from agent.state.attention import AttentionKind, attention
from agent.state.reducer import State
from tests.store.conftest import make_job


@pytest.mark.parametrize(
    ("delivery", "said"),
    [
        ({}, ["Run finished."]),
        ({"mode": "notification", "notification_text": "Look at the mail."}, ["Look at the mail."]),
        ({"mode": "silent"}, []),
        ({"mode": "none"}, []),
    ],
)
def test_a_job_that_has_run_waits_with_its_own_words_and_a_silent_one_does_not(
    delivery: dict[str, str], said: list[str]
) -> None:
    job = replace(
        make_job(1), unread_result=True, last_result="the balance is 7,000", delivery_json=delivery
    )
    state = replace(State(), jobs={1: job})
    waiting = [one for one in attention(state) if one.kind is AttentionKind.RESULT]
    assert [one.text for one in waiting] == said
