"""Bind an answer that comes from elsewhere to the very question that was shown there.

What carries it (a paired phone, a notice with buttons) is not known here. Invariants: an answer
counts for one question as it was shown, in one generation of its session, for a time; a token is
taken once, whatever comes of it; its hash alone is stored.
"""

import hashlib
import secrets
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from agent.consent.private_record import PrivateRecord
from agent.errors import NotAllowedError, WrongStateError
from agent.records import Question

FILE_NAME = "answer-tokens.json"
LIFE_MS = 15 * 60_000
MOST_TOKENS = 1000
_TOKEN_BYTES = 18
"""24 characters: the buttons of messengers carry 64 bytes with all that belongs to them."""


class Binding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an answer is bound to."""

    question_id: str
    generation: int
    """Of the session, as the question was shown."""
    digest: str
    """sha256, in hex, of all that the question says: its effect, its screen, its options."""

    def refusal(self, question: Question | None, generation: int) -> str:
        """Return why an answer no longer fits, as a sentence; empty: it does.

        Args:
            question: the open one of that id; None: it is not open.
            generation: of its session now.
        """
        if question is None or question.question_id != self.question_id:
            return "This question is no longer open: the first answer counts."
        if generation != self.generation:
            return "The session was restarted since this was shown."
        if not secrets.compare_digest(digest_of(question), self.digest):
            return "What is asked has changed since this was shown."
        return ""

    def check(self, question: Question | None, generation: int) -> None:
        """Raise WrongStateError unless an answer still fits; see `refusal`."""
        why = self.refusal(question, generation)
        if why:
            raise WrongStateError(why, "Read the question as it is now, and answer that.")


def digest_of(question: Question) -> str:
    """Return the sha256 of what a question says, whoever has approved it so far."""
    said = msgspec.json.encode(replace(question, yes_by=()), order="deterministic")
    return hashlib.sha256(said).hexdigest()


def bound_to(question: Question, generation: int) -> Binding:
    """Return what an answer to a question as it is now is bound to."""
    return Binding(
        question_id=question.question_id, generation=generation, digest=digest_of(question)
    )


class AnswerToken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one token stands for."""

    binding: Binding
    to: str
    """Whom it was sent to, for people and the audit: "telegram Ana"."""
    answer: str
    """The answer that it gives; empty: any, with the words that come with it."""
    until_ms: int


class _Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tokens: dict[str, AnswerToken] = {}
    """By the sha256 of the token, oldest first."""


class AnswerTokens:
    """The tokens of one core, in its data directory.

    Args:
        data_dir: where they are kept, so that a restarted core still knows them.
        clock_ms: the time by which they end.
    """

    def __init__(self, data_dir: Path, clock_ms: Callable[[], int]) -> None:
        self._file = PrivateRecord(
            data_dir / FILE_NAME,
            _Kept,
            what="The tokens of answers",
            remedy="Remove the file: questions are answered at a console then.",
        )
        self._clock_ms = clock_ms

    def issue(self, binding: Binding, *, to: str, answer: str = "", life_ms: int = LIFE_MS) -> str:
        """Store a new token and return it. Raises ConfigError: it cannot be stored.

        Args:
            binding: what it answers; see `bound_to`.
            to: whom it is sent to.
            answer: the only answer that it gives; empty: any.
            life_ms: for how long it counts.
        """
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        made = AnswerToken(
            binding=binding, to=to, answer=answer, until_ms=self._clock_ms() + life_ms
        )
        kept = {**self._living(), _hashed(token): made}
        while len(kept) > MOST_TOKENS:
            kept.pop(next(iter(kept)))
        self._file.write(_Kept(tokens=kept))
        return token

    def take(self, token: str) -> AnswerToken:
        """Return what a token stands for, and forget it and the others for the same question.

        The caller checks its binding (`Binding.check`) before it answers.

        Raises:
            NotAllowedError: it is unknown, used or over.
            ConfigError: the tokens cannot be read or written.
        """
        kept = self._living()
        found = kept.get(_hashed(token))
        if found is None:
            raise NotAllowedError(
                "This answer was used before, is too late, or never was offered.",
                "Answer at a console or by the newest message.",
            )
        question_id = found.binding.question_id
        left = {
            key: one
            for key, one in kept.items()
            if one.binding.question_id != question_id or one.to != found.to
        }
        self._file.write(_Kept(tokens=left))
        return found

    def _living(self) -> dict[str, AnswerToken]:
        kept, now_ms = self._file.read() or _Kept(), self._clock_ms()
        return {key: one for key, one in kept.tokens.items() if now_ms < one.until_ms}


def _hashed(token: str) -> str:
    # Not stretched: it holds 144 random bits.
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
