"""Read what an endpoint says of its models beside their names: the window, and what they take.

Servers say it in their list of models, each by names of its own: llama.cpp (`meta.n_ctx`,
`architecture.input_modalities`), vLLM (`max_model_len`), OpenRouter (`context_length`,
`architecture.input_modalities`), Mistral (`max_context_length`, `capabilities.vision`), Groq
(`context_window`), Moonshot (`context_length`, `supports_image_in`). Pure. Invariant: what is not
said is unknown: 0 or None, never "no".
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from agent.models.wires.foreign import count_of, listed, name_text

_WINDOWS = ("context_window", "max_model_len", "context_length", "max_context_length")
_MAX_MODELS = 10_000


class Offer(NamedTuple):
    """What an endpoint says of one model."""

    window: int = 0
    """Tokens of conversation and answer together, as the server runs now; 0 when not said."""
    pictures: bool | None = None
    """Whether it takes pictures; None when not said."""


class KnownOffers:
    """What endpoints have said of their models, for as long as the process lives."""

    _LIMIT = 100

    def __init__(self) -> None:
        self._known: dict[str, Mapping[str, Offer]] = {}

    async def of(
        self, base_url: str, model: str, read: Callable[[], Awaitable[Mapping[str, Offer] | None]]
    ) -> Offer:
        """Return what an endpoint says of a model, read once.

        Args:
            read: asks the endpoint; None: it could not be asked, and will be at the next call.
        """
        if base_url not in self._known:
            offers = await read()
            if offers is None:
                return Offer()
            if len(self._known) >= self._LIMIT:
                del self._known[next(iter(self._known))]
            self._known[base_url] = offers
        return self._known[base_url].get(model, Offer())


OFFERS = KnownOffers()


def offers_in(body: bytes) -> dict[str, Offer]:
    """Return what a list of models says of each, by name; empty for anything else."""
    answer: Any = None
    with suppress(ValueError, RecursionError):
        answer = json.loads(body)
    rows = listed(answer.get("data") if isinstance(answer, dict) else answer)
    return {
        name_text(row.get("id")): _offer(row)
        for row in rows[:_MAX_MODELS]
        if isinstance(row, dict) and row.get("id")
    }


def _offer(row: Mapping[str, Any]) -> Offer:
    # The window that runs now comes before the one that the model was trained for.
    running = count_of(_object(row, "meta").get("n_ctx"))
    said = (count_of(row.get(name)) for name in _WINDOWS)
    return Offer(window=running or next(filter(None, said), 0), pictures=_pictures(row))


def _pictures(row: Mapping[str, Any]) -> bool | None:
    modalities = _object(row, "architecture").get("input_modalities")
    if isinstance(modalities, list) and modalities:
        return "image" in modalities
    for value in (_object(row, "capabilities").get("vision"), row.get("supports_image_in")):
        if isinstance(value, bool):
            return value
    return None


def _object(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = row.get(name)
    return value if isinstance(value, dict) else {}
