"""A model that does what the newest words of its operator say, and notes what it was shown.

Not the planner's. Invariant: the same conversation gives the same call, so what a session does next
follows from its record alone.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable

from agent.models.model import Message, MessageKind, ModelReply, ModelRequest
from agent.records import Session
from tests.sessions.scripted import call

WORDS = ("quick", "fails", "asks", "hangs")
_WORD = re.compile(r"w-(\w+)")
_UTTERED = frozenset({MessageKind.GOAL, MessageKind.STEER})


_SECRET = "4111 1111 1111 1111"


def said(word: str, *, secret: bool = False) -> str:
    """Return what an operator writes to have a thing done, with what is redacted there if asked."""
    return f"Please w-{word}, with {_SECRET}." if secret else f"Please w-{word}."


class Gates:
    """Where sessions hang until they are let go, by session."""

    def __init__(self) -> None:
        self._open: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.shown: dict[str, str] = {}
        """The newest words that each session's model was asked with."""

    def let_go(self, session_id: str) -> None:
        """Let it go on; what its model was asked with is known anew when it is asked again."""
        self.shown.pop(session_id, None)
        self._open[session_id].set()

    async def wait(self, session_id: str) -> None:
        gate = self._open[session_id] = asyncio.Event()
        await gate.wait()


class WordModel:
    name = "words"
    sees = False
    notice = ""

    def __init__(self, session: Session, gates: Gates) -> None:
        self._session_id = session.session_id
        self._gates = gates

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        at, word = _newest(request.messages)
        self._gates.shown[self._session_id] = word
        match word:
            case "fails":
                return call("finish", success=False, summary="it cannot be")
            case "asks" if not _asked_since(request.messages[at:]):
                return call("ask_user", question="Which?")
            case "hangs" if not _was_refused(request.messages[at:]):
                await self._gates.wait(self._session_id)
            case _:
                pass
        return call("finish", success=True, summary=f"did {word}")

    async def close(self) -> None:
        return None


def _newest(messages: tuple[Message, ...]) -> tuple[int, str]:
    for at in range(len(messages) - 1, -1, -1):
        found = _WORD.findall(messages[at].text) if messages[at].kind in _UTTERED else []
        if found:
            return at, found[-1]
    raise AssertionError("the model was asked without the operator's words")


def _was_refused(messages: tuple[Message, ...]) -> bool:
    """Whether its newest call was a finish that was sent back: it has hung long enough."""
    results = [message for message in messages if message.kind is MessageKind.RESULT]
    calls = [one.name for message in messages for one in message.tool_calls]
    sent_back = bool(results) and results[-1].text.startswith(("FAILED", "BLOCKED"))
    return sent_back and calls[-1] == "finish"


def _asked_since(messages: tuple[Message, ...]) -> bool:
    return any(one.name == "ask_user" for message in messages for one in message.tool_calls)
