"""Follow an answer part by part: it may break off, unless all of it that matters is there.

Not the wire, which knows when an answer is whole. Invariants: an answer that is whole is never
asked for again because of how its connection ended, nor waited on for long; a connection that ends
before is an answer that broke off, and not an endpoint that cannot be reached.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from agent.models.wires.failures import Failures

AFTER_THE_END_S = 5.0
"""How long what comes behind a whole answer is waited for: what it used, and the wire's mark."""
_BREAKS = frozenset({"RemoteProtocolError", "ReadError"})


async def parts_of(
    stream: Any, failures: Failures, is_whole: Callable[[], bool]
) -> AsyncGenerator[Any, None]:
    """Yield the parts of an answer as the SDK reads them.

    Args:
        stream: the SDK's stream of one answer.
        is_whole: returns whether what was given so far is the answer, whatever follows.

    Raises:
        ModelError: it broke off.
        APIError of the SDK: the endpoint said what went wrong, or was silent.
    """
    broken = failures.sdk.APIConnectionError
    parts = aiter(stream)
    given = False
    while True:
        try:
            async with asyncio.timeout(AFTER_THE_END_S if is_whole() else None):
                part = await anext(parts)
        except StopAsyncIteration:
            return
        except (TimeoutError, broken) as error:
            if is_whole():
                return
            if type(error.__cause__).__name__ in _BREAKS:
                raise failures.broken_off() from error
            raise
        except ValueError as error:
            if given:
                raise
            # The first event is not JSON: what sends it speaks something else.
            said = str(stream.response.headers.get("content-type", "")).partition(";")[0]
            raise failures.not_the_wire(said) from error
        given = True
        yield part
