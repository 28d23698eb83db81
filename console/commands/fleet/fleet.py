"""`switchboard fleet`: look at a fleet's hosts and at what holds them together, drain or
forget one, move sessions.

All but the moving and the forgetting works on the database alone, and takes no place in it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from agent.core import Core
from agent.errors import UsageError
from agent.protocol import HostForget, SessionMove
from agent.records import DeviceState, HostState, at_host, host_of, on_host
from agent.text import counted, one_line
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end
from console.cli_support.sections import CommandGroup
from console.commands.fleet.authority import authority
from console.commands.store import backup, restore
from console.core.command_settings import settings_for, to_run
from console.core.host import run_with_core
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from agent.store.postgres.hosts import HostRecord
    from agent.store.postgres.link import Link

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
_LOOK_S = 0.5
_WHY = {"gone": "does not answer", "left": "has left", "here": "is here"}


@click.group(cls=CommandGroup)
def fleet() -> None:
    """Show and manage the hosts of the fleet in --fleet or store.dsn."""


fleet.add_command(authority)
fleet.add_command(backup)
fleet.add_command(restore)


@fleet.command()
@_JSON
@click.pass_context
def status(ctx: click.Context, as_json: bool) -> None:
    """Summarise hosts, phones and sessions, and what waits for a host."""

    async def work(link: Link, _stop: StopRequest) -> ExitCode:
        from agent.store.postgres.health import load, summary
        from agent.store.postgres.hosts import hosts

        found = await hosts(link)
        total = await summary(link)
        here = [one for one in found if one.state is HostState.HERE]
        gone = [one.name for one in found if one.state is HostState.GONE]
        # Two hosts may see one phone.
        phones = {
            info.identity or (one.name, info.serial): info for one in here for info in one.phones
        }.values()
        online = sum(info.state is DeviceState.ONLINE for info in phones)
        at = {one.name: await load(link, one.name) for one in found if one.works}
        draining = [one.name for one in found if one.drains]
        waits = {
            session: f"host {one.name} {'drains' if one.drains else _WHY[one.state]}"
            for one in found
            if one.works and (one.drains or one.state is not HostState.HERE)
            for session in (
                at[one.name].queued
                if one.state is HostState.HERE
                else (*at[one.name].at_work, *at[one.name].queued)
            )
        }
        if as_json:
            plain.print_json(
                {
                    "store": total.store,
                    "schema": total.schema,
                    "working": [one.name for one in here if one.works],
                    "hosts": len(here),
                    "gone": gone,
                    "draining": draining,
                    "waiting": [{"session": key, "why": why} for key, why in waits.items()],
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
                f"hosts     {len(here)} here{lost}",
                *([f"draining  {', '.join(draining)}"] if draining else ()),
                f"phones    {online} online of {len(phones)}",
                f"sessions  {total.active} not ended; {counted(total.questions, 'question')} open",
                *(f"          {session} waits: {why}" for session, why in waits.items()),
            ]
            plain.print_text("\n".join(lines))
        return ExitCode.DONE

    _run(ctx, work)


@fleet.command()
@_JSON
@click.option("--follow", is_flag=True, help="Keep running, and report hosts that come and go.")
@click.pass_context
def hosts(ctx: click.Context, as_json: bool, follow: bool) -> None:
    """List the hosts: state, version, phones, labels and round-trip time of the newest heartbeat.
    A host is gone after 5 s without one.
    """

    async def work(link: Link, stop: StopRequest) -> ExitCode:
        from agent.store.postgres.hosts import hosts as read_hosts

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


@fleet.command()
@click.argument("host")
@click.option("--wait", "waits", is_flag=True, help="Wait until no session is running.")
@_JSON
@click.pass_context
def drain(ctx: click.Context, host: str, waits: bool, as_json: bool) -> None:
    """Stop starting turns on a host: running turns finish, and new work waits.

    It lasts until 'fleet resume', also across restarts of the host.
    """

    async def work(link: Link, stop: StopRequest) -> ExitCode:
        from agent.store.postgres.health import load
        from agent.store.postgres.hosts import BEAT_S
        from agent.store.postgres.hosts import drain as drain_host

        one = await drain_host(link, host, drains=True)
        if waits and one.works:
            # It hears of it with its next word; a turn may begin until then.
            await asyncio.sleep(2 * BEAT_S)
            while (await load(link, host)).at_work:
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.asked.wait(), _LOOK_S)
                    break
        now = await load(link, host)
        at_work, queued = now.at_work, now.queued
        if as_json:
            said = {"host": one.name, "draining": True}
            plain.print_json({**said, "atWork": list(at_work), "waiting": list(queued)})
        else:
            plain.print_text(
                f"{one.name} drains: {len(at_work)} at work, which end their turn; "
                f"{len(queued)} wait until: {to_run(f'fleet resume {one.name}')}"
            )
        return ExitCode.DONE

    _run(ctx, work, is_written=True)


@fleet.command()
@click.argument("host")
@_JSON
@click.pass_context
def resume(ctx: click.Context, host: str, as_json: bool) -> None:
    """Let a drained host start turns again, within a second."""

    async def work(link: Link, _stop: StopRequest) -> ExitCode:
        from agent.store.postgres.hosts import drain as drain_host

        one = await drain_host(link, host, drains=False)
        if as_json:
            plain.print_json({"host": one.name, "draining": False})
        else:
            plain.print_text(f"{one.name} starts turns again.")
        return ExitCode.DONE

    _run(ctx, work, is_written=True)


@fleet.command()
@click.argument("session")
@click.argument("host")
@click.option(
    "--phone", default="", metavar="SERIAL", help="The phone to use there; default: the same one."
)
@_JSON
@click.pass_context
def move(ctx: click.Context, session: str, host: str, phone: str, as_json: bool) -> None:
    """Move a session to HOST: its turn ends and continues there with a fresh look.

    Moves the whole tree, also from a host that is gone. Without its phone at HOST it waits there.
    """

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        picture = await core.overview()
        if not any(one.name == host for one in picture.hosts):
            known = ", ".join(one.name for one in picture.hosts) or "none"
            raise UsageError(f"The fleet has no host {host!r}.", f"Its hosts: {known}.")
        found = await core.session(session)
        there = {one.serial: one for one in picture.devices if host_of(one.serial) == host}
        before = next((one for one in picture.devices if one.serial == found.serial), None)
        same = [
            one.serial
            for one in there.values()
            if before is not None and before.identity and one.identity == before.identity
        ]
        named = at_host(host, on_host(phone or found.serial))
        serial = named if phone or not same else same[0]
        moved = await core.request(SessionMove(session_id=found.session_id, serial=serial))
        info = there.get(serial)
        waits = info is None or info.state is not DeviceState.ONLINE
        others = ", ".join(on_host(one) for one in sorted(there)) or "none"
        if as_json:
            said = {"session": moved.session_id, "host": host, "phone": serial}
            plain.print_json({**said, "waits": waits})
        elif waits:
            plain.print_text(
                f"{moved.session_id} belongs to {host} and waits: {serial} is not there now. "
                f"Phones there: {others}. Take one by --phone."
            )
        else:
            plain.print_text(f"{moved.session_id} goes on at {host}, on {serial}.")
        return ExitCode.DONE

    end(run_with_core(ctx, work))


@fleet.command()
@click.argument("host")
@click.option(
    "--jobs-to",
    default="",
    metavar="HOST",
    help="The host that gets its jobs, watchers and commitments.",
)
@_JSON
@click.pass_context
def forget(ctx: click.Context, host: str, jobs_to: str, as_json: bool) -> None:
    """Remove a HOST that has left for good, with its phones.

    Refused while it is there, or has sessions that have not ended: move those first. A host that
    joins again later is a new one.
    """

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        await core.request(HostForget(host=host, jobs_to=jobs_to))
        if as_json:
            plain.print_json({"host": host, "forgotten": True})
        else:
            plain.print_text(f"{host} is forgotten.")
        return ExitCode.DONE

    end(run_with_core(ctx, work))


@fleet.command(epilog="Exit codes: 0 no problems, 1 problems found.")
@_JSON
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check the server, its clock and connections, the bucket, the operators and the hosts."""

    async def work(link: Link, _stop: StopRequest) -> ExitCode:
        from agent.store.postgres.health import examine
        from console.core.store_choice import bucket

        found = await examine(link, bucket(settings_for(ctx)))
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
        "works": one.works,
        "draining": one.drains,
        "sinceMs": one.since_ms,
        "silentMs": one.silent_ms,
        "beatMs": one.beat_ms,
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
    from widgets.lists.hosts import latency

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
                "" if one.beat_ms is None else latency(one.beat_ms),
                one_line(", ".join(one.labels), 60),
            )
        )
    return plain.columns(("HOST", "STATE", "VERSION", "PHONES", "LATENCY", "LABELS"), rows)


def _run(
    ctx: click.Context,
    work: Callable[[Link, StopRequest], Awaitable[ExitCode]],
    *,
    is_written: bool = False,
) -> None:
    from agent.store.addresses import address

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
