"""Serve the environment: the application of the settings and variables, behind its gate.

`app` is a factory for servers that are told a module, as `openenv.yaml` does.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import uvicorn

from agent.config import Settings, load_settings
from agent.devices.adb.address import ServerAddress
from agent.devices.pool.pool_setup import ENVIRONMENT
from agent.episodes.phones import EpisodePhones
from agent.episodes.recording import EPISODES, Recorder, Recording
from agent.errors import ConfigError, UsageError
from agent.extras import install, is_installed, missing
from agent.settings import PoolSettings
from console.evaluation.suites import read_tasks
from console.loopback.listening import NAMES
from console.loopback.tokens import Token
from console.openenv.gate import MAX_BODY_BYTES, Gate
from console.openenv.variables import VIRTUAL, Variables, read_variables

if TYPE_CHECKING:
    from agent.episodes.in_process import InProcessPhones

TOKEN = Token("env-token", "SWITCHBOARD_ENV_TOKEN")
_PAGES = "openenv.core.env_server.web_interface"
_CLOSE_S = 5
_SHORTEST = 16


class ServeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How it is served."""

    phones: int = 1
    token: str = ""
    """What clients show; empty: anybody who reaches the address may come in."""
    hosts: tuple[str, ...] = ()
    """The names with ports that it is reached by; empty: any, which needs a token."""
    session_s: float | None = 600.0


def gated(settings: Settings, wanted: ServeOptions, environ: Mapping[str, str]) -> Gate:
    """Make the application and its gate.

    Raises:
        ConfigError: a variable that cannot be followed, or neither names nor a token.
        UsageError: no such suite, or one without a task that can be done alone.
    """
    if not wanted.token and not wanted.hosts:
        raise ConfigError(
            f"Without a token anyone could drive the phones: {TOKEN.variable} is not set.",
            f"Set it to {_SHORTEST} characters or more; clients send it as a bearer.",
        )
    if wanted.token and len(wanted.token) < _SHORTEST:
        raise ConfigError(f"{TOKEN.variable} is too short.", f"Give {_SHORTEST} characters.")
    variables = read_variables(environ)
    # Starting states and checkers are the virtual phone's own.
    tasks = read_tasks(variables.task_path) if variables.avd_name == VIRTUAL else ()
    if variables.task and variables.task not in {one.name for one in tasks}:
        raise ConfigError(
            f"SWITCHBOARD_ENV_TASK names no task of {variables.task_path}: {variables.task!r}.",
            f"List them: switchboard eval exercises {variables.task_path}",
        )
    phones = _phones(settings, wanted.phones, variables)
    try:
        recording = Recording.parse(variables.record, settings.data_dir / EPISODES)
    except UsageError as error:
        raise ConfigError(f"SWITCHBOARD_ENV_RECORD: {error.message}", error.remedy) from error
    # OpenEnv's own pages, which are not served here, load Gradio and pandas: two thirds of a start.
    # It does without a module that cannot be found.
    sys.modules.setdefault(_PAGES, None)  # type: ignore[arg-type]
    from console.openenv.app import make_app

    app = make_app(
        phones,
        tasks,
        variables,
        clients=wanted.phones,
        session_s=wanted.session_s,
        recorder=Recorder(recording) if recording is not None else None,
    )
    return Gate(app, token=wanted.token, hosts=wanted.hosts)


def _phones(
    settings: Settings, count: int, variables: Variables
) -> EpisodePhones | InProcessPhones:
    if variables.in_process:
        if not is_installed("demo"):
            raise ConfigError(missing("demo"), install("demo"))
        # The virtual phone is loaded by those who want it in their process.
        from agent.episodes.in_process import InProcessPhones

        return InProcessPhones(count)
    avd = variables.avd_name
    return EpisodePhones(
        PoolSettings(virtual=count) if avd == VIRTUAL else PoolSettings(avds=(avd,) * count),
        settings.data_dir / ENVIRONMENT,
        adb=variables.adb_path or settings.adb.path,
        server=ServerAddress.parse(settings.adb.server[0]),
    )


class _Uvicorn(uvicorn.Server):
    """A server that leaves signals to the command that runs it."""

    def install_signal_handlers(self) -> None:
        """Install none."""


@asynccontextmanager
async def serving(
    settings: Settings, wanted: ServeOptions, environ: Mapping[str, str], *, host: str, port: int
) -> AsyncIterator[str]:
    """Serve for the length of a `with` block; yields the address once the phones are there.

    Args:
        settings: name the data directory and adb.
        wanted: `hosts` is filled in for loopback.
        environ: the environment's variables.
        host: the address to listen on.
        port: 0: any free one.

    Raises:
        UsageError: the port cannot be listened on.
        ConfigError: see `gated`.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By name: asyncio sends small parts at once (TCP_NODELAY) only where the protocol is said.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise UsageError(
                f"{host}:{port} cannot be listened on: {error.strerror or error}.",
                "Choose another --port or --host; 0 is any free port.",
            ) from error
        bound = int(listener.getsockname()[1])
        if host in {"127.0.0.1", "::1", "localhost"}:
            names = tuple(f"{name}:{bound}" for name in NAMES)
            wanted = msgspec.structs.replace(wanted, hosts=names)
        config = uvicorn.Config(
            gated(settings, wanted, environ),
            log_config=None,
            access_log=False,
            server_header=False,
            ws_max_size=MAX_BODY_BYTES,
            timeout_graceful_shutdown=_CLOSE_S,
            lifespan="on",
        )
        server = _Uvicorn(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            while not server.started:
                if task.done():
                    task.result()
                    raise ConfigError(
                        "The environment did not start; its phones may be missing.",
                        "Look at the log, or run: switchboard doctor",
                    )
                await asyncio.sleep(0.02)
            yield f"http://{f'[{host}]' if ':' in host else host}:{bound}"
        finally:
            server.should_exit = True
            await task


def app() -> Gate:
    """Make the application as the environment's variables say: a factory for servers.

    SWITCHBOARD_ENV_PHONES, SWITCHBOARD_ENV_TOKEN, SWITCHBOARD_ENV_SESSION_S, and those of
    `read_variables`. Raises ConfigError.
    """
    environ = os.environ
    phones = environ.get("SWITCHBOARD_ENV_PHONES") or "1"
    session = environ.get("SWITCHBOARD_ENV_SESSION_S") or "600"
    if not phones.isdecimal() or not 1 <= int(phones) <= 64:
        raise ConfigError(f"SWITCHBOARD_ENV_PHONES is {phones!r}.", "Set it to 1 to 64.")
    if not session.isdecimal() or not 1 <= int(session) <= 86_400:
        raise ConfigError(f"SWITCHBOARD_ENV_SESSION_S is {session!r}.", "Set it to seconds.")
    settings = load_settings(overrides={"data_dir": environ.get("SWITCHBOARD_DATA_DIR")})
    Path(settings.data_dir).mkdir(parents=True, exist_ok=True, mode=0o700)
    wanted = ServeOptions(
        phones=int(phones), token=environ.get(TOKEN.variable, ""), session_s=float(session)
    )
    return gated(settings, wanted, environ)
