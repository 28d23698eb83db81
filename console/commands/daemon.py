"""`switchboard daemon`: a core that runs without a console, and that everything else attaches to.

Invariants: one core for a data directory; start returns when it can be used, or says why it cannot;
stop asks first, and insists only on the process that holds the directory's lock.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec.structs import replace

from agent.config import Settings
from agent.errors import NotAllowedError, SwitchboardError, WrongStateError
from agent.protocol import Shutdown
from agent.records import SessionState
from agent.state.terms import term
from agent.text import clean, counted
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.plain import age
from console.cli_support.sections import CommandGroup
from console.core.command_settings import settings_for
from console.core.device_setup import EVERYTHING
from console.core.host import Host, attach, check_is_host, run_with_host
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from agent.rpc.rpc_messages import Status

ROLE = "daemon run"
START_BOUND_S = 45.0
ORDERLY_S = 15.0  # How long a daemon that was asked may take to end.
INSIST_S = 5.0
_LAST_WORDS_BYTES = 4096
_LOOK_S = 0.05
_LISTENING = {
    "listen.address": "--listen",
    "listen.cert": "--tls-cert",
    "listen.key": "--tls-key",
    "listen.ca": "--tls-ca",
}

PHONES = click.option(
    "--phones", type=click.IntRange(0, 64), default=0, metavar="N", help="Start N virtual phones."
)
VIRTUAL_ONLY = click.option(
    "--virtual-only", is_flag=True, help="Use virtual phones only, no other adb server."
)


F = TypeVar("F", bound=Callable[..., Any])


def listening(command: F) -> F:
    """Add the options that say where other computers are listened to."""
    files = (
        ("--tls-cert", "Its certificate (listen.cert)."),
        ("--tls-key", "Its private key, mode 600 (listen.key)."),
        ("--tls-ca", "Require clients to have a certificate of this authority (listen.ca)."),
    )
    for name, text in reversed(files):
        command = click.option(name, type=click.Path(), metavar="FILE", help=text)(command)
    return click.option(
        "--listen",
        metavar="HOST:PORT",
        help="Accept operators from other computers by TLS (listen.address).",
    )(command)


def listening_options(
    listen: str | None, tls_cert: str | None, tls_key: str | None, tls_ca: str | None
) -> dict[str, object]:
    """Return the settings that the options of `listening` say; files as absolute paths."""
    files = {"listen.cert": tls_cert, "listen.key": tls_key, "listen.ca": tls_ca}
    said: dict[str, object] = {
        name: str(Path(file).expanduser().absolute()) for name, file in files.items() if file
    }
    return {**said, **({"listen.address": listen} if listen else {})}


@click.group(cls=CommandGroup)
def daemon() -> None:
    """Keep the core running without a console.

    Sessions and jobs keep running without a terminal. The console, 'run' and 'sessions' attach to
    it.
    """


@daemon.command(epilog="Exit codes: 0 it is running, 1 it could not be started.")
@PHONES
@VIRTUAL_ONLY
@listening
@click.pass_context
def start(ctx: click.Context, /, phones: int, virtual_only: bool, **listens: str | None) -> None:
    """Start the daemon in the background and wait until it is ready."""
    told = listening_options(**listens)
    settings = settings_for(ctx, told)
    options = ["--phones", str(phones), *(["--virtual-only"] if virtual_only else [])]
    for key, value in told.items():
        options += [_LISTENING[key], str(value)]

    async def work(_stop: StopRequest) -> ExitCode:
        running = await _status(settings)
        if running is not None:
            say(f"A core is already running: {running.role}, process {running.pid}.")
            return ExitCode.DONE
        process, output = _spawn(ctx, settings, options)
        pid = await _ready(settings, process, output)
        say(f"The daemon is running: process {pid}. See 'switchboard daemon status'.")
        return ExitCode.DONE

    end(run_async(work))


@daemon.command(
    epilog="It ends on SIGTERM, ctrl+c or 'switchboard daemon stop'; sessions can be resumed."
)
@PHONES
@VIRTUAL_ONLY
@listening
@click.pass_context
def run(ctx: click.Context, /, phones: int, virtual_only: bool, **listens: str | None) -> None:
    """Run the daemon in the foreground, for a service manager."""
    settings = settings_for(ctx, listening_options(**listens))

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        return await serve_until_stopped(host, stop, settings, "The daemon is running")

    devices = replace(EVERYTHING, connected=not virtual_only, phones=phones)
    end(run_with_host(settings, devices, work, listens=True))


@daemon.command(
    epilog="Exit codes: 0 no daemon is running, 1 it did not end, 4 the process is not a daemon."
)
@click.option("--force", is_flag=True, help="Stop it even if it is a console or does not answer.")
@click.pass_context
def stop(ctx: click.Context, force: bool) -> None:
    """Stop the daemon cleanly; its sessions can be resumed. Kill it after 15 s."""
    from agent.store.database.lock import owner_pid

    settings = settings_for(ctx)

    async def work(_stop: StopRequest) -> ExitCode:
        from agent.rpc.remote_core import connect_or_none

        pid = owner_pid(settings.data_dir)
        if pid is None:
            say("No core is running.")
            return ExitCode.DONE
        try:
            client = await connect_or_none(settings, name="daemon stop")
        except SwitchboardError:
            if not force:
                raise
            client = None
        if client is not None:
            try:
                role = (await client.status()).role
                if role != ROLE and not force:
                    raise WrongStateError(
                        f"Process {pid} is not a daemon but '{role}'.",
                        "Leave it running, or end it with: switchboard daemon stop --force",
                    )
                await client.submit(Shutdown())
                await _wait_for_end(settings, pid, ORDERLY_S)
            except NotAllowedError:
                # Who runs the core may end its process, whoever has signed in.
                if not force:
                    raise
            finally:
                await client.close()
        for signum in (signal.SIGTERM, signal.SIGKILL):
            if owner_pid(settings.data_dir) != pid:
                break
            say(f"Process {pid} did not end; sending {signum.name}.")
            os.kill(pid, signum)
            await _wait_for_end(settings, pid, INSIST_S)
        if owner_pid(settings.data_dir) == pid:
            raise SwitchboardError(f"Process {pid} did not end.", "See its log.")
        say(f"Process {pid} has ended.")
        return ExitCode.DONE

    end(run_async(work))


@daemon.command(epilog="Exit codes: 0 a core is running, 1 none is.")
@JSON_OPTION
@click.pass_context
def status(ctx: click.Context, as_json: bool) -> None:
    """Show the core's process, sessions, clients and log file."""
    settings = settings_for(ctx)

    async def work(_stop: StopRequest) -> ExitCode:
        found = await _status(settings)
        if found is None:
            if as_json:
                plain.print_json({"running": False, "dataDir": str(settings.data_dir)})
            else:
                plain.print_text(f"No core runs on {settings.data_dir}.")
            return ExitCode.FAILED
        if as_json:
            plain.print_json(_as_json(found))
        else:
            plain.print_text(_as_text(found))
        return ExitCode.DONE

    end(run_async(work))


