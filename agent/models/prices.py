"""What a call costs, by a price in dollars for a million tokens.

Not the table of prices (that is `agent.models.catalog`), and not a bill: what an endpoint really
charges only it knows. Invariant: a model without a price costs nothing here.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from agent.models.model import Message, ModelReply, ModelRequest
from agent.records import Usage

_MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Dollars for a million tokens."""

    input: float
    output: float
    cached_input: float | None = None
    """Of what the endpoint had in its cache; as `input` when left out."""
    cache_write: float | None = None
    """Of what the endpoint put into its cache; as `input` when left out."""

    @property
    def lowest(self) -> float:
        return min(self.input, self.output, self.cached_input or 0.0, self.cache_write or 0.0)


def cost_usd(usage: Usage, price: Price) -> float:
    read = min(usage.cached_input_tokens, usage.input_tokens)
    written = min(usage.cache_write_tokens, usage.input_tokens - read)
    for_read = price.input if price.cached_input is None else price.cached_input
    for_written = price.input if price.cache_write is None else price.cache_write
    cost = (usage.input_tokens - read - written) * price.input
    cost += read * for_read + written * for_written + usage.output_tokens * price.output
    return cost / _MILLION


def metered(request: ModelRequest, reply: ModelReply, price: Price | None) -> ModelReply:
    """Return a reply with what it used and cost.

    What the endpoint does not say is estimated, so that budgets hold it too; without a price the
    cost stays 0.
    """
    used = reply.usage
    # Nothing is asked for nothing, and what was said has a length.
    usage = replace(
        used,
        input_tokens=used.input_tokens or estimate_tokens(request),
        output_tokens=used.output_tokens or estimate_tokens(reply),
    )
    cost = used.cost_usd if price is None else cost_usd(usage, price)
    return replace(reply, usage=replace(usage, cost_usd=cost))


def estimate_tokens(said: ModelRequest | ModelReply) -> int:
    """Estimate the tokens of what was sent or answered as a quarter of its characters.

    As the loop does for the length of a conversation (CONTRACTS 5.2); pictures count nothing.
    """
    each: Sequence[Message | ModelReply] = [said] if isinstance(said, ModelReply) else said.messages
    chars = 0
    for one in each:
        chars += len(one.text)
        chars += sum(len(call.name) + len(call.arguments) for call in one.tool_calls)
    if isinstance(said, ModelRequest):
        chars += len(msgspec.json.encode(said.tools))
    return chars // 4
