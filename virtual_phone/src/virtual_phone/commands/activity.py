"""`am` and `cmd activity`: start and stop apps."""

import asyncio
import re

from virtual_phone.commands.dumpsys import last_anr
from virtual_phone.commands.intents import IntentArguments, lengthen, parse_intent, shorten
from virtual_phone.commands.packages.policies import standby_bucket
from virtual_phone.commands.packages.resolving import offers
from virtual_phone.input import adb_keyboards
from virtual_phone.numbers import is_number
from virtual_phone.shell.call import Call, CommandError, command
from virtual_phone.state.records import StartStatus, UnknownActivityError

NEW_TASK = 0x10000000
MAIN = "android.intent.action.MAIN"
_START_FLAGS = frozenset(
    {
        *("-D", "-N", "-W", "-S", "--streaming", "--track-allocation", "--lock-task"),
        *("--allow-background-activity-starts", "--splashscreen-show-icon"),
        *("--dismiss-keyguard", "--dismiss-keyguard-if-insecure"),
    }
)
_START_VALUED = frozenset(
    {
        *("-P", "-R", "--start-profiler", "--sampling", "--attach-agent", "--attach-agent-bind"),
        *("--user", "--receiver-permission", "--display", "--windowingMode", "--activityType"),
        *("--task", "--task-overlay", "--flags-mutability", "--splashscreen-style"),
    }
)
PROTECTED = frozenset(
    f"android.intent.action.{name}"
    for name in (
        "AIRPLANE_MODE",
        "BATTERY_CHANGED",
        "BATTERY_LOW",
        "BATTERY_OKAY",
        "BOOT_COMPLETED",
        "LOCKED_BOOT_COMPLETED",
        "PACKAGE_ADDED",
        "PACKAGE_REMOVED",
        "PACKAGE_REPLACED",
        "REBOOT",
        "SCREEN_OFF",
        "SCREEN_ON",
        "TIMEZONE_CHANGED",
        "TIME_SET",
        "USER_PRESENT",
    )
)
"""Broadcasts that only the system may send; settings are what the shell changes instead."""
_NO_EXTRAS: frozenset[str] = frozenset()


@command("am", java=True)
async def am(call: Call) -> int:
    """Work on activities."""
    return await activity_command(call, call.args)


async def activity_command(call: Call, words: list[str]) -> int:
    """Run what `am` and `cmd activity` have in common."""
    if not words:
        await call.line(
            "Activity manager (activity) commands:\n  help\n      Print this help text."
        )
        return 255
    verb, *rest = words
    match verb:
        case "start" | "start-activity":
            return await _start(call, rest)
        case (
            "startservice"
            | "start-service"
            | "start-foreground-service"
            | "stopservice"
            | ("stop-service")
        ):
            return await _service(call, verb, rest)
        case "force-stop" | "kill":
            return await _stop(call, verb, rest)
        case "kill-all":
            return 0
        case "broadcast":
            return await _broadcast(call, rest)
        case "instrument":
            return await _instrument(call, rest)
        case "stack" | "task":
            return await _stacks(call, verb, rest)
        case "get-current-user":
            await call.line("0")
            return 0
        case "crash" | "hang":
            package = _package(call, rest)
            if verb == "hang":
                last_anr.keep(call.phone, package)
            call.phone.prompts.crash(package, hangs=verb == "hang")
            return 0
        case "get-config":
            width, height, density = call.phone.displays.size(0)
            dp = f"w{width * 160 // density}dp-h{height * 160 // density}dp"
            await call.line(
                f"config: en-rUS-ldltr-sw{min(width, height) * 160 // density}dp-{dp}"
                f"-normal-long-notround-port-notnight-{density}dpi-finger-keysexposed-"
                "nokeys-navhidden-nonav-v34"
            )
            await call.line("abi: x86_64,arm64-v8a")
            return 0
        case "wait-for-broadcast-idle" | "idle-maintenance" | "set-debug-app" | "clear-debug-app":
            return 0
        case "get-standby-bucket" | "set-standby-bucket":
            return await standby_bucket(call, verb, rest)
        case "send-trim-memory":
            return _trim_memory(call, rest)
        case _:
            raise CommandError(f"Unknown command: {verb}", 255)


def _package(call: Call, words: list[str]) -> str:
    names = [word for word in words if not word.startswith("-") and word != "0"]
    if not names:
        raise CommandError("Error: Argument expected", 255)
    return names[-1]


async def _start(call: Call, words: list[str]) -> int:
    intent = parse_intent(words, flags=_START_FLAGS, valued=_START_VALUED)
    display = intent.options.get("--display", "0")
    if not re.fullmatch(r"\d{1,4}", display):
        raise CommandError(f'Error: For input string: "{display}"', 255)
    intent.flags |= NEW_TASK
    if not intent.component and not offers(call.phone, intent.categories):
        return await _cannot_start(call, intent)
    if "-S" in intent.options and (intent.component or intent.package):
        package = (intent.component or intent.package or "").partition("/")[0]
        await call.line(f"Stopping: {package}")
        call.phone.activities.force_stop(package)
    await call.line(f"Starting: {intent.shown()}")
    started = asyncio.get_running_loop().time()
    try:
        result = call.phone.activities.start(
            component=lengthen(intent.component) if intent.component else None,
            package=intent.package,
            action=intent.action,
            data=intent.data,
            mime_type=intent.mime_type,
            extras=intent.extras,
            display=int(display),
        )
    except UnknownActivityError:
        return await _cannot_start(call, intent)
    call.userland.note(
        "I",
        "ActivityTaskManager",
        f"START u0 {{flg={intent.flags:#x} cmp={result.component}}} from uid 2000",
    )
    brought = result.status is StartStatus.BROUGHT_TO_FRONT
    delivered = result.status is StartStatus.DELIVERED_TO_TOP
    if brought:
        await call.err(
            "Warning: Activity not started, its current task has been brought to the front"
        )
    elif delivered:
        await call.err(
            "Warning: Activity not started, intent has been delivered to currently running "
            "top-most instance."
        )
    if "-W" in intent.options:
        await call.phone.animations.wait_idle()
        spent = int((asyncio.get_running_loop().time() - started) * 1000)
        await call.line("Status: ok")
        await call.line(f"LaunchState: {'HOT' if brought or delivered else 'COLD'}")
        await call.line(f"Activity: {result.component}")
        await call.line(f"TotalTime: {0 if delivered else max(1, spent)}")
        await call.line(f"WaitTime: {max(1, spent)}")
        await call.line("Complete")
    return 0


