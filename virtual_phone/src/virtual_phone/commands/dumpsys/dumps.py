"""`dumpsys`: what system services say of themselves, in the shape of Android 14."""

from collections.abc import Callable

from virtual_phone.commands.dumpsys.alarm_dump import dump_alarm
from virtual_phone.commands.dumpsys.device_dumps import (
    dump_deviceidle,
    dump_gfxinfo,
    dump_location,
    dump_telephony,
)
from virtual_phone.commands.dumpsys.network_dumps import (
    dump_connectivity,
    dump_trust,
    dump_user,
    dump_wifi,
)
from virtual_phone.commands.dumpsys.package_dump import dump_package
from virtual_phone.commands.dumpsys.window_dump import (
    dump_activities,
    dump_display,
    dump_input,
    dump_policy,
    dump_top,
    dump_windows,
)
from virtual_phone.input import adb_keyboards
from virtual_phone.numbers import is_number
from virtual_phone.phone import Phone
from virtual_phone.running import ALWAYS
from virtual_phone.server.faults import FaultKind
from virtual_phone.shell.call import Call, CommandError, command
from virtual_phone.state.records import Notice


def _window(phone: Phone, words: list[str]) -> str:
    if words[:1] in (["policy"], ["p"]):
        return dump_policy(phone)
    return dump_windows(phone, (words or ["all"])[0])


def _activity(phone: Phone, words: list[str]) -> str:
    match words[:1]:
        case ["top"] | ["a", "top"]:
            return dump_top(phone)
        case ["recents"]:
            rows = [
                f"  * Recent #{number}: Task{{{task.id:x} #{task.id} type=standard "
                f"A={phone.processes.uid_of(task.package)}:{task.package}}}"
                for number, task in enumerate(phone.tasks.front_to_back())
            ]
            return "\n".join(["ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)", *rows])
        case ["processes"] | ["p"]:
            return _processes(phone)
        case _:
            return dump_activities(phone)


def _processes(phone: Phone) -> str:
    rows = [
        "ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)",
        "  All known processes:",
    ]
    for one in phone.processes.all():
        kind = "PERS" if one.name in ALWAYS else "APP"
        rows += [
            f"  *{kind}* UID {one.uid} ProcessRecord{{{one.pid * 4099:x} {one.record}}}",
            f"    user #0 uid={one.uid} gids={{}}",
            f"    packageList={{{one.name}}}",
            f"    pid={one.pid}",
        ]
    return "\n".join(rows)


def _battery(phone: Phone, words: list[str]) -> str:
    del words
    record = phone.state_record
    charging = record.battery_charging
    return "\n".join(
        [
            "Current Battery Service state:",
            "  AC powered: false",
            f"  USB powered: {str(charging).lower()}",
            "  Wireless powered: false",
            "  Dock powered: false",
            "  Max charging current: 500000",
            "  Max charging voltage: 5000000",
            "  Charge counter: 3412000",
            f"  status: {2 if charging else 3}",
            "  health: 2",
            "  present: true",
            f"  level: {record.battery_level}",
            "  scale: 100",
            f"  voltage: {3500 + record.battery_level * 7}",
            "  temperature: 271",
            "  technology: Li-ion",
            "  Charging state: 0",
            "  Charging policy: 0",
        ]
    )


def _power(phone: Phone, words: list[str]) -> str:
    del words
    awake = phone.power.screen_on
    stay = phone.settings.get("global", "stay_on_while_plugged_in") or "0"
    timeout = phone.settings.get("system", "screen_off_timeout") or "60000"
    return "\n".join(
        [
            "POWER MANAGER (dumpsys power)",
            "",
            "Power Manager State:",
            "  mDirty=0x0",
            f"  mWakefulness={'Awake' if awake else 'Asleep'}",
            "  mWakefulnessChanging=false",
            f"  mIsPowered={str(phone.state_record.battery_charging).lower()}",
            f"  mBatteryLevel={phone.state_record.battery_level}",
            f"  mStayOnWhilePluggedInSetting={stay}",
            f"  mScreenOffTimeoutSetting={timeout}",
            "  mHoldingWakeLockSuspendBlocker=false",
            f"  mHoldingDisplaySuspendBlocker={str(awake).lower()}",
            "",
            "Wake Locks: size=0",
            "",
            f"Display Power: state={'ON' if awake else 'OFF'}",
        ]
    )


