"""Call a model again when it failed in a way that may pass (CONTRACTS 5.4, decisions table).

Not the client: the openai SDK's own retries are off, so that every attempt is an event. Two layers:
an endpoint that fails is left alone for seconds, a stream that broke in its middle for a moment.
Invariant: at most five attempts in all; an error that is not retryable is raised at once; the clock
and the sleep are the caller's, so tests never wait.
"""

import math
from collections.abc import Awaitable, Callable

from agent.errors import ModelError
from agent.models.model import Model, ModelReply, ModelRequest

ATTEMPTS = 5
BASE_S = 2.0
STREAM_BASE_S = 0.2
"""For an answer that had begun: the endpoint works, and what broke was the connection."""
CAP_S = 30.0
JITTER = (0.9, 1.1)
MAX_RETRY_AFTER_S = 300.0
"""An endpoint that asks for a longer wait has, in effect, said no."""


def delay_s(failure: int, random: float, base_s: float = BASE_S) -> float:
    """Return the wait after the n-th failure (from 1): base × 2^n, jittered, at most 30 s.

    Args:
        random: a number from [0, 1).
        base_s: of the layer that failed.
    """
    low, high = JITTER
    return min(base_s * 2.0 ** min(failure, 10) * (low + (high - low) * random), CAP_S)


async def complete_with_retries(
    model: Model,
    request: ModelRequest,
    *,
    on_text: Callable[[str], None] | None,
    on_failure: Callable[[ModelError, int, float], Awaitable[None]],
    sleep: Callable[[float], Awaitable[None]],
    random: Callable[[], float],
) -> ModelReply:
    """Ask until there is an answer.

    Args:
        on_failure: told of each failure that will be tried again, its number from 1, and the
            wait in seconds before the next attempt.

    Raises:
        ModelError: the failure was terminal, or was the fifth.
    """
    failures = broken = 0
    while True:
        try:
            return await model.complete(request, on_text)
        except ModelError as error:
            failures += 1
            if not error.retryable:
                raise
            if failures >= ATTEMPTS:
                raise _given_up(error) from error
            broken += error.broke_off
            if error.broke_off:
                wait_s = delay_s(broken, random(), STREAM_BASE_S)
            else:
                wait_s = delay_s(failures - broken, random())
            asked_s = error.retry_after_s
            if asked_s is not None and math.isfinite(asked_s) and asked_s > wait_s:
                if asked_s > MAX_RETRY_AFTER_S:
                    raise
                wait_s = asked_s
            await on_failure(error, failures, wait_s)
            await sleep(wait_s)


def _given_up(error: ModelError) -> ModelError:
    """Add to the last failure that it was not the first."""
    return ModelError(
        f"The model endpoint failed {ATTEMPTS} times in a row; the last time: {error.message}",
        error.remedy,
        retryable=True,
        status=error.status,
        retry_after_s=error.retry_after_s,
        broke_off=error.broke_off,
    )
