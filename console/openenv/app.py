"""The application that OpenEnv's clients reach: its own routes, and what they lack for a phone.

OpenEnv's `/reset`, `/step` and `/state` make and close an environment for each request; here all
three are of one environment, whose phone stays. Invariants: the phones start and end with the
application; a phone is of one client at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from fastapi import Body, FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.serialization import deserialize_action, serialize_observation
from openenv.core.env_server.types import (
    ConcurrencyConfig,
    ResetResponse,
    StepRequest,
    StepResponse,
)
from pydantic import ValidationError

from agent.episodes.phones import EpisodePhones
from agent.episodes.recording import Recorder
from agent.errors import DeviceError, SwitchboardError
from agent.exercises.exercise import Exercise
from console.openenv.environment import (
    NAME,
    PhoneAction,
    PhoneEnvironment,
    PhoneObservation,
    PhoneReset,
    PhoneState,
)
from console.openenv.variables import Variables

if TYPE_CHECKING:
    from agent.episodes.in_process import InProcessPhones

_OVERRIDDEN = frozenset({"/reset", "/step", "/state"})


def make_app(
    phones: EpisodePhones | InProcessPhones,
    tasks: Sequence[Exercise],
    variables: Variables,
    *,
    clients: int,
    session_s: float | None,
    recorder: Recorder | None = None,
) -> FastAPI:
    """Make the application; its phones start when it starts and end when it ends.

    Args:
        phones: not started.
        tasks: what can be asked for.
        variables: see there.
        clients: how many WebSocket sessions may run at once: as many as there are phones.
        session_s: how long a session may be silent; None: for ever.
        recorder: stores the episodes, opened and closed with the phones; None: nobody does.
    """

    def factory() -> PhoneEnvironment:
        return PhoneEnvironment(phones.source, tasks, variables, recorder)

    app = create_fastapi_app(
        factory,
        PhoneAction,
        PhoneObservation,
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=clients, session_timeout=session_s
        ),
        env_name=NAME,
        state_cls=PhoneState,
    )
    app.router.routes[:] = [
        route for route in app.router.routes if getattr(route, "path", "") not in _OVERRIDDEN
    ]
    app.add_exception_handler(RequestValidationError, _wrong)
    over_http = factory()
    _add_http(app, over_http)
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(running: FastAPI) -> AsyncIterator[Any]:
        async with recorder or nullcontext(), phones:
            try:
                async with inner(running) as state:
                    yield state
            finally:
                await over_http.end()

    app.router.lifespan_context = lifespan
    return app


def _add_http(app: FastAPI, env: PhoneEnvironment) -> None:
    """Serve Gym's calls over HTTP on one environment, whose phone stays between requests."""

    @app.post("/reset", response_model=ResetResponse, tags=["Environment Control"])
    async def reset(
        request: PhoneReset = Body(default_factory=PhoneReset),  # noqa: B008 - FastAPI's way
    ) -> ResetResponse:
        """Begin an episode on the phone of the HTTP clients."""
        given = request.model_dump(exclude_unset=True)
        try:
            return ResetResponse(**serialize_observation(await env.reset_async(**given)))
        except ValidationError as error:
            raise _invalid(error) from error
        except SwitchboardError as error:
            raise _refused(error) from error

    @app.post("/step", response_model=StepResponse, tags=["Environment Control"])
    async def step(request: StepRequest) -> StepResponse:
        """Act in the running episode."""
        if request.model_extra:
            unknown = ", ".join(repr(name[:80]) for name in request.model_extra)
            detail = f"Unknown: {unknown}. The fields are action, timeout_s and request_id."
            raise HTTPException(status_code=422, detail=detail)
        try:
            action = deserialize_action(request.action, PhoneAction)
            seen = await env.step_async(action, timeout_s=request.timeout_s)
        except ValidationError as error:
            raise _invalid(error) from error
        except SwitchboardError as error:
            raise _refused(error) from error
        return StepResponse(**serialize_observation(seen))

    @app.get("/state", response_model=PhoneState, tags=["State Management"])
    async def state() -> PhoneState:
        """Return which episode runs."""
        return env.state


async def _wrong(_request: Request, error: Exception) -> JSONResponse:
    """Return what is wrong with a body without repeating it: an infinity could not be answered."""
    assert isinstance(error, RequestValidationError)
    rows = [{key: row[key] for key in ("type", "loc", "msg")} for row in error.errors()]
    return JSONResponse({"detail": rows}, 422)


def _invalid(error: ValidationError) -> HTTPException:
    said = error.errors(include_context=False, include_input=False, include_url=False)
    return HTTPException(status_code=422, detail=said)


def _refused(error: SwitchboardError) -> HTTPException:
    """Return the answer to a refusal: a missing phone is for later, all else is the caller's."""
    status = 503 if isinstance(error, DeviceError) else 409
    return HTTPException(status_code=status, detail=str(error))
