"""A core that only looks: what every screen asks of it is answered, what acts is refused."""

import pytest

from agent import protocol
from agent.errors import WrongStateError
from agent.records import Spending
from agent.runtime.read_only_core import LookingCore
from tests.console.fakes import FakeCore


@pytest.mark.parametrize(
    "op",
    [
        protocol.JobQueue(),
        protocol.JobHistory(job_id=1),
        protocol.WatcherList(),
        protocol.CommitmentSearch(),
    ],
)
async def test_what_the_jobs_screen_asks_for_is_looking(op: protocol.Op) -> None:
    core = FakeCore()
    assert isinstance(await LookingCore(core, remedy="").request(op), protocol.Reply)
    assert core.reads == [op]


@pytest.mark.parametrize("op", [protocol.Interrupt(), protocol.JobStop(job_id=1)])
async def test_what_acts_is_refused_and_says_how_to_act(op: protocol.Op) -> None:
    core = FakeCore()
    looking = LookingCore(core, remedy="Do it elsewhere.")
    for give in (looking.request, looking.submit):
        with pytest.raises(WrongStateError, match="read-only") as refused:
            await give(op)
        assert refused.value.remedy == "Do it elsewhere."
    assert core.ops == []


async def test_what_was_spent_may_be_seen() -> None:
    looking = LookingCore(FakeCore(), remedy="")
    assert await looking.look_up(protocol.SumSpending(since_ms=0)) == Spending()
