"""What every wire's client is, and which class it is of.

Invariant: nothing of a wire's folder is imported before a session asks for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from agent.models.model import ImageDetail, Model
from agent.models.wires import WIRES
from agent.models.wires.traits import Notes, no_notes
from agent.settings import ConstrainedCalls, Wire

if TYPE_CHECKING:
    from agent.models.endpoint import Endpoint
    from agent.models.prices import Price
    from agent.models.wires.calls import Key
    from agent.models.wires.offers import Offer


class Client(Model, Protocol):
    """A model behind an endpoint."""

    async def offer(self) -> Offer | None:
        """Return what the endpoint says of the model; None where it cannot be asked."""

    async def known_models(self) -> tuple[str, ...]:
        """List what the endpoint offers, sorted. Raises ModelError."""


class ClientClass(Protocol):
    """What makes a client: every wire's takes the same arguments."""

    def __call__(
        self,
        name: str,
        *,
        endpoint: Endpoint,
        api_key: Key = "",
        timeout_s: float = 45.0,
        vision: bool = False,
        price: Price | None = None,
        notice: str = "",
        max_output_tokens: int = 0,
        effort: str = "",
        image_detail: ImageDetail = ImageDetail.AUTO,
        constrained_calls: ConstrainedCalls = ConstrainedCalls.AUTO,
        notes: Notes = no_notes,
    ) -> Client: ...


def client_class(wire: Wire) -> ClientClass:
    """Return the class of a wire's clients, imported now."""
    row = WIRES[wire]
    found: ClientClass = getattr(import_module(row.module), row.client)
    return found