def _input_method(phone: Phone, words: list[str]) -> str:
    del words
    # The window first: one that came or went may have ended the input.
    focus = phone.windows.focused
    shown = str(phone.focus.keyboard_shown).lower()
    chosen = adb_keyboards.current(phone)
    listed: list[str] = []
    for number, name in enumerate(adb_keyboards.methods(phone)):
        listed += [f"  InputMethod #{number}:", f"    mId={name} mSettingsActivityName=null"]
    return "\n".join(
        [
            "Current Input Method Manager state:",
            "  Input Methods: mMethodMapUpdateCount=1",
            *listed,
            f"  mCurMethodId={chosen}",
            f"  mCurFocusedWindow={focus.token_hex if focus else 'null'}",
            f"  mCurId={chosen} mHaveConnection=true mBoundToMethod=true mVisibleBound={shown}",
            f"  mShowRequested={shown} mShowExplicitlyRequested=false mShowForced=false",
            f"  mInputShown={shown}",
            "  mInFullscreenMode=false",
            f"  mSystemReady=true mInteractive={str(phone.power.screen_on).lower()}",
            f"  mIsInputViewShown={shown}",
        ]
    )


def notice_key(phone: Phone, notice: Notice) -> str:
    """Return a notification's key: user, package, id, tag and uid."""
    uid = phone.processes.uid_of(notice.package)
    return f"0|{notice.package}|{notice.id}|{notice.tag or 'null'}|{uid}"


def _notification(phone: Phone, words: list[str]) -> str:
    del words
    rows = ["Current Notification Manager state:", "  Notification List:"]
    for notice in phone.notifications.all():
        named = f"id={notice.id} tag={notice.tag or 'null'} importance=3"
        rows += [
            f"    NotificationRecord(0x{notice.id:08x}: pkg={notice.package} user=UserHandle{{0}} "
            f"{named} key={notice_key(phone, notice)})",
            f"      android.title=String ({notice.title})",
            f"      android.text=String ({notice.text})",
        ]
    return "\n".join(rows)


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
    from virtual_phone.commands.capturing import physical_id

    if "--display-id" in words:
        return "\n".join(
            f"Display {physical_id(one.id)} (HWC display {one.id}): port={one.id} pnpId=VRT "
            f'displayName="{one.name}"'
            for one in phone.displays.all()
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
    "window": _window,
    "activity": _activity,
    "battery": _battery,
    "power": _power,
    "input_method": _input_method,
    "notification": _notification,
    "package": _package,
    "display": lambda phone, _: dump_display(phone),
    "input": lambda phone, _: dump_input(phone),
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
}


@command("dumpsys", java=True)
async def dumpsys(call: Call) -> int:
    """Show what services say of themselves."""
    await call.userland.faults.hold(FaultKind.HUNG_DUMPSYS)
    words = list(call.args)
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option == "-l":
            await call.line("Currently running services:")
            for name in sorted(SERVICES):
                await call.line(f"  {name}")
            return 0
        if option in ("-t", "-T", "--priority", "--skip") and words:
            words.pop(0)
    if not words:
        for name, report in SERVICES.items():
            await call.line("-" * 79 + f"\nDUMP OF SERVICE {name}:\n" + report(call.phone, []))
        return 0
    service, *rest = words
    if service == "battery" and rest:
        return await battery_command(call, rest)
    if service == "deviceidle" and rest:
        from virtual_phone.commands.packages.policies import policy_command

        return await policy_command(call, service, rest)
    dump = SERVICES.get(service)
    if dump is None:
        from virtual_phone.commands.windowing import SERVICES as KNOWN

        if service in KNOWN:
            return 0
        raise CommandError(f"Can't find service: {service}", 0)
    await call.line(dump(call.phone, rest))
    return 0


async def battery_command(call: Call, words: list[str]) -> int:
    """Run `dumpsys battery set level 5`, `unplug`, `reset`."""
    record = call.phone.state_record
    match [word for word in words if word != "-f"]:
        case ["set", "level", value] if is_number(value) and int(value) <= 100:
            record.battery_level = int(value)
        case ["set", "ac" | "usb" | "wireless", value]:
            record.battery_charging = value == "1"
        case ["set", "status", value]:
            record.battery_charging = value == "2"
        case ["unplug"]:
            record.battery_charging = False
        case ["reset"]:
            record.battery_level, record.battery_charging = 87, False
        case ["get", "level"]:
            await call.line(str(record.battery_level))
            return 0
        case _:
            raise CommandError(f"Unknown set option: {' '.join(words)}", 255)
    call.phone.invalidate()
    return 0
