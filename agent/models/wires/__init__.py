"""The protocols that a model is spoken to by: the one table that a new one is added to.

A wire is a folder of `agent/models/` with a client in it, and a row here. Invariant: nothing of a
wire's folder is imported before a session asks for it.
"""

import msgspec

from agent.settings import Wire


class WireRow(msgspec.Struct, frozen=True, kw_only=True):
    """One wire."""

    module: str
    client: str
    """The class in the module, which takes the arguments that `agent.models.choice` gives."""
    path: str
    """How the address of one call ends."""


WIRES: dict[Wire, WireRow] = {
    Wire.CHAT: WireRow(
        module="agent.models.openai", client="OpenAIModel", path="/chat/completions"
    ),
    Wire.RESPONSES: WireRow(module="agent.models.openai", client="OpenAIModel", path="/responses"),
    Wire.MESSAGES: WireRow(
        module="agent.models.anthropic", client="AnthropicModel", path="/messages"
    ),
}
