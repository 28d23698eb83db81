"""What the operator approved in the newest run of a job, beside the one action on its one screen.

Read from the session's events, so that it outlives a restart. Invariants: an approval counts for
its run only, and for one doing unless it says that it is for the run; one that was void because the
screen had changed counts for the very same effect, where everything that it is bound to is read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agent.protocol import (
    Event,
    QuestionAnswered,
    RequestUserInput,
    ToolCallFinished,
    ToolCallRequested,
    UserMessage,
)
from agent.records import ActionOutcome, Effect, EffectVerb, Source, Subject
from agent.safety.approval import is_yes
from agent.safety.capabilities import Decision
from agent.safety.granting import Grants

_BOUND_BY = {
    EffectVerb.SEND: ("recipient", "content"),
    EffectVerb.CALL: ("recipient",),
    EffectVerb.SPEND: ("recipient", "amount"),
    EffectVerb.PUBLISH: ("content",),
    EffectVerb.DELETE: ("content",),
    EffectVerb.CANCEL: ("content",),
}
"""The facts that say all of an effect; the others are known by their screen alone."""


@dataclass(slots=True)
class RunApprovals:
    """The approvals of one run."""

    granted: Grants = field(default_factory=Grants)
    """What was approved for the whole run."""
    _asked: dict[str, Effect] = field(default_factory=dict)
    """The effect that each call was asked about, by the call's id."""
    _unused: dict[str, Effect] = field(default_factory=dict)
    """What was approved and not done, by the digest of the effect."""

    @classmethod
    def of(cls, history: Sequence[Event]) -> "RunApprovals":
        """Read the approvals of the newest run that a session's events hold."""
        events = run_events(history)
        found = cls(granted=Grants.of(events, for_run=True))
        found._fold(events)
        return found

    def _fold(self, events: Iterable[Event]) -> None:
        questions: dict[str, tuple[str, Effect]] = {}
        open_calls: dict[str, ToolCallRequested] = {}
        for event in events:
            match event.msg:
                case ToolCallRequested():
                    open_calls[event.msg.call_id] = event.msg
                case RequestUserInput(question=question) if question.review is not None:
                    effect = question.subject.effect if question.subject is not None else None
                    if effect is not None:
                        questions[question.question_id] = question.call_id, effect
                        self._asked[question.call_id] = effect
                case QuestionAnswered(question_id=question_id, answer=answer):
                    call_id, effect = questions.pop(question_id, ("", None))
                    if effect is not None and is_yes(answer):
                        self._unused[effect.digest] = effect
                case ToolCallFinished(call_id=call_id, outcome=outcome):
                    call = open_calls.pop(call_id, None)
                    if outcome is not ActionOutcome.FAILED:
                        self._use(call_id, call)
                case _:
                    pass

    def _use(self, call_id: str, call: ToolCallRequested | None) -> None:
        """Take away the approval that a call which was done had, or may have had."""
        effect = self._asked.get(call_id)
        if effect is not None:
            self._unused.pop(effect.digest, None)
        elif call is not None and call.decision == Decision.ASK.value:
            # It was let pass without a question of its own: by one of these, nobody knows which.
            self._unused.clear()

    def asked_of(self, call_id: str) -> Effect | None:
        """Return the effect that a call was asked about."""
        return self._asked.get(call_id)

    def lets(self, subject: Subject) -> bool:
        """Return whether an action was approved for the run, or once and not done since."""
        if self.granted.covers(subject):
            return True
        effect = subject.effect
        unused = self._unused.get(effect.digest) if effect is not None else None
        return unused is not None and effect is not None and is_same_effect(unused, effect)

    def used(self, subject: Subject) -> None:
        """Take in that an action was done, or may have been."""
        if subject.effect is not None and not self.granted.covers(subject):
            self._unused.pop(subject.effect.digest, None)


def run_events(history: Sequence[Event]) -> Sequence[Event]:
    """Return the events since a job's newest prompt; all of them where it has none of its own."""
    for at in range(len(history) - 1, -1, -1):
        msg = history[at].msg
        if isinstance(msg, UserMessage) and msg.job_id:
            return history[at:]
    return history


def is_same_effect(approved: Effect, now: Effect) -> bool:
    """Return whether an effect is the one that was approved, and can be known to be."""
    if approved.digest != now.digest or approved.control != now.control:
        return False
    facts = [getattr(now, name) for name in _BOUND_BY.get(now.verb, ())]
    return bool(facts) and all(
        fact is not None and fact.text.strip() and fact.source in {Source.SCREEN, Source.TYPED}
        for fact in facts
    )
