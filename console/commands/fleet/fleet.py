"""`switchboard fleet`: look at a fleet's hosts and at what holds them together, and drain one.

It works on the database alone, and takes no place in it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from console.cli_support.exits import ExitCode, end

if TYPE_CHECKING:
    from agent.store.postgres.hosts import HostRecord
    from agent.store.postgres.link import Link
    from console.terminal.signals import StopRequest

_HELP = {"help_option_names": ["-h", "--help"]}
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
_LOOK_S = 0.5


@click.group(context_settings=_HELP)
def fleet() -> None:
    """Show the hosts of the fleet that --fleet or store.dsn names."""


@fleet.command(context_settings=_HELP)
@_JSON
@click.pass_context
def status(ctx: click.Context, as_json: bool) -> None:
    """Sum up: hosts, phones, sessions, and which host's core works."""

    async def work(link: Link, _stop: StopRequest) -> ExitCode:
        from agent.records import DeviceState
        from agent.store.postgres.health import load, summary
        from agent.store.postgres.hosts import HostState, hosts
        from console.cli_support import plain

        found = await hosts(link)
        total = await summary(link)
        here = [one for one in found if one.state is HostState.HERE]
        gone = [one.name for one in found if one.state is HostState.GONE]
        # The core may see a phone through its host's adb server, as the host does.
        phones = {
            info.hardware_serial or (one.name, info.serial): info
            for one in here
            for info in one.phones
        }.values()
        online = sum(info.state is DeviceState.ONLINE for info in phones)
        core = next((one.name for one in here if one.is_core), "")
        draining = [one.name for one in found if one.drains]
        waiting = (await load(link)).queued if core in draining else ()
        if as_json:
            plain.print_json(
                {
                    "store": total.store,
                    "schema": total.schema,
                    "core": core,
                    "hosts": len(here),
                    "gone": gone,
                    "draining": draining,
                    "waitingForDrain": list(waiting),
                    "phones": len(phones),
                    "online": online,
                    "activeSessions": total.active,
                    "openQuestions": total.questions,
                }
            )
        else:
            lost = f"; gone: {', '.join(gone)}" if gone else ""
            lines = [
                f"store     {total.store}, schema {total.schema}",
                f"core      {f'of host {core}' if core else 'none works'}",
                f"hosts     {len(here)} here{lost}",
                *([f"draining  {', '.join(draining)}"] if draining else ()),
                f"phones    {online} online of {len(phones)}",
                f"sessions  {total.active} not ended; {total.questions} questions open",
                *(f"          {name} waits: host {core} drains" for name in waiting),
            ]
            plain.print_text("\n".join(lines))
        return ExitCode.DONE

    _run(ctx, work)


@fleet.command(context_settings=_HELP)
@_JSON
@click.option("--follow", is_flag=True, help="Go on, and say which host comes, goes or is gone.")
@click.pass_context
def hosts(ctx: click.Context, as_json: bool, follow: bool) -> None:
    """List the hosts: state, version, phones, labels. A host is gone 5 s after it fell silent."""

    async def work(link: Link, stop: StopRequest) -> ExitCode:
        from agent.store.postgres.hosts import hosts as read_hosts
        from console.cli_support import plain

        found = await read_hosts(link)
        if as_json and not follow:
            plain.print_json({"hosts": [_as_json(one) for one in found]})
        elif not follow:
            plain.print_text(_table(found))
        before: dict[str, str] = {}
        while follow and not stop.asked.is_set():
            for one in await read_hosts(link):
                if before.get(one.name) != one.state:
                    before[one.name] = one.state
                    said = f"{one.name} {one.state.value}"
                    plain.print_text(json.dumps(_as_json(one)) if as_json else said)
                    sys.stdout.flush()
            await asyncio.sleep(_LOOK_S)
        return ExitCode.DONE

    _run(ctx, work)


