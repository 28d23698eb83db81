"""What the models of every wire share: a name, an endpoint, and a client that is kept."""

from typing import Any

from agent.models.endpoint import Endpoint
from agent.models.prices import Price
from agent.models.wires.calls import OUTPUT_TOKENS, Key


class EndpointModel:
    """The base of a model behind an endpoint.

    Args:
        name: the model, as the endpoint calls it.
        endpoint: where it is asked.
        api_key: empty for endpoints that want none; or returns one that is still valid.
        timeout_s: the most that one call may stay silent; a whole call may take four times that.
        vision: whether pictures are sent.
        price: what its tokens cost; None when that is not known.
        notice: what the operator should know about the choice of this model.
        max_output_tokens: of one answer; 0 for what suits a model that thinks first.
    """

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        *,
        api_key: Key,
        timeout_s: float,
        vision: bool,
        price: Price | None,
        notice: str,
        max_output_tokens: int,
    ) -> None:
        self._name = name
        self._endpoint = endpoint
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._vision = vision
        self._price = price
        self._notice = notice
        self._max_output_tokens = max_output_tokens or OUTPUT_TOKENS
        self._client: Any = None  # The SDK's, once it was asked for.

    @property
    def name(self) -> str:
        return self._name

    @property
    def sees(self) -> bool:
        return self._vision and self._takes_pictures()

    def _takes_pictures(self) -> bool:
        """Return whether the endpoint takes pictures, as far as it is known."""
        return True

    @property
    def notice(self) -> str:
        return self._notice

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r}, base_url={self._endpoint.base_url!r})"

    async def close(self) -> None:
        """Close connections; the model can be used again afterwards."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