async def serve_until_stopped(
    host: Host, stop: StopRequest, settings: Settings, said: str
) -> ExitCode:
    """Serve in the foreground until a signal; `said` begins the line that says that it does.

    Raises:
        WrongStateError: another process owns the data directory.
    """
    if not host.owned:
        raise WrongStateError(
            "Another process owns the data directory already.",
            "See which: switchboard daemon status",
        )
    check_is_host(host, settings)
    # What serves has no terminal to lose.
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, lambda: None)
    say(f"{said}: process {os.getpid()}.{listens_at(host, settings)}")
    with stop.graceful():
        await host.until_stopped(stop)
    return ExitCode.DONE if host.core.death is None else ExitCode.FAILED


def listens_at(host: Host, settings: Settings) -> str:
    """Return a sentence that says where other computers come; empty where none may."""
    from agent.rpc.places import parse_address

    far = host.daemon.far if host.daemon is not None else None
    if far is None:
        return ""
    where, _ = parse_address(settings.listen.address, "listen.address")
    return f" Other computers connect by tls://{f'[{where}]' if ':' in where else where}:{far.port}"


# --- how ----------


async def _status(settings: Settings) -> Status | None:
    client = await attach(settings)
    if client is None:
        return None
    try:
        return await client.status()
    finally:
        await client.close()


def _spawn(
    ctx: click.Context, settings: Settings, options: list[str]
) -> tuple[subprocess.Popen[bytes], Path]:
    """Start a process of its own session, without a terminal; its last words go to a file."""
    folder = settings.data_dir / "logs"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    output = folder / "daemon.out"
    said = ctx.find_root().obj or {}
    config, fleet = said.get("config"), said.get("fleet")
    command = [
        *(sys.executable, "-m", "console", "--data-dir", str(settings.data_dir.absolute())),
        *(("--config", str(Path(config).absolute())) if config else ()),
        # Without a password: one was refused there.
        *(("--fleet", settings.store.dsn) if fleet else ()),
        *("daemon", "run", *options),
    ]
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
        )
    finally:
        os.close(descriptor)
    return process, output


