"""What models cost: a table of dollars for a million tokens, which the operator can edit.

Not a bill: providers change their prices, and what an endpoint really charges only it knows.
Invariant: a model without a price costs nothing here, and the operator is told that nobody counts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from agent.errors import ConfigError
from agent.models.model import Message, ModelReply, ModelRequest
from agent.records import Usage
from agent.text import one_line

FILE_NAME = "prices.toml"
_MILLION = 1_000_000
_MAX_BYTES = 1_000_000


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Dollars for a million tokens."""

    input: float
    output: float
    cached_input: float | None = None
    """Of what the endpoint had in its cache; as `input` when left out."""


def load_prices(own: Path | None = None) -> dict[str, Price]:
    """Read the table that comes along, and the operator's own over it.

    Args:
        own: a TOML file of the same form; it need not exist.

    Raises:
        ConfigError: the operator's file cannot be used.
    """
    text = files("agent.models").joinpath(FILE_NAME).read_text(encoding="utf-8")
    prices = _read(text, FILE_NAME)
    if own is None:
        return prices
    try:
        with own.open("rb") as file:
            mine = file.read(_MAX_BYTES).decode("utf-8")
    except FileNotFoundError:
        return prices
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The price table {own} could not be read: {one_line(str(error), 100)}.",
            "Check its mode and that it is UTF-8.",
        ) from error
    return {**prices, **_read(mine, str(own))}


def price_of(name: str, prices: Mapping[str, Price]) -> Price | None:
    """Find the price of a model: by its name, else by the longest name that it begins with.

    `gpt-5-mini-2025-08-07` is a dated `gpt-5-mini`; `gpt-5-miniature` is another model.
    """
    if name in prices:
        return prices[name]
    dated = [known for known in prices if name.startswith((known + "-", known + "@"))]
    return prices[max(dated, key=len)] if dated else None


def cost_usd(usage: Usage, price: Price) -> float:
    """Say what a usage costs."""
    cached = min(usage.cached_input_tokens, usage.input_tokens)
    for_cached = price.input if price.cached_input is None else price.cached_input
    cost = (usage.input_tokens - cached) * price.input
    cost += cached * for_cached + usage.output_tokens * price.output
    return cost / _MILLION


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


def _read(text: str, where: str) -> dict[str, Price]:
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{where} is not TOML: {one_line(str(error), 200)}.") from error
    prices: dict[str, Price] = {}
    for name, table in tables.items():
        try:
            price = msgspec.convert(table, Price, strict=False)
        except msgspec.ValidationError as error:
            raise ConfigError(
                f"{where}: the price of {one_line(name, 60)} cannot be used: {error}.",
                'Write it as ["model-name"] with input, output and, if you like, cached_input.',
            ) from error
        if min(price.input, price.output, price.cached_input or 0.0) < 0:
            raise ConfigError(f"{where}: a price of {one_line(name, 60)} is below zero.")
        prices[name] = price
    return prices
