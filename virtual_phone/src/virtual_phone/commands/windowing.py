"""`wm`, `cmd` and `service`: the display's size, and the doors to system services."""

import re

from virtual_phone import lock
from virtual_phone.commands.activity import activity_command
from virtual_phone.commands.dumpsys.notification_dump import notification_command
from virtual_phone.commands.dumpsys.power_dumps import battery_command
from virtual_phone.commands.locking import lock_command
from virtual_phone.commands.packages.packaging import package_command
from virtual_phone.commands.packages.policies import policy_command
from virtual_phone.commands.radios import radio_command
from virtual_phone.errors import PhoneError
from virtual_phone.shell.call import Call, CommandError, command

_SERVICES = """
SurfaceFlinger accessibility activity activity_task alarm appops audio battery bluetooth_manager
clipboard connectivity content device_policy device_state display dropbox input input_method
jobscheduler netpolicy
location lock_settings media.camera media_session netstats nfc notification overlay package
permission phone power procstats role settings shortcut statusbar telecom trust uimode user
telephony.registry deviceidle gfxinfo meminfo cpuinfo
vibrator_manager voiceinteraction wallpaper webviewupdate wifi window
"""
SERVICES = tuple(_SERVICES.split())


@command("wm", java=True)
async def wm(call: Call) -> int:
    """Show or change the display."""
    return await window_command(call, call.args)


async def window_command(call: Call, words: list[str]) -> int:
    """Run what `wm` and `cmd window` have in common."""
    words = list(words)
    display = 0
    if "-d" in words:
        at = words.index("-d")
        number = words[at + 1] if at + 1 < len(words) else ""
        if not re.fullmatch(r"\d{1,4}", number):
            raise CommandError(f"Error: bad display {number}", 255)
        display = int(number)
        del words[at : at + 2]
    if not words:
        await call.line("Window manager (window) commands:\n  help\n      Print this help text.")
        return 255
    verb, *rest = words
    phone = call.phone
    match verb:
        case "size":
            return await _size(call, rest, display)
        case "density":
            return await _density(call, rest, display)
        case "user-rotation":
            if not rest:
                free = phone.settings.get("system", "accelerometer_rotation") == "1"
                await call.line("free" if free else f"lock {phone.rotation.quarters}")
                return 0
            if rest[0] == "lock":
                named = len(rest) > 1 and rest[1] in ("0", "1", "2", "3")
                phone.rotation.lock(int(rest[1]) if named else phone.rotation.quarters)
            elif rest[0] == "free":
                phone.settings.put("system", "accelerometer_rotation", "1")
            else:
                raise CommandError(f"Error: expecting 'free' or 'lock', not {rest[0]}", 255)
            return 0
        case "dismiss-keyguard":
            lock.dismiss(phone)
            return 0
        case "scaling" | "overscan" | "fixed-to-user-rotation" | "set-ignore-orientation-request":
            return 0
        case _:
            raise CommandError(f"Unknown command: {verb}", 255)


async def _size(call: Call, words: list[str], display: int) -> int:
    phone = call.phone
    entry = next((one for one in phone.displays.all() if one.id == display), None)
    if entry is None:
        raise CommandError(f"Error: no display {display}", 255)
    built = phone.form_factor.posture
    natural = (built.width, built.height) if display == 0 else (entry.width, entry.height)
    if not words:
        await call.line(f"Physical size: {natural[0]}x{natural[1]}")
        if (entry.width, entry.height) != natural:
            await call.line(f"Override size: {entry.width}x{entry.height}")
        return 0
    if words[0] == "reset":
        phone.displays.resize(width=natural[0], height=natural[1], display=display)
        return 0
    match = re.fullmatch(r"(\d{1,5})(dp)?x(\d{1,5})(dp)?", words[0])
    if match is None:
        raise CommandError(f"Error: bad size {words[0]}", 255)
    width, height = int(match.group(1)), int(match.group(3))
    if match.group(2):
        width = width * entry.density // 160
    if match.group(4):
        height = height * entry.density // 160
    try:
        phone.displays.resize(width=width, height=height, display=display)
    except PhoneError as error:
        raise CommandError(f"Error: {error.message}", 255) from error
    return 0


async def _density(call: Call, words: list[str], display: int) -> int:
    entry = next((one for one in call.phone.displays.all() if one.id == display), None)
    if entry is None:
        raise CommandError(f"Error: no display {display}", 255)
    natural = call.phone.form_factor.posture.density if display == 0 else entry.density
    if not words:
        await call.line(f"Physical density: {natural}")
        if entry.density != natural:
            await call.line(f"Override density: {entry.density}")
        return 0
    if words[0] == "reset":
        call.phone.displays.resize(density=natural, display=display)
        return 0
    if not re.fullmatch(r"\d{1,5}", words[0]):
        raise CommandError(f'Error: bad number For input string: "{words[0]}"', 255)
    if int(words[0]) < 72:
        raise CommandError("Error: density must be >= 72", 255)
    try:
        call.phone.displays.resize(density=int(words[0]), display=display)
    except PhoneError as error:
        raise CommandError(f"Error: {error.message}", 255) from error
    return 0


