"""Read what an endpoint says of its models beside their names: the window, and what they take.

Servers say it in their list of models, each by names of its own: llama.cpp (`meta.n_ctx`,
`architecture.input_modalities`), vLLM (`max_model_len`), OpenRouter (`context_length`,
`architecture.input_modalities`, `supported_parameters`), Mistral (`max_context_length`,
`capabilities`), Groq (`context_window`, `max_completion_tokens`), Moonshot (`context_length`,
`supports_image_in`). Pure. Invariant: what is not said is unknown: 0 or None, never "no".
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from agent.models.wires.foreign import count_of, listed, name_text

LISTED = "/v1/models"
"""Where a list of models is asked for, for people."""
_WINDOWS = ("context_window", "max_model_len", "context_length", "max_context_length")
_MAX_MODELS = 10_000
_NOTHING: Mapping[str, str] = MappingProxyType({})


class Offer(NamedTuple):
    """What an endpoint says of one model."""

    window: int = 0
    """Tokens of conversation and answer together, as the server runs now; 0 when not said."""
    pictures: bool | None = None
    """Whether it takes pictures; None when not said."""
    tools: bool | None = None
    """Whether tools that are offered reach the model, and its calls are read."""
    required: bool | None = None
    """Whether a call can be demanded."""
    schema: bool | None = None
    """Whether an answer can be made to follow a JSON schema."""
    parallel: bool | None = None
    """Whether an answer may have several calls."""
    max_answer: int = 0
    """The most tokens of one answer; 0 when not said."""
    said_in: Mapping[str, str] = _NOTHING
    """Where each of these was said, by the name of the field."""

    def and_then(self, more: "Offer") -> "Offer":
        """Return this with what another answer says; that comes before this one."""
        said = {name: getattr(more, name) for name in more.said_in}
        return self._replace(**said, said_in={**self.said_in, **more.said_in})


def offer_said_in(where: str, **said: Any) -> Offer:
    """Make an offer of what one answer says.

    Args:
        where: the path that was asked, for people.
        said: fields of `Offer`; 0 and None say nothing.
    """
    known = {name: value for name, value in said.items() if value is False or value}
    return Offer(**known, said_in=dict.fromkeys(known, where))


class KnownOffers:
    """What endpoints have said of their models, for as long as the process lives."""

    _LIMIT = 100

    def __init__(self) -> None:
        self._known: dict[str, Mapping[str, Offer]] = {}

    async def of(
        self, base_url: str, model: str, read: Callable[[], Awaitable[Mapping[str, Offer] | None]]
    ) -> Offer | None:
        """Return what an endpoint says of a model, read once; None where it could not be asked.

        Args:
            read: asks the endpoint; None: it could not be asked, and will be at the next call.
        """
        if model not in self._known.get(base_url, ()):
            offers = await read()
            if offers is None:
                return None
            if base_url not in self._known and len(self._known) >= self._LIMIT:
                del self._known[next(iter(self._known))]
            self._known[base_url] = {
                **self._known.get(base_url, {}),
                **offers,
                model: offers.get(model, Offer()),
            }
        return self._known[base_url][model]

    def forget(self, base_url: str) -> None:
        """Ask an endpoint again: it may be another server by now."""
        self._known.pop(base_url, None)


OFFERS = KnownOffers()


def rows_in(body: bytes) -> list[dict[str, Any]]:
    """Return the rows of a list of models; empty for anything else."""
    answer: Any = None
    with suppress(ValueError, RecursionError):
        answer = json.loads(body)
    rows = listed(answer.get("data") if isinstance(answer, dict) else answer)
    return [row for row in rows[:_MAX_MODELS] if isinstance(row, dict) and row.get("id")]


def offers_in(body: bytes) -> dict[str, Offer]:
    """Return what a list of models says of each, by name; empty for anything else."""
    return {name_text(row.get("id")): _offer(row) for row in rows_in(body)}


def _offer(row: Mapping[str, Any]) -> Offer:
    # The window that runs now comes before the one that the model was trained for.
    running = count_of(object_at(row, "meta").get("n_ctx"))
    said = (count_of(row.get(name)) for name in _WINDOWS)
    capabilities = object_at(row, "capabilities")
    names = row.get("supported_parameters")
    parameters = names if isinstance(names, list) else None
    top = count_of(object_at(row, "top_provider").get("max_completion_tokens"))
    return offer_said_in(
        LISTED,
        window=running or next(filter(None, said), 0),
        pictures=_pictures(row),
        tools=_first(_names(parameters, "tools"), capabilities.get("function_calling")),
        required=_names(parameters, "tool_choice"),
        schema=_names(parameters, "structured_outputs"),
        parallel=_names(parameters, "parallel_tool_calls") or None,
        max_answer=count_of(row.get("max_completion_tokens")) or top,
    )


def _names(parameters: list[Any] | None, name: str) -> bool | None:
    return None if parameters is None else name in parameters


def _first(*values: object) -> bool | None:
    return next((value for value in values if isinstance(value, bool)), None)


def _pictures(row: Mapping[str, Any]) -> bool | None:
    modalities = object_at(row, "architecture").get("input_modalities")
    if isinstance(modalities, list) and modalities:
        return "image" in modalities
    return _first(object_at(row, "capabilities").get("vision"), row.get("supports_image_in"))


def object_at(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object that a field holds; an empty one for anything else."""
    value = row.get(name)
    return value if isinstance(value, dict) else {}