@fleet.command(context_settings=_HELP)
@click.argument("host")
@click.option("--wait", "waits", is_flag=True, help="Return when no session is at work any more.")
@_JSON
@click.pass_context
def drain(ctx: click.Context, host: str, waits: bool, as_json: bool) -> None:
    """Have a host begin no more turns: what is at work there ends its turn, what comes waits.

    It lasts, also across a restart of the host, until 'fleet resume'.
    """

    async def work(link: Link, stop: StopRequest) -> ExitCode:
        from agent.store.postgres.health import load
        from agent.store.postgres.hosts import BEAT_S
        from agent.store.postgres.hosts import drain as drain_host
        from console.cli_support import plain

        one = await drain_host(link, host, drains=True)
        if waits and one.is_core:
            # It hears of it with its next word; a turn may begin until then.
            await asyncio.sleep(2 * BEAT_S)
            while (await load(link)).at_work:
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.asked.wait(), _LOOK_S)
                    break
        now = await load(link) if one.is_core else None
        at_work, queued = (now.at_work, now.queued) if now else ((), ())
        if as_json:
            said = {"host": one.name, "draining": True}
            plain.print_json({**said, "atWork": list(at_work), "waiting": list(queued)})
        elif now is None:
            plain.print_text(f"{one.name} drains. It runs no sessions: the core's host does.")
        else:
            plain.print_text(
                f"{one.name} drains: {len(at_work)} at work, which end their turn; "
                f"{len(queued)} wait until: switchboard fleet resume {one.name}"
            )
        return ExitCode.DONE

    _run(ctx, work, is_written=True)


@fleet.command(context_settings=_HELP)
@click.argument("host")
@_JSON
@click.pass_context
def resume(ctx: click.Context, host: str, as_json: bool) -> None:
    """Have a host that drains begin turns again: what waits there goes on within a second."""

    async def work(link: Link, _stop: StopRequest) -> ExitCode:
        from agent.store.postgres.hosts import drain as drain_host
        from console.cli_support import plain

        one = await drain_host(link, host, drains=False)
        if as_json:
            plain.print_json({"host": one.name, "draining": False})
        else:
            plain.print_text(f"{one.name} begins turns again.")
        return ExitCode.DONE

    _run(ctx, work, is_written=True)


@fleet.command(context_settings=_HELP, epilog="Exit codes: 0 all is well, 1 something is not.")
@_JSON
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Look at the server, its clock and room, and at hosts that are gone or do not fit."""

    async def work(link: Link, _stop: StopRequest) -> ExitCode:
        from agent.store.postgres.health import examine
        from console.cli_support import plain

        found = await examine(link)
        if as_json:
            plain.print_json({"checks": [plain.as_builtins(one) for one in found]})
        else:
            for one in found:
                plain.print_text(f"{'ok  ' if one.ok else 'FAIL'}  {one.name}: {one.detail}")
                if one.remedy and not one.ok:
                    plain.print_text(f"      → {one.remedy}")
        return ExitCode.DONE if all(one.ok for one in found) else ExitCode.FAILED

    _run(ctx, work)


# --- how ----------


def _as_json(one: HostRecord) -> dict[str, object]:
    return {
        "name": one.name,
        "state": one.state.value,
        "version": one.version,
        "labels": list(one.labels),
        "core": one.is_core,
        "draining": one.drains,
        "sinceMs": one.since_ms,
        "silentMs": one.silent_ms,
        "phones": [
            {
                "serial": info.serial,
                "state": info.state.value,
                "name": info.name,
                "tags": list(info.tags),
                "model": info.model,
                "android": info.android,
                "virtual": info.virtual,
            }
            for info in one.phones
        ],
    }


def _table(found: tuple[HostRecord, ...]) -> str:
    from agent.records import DeviceState
    from agent.store.postgres.hosts import HostState
    from agent.text import one_line
    from console.cli_support import plain

    if not found:
        return "No host has joined yet: switchboard host serve"
    rows = []
    for one in found:
        online = sum(info.state is DeviceState.ONLINE for info in one.phones)
        state = one.state.value
        if one.state is not HostState.HERE:
            state += f" for {plain.span(one.silent_ms)}"
        elif one.drains:
            state = "draining"
        rows.append(
            (
                one_line(one.name, 100),
                state,
                one_line(one.version, 20),
                f"{online} of {len(one.phones)}",
                "core" if one.is_core else "",
                one_line(", ".join(one.labels), 60),
            )
        )
    return plain.columns(("HOST", "STATE", "VERSION", "PHONES", "", "LABELS"), rows)


def _run(
    ctx: click.Context,
    work: Callable[[Link, StopRequest], Awaitable[ExitCode]],
    *,
    is_written: bool = False,
) -> None:
    from agent.errors import UsageError
    from console.cli_support.command_settings import settings_for
    from console.core.store_choice import address
    from console.terminal.signals import run_async

    settings = settings_for(ctx)
    if not settings.store.dsn:
        raise UsageError("No fleet is named.", "Name its database by --fleet or store.dsn.")
    dsn = address(settings)

    async def main(stop: StopRequest) -> ExitCode:
        from agent.store.postgres.link import Link
        from agent.store.postgres.opening import open_records

        link = Link(dsn, "fleet", patience_s=5, is_written=is_written)
        try:
            await open_records(link, expected="")
            return await work(link, stop)
        finally:
            await link.close()

    end(run_async(main))
