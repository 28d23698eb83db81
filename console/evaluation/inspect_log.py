"""Write a run as logs of Inspect (`inspect_ai`), for its viewer and its data frames.

Not the running: see docs/decisions/0092. Invariants: a log holds what the store holds, so what is
redacted there is redacted here; a session that is gone leaves its sample without messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from inspect_ai import log as inspect_logs
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import CORRECT, INCORRECT, Score
from inspect_ai.tool import ToolCall

from agent import protocol
from agent.errors import StoreError, SwitchboardError
from console.evaluation.run_folder import Run
from console.evaluation.summary import Arm, arms
from console.evaluation.trial import Outcome
from console.report.recorded import Source, read_events

SCORER = "checker"
_PROVIDER = "switchboard"


async def write_logs(run: Run, source: Source, folder: Path) -> tuple[Path, ...]:
    """Write a log for each model and each arm of a run; returns their paths.

    Raises StoreError where one cannot be written.
    """
    written = []
    for arm in arms(run.outcomes):
        mine = [o for o in run.outcomes if (o.model, o.without) == (arm.model, arm.without)]
        samples = [await _sample(source, one) for one in mine]
        named = "-".join((run.plan.suite, arm.model, *arm.without))
        safe = "".join(c if c.isalnum() or c in "._" else "-" for c in named)
        path = folder / f"{safe}.eval"
        try:
            await asyncio.to_thread(_write, _log(run, arm, samples), path)
        except OSError as error:
            raise StoreError(
                f"{path} could not be written: {error.strerror or error}.",
                "Name a writable folder with free space.",
            ) from error
        written.append(path)
    return tuple(written)


def _write(log: inspect_logs.EvalLog, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    inspect_logs.write_eval_log(log, str(path))


def _log(run: Run, arm: Arm, samples: Sequence[inspect_logs.EvalSample]) -> inspect_logs.EvalLog:
    plan = run.plan
    times = [sample.started_at for sample in samples if sample.started_at]
    metrics = {
        "accuracy": inspect_logs.EvalMetric(name="accuracy", value=arm.rate),
        "low": inspect_logs.EvalMetric(name="low", value=arm.low),
        "high": inspect_logs.EvalMetric(name="high", value=arm.high),
    }
    usage = ModelUsage(total_tokens=arm.tokens, total_cost=arm.cost_usd)
    began = min(times, default=_iso(0))
    return inspect_logs.EvalLog(
        status="success" if run.is_whole else "started",
        eval=inspect_logs.EvalSpec(
            created=began,
            task=plan.suite,
            task_id=f"{plan.suite}-{plan.digest}",
            task_version=plan.digest,
            task_args={"without": list(arm.without), "repeats": plan.repeats, "seed": plan.seed},
            dataset=inspect_logs.EvalDataset(
                name=plan.suite, samples=len(plan.exercises), sample_ids=list(plan.exercises)
            ),
            model=f"{_PROVIDER}/{arm.model}",
            config=inspect_logs.EvalConfig(epochs=plan.repeats),
            metadata={"verifier": plan.verifier},
        ),
        results=inspect_logs.EvalResults(
            total_samples=arm.trials,
            completed_samples=arm.trials,
            scores=[inspect_logs.EvalScore(name=SCORER, scorer=SCORER, metrics=metrics)],
        ),
        stats=inspect_logs.EvalStats(
            started_at=began, completed_at=max(times, default=began), model_usage={arm.model: usage}
        ),
        samples=list(samples),
    )


async def _sample(source: Source, one: Outcome) -> inspect_logs.EvalSample:
    try:
        session = await source.session(one.session_id)
        goal, began = session.goal, session.created_ms
        messages = _messages(goal, await read_events(source, one.session_id))
    except SwitchboardError:
        goal, began, messages = one.exercise, 0, []
    usage = ModelUsage(
        input_tokens=one.usage.input_tokens,
        output_tokens=one.usage.output_tokens,
        total_tokens=one.usage.input_tokens + one.usage.output_tokens,
        input_tokens_cache_read=one.usage.cached_input_tokens,
        total_cost=one.usage.cost_usd,
    )
    return inspect_logs.EvalSample(
        id=one.exercise,
        epoch=one.repeat,
        input=goal,
        target="",
        messages=messages,
        output=ModelOutput(model=one.model),
        scores={SCORER: Score(value=CORRECT if one.ok else INCORRECT, explanation=one.why)},
        metadata={
            "session_id": one.session_id,
            "steps": one.steps,
            "tries": one.tries,
            "approvals": one.approvals,
            "verified_by": one.verified_by,
            "trouble": one.trouble,
        },
        model_usage={one.model: usage},
        started_at=_iso(began),
        total_time=one.seconds,
    )


def _messages(goal: str, events: Sequence[protocol.Event]) -> list[ChatMessage]:
    found: list[ChatMessage] = [ChatMessageUser(content=goal)]
    thought = ""
    for event in events:
        match event.msg:
            case protocol.UserMessage(text=text) if text != goal:
                found.append(ChatMessageUser(content=text))
            case protocol.AgentMessage(text=text):
                thought = text
            case protocol.ToolCallRequested(call_id=call_id, tool=tool, arguments=arguments):
                call = ToolCall(id=call_id, function=tool, arguments=_arguments(arguments))
                found.append(ChatMessageAssistant(content=thought, tool_calls=[call]))
                thought = ""
            case protocol.ToolCallFinished(call_id=call_id, text=text):
                found.append(ChatMessageTool(content=text, tool_call_id=call_id))
            case protocol.ResultPublished(text=text):
                found.append(ChatMessageAssistant(content=text))
            case _:
                pass
    return found


def _arguments(text: str) -> dict[str, object]:
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except msgspec.DecodeError:
        return {"arguments": text}


def _iso(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat()