@command("cmd", java=True)
async def cmd(call: Call) -> int:
    """Call a system service."""
    words = list(call.args)
    while words and words[0] in ("-w",):
        words.pop(0)
    if not words:
        raise CommandError("cmd: No service specified; use -l to list all services", 20)
    service, *rest = words
    match service:
        case "-l":
            await call.line("Currently running services:")
            for name in SERVICES:
                await call.line(f"  {name}")
            return 0
        case "package":
            return await package_command(call, rest)
        case "activity":
            return await activity_command(call, rest)
        case "window":
            return await window_command(call, rest)
        case "input":
            from virtual_phone.commands.keys import input_command

            call.argv = ["input", *rest]
            return await input_command(call)
        case "settings":
            from virtual_phone.commands.tables import settings

            call.argv = ["settings", *rest]
            return await settings(call)
        case "statusbar":
            return await _statusbar(call, rest)
        case "uimode":
            return await _uimode(call, rest)
        case "bluetooth_manager" | "wifi" | "connectivity" | "nfc" | "phone":
            return await radio_command(call, service, rest)
        case "device_state":
            return await _device_state(call, rest)
        case "battery":
            return await battery_command(call, rest)
        case "clipboard":
            return await _clipboard(call, rest)
        case "notification":
            return await notification_command(call, rest)
        case "media_session":
            from virtual_phone.commands.sound import media_command

            return await media_command(call, rest)
        case "location":
            return await _location(call, rest)
        case "lock_settings":
            return await lock_command(call, rest)
        case "appops" | "deviceidle" | "netpolicy":
            return await policy_command(call, service, rest)
        case _ if service in SERVICES:
            raise CommandError("cmd: Failure calling service " + service + ": Unknown error", 255)
        case _:
            raise CommandError(f"cmd: Can't find service: {service}", 20)


async def _device_state(call: Call, words: list[str]) -> int:
    """Fold and unfold: `print-state`, `print-states`, `state N`, `state reset`."""
    phone = call.phone
    postures = phone.form_factor.profile.screens
    match words:
        case ["print-states"]:
            rows = [
                f"  DeviceState{{identifier={n}, name='{one.name}', app_accessible=true}},"
                for n, one in enumerate(postures)
            ]
            await call.line("\n".join(["Supported states: [", *rows, "]"]))
        case ["print-states-simple"]:
            await call.line(",".join(str(number) for number in range(len(postures))))
        case ["print-state"]:
            await call.line(str(phone.state_record.posture))
        case ["state"]:
            number = phone.state_record.posture
            await call.line(
                f"Committed state: DeviceState{{identifier={number}, "
                f"name='{postures[number].name}', app_accessible=true}}"
            )
        case ["state", "reset"]:
            phone.form_factor.fold(0)
        case ["state", number]:
            if not re.fullmatch(r"\d{1,3}", number):
                raise CommandError(f"Error: requested state should be an integer: {number}", 255)
            if int(number) >= len(postures):
                raise CommandError(
                    f"Error: Requested state: {number} is not supported.\n"
                    "Use print-states to see the supported states.",
                    255,
                )
            phone.form_factor.fold(int(number))
        case _:
            raise CommandError(f"Unknown command: {(words or [''])[0]}", 255)
    return 0


async def _statusbar(call: Call, words: list[str]) -> int:
    match words[:1]:
        case ["expand-notifications"]:
            call.phone.shade.open(expanded=False)
        case ["expand-settings"]:
            call.phone.shade.open(expanded=True)
        case ["collapse"]:
            call.phone.shade.close()
        case _:
            raise CommandError(f"Unknown command: {(words or [''])[0]}", 255)
    return 0


async def _uimode(call: Call, words: list[str]) -> int:
    if words[:1] != ["night"]:
        raise CommandError(f"Unknown command: {(words or [''])[0]}", 255)
    if len(words) > 1:
        if words[1] not in ("yes", "no"):
            raise CommandError(f"Invalid mode: {words[1]}", 255)
        call.phone.settings.set_dark(words[1] == "yes")
    dark = call.phone.settings.dark
    await call.line(f"Night mode: {'yes' if dark else 'no'}")
    return 0


async def _location(call: Call, words: list[str]) -> int:
    from virtual_phone.commands.dumpsys.device_dumps import location_on

    match [word for word in words if word not in ("--user", "0", "current")]:
        case ["is-location-enabled"]:
            await call.line(str(location_on(call.phone)).lower())
        case ["set-location-enabled", "true" | "false" as wanted]:
            call.phone.settings.put("secure", "location_mode", "3" if wanted == "true" else "0")
        case _:
            raise CommandError(f"Unknown command: {(words or [''])[0]}", 255)
    return 0


async def _clipboard(call: Call, words: list[str]) -> int:
    match words[:1]:
        case ["get-primary-clip" | "get"]:
            await call.line(call.phone.clipboard.text)
        case ["set-primary-clip" | "set"]:
            call.phone.clipboard.set(" ".join(words[1:]))
        case _:
            raise CommandError("cmd: Failure calling service clipboard: Unknown error", 255)
    return 0


@command("service", java=True)
async def service(call: Call) -> int:
    """List or check system services."""
    match call.args:
        case ["list"]:
            await call.line(f"Found {len(SERVICES)} services:")
            for number, name in enumerate(SERVICES):
                await call.line(f"{number}\t{name}: []")
        case ["check", name]:
            found = "found" if name in SERVICES else "not found"
            await call.line(f"Service {name}: {found}")
        case ["call", name, code, *_]:
            if name not in SERVICES:
                await call.line(f"service: Service {name} does not exist")
                return 255
            if (name, code) in (("statusbar", "1"), ("statusbar", "2")):
                if code == "1":
                    call.phone.shade.open(expanded=False)
                else:
                    call.phone.shade.close()
                await call.line("Result: Parcel(00000000    '....')")
            else:
                # What a service answers to a transaction that it does not know.
                await call.line('Result: Parcel(Error: 0xffffffffffffffb6 "Not a data message")')
        case _:
            raise CommandError("service: No action specified", 10)
    return 0