async def _cannot_start(call: Call, intent: IntentArguments) -> int:
    if intent.component:
        package, _, cls = lengthen(intent.component).partition("/")
        await call.err("Error type 3")
        await call.err(f"Error: Activity class {{{package}/{cls}}} does not exist.")
        return 1
    await call.err(f"Error: Activity not started, unable to resolve {intent.shown()}")
    return 1


async def _service(call: Call, verb: str, words: list[str]) -> int:
    intent = parse_intent(words, flags=_NO_EXTRAS, valued=frozenset({"--user"}))
    stopping = verb.startswith("stop")
    await call.line(f"{'Stopping' if stopping else 'Starting'} service: {intent.shown()}")
    if stopping:
        await call.line("Service not stopped: was not running.")
        return 255
    await call.err("Error: Not found; no service started.")
    return 255


async def _stop(call: Call, verb: str, words: list[str]) -> int:
    package = _package(call, words)
    if verb == "force-stop" or call.phone.windows.focused_app.partition("/")[0] != package:
        call.phone.activities.force_stop(package)
        uid = call.phone.processes.uid_of(package)
        call.userland.note(
            "I",
            "ActivityManager",
            f"Force stopping {package} appid={uid} user=0: from pid {call.pid}",
        )
    return 0


async def _broadcast(call: Call, words: list[str]) -> int:
    intent = parse_intent(
        words, flags=frozenset({"--async"}), valued=frozenset({"--user", "--receiver-permission"})
    )
    intent.flags |= 0x400000
    if intent.action in PROTECTED and call.files.uid != 0:
        raise CommandError(
            "\nException occurred while executing 'broadcast':\njava.lang.SecurityException: "
            f"Permission Denial: not allowed to send broadcast {intent.action} from "
            f"pid={call.pid}, uid=2000",
            255,
        )
    await call.line(f"Broadcasting: {intent.shown()}")
    if intent.action == "android.intent.action.CLOSE_SYSTEM_DIALOGS":
        call.phone.shade.close()
    code, data = adb_keyboards.receive(call.phone, intent.action, intent.extras)
    said = f'{code}, data="{data}"' if data is not None else str(code)
    await call.line(f"Broadcast completed: result={said}")
    return 0


_TRIM_LEVELS = frozenset(
    {
        *("HIDDEN", "RUNNING_MODERATE", "BACKGROUND", "RUNNING_LOW"),
        *("MODERATE", "RUNNING_CRITICAL", "COMPLETE"),
    }
)


def _trim_memory(call: Call, words: list[str]) -> int:
    """Make a process give memory back: it is looked for by name or number, and nothing is said.

    As ActivityManagerShellCommand.runSendTrimMemory answers.
    """
    words = words[2:] if words[:1] == ["--user"] else words
    if len(words) < 2:
        raise CommandError("Error: Argument expected after the process", 255)
    process, level = words[0], words[1]
    if level not in _TRIM_LEVELS and not is_number(level):
        raise CommandError(f"Error: Unknown level option: {level}", 255)
    running = call.userland.processes.all(call.phone.processes.all())
    if not any(process in (one.name, str(one.pid)) for one in running):
        raise CommandError(
            "\nException occurred while executing 'send-trim-memory':\n"
            f"java.lang.IllegalArgumentException: Unknown process: {process}",
            255,
        )
    return 0


async def _instrument(call: Call, words: list[str]) -> int:
    component = next((word for word in words if "/" in word), "")
    await call.line(
        f"INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: "
        f"ComponentInfo{{{component}}}\nINSTRUMENTATION_STATUS: id=ActivityManagerService\n"
        "INSTRUMENTATION_STATUS_CODE: -1"
    )
    raise CommandError(f"android.util.AndroidException: INSTRUMENTATION_FAILED: {component}", 1)


async def _stacks(call: Call, verb: str, words: list[str]) -> int:
    if words[:1] not in (["list"], []) or verb == "task":
        raise CommandError(f"Error: unknown command '{(words or [''])[0]}'", 255)
    for task in call.phone.tasks.front_to_back():
        width, height, _ = call.phone.displays.size(task.display)
        visible = call.phone.tasks.front(task.display) is task
        await call.line(
            f"RootTask id={task.id} bounds=[0,0][{width},{height}] displayId={task.display} "
            "userId=0\n"
            " configuration={1.0 310mcc260mnc [en_US] ldltr sw411dp w411dp h890dp 420dpi nrml long "
            "port finger -keyb/v/h -nav/h winConfig={ mBounds=Rect(0, 0 - "
            f"{width}, {height}) mWindowingMode=fullscreen mActivityType=standard}} s.1}}\n"
            f"  taskId={task.id}: {shorten(task.package + '/' + task.pages[-1].activity)} "
            f"bounds=[0,0][{width},{height}] userId=0 visible={str(visible).lower()} "
            f"topActivity=ComponentInfo{{{task.package}/{task.pages[-1].activity}}}\n"
        )
    return 0
