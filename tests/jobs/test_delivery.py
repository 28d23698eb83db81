"""How runs are told: the exact wording, never a result; alerts from the third failure; marks."""

import pytest

from agent.loop.task_context import TaskContext, TurnEnd
from agent.protocol import JobRead, NoticeDone, NoticePosted
from agent.records import JobStatus, JobType, Notice, NoticeKind
from tests.jobs.reviewing import PROMPT, create, ring, settled
from tests.stage import Stage


async def posted(stage: Stage) -> list[Notice]:
    events = await stage.all_events()
    return [e.msg.notice for e in events if isinstance(e.msg, NoticePosted) and e.msg.notice.job_id]


async def until_notices(stage: Stage, count: int) -> list[Notice]:
    async def there() -> list[Notice] | None:
        notices = await posted(stage)
        return notices if len(notices) >= count else None

    return await stage.until(there, f"{count} notices")


async def test_a_good_run_is_told_in_the_exact_wording_and_its_result_is_marked_unread(
    stage: Stage,
) -> None:
    async def part(context: TaskContext) -> str:
        return "SECRET TRACE"

    stage.parts[PROMPT] = part
    async with stage.play():
        job = await create(stage, notification_text="Plants are fine.")
        await ring(stage)
        job = await settled(stage, job.id, JobStatus.COMPLETED)
        [notice] = await until_notices(stage, 1)
        assert (notice.title, notice.text) == ("Water the plants", "Plants are fine.")
        assert notice.kind is NoticeKind.COMPLETED and "SECRET" not in repr(notice)
        assert job.unread_result and job.last_result == "SECRET TRACE"
        assert [n.job_id for n in (await stage.core.overview()).notices] == [job.id]
        read = (await stage.do(JobRead(job_id=job.id))).job
        assert read is not None and not read.unread_result
        assert (await stage.core.overview()).notices == ()


@pytest.mark.parametrize(("mode", "unread"), [("silent", True), ("none", False)])
async def test_silent_and_none_tell_nobody(stage: Stage, mode: str, unread: bool) -> None:
    async with stage.play():
        quiet = await create(stage, delivery_mode=mode, notification_text="never said")
        loud = await create(stage, notification_text="said")
        await ring(stage)
        quiet = await settled(stage, quiet.id, JobStatus.COMPLETED)
        await settled(stage, loud.id, JobStatus.COMPLETED)
        assert [notice.text for notice in await until_notices(stage, 1)] == ["said"]
    assert quiet.unread_result is unread


async def test_a_heartbeat_is_told_to_nobody_and_a_system_event_is(stage: Stage) -> None:
    async with stage.play():
        beat = await create(stage, prompt="", job_type=JobType.HEARTBEAT)
        event = await create(stage, prompt="", job_type=JobType.SYSTEM_EVENT)
        await ring(stage)
        beat = await settled(stage, beat.id, JobStatus.COMPLETED)
        await settled(stage, event.id, JobStatus.COMPLETED)
        assert [notice.job_id for notice in await until_notices(stage, 1)] == [event.id]
        await stage.do(NoticeDone(session_id=f"job:{event.id}"))
        assert (await stage.core.overview()).notices == ()
    assert not beat.unread_result


async def test_a_failing_job_is_told_from_the_third_failure_on_without_its_reason(
    stage: Stage,
) -> None:
    async def part(context: TaskContext) -> TurnEnd:
        return TurnEnd(completed=False, message="SECRET TRACE")

    stage.parts[PROMPT] = part
    async with stage.play():
        job = await create(stage, notification_text="all is well")
        for failures in range(1, 7):
            await ring(stage, after_ms=40 * 60_000)

            async def failed(count: int = failures) -> bool | None:
                now = await stage.store.job(job.id)
                return (now is not None and now.failure_count == count) or None

            await stage.until(failed, f"failure {failures}")
            notices = await until_notices(stage, max(failures - 2, 0))
            assert len(notices) == max(failures - 2, 0)
            alerted = (await stage.store.job(job.id)).failure_alert_at  # type: ignore[union-attr]
            assert alerted == (stage.clock() if failures >= 3 else 0)
    assert [n.kind for n in notices] == [NoticeKind.FAILED] * 4
    assert notices[0].text.startswith("It failed 3 times in a row; next try at ")
    assert notices[-1].text == "It failed 6 times in a row and is given up."
    assert not any("SECRET" in n.text or "all is well" in n.text for n in notices)
