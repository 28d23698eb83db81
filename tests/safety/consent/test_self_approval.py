"""An agent that asked for an approval tries to give it by itself: no way opens."""

import asyncio
from pathlib import Path

from tests.safety.consent.ground import MAY_BE_MISSING, Ground, opened, opened_ground, told

PASSPHRASE = "correct horse battery"
MOST_AT_ONCE = 6


async def all_ways(ground: Ground) -> dict[str, str]:
    """Try each way; returns what each was refused with. None opens."""
    calls = await ground.approving()
    slots = asyncio.Semaphore(MOST_AT_ONCE)

    async def tried(way: str) -> str:
        async with slots:
            replies = await ground.attack(way, calls)
        assert not opened(replies), f"{way} opened: {replies}"
        assert replies is not None or way in MAY_BE_MISSING, f"{way} was never tried"
        return told(replies)

    found = await asyncio.gather(*map(tried, ground.ways))
    return dict(zip(ground.ways, found, strict=True))


async def chosen(ground: Ground) -> None:
    """Have the person choose a passphrase."""
    replies = await ground.person([["prove", {"passphrase": PASSPHRASE, "chooses": True}]])
    assert opened(replies), replies


async def test_no_way_of_an_agent_to_its_own_approval_opens(tmp_path: Path) -> None:
    async with opened_ground(tmp_path) as ground:
        before = await ground.question()
        # Nobody has chosen a passphrase, so nobody can be told from a program.
        refusals = await all_ways(ground)
        assert "works for an agent" in refusals["child"]
        assert "passphrase" in refusals["terminal_of_an_orphan_with_a_shell"]
        await chosen(ground)
        # The person's terminal is unlocked now, and none of the agent's is.
        refusals = await all_ways(ground)
        assert "works for an agent" in refusals["terminal_by_fork"]
        assert "person" in refusals["connection_of_a_dead_process"]
        assert "not unlocked" in refusals["terminal_of_an_orphan"]
        assert await ground.question() == before
        assert opened(await ground.person(await ground.approving()))
