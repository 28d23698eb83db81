"""Ask a reviewer about an act before it is done, keep the answer, and ask the same only once.

Not the question (`agent.safety.reviewer`) and not who is asked (`agent.models.reviewers`).
Invariants: each question is a request of its own, without what was asked before; whatever goes
wrong, the operator is asked; an answer is stored before it counts.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent import protocol
from agent.errors import ModelError, StoreError
from agent.loop.acting.acts import acts_of, stored_acts
from agent.loop.images.image_prep import Pictures
from agent.loop.images.set_of_marks import MEDIA_TYPE
from agent.loop.observe import Seconds
from agent.loop.task_context import TaskContext
from agent.models.model import (
    Message,
    MessageKind,
    Model,
    ModelReply,
    ModelRequest,
    Role,
    ToolChoice,
    ToolSchema,
)
from agent.records import ActionOutcome, ActReview, Effect, Observation, ReviewVerdict, Usage
from agent.safety.approval import is_yes
from agent.safety.effects.acts import Act, ActKind
from agent.safety.redacting.redaction import redact_secrets
from agent.safety.reviewer.answer import read_answer, without_answer
from agent.safety.reviewer.question import (
    INSTRUCTIONS,
    PARAMETERS,
    REVIEW_TOOL,
    ReviewQuestion,
    done_line,
)
from agent.text import one_line
from agent.tools.actions import ResolvedAction
from agent.tools.lenient_json import NotJson, read_json

_MAX_ANSWER_TOKENS = 1000
_APPROVED_FOR = 3  # Acts after an approval during which its rest may be done.
_UNNAMED = "unlabeled"
_CACHE_KEY = "act-review"
_TOOL = ToolSchema(name=REVIEW_TOOL, description="Give the review.", parameters=PARAMETERS)


@dataclass(frozen=True, slots=True)
class Answered:
    """What a reviewer answered, and what that took."""

    review: ActReview
    usage: Usage = field(default_factory=Usage)
    took_ms: int = 0


@dataclass(slots=True)
class ActsSoFar:
    """What a session did and had approved, as a reviewer is told; folded from its events."""

    done: list[str] = field(default_factory=list)
    screen: Observation | None = None
    """The screen on which the last act was done."""
    known: dict[str, ActReview] = field(default_factory=dict)
    """The answers by the digest of their question."""
    _approved: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=8))
    _seen: Observation | None = None
    _open: dict[str, protocol.ToolCallRequested] = field(default_factory=dict)
    _asked: dict[str, Effect] = field(default_factory=dict)

    @classmethod
    def of(cls, history: Iterable[protocol.Event]) -> "ActsSoFar":
        """Fold the past of a session."""
        so_far = cls()
        for event in history:
            so_far.take(event.msg)
        return so_far

    @property
    def approved(self) -> tuple[str, ...]:
        """What was approved lately enough for its rest to be under way."""
        now = len(self.done)
        return tuple(said for at, said in self._approved if now - at <= _APPROVED_FOR)

    def did(self, acts: Sequence[Act], screen: Observation) -> None:
        """Take in an action that was done on a screen."""
        self.done += [done_line(act) for act in acts[:2]]
        self.screen = screen

    def keep(self, review: ActReview, sha256: str, view_sha256: str) -> None:
        """Keep an answer for the same question, and for the same view if it had no effect."""
        if review.fault:
            return
        self.known[sha256] = review
        if review.verdict is ReviewVerdict.ALLOW and review.effect is None:
            self.known[view_sha256] = review

    def answer(self, question: ReviewQuestion) -> ActReview | None:
        """Return what is known of a question; None: nothing."""
        return self.known.get(question.sha256) or self.known.get(question.view_sha256)

    def approve(self, effect: Effect) -> None:
        """Take in what the operator let pass."""
        at = len(self.done)
        self._approved.append((at, f"act {at + 1} ({effect.verb.value})"))

    def take(self, msg: protocol.EventMsg) -> None:
        """Take in one stored fact."""
        match msg:
            case protocol.ObservationRecorded(observation=seen):
                self._seen = seen
            case protocol.ToolCallRequested(kind="action"):
                self._open[msg.call_id] = msg
            case protocol.ToolCallFinished(call_id=call_id, outcome=outcome):
                call = self._open.pop(call_id, None)
                if call is not None and self._seen and outcome is not ActionOutcome.FAILED:
                    self.did(stored_acts(call, self._seen), self._seen)
            case protocol.RequestUserInput(question=question) if question.subject is not None:
                if question.subject.effect is not None:
                    self._asked[question.question_id] = question.subject.effect
            case protocol.QuestionAnswered(question_id=question_id, answer=answer):
                effect = self._asked.pop(question_id, None)
                if effect is not None and is_yes(answer):
                    self.approve(effect)
            case protocol.ActReviewed(review=review, question_sha256=sha256):
                self.keep(review, sha256, msg.view_sha256)
            case _:
                pass


class ActReviews:
    """The reviews of one turn."""

    def __init__(
        self,
        context: TaskContext,
        seconds: Seconds,
        warrants: Callable[[], tuple[str, ...]] = lambda: (),
    ) -> None:
        self._context = context
        self._warrants = warrants
        self._seconds = seconds
        self._so_far: ActsSoFar | None = None
        self._pictures = Pictures()
        self._begun: tuple[str, asyncio.Task[Answered]] | None = None
        self._has_warned = False

    @property
    def is_on(self) -> bool:
        """Whether anybody reviews."""
        return self._context.reviewing.model is not None

    @property
    def so_far(self) -> ActsSoFar:
        if self._so_far is None:
            self._so_far = ActsSoFar.of(self._context.history)
        return self._so_far

    def question(self, resolved: ResolvedAction, screen: Observation) -> ReviewQuestion:
        """Return what is asked about an action on a screen."""
        return ReviewQuestion(
            acts=acts_of(resolved),
            screen=screen,
            words=tuple(self._context.operator_texts),
            before=self.so_far.screen,
            done=tuple(self.so_far.done),
            approved=self.so_far.approved,
            warrants=self._warrants(),
        )

    def begin(self, resolved: ResolvedAction, screen: Observation) -> None:
        """Begin to ask, while the action is stored and prepared; `review` waits for the answer."""
        question = self.question(resolved, screen)
        if self.so_far.answer(question) is not None:
            return
        self.drop()
        self._begun = question.sha256, asyncio.create_task(self._ask(question), name="act review")

    def drop(self) -> None:
        """Forget a question whose answer nobody waits for."""
        begun, self._begun = self._begun, None
        if begun is not None:
            begun[1].cancel()

    async def review(
        self, resolved: ResolvedAction, screen: Observation, call: protocol.ToolCallRequested
    ) -> ActReview:
        """Return what the reviewer says of an action; the answer is stored."""
        question = self.question(resolved, screen)
        known = self.so_far.answer(question)
        answered = await self._answered(question) if known is None else Answered(known)
        if known is not None:
            self.drop()
        await self._context.emit(
            protocol.ActReviewed(
                step=call.step,
                call_id=call.call_id,
                review=answered.review,
                question_sha256=question.sha256,
                view_sha256=question.view_sha256,
                took_ms=answered.took_ms,
                usage=answered.usage,
            )
        )
        self.so_far.keep(answered.review, question.sha256, question.view_sha256)
        if answered.review.fault:
            await self._warn(answered.review)
        return answered.review

    async def _answered(self, question: ReviewQuestion) -> Answered:
        """Wait for the answer that was begun, or ask now."""
        begun, self._begun = self._begun, None
        if begun is None:
            return await self._ask(question)
        if begun[0] == question.sha256:
            return await begun[1]
        begun[1].cancel()
        return await self._ask(question)

    async def _warn(self, review: ActReview) -> None:
        """Say once in a turn why the operator is asked for want of a review."""
        if self._has_warned:
            return
        self._has_warned = True
        message = (
            f"The reviewer {review.reviewer} gave no review: {review.fault}. You are asked "
            "instead. Name a faster one in safety.reviewer, raise safety.reviewer_timeout_s, or "
            "set safety.reviewer to off."
        )
        await self._context.emit(protocol.WarningEvent(message=message))

    async def _ask(self, question: ReviewQuestion) -> Answered:
        """Ask once. Raises nothing but a cancellation."""
        reviewing = self._context.reviewing
        assert reviewing.model is not None, "nobody reviews"
        return await ask_reviewer(
            reviewing.model,
            question,
            timeout_s=reviewing.timeout_s,
            seconds=self._seconds,
            picture=self._picture,
        )

    async def _picture(self, question: ReviewQuestion) -> bytes | None:
        """Return the frame where words do not say what the act touches; None: they do."""
        model, frame = self._context.reviewing.model, question.screen.frame
        touches = [a for a in question.acts if a.kind not in {ActKind.KEY, ActKind.TYPE}]
        wordless = any(a.element is None or a.element.label == _UNNAMED for a in touches)
        if model is None or not model.sees or frame is None:
            return None
        if not (wordless or question.screen.is_silent):
            return None
        try:
            data = await self._context.read_blob(frame.digest)
        except StoreError:
            return None
        picture = await asyncio.shield(self._pictures.begin(data, question.screen.elements))
        return None if picture.is_black else picture.data


async def ask_reviewer(
    model: Model,
    question: ReviewQuestion,
    *,
    timeout_s: float,
    seconds: Seconds,
    picture: Callable[[ReviewQuestion], Awaitable[bytes | None]] | None = None,
) -> Answered:
    """Ask a model about one act. Raises nothing but a cancellation.

    Args:
        picture: makes the picture of the screen, where one is needed.
    """
    began = seconds()
    usage = Usage()
    try:
        async with asyncio.timeout(timeout_s):
            image = None if picture is None else await picture(question)
            reply = await model.complete(_request(question, image))
        usage = reply.usage
        review = read_answer(_object(reply), question, model.name)
    except TimeoutError:
        review = without_answer(model.name, f"it did not answer within {timeout_s:g} s")
    except ModelError as error:
        why = redact_secrets(one_line(error.message, 200)).rstrip(".")
        review = without_answer(model.name, f"it failed ({why})")
    return Answered(review=review, usage=usage, took_ms=round((seconds() - began) * 1000))


def _request(question: ReviewQuestion, image: bytes | None) -> ModelRequest:
    told = Message(role=Role.SYSTEM, kind=MessageKind.INSTRUCTIONS, text=INSTRUCTIONS)
    asked = Message(
        role=Role.USER,
        kind=MessageKind.OBSERVATION,
        text=question.text,
        image=image,
        image_type=MEDIA_TYPE,
    )
    return ModelRequest(
        messages=(told, asked),
        tools=(_TOOL,),
        tool_choice=ToolChoice.REQUIRED,
        max_output_tokens=_MAX_ANSWER_TOKENS,
        cache_key=_CACHE_KEY,
    )


def _object(reply: ModelReply) -> Mapping[str, Any] | None:
    """Return the object of an answer: of its call, or of its text."""
    for text in (*(call.arguments for call in reply.tool_calls[:1]), reply.text):
        start = text.find("{")
        if start < 0:
            continue
        try:
            found = read_json(text[start:])
        except NotJson:
            continue
        if isinstance(found, dict):
            inner = found.get("arguments", found)
            return inner if isinstance(inner, dict) else found
    return None
