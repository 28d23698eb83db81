"""A text says whether it steers a turn or starts one, and is refused where it would not."""

import pytest

from agent import protocol
from agent.errors import WrongStateError
from tests.stage import Cue, Stage, of_type, waiting_at


async def test_a_hint_is_refused_once_its_turn_has_ended(stage: Stage) -> None:
    cue = Cue()
    stage.parts["walk"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("walk")
        await cue.there()
        await stage.do(protocol.UserInput(session_id=session_id, text="left", steers=True))
        await stage.do(protocol.Interrupt(session_id=session_id))
        await stage.idle(session_id)
        with pytest.raises(WrongStateError, match="has ended"):
            await stage.do(protocol.UserInput(session_id=session_id, text="up", steers=True))
        said = [m.text for m in of_type(await stage.msgs(session_id), protocol.UserMessage)]
        assert "left" in said
        assert "up" not in said


async def test_a_goal_is_refused_while_a_turn_is_open(stage: Stage) -> None:
    cue = Cue()
    stage.parts["walk"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("walk")
        await cue.there()
        with pytest.raises(WrongStateError, match="was started meanwhile"):
            await stage.do(protocol.UserInput(session_id=session_id, text="run", steers=False))
        await stage.do(protocol.Interrupt(session_id=session_id))
        await stage.idle(session_id)
        stage.parts["run"] = waiting_at(cue)
        await stage.do(protocol.UserInput(session_id=session_id, text="run", steers=False))
