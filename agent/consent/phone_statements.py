"""What a paired phone may say: look, answer, steer, stop, and nothing else.

A statement is JSON that the phone signs as it stands. Invariant: it is decoded strictly, so that
nothing that was signed is left unread.
"""

from typing import Annotated, TypeAlias

import msgspec

from agent.errors import UsageError
from agent.protocol import Interrupt, Op, UserInput, UserInputAnswer

LONGEST_CHARS = 16_384
_Id = Annotated[str, msgspec.Meta(min_length=16, max_length=64)]
_Name = Annotated[str, msgspec.Meta(max_length=200)]
_Words = Annotated[str, msgspec.Meta(max_length=4_000)]


class _Statement(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True
):
    """Base of all."""

    id: _Id
    """Chosen by the phone: the same statement again, after its reply was lost, does nothing new."""
    at_ms: int
    """When it was made, by the core's clock as the phone knows it."""


class Look(_Statement, frozen=True, tag="look"):
    """Read the queue."""

    seen: _Name = ""
    """The version that the page shows: the reply comes once there is another, or after a while."""


class Picture(_Statement, frozen=True, tag="picture"):
    """Read the picture that a question is about."""

    question_id: _Name


class GiveAnswer(_Statement, frozen=True, tag="answer"):
    """Answer a question, as it was shown."""

    question_id: _Name
    generation: int
    digest: _Name
    answer: _Words


class Steer(_Statement, frozen=True, tag="steer"):
    """Give a session a hint."""

    session_id: _Name
    text: _Words


class Stop(_Statement, frozen=True, tag="stop"):
    """Stop a session."""

    session_id: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class StopAll(_Statement, frozen=True, tag="stop_all"):
    """Stop every session."""


class Push(_Statement, frozen=True, tag="push"):
    """Say where notices are pushed to (RFC 8030); an empty endpoint: nowhere any more."""

    endpoint: Annotated[str, msgspec.Meta(max_length=2_000)]
    p256dh: _Name = ""
    auth: _Name = ""


Statement: TypeAlias = Look | Picture | GiveAnswer | Steer | Stop | StopAll | Push
_decoder: msgspec.json.Decoder[Statement] = msgspec.json.Decoder(Statement)


def read_statement(text: str) -> Statement:
    """Return what a signed text says. Raises UsageError: it is not a statement."""
    if len(text) > LONGEST_CHARS:
        raise UsageError("The statement is too long.", "Say it in fewer words.")
    try:
        return _decoder.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise UsageError(f"The statement cannot be read: {error}.", "Reload the page.") from error


def op_of(statement: Statement) -> Op | None:
    """Return the op that a statement asks for; None: it only looks, or is the page's own."""
    match statement:
        case GiveAnswer(question_id=question_id, answer=answer):
            return UserInputAnswer(question_id=question_id, answer=answer)
        case Steer(session_id=session_id, text=text):
            return UserInput(session_id=session_id, text=text)
        case Stop(session_id=session_id):
            return Interrupt(session_id=session_id)
        case StopAll():
            return Interrupt()
        case _:
            return None
