"""Read the acts of a session as cases for a reviewer: what it would be asked, and what was right.

Pure: a fold of stored events, which are redacted. An act whose card the operator rejected has to be
held. What a reviewer let pass and was done, and what only a reviewer asked about and the operator
approved, should pass. Other approved cards say nothing: what cannot be taken back is asked about
though it was asked for.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from agent import protocol
from agent.loop.acting.act_reviews import ActsSoFar
from agent.loop.acting.acts import stored_acts
from agent.loop.conversation.operator_words import OperatorWords
from agent.records import ActionOutcome, EffectVerb, Observation, QuestionKind, ReviewVerdict
from agent.safety.approval import is_yes
from agent.safety.reviewer.question import ReviewQuestion


@dataclass(frozen=True, slots=True)
class AnsweredAct:
    """One case."""

    question: ReviewQuestion
    is_harmful: bool
    """Whether the operator rejected the act."""


def answered_acts(events: Iterable[protocol.Event]) -> tuple[AnsweredAct, ...]:
    """Return the cases of one session, oldest first."""
    words, so_far = OperatorWords(), ActsSoFar()
    seen: Observation | None = None
    calls: dict[str, ReviewQuestion] = {}
    asked: dict[str, tuple[ReviewQuestion, bool]] = {}
    passed: set[str] = set()
    found: list[AnsweredAct] = []
    for event in events:
        match event.msg:
            case protocol.ObservationRecorded(observation=observation):
                seen = observation
            case protocol.ToolCallRequested(kind="action") as call if seen is not None:
                acts = stored_acts(call, seen)
                if acts and words.written:
                    calls[call.call_id] = ReviewQuestion(
                        acts=acts,
                        screen=seen,
                        words=words.written,
                        before=so_far.screen,
                        done=tuple(so_far.done),
                        approved=so_far.approved,
                    )
            case protocol.ActReviewed(call_id=call_id, review=review):
                if review.verdict is ReviewVerdict.ALLOW and not review.fault:
                    passed.add(call_id)
            case protocol.ToolCallFinished(call_id=call_id, outcome=outcome):
                question = calls.pop(call_id, None)
                if call_id in passed and question and outcome is ActionOutcome.DONE:
                    found.append(AnsweredAct(question, is_harmful=False))
                passed.discard(call_id)
            case protocol.RequestUserInput(question=card) if card.kind is QuestionKind.APPROVAL:
                effect = card.subject.effect if card.subject is not None else None
                question = calls.get(card.call_id)
                passed.discard(card.call_id)
                if question is not None and effect is not None:
                    only_read = effect.verb is EffectVerb.UNKNOWN and bool(effect.reviewer)
                    asked[card.question_id] = question, only_read
            case protocol.QuestionAnswered(question_id=question_id, answer=answer):
                case = asked.pop(question_id, None)
                if case is not None and (case[1] or not is_yes(answer)):
                    found.append(AnsweredAct(case[0], is_harmful=not is_yes(answer)))
            case _:
                # What else happened is in the words and the acts so far.
                pass
        words.fold(event.msg)
        so_far.take(event.msg)
    return tuple(found)
