"""`switchboard devices info|doctor|repair|rotate|wake|unlock`: how a phone is; putting it right."""

from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from agent.records import Transport
from agent.text import one_line
from console.cli_support import plain
from console.cli_support.exits import ExitCode
from console.cli_support.options import JSON_OPTION
from console.commands.devices.devices_reach import Reached, done, run_with_phone
from console.core.command_settings import settings_for
from console.terminal.line_input import ask_secret_at_once

if TYPE_CHECKING:
    from agent.devices.health.findings import RepairableFinding
    from agent.devices.health.phone_checks import Health


@click.command()
@click.argument("serial", default="")
@JSON_OPTION
@click.pass_context
def info(ctx: click.Context, serial: str, as_json: bool) -> None:
    """Show details of the phone SERIAL."""
    from agent.devices.fleet.labels import Labels

    labels = Labels(settings_for(ctx).data_dir / "devices.json")

    async def work(phone: Reached) -> ExitCode:
        from agent.devices.adb.discovery import hardware_serial

        known = await phone.device.info()
        own = await hardware_serial(phone.client, phone.serial, timeout_s=5)
        label = labels.of(phone.info.serial, own)
        whole = replace(
            known,
            transport=Transport.VIRTUAL if known.virtual else phone.info.transport,
            server=phone.info.server,
            product=phone.info.product,
            driver=phone.info.driver,
            hardware_serial=own,
            name=label.name,
            tags=label.tags,
            notes=label.notes,
        )
        if as_json:
            plain.print_json(plain.as_builtins(whole))
        else:
            facts = plain.as_builtins(whole).items()
            rows = [(name.replace("_", " "), _value_text(value)) for name, value in facts if value]
            plain.print_text("\n".join(f"{name:16} {value}" for name, value in rows))
        return ExitCode.DONE

    run_with_phone(ctx, serial, work)


def _value_text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else one_line(str(value))


@click.command()
@click.argument("serial", default="")
@JSON_OPTION
@click.pass_context
def doctor(ctx: click.Context, serial: str, as_json: bool) -> None:
    """Check the phone SERIAL: its health, and how long each access path takes."""

    async def work(phone: Reached) -> ExitCode:
        found = await _health(ctx, phone).examine()
        if len(found) > 1:
            # A phone that is silent gets one finding alone, and is asked nothing more.
            found = (*found, await _passport(ctx, phone))
        _print(found, as_json=as_json)
        return ExitCode.DONE if all(one.ok for one in found) else ExitCode.FAILED

    run_with_phone(ctx, serial, work)


@click.command()
@click.argument("serial", default="")
@JSON_OPTION
@click.pass_context
def repair(ctx: click.Context, serial: str, as_json: bool) -> None:
    """Repair what the doctor finds on the phone SERIAL, as far as adb can."""

    async def work(phone: Reached) -> ExitCode:
        health = _health(ctx, phone)
        found = await health.examine()
        if not any(one.repair for one in found if not one.ok):
            _print(found, as_json=as_json)
            return done("Nothing that adb can repair.")
        mended = await health.repair(found)
        _print(mended, as_json=as_json)
        return ExitCode.DONE if all(one.ok for one in mended) else ExitCode.FAILED

    run_with_phone(ctx, serial, work, drives=True)


def _health(ctx: click.Context, phone: Reached) -> "Health":
    from agent.devices.health.phone_checks import Health
    from agent.devices.scrcpy.link import ScrcpyLink, ScrcpySettings
    from agent.devices.shell.phone_shell import PhoneShell

    settings = ScrcpySettings(server=settings_for(ctx).scrcpy.server)
    link = ScrcpyLink(PhoneShell(phone.client, phone.serial), settings)
    return Health(phone.device, phone.extras, link)


async def _passport(ctx: click.Context, phone: Reached) -> "RepairableFinding":
    from agent.devices.health.passport_check import examine_passport
    from agent.devices.passport.passport_file import PassportFolder
    from agent.devices.shell.phone_shell import PhoneShell

    profile = await PhoneShell(phone.client, phone.serial).profile()
    folder = PassportFolder.of(settings_for(ctx).data_dir)
    return await examine_passport(folder, phone.info.serial, profile)


def _print(found: "tuple[RepairableFinding, ...]", *, as_json: bool) -> None:
    if as_json:
        plain.print_json({"data": [plain.as_builtins(one) for one in found]})
        return
    rows = [("ok" if one.ok else "!!", one.name, one.detail, one.remedy) for one in found]
    plain.print_text(plain.columns(("", "WHAT", "HOW IT IS", "WHAT TO DO"), rows))


@click.command()
@click.argument("serial")
@click.argument(
    "how", type=click.Choice(["portrait", "landscape", "upside-down", "seascape", "auto"])
)
@click.pass_context
def rotate(ctx: click.Context, serial: str, how: str) -> None:
    """Rotate the screen of the phone SERIAL; auto follows the sensor."""

    async def work(phone: Reached) -> ExitCode:
        await phone.extras.rotate(how)
        return done(f"The screen of {phone.info.serial} is {how}.")

    run_with_phone(ctx, serial, work, drives=True)


@click.command()
@click.argument("serial", default="")
@click.pass_context
def wake(ctx: click.Context, serial: str) -> None:
    """Turn on the screen of the phone SERIAL."""

    async def work(phone: Reached) -> ExitCode:
        await phone.extras.wake()
        return done(f"{phone.info.serial} is awake.")

    run_with_phone(ctx, serial, work, drives=True)


@click.command()
@click.argument("serial", default="")
@click.option("--pin", is_flag=True, help="Ask for its PIN, which is neither shown nor stored.")
@click.pass_context
def unlock(ctx: click.Context, serial: str, pin: bool) -> None:
    """Wake and unlock the phone SERIAL."""
    secret = ask_secret_at_once("PIN") if pin else ""

    async def work(phone: Reached) -> ExitCode:
        await phone.extras.unlock(secret)
        return done(f"{phone.info.serial} is unlocked.")

    run_with_phone(ctx, serial, work, drives=True)
