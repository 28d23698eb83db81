"""Write the ids of calls as an endpoint accepts them.

A conversation holds ids of several origins: an endpoint's own, those of another endpoint that the
session began with, and ours for calls that were written as text. Pure. Invariants: a call and its
result have the same id, no two calls share one, an id that the endpoint accepts stays as it is, and
the same conversation gets the same ids each time, so that its beginning is found in a cache.
"""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from hashlib import sha256

from msgspec.structs import replace

from agent.models.model import Message, Role, ToolCall

_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NINE = 9


class CallIds(StrEnum):
    """Which ids of calls an endpoint accepts."""

    USUAL = "usual"
    """Letters, digits, `_` and `-`, at most 40: OpenAI's chat wire allows 40 characters, and
    Anthropic's `tool_use` these."""
    NINE = "nine"
    """Exactly nine letters and digits: Mistral, where the model's tokenizer is older than version
    13 (`MistralRequestValidatorV3` of mistral-common 1.13)."""
    FUNCTIONS = "functions"
    """`functions.NAME:N`, N counting the conversation's calls from 0: Kimi's models write the next
    call after the pattern of the earlier ones (moonshotai/Kimi-K2-Instruct,
    docs/tool_call_guidance.md)."""


_ACCEPTED = {
    CallIds.USUAL: re.compile(r"[A-Za-z0-9_-]{1,40}"),
    CallIds.NINE: re.compile(rf"[A-Za-z0-9]{{{_NINE}}}"),
    CallIds.FUNCTIONS: re.compile(r"functions\.[A-Za-z0-9_-]{1,64}:[0-9]{1,6}"),
}


def with_accepted_ids(messages: Sequence[Message], form: CallIds) -> tuple[Message, ...]:
    """Return the messages with ids that the endpoint accepts, each given once."""
    ids = _Ids(form)
    return tuple(ids.write(message) for message in messages)


class _Ids:
    """The ids of one conversation while it is written."""

    def __init__(self, form: CallIds) -> None:
        self._form = form
        self._accepted = _ACCEPTED[form]
        self._given: set[str] = set()
        self._newest: dict[str, str] = {}  # What the newest call with an id is called now.
        self._calls = 0

    def write(self, message: Message) -> Message:
        if message.tool_calls:
            calls = tuple(self._call(call) for call in message.tool_calls)
            return message if calls == message.tool_calls else replace(message, tool_calls=calls)
        if message.role is Role.TOOL:
            # The result of a call that is no longer in the conversation keeps an id of its form.
            call_id = self._newest.get(message.call_id) or self._new(message.call_id, "call")
            return message if call_id == message.call_id else replace(message, call_id=call_id)
        return message

    def _call(self, call: ToolCall) -> ToolCall:
        kept = call.call_id not in self._given and self._accepts(call)
        call_id = call.call_id if kept else self._new(call.call_id, call.name)
        self._given.add(call_id)
        self._newest[call.call_id] = call_id
        self._calls += 1
        return call if call_id == call.call_id else replace(call, call_id=call_id)

    def _accepts(self, call: ToolCall) -> bool:
        if not self._accepted.fullmatch(call.call_id):
            return False
        if self._form is CallIds.FUNCTIONS:
            return call.call_id.startswith(f"functions.{call.name}:")
        return True

    def _new(self, call_id: str, name: str) -> str:
        """Return an id that no call has yet."""
        make: Callable[[int], str]
        if self._form is CallIds.FUNCTIONS:
            plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "_"

            def make(attempt: int) -> str:
                return f"functions.{plain}:{self._calls + attempt}"

        else:

            def make(attempt: int) -> str:
                return _nine(f"{attempt}:{call_id}")

        attempt = 0
        while (made := make(attempt)) in self._given:
            attempt += 1
        return made


def _nine(text: str) -> str:
    """Return nine letters and digits that stand for a text; they suit every form but Kimi's."""
    number = int.from_bytes(sha256(text.encode()).digest()[:8], "big")
    letters: list[str] = []
    for _ in range(_NINE):
        number, at = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[at])
    return "".join(letters)
