"""`dumpsys`: what system services say of themselves.

The services whose lines differ between versions have tables in `virtual_phone.android`.
"""

from collections.abc import Callable

from virtual_phone.commands.dumpsys.activity_dump import dump_activity
from virtual_phone.commands.dumpsys.alarm_dump import dump_alarm
from virtual_phone.commands.dumpsys.device_dumps import (
    dump_deviceidle,
    dump_gfxinfo,
    dump_location,
    dump_telephony,
)
from virtual_phone.commands.dumpsys.display_dump import dump_display, dump_input, physical_id
from virtual_phone.commands.dumpsys.input_method_dump import dump_input_method
from virtual_phone.commands.dumpsys.network_dumps import (
    dump_connectivity,
    dump_trust,
    dump_user,
    dump_wifi,
)
from virtual_phone.commands.dumpsys.notification_dump import dump_notification
from virtual_phone.commands.dumpsys.package_dump import dump_package
from virtual_phone.commands.dumpsys.power_dumps import (
    battery_command,
    dump_battery,
    dump_power,
    dump_thermal,
)
from virtual_phone.commands.dumpsys.window_dump import dump_window
from virtual_phone.phone import Phone
from virtual_phone.server.faults import FaultKind
from virtual_phone.shell.call import Call, CommandError, command


def _package(phone: Phone, words: list[str]) -> str:
    names = [word for word in words if not word.startswith("-")]
    if names:
        return dump_package(phone, names[0])
    return "\n".join(f"  Package [{info.package}]" for info in phone.packages.list())


def _meminfo(phone: Phone, words: list[str]) -> str:
    names = [word for word in words if not word.startswith("-")]
    if names:
        process = phone.processes.of(names[0])
        if process is None:
            return f"No process found for: {names[0]}"
        return (
            f"Applications Memory Usage (in Kilobytes):\n\n** MEMINFO in pid {process.pid} "
            f"[{process.name}] **\n           TOTAL PSS:    98304            TOTAL RSS:   152340"
        )
    with_tasks = {task.package for task in phone.tasks.front_to_back()}
    rows = "\n".join(
        f"     98,304K: {one.name} (pid {one.pid}{' / activities' * (one.name in with_tasks)})"
        for one in phone.processes.all()
    )
    return (
        "Applications Memory Usage (in Kilobytes):\n\nTotal PSS by process:\n"
        f"{rows}\n\nTotal RAM: 7,889,924K (status normal)\n Free RAM: 4,711,380K"
    )


def _surface_flinger(phone: Phone, words: list[str]) -> str:
    if "--display-id" in words:
        return "\n".join(
            f"Display {physical_id(one.id)} (HWC display {one.id}): port={one.id} pnpId=VRT "
            f'displayName="{one.name}"'
            for one in phone.displays.all()
            if phone.displays.is_physical(one.id)
        )
    if "--list" in words:
        return "\n".join(f"{window.title}#{window.token & 0xFFF}" for window in phone.windows.all())
    # As RenderEngine names what draws, which programs ask for as the graphics processor.
    return (
        "Build configuration: [sf]\n\n------------RE GLES------------\n"
        "GLES: Google Inc., Virtual Phone Renderer, OpenGL ES 3.2"
    )


def _audio(phone: Phone, words: list[str]) -> str:
    del words
    volume = phone.settings.get("system", "volume_music") or "0"
    return f"- STREAM_MUSIC:\n   Muted: false\n   Min: 0\n   Max: 15\n   streamVolume:{volume}"


def _cpuinfo(phone: Phone, words: list[str]) -> str:
    del phone, words
    return "Load: 0.08 / 0.03 / 0.01\n  0.4% 655/system_server: 0.3% user + 0.1% kernel"


SERVICES: dict[str, Callable[[Phone, list[str]], str]] = {
    "window": dump_window,
    "activity": dump_activity,
    "battery": dump_battery,
    "power": dump_power,
    "input_method": dump_input_method,
    "notification": dump_notification,
    "package": _package,
    "display": dump_display,
    "input": dump_input,
    "meminfo": _meminfo,
    "SurfaceFlinger": _surface_flinger,
    "audio": _audio,
    "cpuinfo": _cpuinfo,
    "alarm": dump_alarm,
    "telephony.registry": dump_telephony,
    "deviceidle": dump_deviceidle,
    "location": dump_location,
    "gfxinfo": dump_gfxinfo,
    "wifi": dump_wifi,
    "connectivity": dump_connectivity,
    "user": dump_user,
    "trust": dump_trust,
    "thermalservice": dump_thermal,
}
_SINCE = {"thermalservice": 10}
"""Services that only newer versions of Android have."""


def _services(phone: Phone) -> dict[str, Callable[[Phone, list[str]], str]]:
    version = phone.form_factor.android.number
    return {name: one for name, one in SERVICES.items() if version >= _SINCE.get(name, 0)}


@command("dumpsys", java=True)
async def dumpsys(call: Call) -> int:
    """Show what services say of themselves."""
    await call.userland.faults.hold(FaultKind.HUNG_DUMPSYS)
    words = list(call.args)
    services = _services(call.phone)
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option == "-l":
            await call.line("Currently running services:")
            for name in sorted(services):
                await call.line(f"  {name}")
            return 0
        if option in ("-t", "-T", "--priority", "--skip") and words:
            words.pop(0)
    if not words:
        for name, report in services.items():
            await call.line("-" * 79 + f"\nDUMP OF SERVICE {name}:\n" + report(call.phone, []))
        return 0
    service, *rest = words
    if service == "battery" and rest:
        return await battery_command(call, rest)
    if service == "deviceidle" and rest:
        from virtual_phone.commands.packages.policies import policy_command

        return await policy_command(call, service, rest)
    dump = services.get(service)
    if dump is None:
        from virtual_phone.commands.windowing import SERVICES as KNOWN

        if service in KNOWN:
            return 0
        raise CommandError(f"Can't find service: {service}", 0)
    await call.line(dump(call.phone, rest))
    return 0
