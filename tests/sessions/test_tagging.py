"""Tags of sessions and what the operator dismisses: in the record, for all consoles to see."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.errors import UsageError, WrongStateError
from agent.protocol import (
    DeviceDismiss,
    SessionDismiss,
    SessionRename,
    SessionRenamed,
    SessionResume,
    SessionStateChanged,
    SessionTag,
)
from agent.records import DeviceState, SessionState
from agent.state.reducer import attention, from_overview
from tests.fakes import FakeFleet
from tests.stage import Stage

COMPLETED = SessionState.COMPLETED


async def test_tags_are_kept_in_the_record_each_once_and_outlive_the_core(stage: Stage) -> None:
    async with stage.play():
        made = await stage.create("anything")
        await stage.reach(made, COMPLETED)
        await stage.do(SessionTag(session_id=made, tags=("bench", "nightly", "bench")))
        assert (await stage.store.session(made)).tags == ("bench", "nightly")
    async with stage.play():
        [kept] = [s for s in (await stage.core.overview()).sessions if s.session_id == made]
        assert kept.tags == ("bench", "nightly")
        await stage.do(SessionTag(session_id=made))
        assert (await stage.store.session(made)).tags == ()


async def test_a_session_renamed_keeps_its_goal_and_outlives_the_core_under_its_title(
    stage: Stage,
) -> None:
    async with stage.play():
        made = await stage.create("anything")
        ended = await stage.reach(made, COMPLETED)
        await stage.do(SessionRename(session_id=made, title="  The  nightly run "))
        await stage.do(SessionRename(session_id=made, title="The nightly run"))
        msgs = await stage.msgs(made)
        assert [m.title for m in msgs if isinstance(m, SessionRenamed)] == ["The nightly run"]
    async with stage.play():
        [kept] = [s for s in (await stage.core.overview()).sessions if s.session_id == made]
        assert (kept.title, kept.goal) == ("The nightly run", "anything")
        assert kept.updated_ms == ended.updated_ms
        await stage.do(SessionRename(session_id=made))
        assert (await stage.store.session(made)).title == "anything"


async def test_a_title_is_one_line_without_secrets_and_of_bounded_length(stage: Stage) -> None:
    async with stage.play():
        made = await stage.create("anything", start=False)
        await stage.do(SessionRename(session_id=made, title="pay 4111 1111 1111 1111\x1b[2J\n" * 9))
        title = (await stage.store.session(made)).title
        assert "4111" not in title and "\x1b" not in title and len(title) <= 80
        with pytest.raises(UsageError):
            await stage.do(SessionRename(session_id="nobody", title="x"))


@pytest.mark.parametrize("tags", [("two words",), ("",), tuple(f"t{n}" for n in range(21))])
async def test_what_cannot_be_a_tag_is_refused_by_name(stage: Stage, tags: tuple[str, ...]) -> None:
    async with stage.play():
        made = await stage.create("anything")
        with pytest.raises(UsageError):
            await stage.do(SessionTag(session_id=made, tags=tags))


async def test_a_dismissed_session_is_no_news_to_a_console_that_comes_later_until_it_is_resumed(
    stage: Stage,
) -> None:
    async with stage.play():
        made = await stage.create("anything")
        ended = await stage.reach(made, COMPLETED)
        await stage.do(SessionDismiss(session_id=made))
        overview = await stage.core.overview()
        [known] = [s for s in overview.sessions if s.session_id == made]
        assert known.dismissed and known.updated_ms == ended.updated_ms
        assert [n for n in overview.notices if n.session_id == made] == []
        await stage.do(SessionDismiss(session_id=made, dismissed=False))
        assert not (await stage.store.session(made)).dismissed
        await stage.do(SessionDismiss(session_id=made))
        await stage.do(SessionResume(session_id=made))
        assert not (await stage.reach(made, COMPLETED)).dismissed


async def test_what_has_not_ended_cannot_be_dismissed(stage: Stage) -> None:
    async with stage.play():
        made = await stage.create("anything", start=False)
        with pytest.raises(WrongStateError):
            await stage.do(SessionDismiss(session_id=made))
        msgs = await stage.msgs(made)
        assert not any(isinstance(m, SessionStateChanged) and m.state is COMPLETED for m in msgs)


async def test_a_dismissed_device_waits_for_nobody_until_its_state_changes(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeFleet("p1"))
    async with stage.play():
        away = replace(
            stage.fleet.infos["p1"], state=DeviceState.UNAUTHORIZED, note="Allow debugging."
        )
        stage.fleet.tell(away)
        assert attention(from_overview(await stage.core.overview()))
        await stage.do(DeviceDismiss(serial="p1"))
        assert attention(from_overview(await stage.core.overview())) == ()
