"""One act for one line of a shell: it is no goal, and stands as what it is."""

import pytest

from agent.errors import UsageError
from agent.protocol import SessionCreate
from agent.records import ActionOutcome, SessionState, VerifiedBy
from agent.state.event_text import verified_mark
from console.runs.single_action import taking
from tests.mcp.conftest import Stand
from widgets.base import status


@pytest.mark.parametrize(
    ("tool", "arguments", "outcome", "state", "word"),
    [
        (
            "press_button",
            {"button": "HOME"},
            ActionOutcome.DONE,
            SessionState.COMPLETED,
            "act done",
        ),
        (
            "click_element",
            {"label": "Nothing of that name"},
            ActionOutcome.FAILED,
            SessionState.FAILED,
            "failed",
        ),
    ],
)
async def test_one_act_ends_as_it_came_out_and_is_no_news(
    stand: Stand,
    tool: str,
    arguments: dict[str, str],
    outcome: ActionOutcome,
    state: SessionState,
    word: str,
) -> None:
    core = stand.at.core
    async with taking(core, stand.at.serials[0], f"{tool} once", wait_s=30.0) as act:
        assert (await act.ready()).outcome is ActionOutcome.DONE
        assert (await act.do(tool, arguments)).outcome is outcome
    session = await core.session(act.session_id)
    assert session.one_act and session.state is state
    assert status.of_session(session).word == word
    if state is SessionState.COMPLETED:
        assert session.verified_by is VerifiedBy.RULES and session.is_verified
        assert verified_mark(session) == "one act"
    assert act.session_id not in {n.session_id for n in (await core.overview()).notices}


async def test_one_act_is_a_direct_sessions(stand: Stand) -> None:
    with pytest.raises(UsageError, match="direct"):
        await stand.at.core.request(SessionCreate(goal="tap", one_act=True))
