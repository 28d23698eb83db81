"""One call of an endpoint, as every wire makes it: bounded, in the dialect that the endpoint takes.

Not the wire, which writes the request and reads the answer. Invariants: one call is one attempt,
apart from a refused request that is sent again in a plainer dialect; every failure is a ModelError.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic

from msgspec.structs import replace

from agent.errors import ModelError
from agent.models.model import ModelReply
from agent.models.windows import learn_window
from agent.models.wires.constrained import CallForm
from agent.models.wires.failures import Failures, is_time_out, said_of
from agent.models.wires.features import OTHER_MATTERS, lacks_tools
from agent.models.wires.known_dialects import D, KnownDialects
from agent.models.wires.traits import Notes, Source, Trait, Value, no_notes, refused_between

CONNECT_TIMEOUT_S = 15.0
WHOLE_ANSWER = 4
"""A whole call may take this many times as long as the endpoint may stay silent."""
OUTPUT_TOKENS = 8192
"""Of one answer where nothing else is said. Hidden reasoning counts as output, and no name tells
for sure whether a model reasons; a model that does not stops long before."""
NO_KEY = "none"
"""What an SDK that insists on a key gets for an endpoint that wants none."""

Key = str | Callable[[], Awaitable[str]]
"""A key, or a function that returns one that is still valid, as a login does."""


class Calls(Generic[D]):
    """Make the calls of one client.

    Args:
        model: the model, as the endpoint calls it.
        failures: makes the errors of this endpoint.
        timeout_s: the most that one call may stay silent; a whole call may take four times that.
        dialect: what is tried before the endpoint has refused anything.
        learnt: what this wire's endpoints have refused in this process; the dialects that they
            take.
        endpoint: the key of this endpoint in `learnt`.
        secret: returns the key that was sent, so that no message repeats it.
        notes: keeps what refusals teach.
    """

    def __init__(
        self,
        model: str,
        *,
        failures: Failures,
        timeout_s: float,
        dialect: D,
        learnt: KnownDialects[D],
        endpoint: tuple[str, ...],
        secret: Callable[[], str],
        notes: Notes = no_notes,
    ) -> None:
        self._model = model
        self._failures = failures
        self._timeout_s = timeout_s
        self._dialect = dialect
        self._learnt = learnt
        self._endpoint = endpoint
        self._secret = secret
        self._notes = notes
        self._note = ""

    @property
    def dialect(self) -> D:
        """The dialect that the endpoint takes, as far as it is known."""
        return self._learnt.get(self._endpoint, self._dialect)

    def speak(self, dialect: D, note: str = "") -> None:
        """Ask the endpoint in this dialect from now on.

        Args:
            note: what the operator should know of it, told with the next answer.
        """
        self._learnt.put(self._endpoint, dialect)
        self._note = f"{self._note} {note}".strip()

    async def answer(
        self, ask: Callable[[D], Awaitable[ModelReply]], plainer: Callable[[D, Any], D | None]
    ) -> ModelReply:
        """Return the answer, asked for in a plainer dialect after each refusal.

        Args:
            ask: makes one attempt; raises what the SDK raises.
            plainer: returns the next plainer dialect after an error that the endpoint answered
                with; None when the error is not about what was asked.

        Raises:
            ModelError: the call failed; `retryable` says whether another may succeed.
        """
        sdk = self._failures.sdk
        refused: list[tuple[Trait, Value, str]] = []
        while True:
            dialect = self.dialect
            async with self.bounded(self._timeout_s * WHOLE_ANSWER):
                try:
                    reply = await ask(dialect)
                    # Only now: what was left out by trial may not have been what was refused.
                    for trait, value, said in refused:
                        self._notes(trait, value, Source.REFUSAL, said)
                    note, self._note = self._note, ""
                    return replace(reply, note=note) if note else reply
                except sdk.APIError as error:
                    next_one = None
                    if not isinstance(error, sdk.APIConnectionError):
                        next_one = plainer(dialect, error)
                    if next_one is None:
                        self._raise_final(error)
                        raise
                    said = self._failures.words(error, self._secret())
                    refused += ((*one, said) for one in refused_between(dialect, next_one))
                    self.speak(next_one, self._warning_of(dialect, next_one, said))

    def _raise_final(self, error: Any) -> None:
        """Raise a ModelError where an endpoint takes no tools: nobody learns that in a minute."""
        status = getattr(error, "status_code", 0)
        if status and status not in OTHER_MATTERS and lacks_tools(said_of(error)):
            said = self._failures.words(error, self._secret())
            raise self._failures.takes_no_tools(said, status) from error

    def _warning_of(self, before: D, after: D, said: str) -> str:
        """Return what the operator should know of a plainer dialect."""
        if before.pictures and not after.pictures:
            return self._failures.takes_no_pictures(said)
        form = getattr(after, "calls", None)
        if form is not getattr(before, "calls", None):
            by_schema = form is CallForm.CONSTRAINED
            return self._failures.calls_in_words(said, by_schema=by_schema)
        return ""

    @asynccontextmanager
    async def bounded(self, limit_s: float) -> AsyncGenerator[None]:
        """Bound what is done inside, and raise its failures as ModelError."""
        failures = self._failures
        try:
            async with asyncio.timeout(limit_s):
                yield
        except TimeoutError as error:
            raise failures.slow(limit_s) from error
        except ModelError:
            raise
        except failures.root_error as error:
            failed = failures.of(error, self._secret())
            if failed.window:
                learn_window(self._model, failed.window)
            raise failed from error
        except Exception as error:
            # The SDKs let a stream that breaks in the middle raise whatever their HTTP library or
            # JSON decoder did.
            if is_time_out(error):
                raise failures.silent() from error
            raise failures.broken_off(error) from error
