"""Define a channel: a person's own service that shows messages and may bring answers back.

`agent.channels.message_text` writes what is said; `agent.channels.rota` decides who is told when,
and `agent.channels.answers` what an answer does. Invariant: a channel knows whose it is, and
hands on only what it can prove to come from there.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from agent.channels.urgency import Urgency


class Button(NamedTuple):
    """One answer that can be given by a press."""

    label: str
    token: str
    """Of this answer to this question, once; at most 64 bytes."""


class Message(NamedTuple):
    """What is sent."""

    key: str
    """Of the notice that it tells of; what is withdrawn is found by it."""
    title: str
    text: str = ""
    urgency: Urgency = Urgency.NORMAL
    buttons: tuple[Button, ...] = ()
    words_token: str = ""
    """What answers in words stand for; empty: none are taken."""
    session_id: str = ""
    question_id: str = ""


class Reply(NamedTuple):
    """What came back, from the person whose channel it is."""

    token: str = ""
    """Of a button, or of the message that words answer; empty: words that name none."""
    words: str = ""


class Outcome(NamedTuple):
    """What an answer came to, for the person who gave it."""

    text: str
    counts: bool


Take = Callable[[Reply], Awaitable[Outcome]]
"""Have a reply decided on."""


class Channel(Protocol):
    """A person's own service."""

    name: str
    kind: str
    operator: str
    """Whose it is; empty: nothing is taken from it."""
    takes_answers: bool
    """Whether its service brings anything back."""
    most_bytes: int
    """How much text one message carries."""

    async def send(self, message: Message) -> None:
        """Show a message. Raises WebError: it was not accepted."""

    async def send_picture(self, message: Message, png: bytes) -> None:
        """Show the screen that a message is about. Raises WebError."""

    async def withdraw(self, message: Message, why: str, *, is_own: bool) -> None:
        """Say that a message needs no answer any more. Raises WebError.

        Args:
            is_own: whether an answer by this channel ended it; its person is told of that anyway.
        """

    async def listen(self, take: Take) -> None:
        """Bring replies until cancelled. Raises WebError: the service cannot be reached."""

    async def close(self) -> None:
        """Close its connections; nothing is sent afterwards."""
