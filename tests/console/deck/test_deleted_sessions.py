"""The Deck when what it shows is deleted or rolled back by somebody else."""

from agent.protocol import SessionRolledBack, SessionsDeleted
from tests.console.conftest import Open


async def test_a_session_that_is_deleted_while_it_is_shown_gives_way_to_another(
    console: Open,
) -> None:
    async with console() as seat:
        await seat.until(lambda: seat.deck.selected == "s2", "the asking session")
        seat.core.tell(SessionsDeleted(session_ids=("s2",)))
        await seat.until(lambda: seat.deck.selected not in {"", "s2"}, "another session")


async def test_a_rollback_takes_the_turn_off_the_transcript(console: Open) -> None:
    async with console() as seat:
        await seat.until(lambda: seat.deck.selected == "s2", "the asking session")
        seat.core.tell(SessionRolledBack(turns=1, from_seq=2), "s2")
        await seat.see("The newest turn was rolled back.")
