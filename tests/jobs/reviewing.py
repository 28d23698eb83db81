"""Jobs on a stage, and a part that wants to act once: what the tests of reviews share."""

from collections.abc import Awaitable, Callable

import msgspec
from msgspec.structs import replace

from agent import protocol, records
from agent.loop.task_context import TaskContext, TurnEnd
from agent.safety.review_binding import params_digest
from tests.stage import Stage

PROMPT = "water them"
PARAMS = {"element": 1}


async def create(stage: Stage, prompt: str = PROMPT, **more: object) -> records.Job:
    op = replace(protocol.JobCreate(title="Water the plants", prompt=prompt), **more)
    job = (await stage.do(op)).job
    assert job is not None
    return job


async def ring(stage: Stage, *, after_ms: int = 15_000) -> None:
    """Let time pass and the wake ring, as its timer would."""
    assert stage.now_ms is not None
    stage.now_ms += after_ms
    await stage.core._job_service.scheduler.ring()


async def settled(stage: Stage, job_id: int, *statuses: records.JobStatus) -> records.Job:
    async def there() -> records.Job | None:
        job = await stage.store.job(job_id)
        return job if job is not None and job.status in statuses else None

    return await stage.until(there, f"job {job_id} to become {' or '.join(statuses)}")


async def sessions_of(stage: Stage, job_id: int) -> list[records.Session]:
    return [s for s in await stage.store.sessions() if s.job_id == job_id]


async def runs_of(stage: Stage, job_id: int) -> tuple[records.RunRecord, ...]:
    return await stage.store.job_runs.runs(job_id)


async def waiting_job(stage: Stage, **more: object) -> tuple[records.Job, records.Question]:
    """Create a job, let it run, and give it once it waits for a review."""
    job = await create(stage, **more)
    await ring(stage)
    job = await settled(stage, job.id, records.JobStatus.AWAITING_REVIEW)
    [question] = await stage.store.open_questions()
    return job, question


def confirmation_of(job: records.Job) -> records.Confirmation:
    return msgspec.convert(job.pending_tool_request_json, records.Confirmation)


async def say(stage: Stage, question: records.Question, answer: str) -> None:
    await stage.do(protocol.UserInputAnswer(question_id=question.question_id, answer=answer))


class Act:
    """A part that wants to press Send, and notes when it has."""

    def __init__(self, *, times: int = 1) -> None:
        self.done: list[str] = []
        self.times = times
        self.before_it: Callable[[TaskContext], Awaitable[None]] | None = None
        """What happens between the approval and the deed."""

    async def __call__(self, context: TaskContext) -> TurnEnd | str:
        asked = sum(isinstance(e.msg, protocol.ToolCallRequested) for e in context.history)
        if context.grant is not None:
            if self.before_it is not None:
                await self.before_it(context)
            self.done.append(context.grant.call_id)
            await context.emit(
                protocol.ToolCallFinished(
                    step=asked,
                    call_id=context.grant.call_id,
                    outcome=records.ActionOutcome.DONE,
                    text="OK",
                )
            )
        if len(self.done) >= self.times:
            return "sent"
        step = asked + 1
        call = protocol.ToolCallRequested(
            step=step,
            call_id=f"c{step}",
            tool="click_element",
            arguments=msgspec.json.encode(PARAMS).decode(),
        )
        await context.emit(protocol.StepStarted(step=step))
        await context.emit(call)
        split = records.TimeSplit(model_ms=7)
        await context.emit(
            protocol.StepCompleted(step=step, time=split, usage=records.Usage(calls=1))
        )
        return TurnEnd(
            completed=False,
            message="background.confirmation_required",
            review=context.review(
                "May I press Send?",
                call=call,
                params_digest=params_digest(call.tool, PARAMS),
                screen_digest="screen-1",
                subject=records.Subject(action=call.tool),
            ),
        )


def answers(msgs: list[object]) -> list[protocol.QuestionAnswered]:
    return [msg for msg in msgs if isinstance(msg, protocol.QuestionAnswered)]
