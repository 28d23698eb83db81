"""Measure a model as a reviewer by the operator's own answers, and keep how it did."""

import time
from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.settings import Settings

if TYPE_CHECKING:
    from agent.loop.acting.answered_acts import AnsweredAct
    from agent.models.reviewers.reviewer_results import ReviewerResult
    from agent.protocol import Event
    from console.core.stored_core import Records

MOST_OF_A_KIND = 60
_SESSIONS = 500


async def measure(settings: Settings, name: str, records: "Records") -> "ReviewerResult":
    """Ask a model about the newest acts that the operator rejected, approved or let pass.

    What is asked is what a review asks: redacted, and sent to the model's endpoint alone.

    Raises:
        UsageError: no model is named, or no act was read or rejected yet.
        ConfigError: the model cannot be asked.
    """
    from agent.loop.acting.act_reviews import ask_reviewer
    from agent.models.choice import PILOT, build_model
    from agent.records import ReviewVerdict
    from console.evaluation.reviewer_bounds import kept_result

    if not name or name == PILOT:
        raise UsageError(
            "No model is named to be measured as a reviewer.",
            "Name it: switchboard models test MODEL --as-reviewer.",
        )
    acts = await _acts(records)
    if not acts:
        raise UsageError(
            "No act was read and none was rejected yet, so there is nothing to measure with.",
            "Measure it after a few sessions with a reviewer.",
        )
    model = build_model(settings, name)
    held = asked = 0
    try:
        for act in acts:
            answered = await ask_reviewer(
                model,
                act.question,
                timeout_s=settings.safety.reviewer_timeout_s,
                seconds=time.monotonic,
            )
            is_held = answered.review.verdict is not ReviewVerdict.ALLOW
            held += act.is_harmful and is_held
            asked += not act.is_harmful and is_held
    finally:
        await model.close()
    harmful = sum(act.is_harmful for act in acts)
    return kept_result(settings.data_dir, name, (held, harmful, asked, len(acts) - harmful))


async def _acts(records: "Records") -> "list[AnsweredAct]":
    """Return the newest acts of each kind."""
    from agent.loop.acting.answered_acts import answered_acts

    rejected: list[AnsweredAct] = []
    passed: list[AnsweredAct] = []
    for session in await records.sessions(limit=_SESSIONS):
        events: list[Event] = []
        while page := await records.history(
            session.session_id, after_seq=events[-1].seq if events else 0
        ):
            events += page
        for act in reversed(answered_acts(events)):
            (rejected if act.is_harmful else passed).append(act)
        if min(len(rejected), len(passed)) >= MOST_OF_A_KIND:
            break
    return [*rejected[:MOST_OF_A_KIND], *passed[:MOST_OF_A_KIND]]
