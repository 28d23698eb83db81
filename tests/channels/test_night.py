"""A night away: who is told, who is left alone, and that the answer comes back by each way."""

from datetime import datetime
from pathlib import Path

from agent.protocol import JobCreate, JobRun, QuestionAnswered
from agent.records import Question, SessionState
from tests.channels.scene import TOPIC, Scene, heard, scene
from tests.channels.test_answers_by_channels import COUNTS, WAYS

NIGHT = "22:00-07:00"
AT_TWO_MS = round(datetime(2026, 11, 28, 2).astimezone().timestamp() * 1000)
HOUR_MS = 3_600_000


async def _job_asks(made: Scene) -> tuple[str, Question]:
    """Have a job run at 02:00, whose session asks for an approval."""
    made.mark()
    op = JobCreate(title="night", prompt="approve", serial="phone-1")
    job = (await made.stage.do(op)).job
    assert job is not None
    await made.stage.do(JobRun(job_id=job.id))

    async def asked() -> Question | None:
        found = await made.stage.store.open_questions()
        return found[0] if found else None

    question = await made.stage.until(asked, "the job to ask")
    return question.session_id, question


async def test_a_job_that_asks_at_night_wakes_the_first_then_the_second_who_answers(
    tmp_path: Path,
) -> None:
    seen = {"ana": Scene.on_ntfy, "ben": Scene.on_telegram, "cleo": Scene.on_webhook}
    for first, second in (("ana", "ben"), ("ben", "cleo"), ("cleo", "ana")):
        (tmp_path / first).mkdir()
        async with scene(
            tmp_path / first,
            now_ms=AT_TWO_MS,
            quiet=NIGHT,
            people=(first, second),
            escalate_after_s=300.0,
        ) as made:
            session_id, question = await _job_asks(made)
            await seen[first](made)
            assert made.told() == [first], "quiet hours let an approval through, to one person"
            made.stage.now_ms = AT_TWO_MS + 299_000
            await made.dispatch.send_due()
            assert made.told() == [first]
            made.stage.now_ms = AT_TWO_MS + 300_000
            made.dispatch.look()
            await seen[second](made)
            assert (await WAYS[second](made, "Approve")).startswith(COUNTS)
            await made.stage.reach(session_id, SessionState.COMPLETED)
            msgs = await made.stage.msgs(session_id)
            (by,) = [m.answered_by for m in msgs if isinstance(m, QuestionAnswered)]
            assert by.startswith(f"{second}: ") and not await made.is_open(question)


async def test_a_person_whose_channel_is_away_costs_no_time(tmp_path: Path) -> None:
    async with scene(tmp_path, people=("ana", "ben"), escalate_after_s=3_600.0) as made:
        made.ntfy.is_down = True
        session_id, _ = await made.ask()
        await made.on_telegram()
        assert (await WAYS["ben"](made, "Deny")).startswith(COUNTS)
        await made.stage.reach(session_id, SessionState.COMPLETED)


async def test_what_is_not_urgent_waits_for_the_morning_and_the_rest_is_one_message(
    tmp_path: Path,
) -> None:
    async with scene(
        tmp_path, now_ms=AT_TWO_MS, quiet=NIGHT, people=("ana",), digest_every_s=600.0
    ) as made:
        for _ in range(3):
            ended = (await made.ask("ask"))[0]
            await made.end(ended)
        _, question = await made.ask("ask")

        async def posted() -> bool | None:
            notices = (await made.stage.core.overview()).notices
            return True if len(notices) == 4 else None

        await made.stage.until(posted, "four notices")
        next_ms = await made.dispatch.send_due()
        assert made.ntfy.of(TOPIC) == [] and next_ms == AT_TWO_MS + 5 * HOUR_MS
        made.stage.now_ms = AT_TWO_MS + 5 * HOUR_MS
        made.dispatch.look()
        asked = await made.on_ntfy()
        assert "Which colour?" in asked["message"]
        digest = await heard(
            made.ntfy.news,
            lambda: next((m for m in made.ntfy.of(TOPIC) if m.get("title") == "3 notices"), None),
        )
        assert digest["message"].count("Cancelled ask") == 3 and digest["priority"] == 2
        assert await made.is_open(question)


async def test_what_was_gathered_is_sent_as_the_core_ends(tmp_path: Path) -> None:
    async with scene(tmp_path, digest_every_s=3_600.0) as made:
        session_id, _ = await made.ask("ask")
        await made.end(session_id)

        async def posted() -> bool | None:
            notices = (await made.stage.core.overview()).notices
            return True if [one.kind.value for one in notices] == ["cancelled"] else None

        await made.stage.until(posted, "the notice of its end")
        await made.dispatch.send_due()
        before = len(made.ntfy.of(TOPIC))
        await made.dispatch.finish()
        (digest,) = made.ntfy.of(TOPIC)[before:]
    assert digest["title"] == "1 notice" and "Cancelled ask" in digest["message"]