async def _ready(settings: Settings, process: subprocess.Popen[bytes], output: Path) -> int:
    """Wait until the core answers; raises SwitchboardError with its last words when it ended."""
    from agent.rpc.remote_core import connect_or_none

    deadline = asyncio.get_running_loop().time() + START_BOUND_S
    while process.poll() is None:
        try:
            client = await connect_or_none(settings, name="daemon start")
        except NotAllowedError:
            # It answers, and has operators of whom this is none.
            return process.pid
        if client is not None:
            pid = client.pid
            await client.close()
            return pid
        if asyncio.get_running_loop().time() > deadline:
            process.terminate()
            raise SwitchboardError(
                f"The daemon was not ready within {START_BOUND_S:g} s.", f"See {output}."
            )
        await asyncio.sleep(_LOOK_S)
    await asyncio.to_thread(_check_room, output)
    said = clean(
        (await asyncio.to_thread(output.read_bytes))[-2000:].decode("utf-8", "replace")
    ).strip()
    raise SwitchboardError(
        f"The daemon ended at once: {said.removeprefix('switchboard: ') or 'it printed nothing.'}",
        f"Run it here to see more: switchboard daemon run; its log: {output.parent}",
    )


def _check_room(output: Path) -> None:
    """Raise SwitchboardError when nothing more fits where a process was to leave its last words."""
    try:
        with output.open("ab", buffering=0) as file:
            file.write(bytes(_LAST_WORDS_BYTES))
            file.truncate(file.tell() - _LAST_WORDS_BYTES)
    except OSError as error:
        raise SwitchboardError(
            f"The daemon ended at once: {output} cannot be written to: {error.strerror}.",
            "Free some space there, or choose another data directory with --data-dir.",
        ) from error


async def _wait_for_end(settings: Settings, pid: int, bound_s: float) -> None:
    """Wait until a process has let go of the data directory and ended, or the time is up."""
    from agent.store.database.lock import owner_pid

    deadline = asyncio.get_running_loop().time() + bound_s
    while owner_pid(settings.data_dir) == pid or _is_alive(pid):
        if asyncio.get_running_loop().time() > deadline:
            return
        await asyncio.sleep(_LOOK_S)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        # One that nobody has waited for yet is over all the same; not every system tells.
        return not Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].startswith(" Z")
    except ProcessLookupError:
        return False
    except OSError:
        return True


def _as_json(found: Status) -> dict[str, Any]:
    return {
        "running": True,
        "pid": found.pid,
        "role": found.role,
        "protocol": found.protocol,
        "dataDir": found.data_dir,
        "socket": found.socket,
        "log": found.log,
        "startedMs": found.started_ms,
        "sessions": found.sessions,
        "questions": found.questions,
        "jobs": found.jobs,
        "clients": [
            {
                "clientId": one.client_id,
                "name": one.name,
                "sinceMs": one.since_ms,
                "operator": one.operator or None,
                "looksAt": list(one.looks_at),
                "drives": list(one.drives),
            }
            for one in found.clients
        ],
        "devices": [
            {"serial": one.serial, "state": one.state.value, "driver": one.driver}
            for one in found.devices
        ],
    }


def _as_text(found: Status) -> str:
    known = {state.value: term(state) for state in SessionState}
    counts = ", ".join(
        f"{count} {known.get(state, state)}" for state, count in sorted(found.sessions.items())
    )
    lines = [
        f"process   {found.pid} ({found.role}), for {age(found.started_ms)}",
        f"data      {found.data_dir}",
        f"socket    {found.socket}",
        f"log       {found.log}",
        f"sessions  {counts or 'none'}; {counted(found.questions, 'question')} open",
        f"jobs      {found.jobs}",
    ]
    for one in found.devices:
        driven = f"  driven by {one.driver}" if one.driver else ""
        lines.append(f"device    {one.serial}  {term(one.state)}{driven}")
    for client in found.clients:
        looks = f"  looks at {', '.join(client.looks_at)}" if client.looks_at else ""
        drives = f"  drives {', '.join(client.drives)}" if client.drives else ""
        lines.append(f"client    {client.name}, for {age(client.since_ms)}{looks}{drives}")
    return "\n".join(lines)
