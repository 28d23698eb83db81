"""Decide on what comes back by channels: whose it is, which question it answers, whether it counts.

A channel has proved that a reply is of its person (`agent.channels.channel`). Invariants: a press
counts once, for the question as it was shown, from the channel that it was sent to; words never
approve; a refused answer changes nothing, and its sender is told why.
"""

import logging

from agent.channels.channel import Channel, Outcome, Reply
from agent.channels.message_text import AT_A_CONSOLE
from agent.channels.people import OpenQuestion, People
from agent.consent.bound_answer import AnswerTokens, bound_to
from agent.errors import ErrorKind, SwitchboardError
from agent.protocol import UserInputAnswer
from agent.records import Question
from agent.safety.approval import is_no, is_yes
from agent.text import one_line

DAY_MS = 24 * 3_600_000
_MOST_WORDS = 2_000
_log = logging.getLogger(__name__)


class Answers:
    """The answers of one core's channels.

    Args:
        people: who may answer.
        tokens: what buttons and messages stand for.
    """

    def __init__(self, people: People, tokens: AnswerTokens) -> None:
        self._people = people
        self._tokens = tokens
        self._asked: dict[str, dict[str, str]] = {}
        """The questions that each channel was sent and are open: the tokens for words, by id."""
        self._answered: dict[str, str] = {}
        """The channel whose answer to a question was given last, by its id."""

    def issue(self, asked: OpenQuestion, channel: Channel, answer: str, now_ms: int) -> str:
        """Return a token for an answer on a channel; for words with an empty one.

        Raises ConfigError: it cannot be stored.
        """
        question = asked.question
        life_ms = max(1, question.deadline_ms - now_ms) if question.deadline_ms else DAY_MS
        token = self._tokens.issue(
            bound_to(question, asked.generation), to=_named(channel), answer=answer, life_ms=life_ms
        )
        if not answer:
            self._asked.setdefault(channel.name, {})[question.question_id] = token
        return token

    def answered_by(self, question_id: str) -> str:
        """Forget a question that is not open any more; returns the channel that answered it, or
        nothing.
        """
        for sent in self._asked.values():
            sent.pop(question_id, None)
        return self._answered.pop(question_id, "")

    async def take(self, channel: Channel, reply: Reply) -> Outcome:
        """Decide on a reply; never raises what the person can be told."""
        try:
            return await self._decide(channel, reply)
        except SwitchboardError as error:
            _log.info("An answer by the channel %s was refused: %s", channel.name, error)
            if error.kind in (ErrorKind.INTERNAL, ErrorKind.STORE, ErrorKind.CONFIG):
                return _no(f"The answer could not be stored. {AT_A_CONSOLE}")
            return _no(f"{error.message} {error.remedy}".strip())

    async def _decide(self, channel: Channel, reply: Reply) -> Outcome:
        if not channel.operator:
            return _no("This channel is no operator's, and takes no answers.")
        words = reply.words.strip()
        if len(words) > _MOST_WORDS:
            return _no(f"An answer by a channel has at most {_MOST_WORDS} characters.")
        token = reply.token or self._only(channel)
        if not token:
            return _no("It is not clear which question this answers: reply to its message.")
        if not reply.token or words:
            trouble = await self._trouble_of(channel, token, words)
            if trouble:
                # Said before the token is used up: the buttons still count.
                return _no(trouble)
        kept = self._tokens.take(token)
        if kept.to != _named(channel):
            return _no("This answer was offered to another person.")
        asked = await self._people.open_question(kept.binding.question_id)
        kept.binding.check(asked.question if asked else None, asked.generation if asked else 0)
        assert asked is not None, "a question that is not open was refused"
        if not kept.answer and (trouble := _trouble_of_words(asked.question, words)):
            return _no(trouble)
        answer = kept.answer or words
        by = f"{channel.kind} {channel.name}"
        op = UserInputAnswer(question_id=asked.question.question_id, answer=answer)
        self._answered[asked.question.question_id] = channel.name
        await self._people.answer(channel.operator, by, op)
        return Outcome(await self._outcome_text(asked.question, answer), counts=True)

    async def _outcome_text(self, question: Question, answer: str) -> str:
        still = await self._people.open_question(question.question_id)
        shown = one_line(answer, 60)
        if still is not None:
            count = f"{len(still.question.yes_by)} of {still.question.people}"
            return f"Your answer counts: {shown} ({count}). Another person has to approve it too."
        return f"Your answer counts: {shown}."

    async def _trouble_of(self, channel: Channel, token: str, words: str) -> str:
        """Return why words cannot answer what a channel was sent, as sentences; empty: they can."""
        sent = self._asked.get(channel.name, {})
        question_id = next((one for one, kept in sent.items() if kept == token), "")
        asked = await self._people.open_question(question_id) if question_id else None
        return "" if asked is None else _trouble_of_words(asked.question, words)

    def _only(self, channel: Channel) -> str:
        """Return the token of the one open question of a channel; empty: none, or several."""
        open_now = self._asked.get(channel.name, {})
        return next(iter(open_now.values())) if len(open_now) == 1 else ""


def _trouble_of_words(question: Question, words: str) -> str:
    if not words:
        return "The answer is empty."
    if question.secret:
        return f"This is asked in secret. {AT_A_CONSOLE}"
    if question.is_approval and (is_yes(words) or not is_no(words)):
        return "Words approve nothing: press Approve, or write no: and why."
    return ""


def _named(channel: Channel) -> str:
    return f"{channel.kind} {channel.name}"


def _no(text: str) -> Outcome:
    return Outcome(text, counts=False)
