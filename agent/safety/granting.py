"""What the operator approved for the rest of a session or a run: one effect, for one recipient.

Not the asking. Invariants: a grant is as narrow as its effect, by verb, app and recipient, or by
verb, app and screen where nobody receives anything; money, secrets, permissions, protections and
overwriting are never granted for longer than once, nor what has a recipient that nobody can read;
a grant outlives a restart, because it is read from the session's own history.
"""

from collections.abc import Iterable

from agent.protocol import Event, QuestionAnswered, RequestUserInput
from agent.records import Effect, EffectVerb, Source, Subject
from agent.safety.approval import is_for_session
from agent.safety.effects.verdict import Risk
from agent.safety.words import words

_VERBS = frozenset(
    {
        *(EffectVerb.SEND, EffectVerb.CALL, EffectVerb.PUBLISH, EffectVerb.DELETE),
        *(EffectVerb.CANCEL, EffectVerb.CARRY_OUT),
    }
)
_TO_SOMEBODY = frozenset({EffectVerb.SEND, EffectVerb.CALL})
_GRANTABLE = frozenset({Risk.NONE, Risk.DESTRUCTIVE, Risk.OUTGOING})
_UNSEEN = frozenset({Source.UNREADABLE, Source.MODEL, Source.REVIEWER})
_TOOLS = frozenset({"click_element", "long_press_element"})

ResolvedAction = tuple[str, str, str, str, tuple[str, ...]]


def grantable(subject: Subject | None) -> bool:
    """Return whether an approval may hold for the rest of its session."""
    return _resolved(subject) is not None


class Grants:
    """The grants of one session."""

    def __init__(self) -> None:
        self._resolved_actions: set[ResolvedAction] = set()

    @classmethod
    def of(cls, history: Iterable[Event], *, for_run: bool = False) -> "Grants":
        """Read the grants that events hold.

        Args:
            history: of a session, or of a run of a job in it.
            for_run: whether those of a job's reviews are read, or those of everything else.
        """
        grants = cls()
        asked: dict[str, Subject | None] = {}
        for event in history:
            match event.msg:
                case RequestUserInput(question=question) if bool(question.review) is for_run:
                    asked[question.question_id] = question.subject
                case QuestionAnswered(question_id=question_id, answer=answer):
                    grants.take(asked.get(question_id), answer)
                case _:
                    pass
        return grants

    def take(self, subject: Subject | None, answer: str | None) -> None:
        """Take in an answer: it grants only when it says so, and only what may be granted."""
        resolved = _resolved(subject)
        if resolved is not None and is_for_session(answer):
            self._resolved_actions.add(resolved)

    def covers(self, subject: Subject) -> bool:
        """Return whether an action has been granted already."""
        return _resolved(subject) in self._resolved_actions


def _resolved(subject: Subject | None) -> ResolvedAction | None:
    if subject is not None and subject.effect is not None:
        return _effect(subject.effect)
    # Approvals that were asked before effects were judged are known by their button.
    if subject is None or subject.element is None or subject.action not in _TOOLS:
        return None
    if subject.risk not in _GRANTABLE or not words(subject.element.label):
        return None
    element = subject.element
    return (
        subject.action,
        element.package,
        element.resource_id,
        f"{subject.capability} {subject.risk}",
        tuple(words(element.label)),
    )


def _effect(effect: Effect) -> ResolvedAction | None:
    """Name an effect so that the same one is known again; None: it is not granted for longer."""
    if effect.verb not in _VERBS:
        return None
    if effect.verb not in _TO_SOMEBODY:
        # The same button opens another address the next time: a host that is named counts too.
        host = "" if effect.recipient is None else effect.recipient.text
        return "effect", effect.app, effect.verb.value, effect.screen, words(host)
    to = effect.recipient
    if to is None or to.source in _UNSEEN or not words(to.text):
        return None
    return "effect", effect.app, effect.verb.value, "", words(to.text)
