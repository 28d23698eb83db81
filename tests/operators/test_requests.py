"""The request of an operator whose core ended before it answered."""

from pathlib import Path

from agent.config import load_settings
from agent.operators.admission import own_request
from agent.protocol import SessionCreate
from agent.records import Right
from console.runs.run import session_begun_by
from tests.operators.house import LAB_WORD, opened


async def test_what_a_request_began_is_found_when_its_core_is_gone(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        await house.add("ana", Right.WATCH, Right.DRIVE)
        ana = await house.come("ana")
        op = SessionCreate(goal=f"look at the {LAB_WORD}", serial="lab-1", request_id="r-1")
        made = (await ana.request(op)).session_id
        assert ana.operator == "ana"
        directory = house.stage.directory
    settings = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(directory)})
    assert await session_begun_by(settings, own_request(ana.operator, "r-1")) == made
    # The same id of another client is another request.
    assert await session_begun_by(settings, own_request("", "r-1")) == ""
