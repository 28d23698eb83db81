"""Commitments come due, are put off, are done with, and are remembered over a restart."""

import pytest

from agent.errors import UsageError, WrongStateError
from agent.protocol import CommitmentCreate, CommitmentSearch
from agent.records import CommitmentStatus
from agent.state.reducer import AttentionKind, attention, from_overview
from tests.watchers.conftest import MINUTE_MS, START_MS, Lookout

HOUR_MS = 60 * MINUTE_MS


async def test_a_commitment_waits_for_its_time_and_is_then_told_and_waits_for_the_operator(
    lookout: Lookout,
) -> None:
    async with lookout.stage.play():
        told = lookout.reminded
        lookout.stage.core._notices.remind = told.append  # type: ignore[method-assign, assignment]
        op = CommitmentCreate(title="Call Ana", description="about rent", due_at=START_MS + HOUR_MS)
        made = await lookout.commitment(op)
        assert (made.status, made.confidence) == (CommitmentStatus.ACTIVE, 0.8)
        await lookout.ring(after_ms=HOUR_MS - 1)
        assert told == []
        await lookout.ring(after_ms=1)
        await lookout.ring()
        assert [(notice.title, notice.text) for notice in told] == [("Call Ana", "about rent")]
        state = from_overview(await lookout.stage.core.overview())
        [waiting] = attention(state)
        assert (waiting.kind, waiting.text) == (AttentionKind.COMMITMENT, "Call Ana")
        done = await lookout.update(made.id, "completed")
        assert done.status is CommitmentStatus.COMPLETED
        assert attention(from_overview(await lookout.stage.core.overview())) == ()


async def test_a_snoozed_commitment_comes_again_in_an_hour_or_when_it_is_said(
    lookout: Lookout,
) -> None:
    async with lookout.stage.play():
        made = await lookout.commitment(CommitmentCreate(title="Tea", due_at=START_MS + 1))
        await lookout.ring(after_ms=1)
        snoozed = await lookout.update(made.id, "snoozed")
        assert snoozed.due_at == START_MS + 1 + HOUR_MS
        await lookout.ring(after_ms=HOUR_MS)
        [fired] = (await lookout.stage.do(CommitmentSearch())).commitments
        assert fired.status is CommitmentStatus.FIRED
        later = await lookout.update(made.id, "snoozed", due_at=START_MS + 5 * HOUR_MS)
        assert later.due_at == START_MS + 5 * HOUR_MS


async def test_what_is_over_stays_over_until_it_is_taken_up_again(lookout: Lookout) -> None:
    async with lookout.stage.play():
        made = await lookout.commitment(CommitmentCreate(title="Tea", due_at=START_MS + 1))
        await lookout.update(made.id, "dismissed")
        await lookout.ring()
        with pytest.raises(WrongStateError):
            await lookout.update(made.id, "snoozed")
        with pytest.raises(WrongStateError):
            await lookout.update(made.id, "fired")
        [stored] = (await lookout.stage.do(CommitmentSearch())).commitments
        assert stored.status is CommitmentStatus.DISMISSED
        assert (await lookout.update(made.id, "active")).status is CommitmentStatus.PENDING


async def test_a_commitment_without_a_time_only_waits_and_one_that_expires_is_dismissed(
    lookout: Lookout,
) -> None:
    async with lookout.stage.play():
        plain = await lookout.commitment(CommitmentCreate(title="Some day"))
        fading = await lookout.commitment(
            CommitmentCreate(title="Today", expires_at=START_MS + HOUR_MS)
        )
        await lookout.ring(after_ms=HOUR_MS)
        found = {one.id: one for one in (await lookout.stage.do(CommitmentSearch())).commitments}
        assert found[plain.id].status is CommitmentStatus.PENDING
        assert found[fading.id].status is CommitmentStatus.DISMISSED


async def test_a_commitment_that_came_due_while_nothing_ran_comes_due_at_the_start(
    lookout: Lookout,
) -> None:
    async with lookout.stage.play():
        made = await lookout.commitment(CommitmentCreate(title="Tea", due_at=START_MS + HOUR_MS))
    assert lookout.stage.now_ms is not None
    lookout.stage.now_ms += 2 * HOUR_MS
    async with lookout.stage.play():
        store = lookout.stage.store

        async def fired() -> bool | None:
            stored = await store.watches.commitment(made.id)
            return (stored is not None and stored.status is CommitmentStatus.FIRED) or None

        await lookout.stage.until(fired, "the commitment to come due")
        another = await lookout.commitment(CommitmentCreate(title="Next"))
        assert another.id == made.id + 1


@pytest.mark.parametrize(
    "op",
    [
        CommitmentCreate(title=" "),
        CommitmentCreate(title="x", due_at=-1),
        CommitmentCreate(title="x", due_at=253_402_300_800_000),
        CommitmentCreate(title="x", due_at=START_MS + 10, expires_at=START_MS + 5),
        CommitmentCreate(title="x", confidence=1.5),
        CommitmentCreate(title="x", evidence={"quote": "y" * 9000}),
    ],
)
async def test_a_commitment_that_cannot_be_kept_is_refused(
    lookout: Lookout, op: CommitmentCreate
) -> None:
    async with lookout.stage.play():
        with pytest.raises(UsageError):
            await lookout.stage.do(op)
