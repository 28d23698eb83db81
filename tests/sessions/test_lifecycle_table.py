"""The table of moves in docs/sessions.md is that of the code."""

import re
from pathlib import Path

from agent.records import SessionState
from agent.sessions.registry.transitions import MOVES, RESUMES

PAGE = Path(__file__).parents[2] / "docs" / "sessions.md"
_STATE = re.compile("|".join(state.value for state in SessionState))


def written() -> set[tuple[str, str]]:
    table = PAGE.read_text(encoding="utf-8").split("| from | what happens | to |")[1]
    rows = [row.split("|")[1:4] for row in table.split("\n\n")[0].splitlines()[2:]]
    return {
        (before, after)
        for source, _, target in rows
        for before in _STATE.findall(source)
        for after in _STATE.findall(target)
    }


def test_every_move_of_the_page_is_allowed_and_every_allowed_one_is_on_the_page() -> None:
    allowed = {
        (before.value, after.value)
        for table in (MOVES, RESUMES)
        for before, found in table.items()
        for after in found
    }
    assert written() - allowed == set()
    assert allowed - written() == {("QUEUED", "COMPLETED")}
