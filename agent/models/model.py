"""What the core asks of a language model: the Model protocol and its messages.

Not a client: `agent.models.openai` and `agent.models.pilot` are. Invariant: a model sees only what
is in the request; it holds no device, no session and no store.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

import msgspec

from agent.records import Usage


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class MessageKind(StrEnum):
    """What a message is, so that memory can be masked by kind."""

    INSTRUCTIONS = "instructions"
    GOAL = "goal"
    OBSERVATION = "observation"
    REPLY = "reply"
    RESULT = "result"
    STEER = "steer"
    WHEEL = "wheel"  # What the operator did on the phone since a model drove it last.
    SUMMARY = "summary"
    EFFECTS = "effects"  # What was seen to have changed: the last message, of this request alone.


class ToolChoice(StrEnum):
    """Whether an answer has to call a tool."""

    AUTO = "auto"
    REQUIRED = "required"


class ImageDetail(StrEnum):
    """How finely an endpoint looks at a picture, where its wire lets that be said."""

    AUTO = "auto"
    LOW = "low"
    HIGH = "high"


class FinishReason(StrEnum):
    """Why an answer ended, in one set of words for all wires."""

    UNKNOWN = ""
    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"  # Cut off at the output limit, or at the end of the context window.
    FILTERED = "filtered"  # Withheld by the endpoint's own content rules, or refused by the model.


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool the model wants called; arguments are its JSON, unchecked."""

    call_id: str
    name: str
    arguments: str


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of the conversation."""

    role: Role
    kind: MessageKind
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    """On a tool message, the call it answers."""
    failed: bool = False
    """On a tool message, whether the call failed; never sent, as the text says so."""
    brief: str = ""
    """On an observation, the line that stands for it once it is old; never sent beside it."""
    image: bytes | None = None
    image_type: str = "image/jpeg"
    reasoning: tuple[dict[str, Any], ...] = ()
    """On a reply, the reasoning it came with: see `ModelReply.reasoning`."""


class ToolSchema(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is told of a tool; parameters is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One call: the whole conversation and the tools."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...]
    max_output_tokens: int = 0
    """The most tokens of the answer, hidden reasoning included; 0: what suits the model."""
    tool_choice: ToolChoice = ToolChoice.AUTO
    cache_key: str = ""
    """Names the conversation, so that its calls reach the machine that cached its beginning."""
    image_detail: ImageDetail = ImageDetail.AUTO
    unread: int = 0
    """How many answers in a row, up to now, had no call that could be read."""


class ModelReply(msgspec.Struct, frozen=True, kw_only=True):
    """What came back; usually one tool call."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish: FinishReason = FinishReason.UNKNOWN
    output_limit: int = 0
    """The limit in tokens that the answer was asked with; 0: none, or not known."""
    note: str = ""
    """What the operator should know of how it was asked: a feature that the endpoint lacks."""
    reasoning: tuple[dict[str, Any], ...] = ()
    """Items of the model's own reasoning, in its wire's form: signed or encrypted, so they go back
    unchanged with the reply they came with, and are kept for the length of a turn only."""


class CallWithdrawn(Exception):
    """Whoever asked for a call has taken it back while it was carried out."""


@runtime_checkable
class Withdraws(Protocol):
    """A model that may take back a call while it is carried out."""

    def under_way(self) -> AbstractAsyncContextManager[None]:
        """Carry out the newest call within this block. Raises CallWithdrawn once it is taken back.

        The block is cancelled where it then waits.
        """


@runtime_checkable
class Learns(Protocol):
    """A model that can be asked what it takes, before it is asked anything else."""

    async def learn(self) -> None:
        """Ask once for its window and features. What cannot be asked is as if it were not said."""


class Model(Protocol):
    """A language model. Raises ModelError, which says whether trying again can help."""

    @property
    def name(self) -> str: ...

    @property
    def sees(self) -> bool:
        """Whether it is shown frames; drawing them costs time."""

    @property
    def notice(self) -> str:
        """What the operator should know about the choice of this model; mostly empty."""

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        """Answer once. `on_text` gets the reply's text so far, as it streams."""

    async def close(self) -> None: ...
