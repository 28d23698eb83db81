"""`appops` and `cmd deviceidle|netpolicy`: what apps may do while nobody looks.

Nothing is enforced: the phone's apps do nothing in the background. Formats: AppOpsService,
DeviceIdleController and NetworkPolicyManagerShellCommand of Android 14.
Invariant: what is set is what is read back, also after a restart of the phone; only `deviceidle
tempwhitelist` is answered and not kept.
"""

import re

from virtual_phone.commands.dumpsys.device_dumps import idle_enabled, idle_values
from virtual_phone.shell.call import Call, CommandError, command

BUCKETS = {
    "active": 10,
    "working_set": 20,
    "frequent": 30,
    "rare": 40,
    "restricted": 45,
    "never": 50,
}
MODES = ("allow", "ignore", "deny", "default", "foreground")
_OPERATIONS = """
    COARSE_LOCATION FINE_LOCATION GPS VIBRATE READ_CONTACTS WRITE_CONTACTS READ_CALL_LOG
    WRITE_CALL_LOG READ_CALENDAR WRITE_CALENDAR WIFI_SCAN POST_NOTIFICATION CALL_PHONE
    READ_SMS WRITE_SMS RECEIVE_SMS SEND_SMS WRITE_SETTINGS SYSTEM_ALERT_WINDOW
    ACCESS_NOTIFICATIONS CAMERA RECORD_AUDIO PLAY_AUDIO READ_CLIPBOARD WRITE_CLIPBOARD
    TOAST_WINDOW PROJECT_MEDIA ACTIVATE_VPN GET_USAGE_STATS MOCK_LOCATION
    READ_EXTERNAL_STORAGE WRITE_EXTERNAL_STORAGE TURN_SCREEN_ON GET_ACCOUNTS
    RUN_IN_BACKGROUND RUN_ANY_IN_BACKGROUND REQUEST_INSTALL_PACKAGES START_FOREGROUND
    PICTURE_IN_PICTURE MANAGE_EXTERNAL_STORAGE AUTO_REVOKE_PERMISSIONS_IF_UNUSED
    SCHEDULE_EXACT_ALARM WAKE_LOCK
"""
OPERATIONS = frozenset(_OPERATIONS.split())  # Those of AppOpsManager that programs ask for.
SYSTEM_AWAKE = ("com.android.phone", "com.android.shell")  # What may run while any phone idles.


@command("appops", java=True)
async def appops(call: Call) -> int:
    """Show or set what an app may do."""
    return await policy_command(call, "appops", call.args)


async def policy_command(call: Call, service: str, words: list[str]) -> int:
    """Run `cmd SERVICE …` of a service that keeps policies."""
    words = _without_owner(words)
    match service:
        case "appops":
            return await _app_ops(call, words)
        case "deviceidle":
            return await _idle(call, words)
        case _:
            return await _network(call, words)


def _without_owner(words: list[str]) -> list[str]:
    """Return the words without `--user 0`; the phone has one user."""
    if "--user" not in words:
        return words
    at = words.index("--user")
    return words[:at] + words[at + 2 :]


def _known(call: Call, package: str) -> str:
    if package not in call.phone.packages and package != "com.android.shell":
        raise CommandError(f"Error: No UID for {package} in user 0", 255)
    return package


async def _app_ops(call: Call, words: list[str]) -> int:
    kept = call.phone.state_record.policies.app_ops
    match [word for word in words if word != "--uid"]:
        case ["get", package]:
            modes = kept.get(_known(call, package), {})
            await call.line(
                "\n".join(f"{name}: {mode}" for name, mode in modes.items()) or "No operations."
            )
        case ["get", package, name]:
            operation = _operation(name)
            mode = kept.get(_known(call, package), {}).get(operation)
            await call.line(
                f"{operation}: {mode}" if mode else "No operations.\nDefault mode: default"
            )
        case ["set", package, name, mode]:
            operation = _operation(name)
            if mode not in MODES:
                raise CommandError(f"Error: Mode {mode} is not valid", 255)
            modes = kept.setdefault(_known(call, package), {})
            if mode == "default":
                modes.pop(operation, None)
            else:
                modes[operation] = mode
            call.phone.invalidate()
        case ["reset"]:
            kept.clear()
            call.phone.invalidate()
            await call.line("Reset all modes to default.")
        case ["reset", package]:
            kept.pop(_known(call, package), None)
            call.phone.invalidate()
            await call.line(f"Reset all modes for: {package} to default.")
        case ["query-op", name, *rest]:
            operation, mode = _operation(name), (rest or ["allow"])[0]
            found = [app for app, modes in kept.items() if modes.get(operation) == mode]
            await call.line("\n".join(found) or "No operations.")
        case ["write-settings"]:
            await call.line("Current settings written.")
        case _:
            raise CommandError(f"Unknown command: {(words or [''])[0]}", 255)
    return 0


def _operation(name: str) -> str:
    plain = name.removeprefix("android:").upper()
    if plain not in OPERATIONS:
        raise CommandError(f"Error: Unknown operation string: {name}", 255)
    return plain


async def _idle(call: Call, words: list[str]) -> int:
    policies = call.phone.state_record.policies
    match words:
        case ["get", name]:
            values = idle_values(call.phone)
            await call.line(values.get(name, f"Unknown get option: {name}"))
        case ["force-idle"] | ["force-idle", "deep" | "light"]:
            mode = words[1] if len(words) > 1 else "deep"
            if not idle_enabled(call.phone, mode):
                await call.line(f"Unable to go {mode} idle; not enabled")
                return 255
            policies.forced_idle = True
            await call.line(f"Now forced in to {mode} idle mode")
        case ["unforce"]:
            policies.forced_idle = False
            await call.line("Light state: ACTIVE, deep state: ACTIVE")
        case ["step", *_]:
            await call.line(f"Stepped to deep: {idle_values(call.phone)['deep']}")
        case ["enable" | "disable" as verb, *rest]:
            await _enable_idle(call, rest[0] if rest else "all", on=verb == "enable")
        case ["enabled", *rest]:
            modes = ("deep", "light") if not rest or rest[0] == "all" else tuple(rest[:1])
            await call.line(str(int(all(idle_enabled(call.phone, mode) for mode in modes))))
        case ["whitelist" | "sys-whitelist" | "except-idle-whitelist"]:
            uid = call.phone.processes.uid_of
            rows = [f"system,{name},{uid(name)}" for name in SYSTEM_AWAKE]
            await call.line(
                "\n".join([*rows, *(f"user,{name},{uid(name)}" for name in policies.awake_list)])
            )
        case ["whitelist", *changes]:
            for change in changes:
                await _change_awake(call, change)
        case ["tempwhitelist", *_]:
            return 0
        case _:
            raise CommandError(f"Unknown command: {(words or [''])[0]}", 255)
    call.phone.invalidate()
    return 0


async def _enable_idle(call: Call, wanted: str, *, on: bool) -> None:
    """Enable or disable idling; what is so already is not told."""
    off = call.phone.state_record.policies.idle_off
    if wanted not in ("deep", "light", "all"):
        await call.line(f"Unknown idle mode: {wanted}")
    for mode in ("deep", "light"):
        if wanted not in (mode, "all") or on == idle_enabled(call.phone, mode):
            continue
        if on:
            off.remove(mode)
        else:
            off.append(mode)
            call.phone.state_record.policies.forced_idle = False
        await call.line(f"{mode.title()} idle mode {'enabled' if on else 'disabled'}")


async def _change_awake(call: Call, change: str) -> None:
    listed = call.phone.state_record.policies.awake_list
    sign, package = change[:1], change[1:]
    if sign not in "+-=" or not package:
        raise CommandError(f"Package must be prefixed with +, -, or =: {change}", 255)
    if package not in call.phone.packages:
        await call.line(f"Unknown package: {package}")
    elif sign == "+":
        if package not in listed:
            listed.append(package)
        await call.line(f"Added: {package}")
    elif sign == "-":
        if package in listed:
            listed.remove(package)
            await call.line(f"Removed: {package}")
    else:
        await call.line(str(package in listed or package in SYSTEM_AWAKE).lower())


async def _network(call: Call, words: list[str]) -> int:
    policies = call.phone.state_record.policies
    match words:
        case ["get", "restrict-background"]:
            state = "enabled" if policies.data_saver else "disabled"
            await call.line(f"Restrict background status: {state}")
        case ["set", "restrict-background", "true" | "false" as wanted]:
            policies.data_saver = wanted == "true"
            call.phone.invalidate()
        case ["list", "restrict-background-whitelist" | "restrict-background-blacklist" as name]:
            kind = "whitelisted" if name.endswith("whitelist") else "blacklisted"
            await call.line(f"Restrict background {kind} UIDs: none")
        case _:
            raise CommandError(f"Unknown command: {(words or [''])[0]}", 255)
    return 0


async def standby_bucket(call: Call, verb: str, words: list[str]) -> int:
    """Run `am get-standby-bucket` and `am set-standby-bucket`."""
    kept = call.phone.state_record.policies.buckets
    match verb, _without_owner(words):
        case "get-standby-bucket", []:
            for package, bucket in kept.items():
                await call.line(f"{package}: {bucket}")
        case "get-standby-bucket", [package]:
            await call.line(str(kept.get(package, BUCKETS["active"])))
        case "set-standby-bucket", [package, name]:
            number = BUCKETS.get(name)
            if number is None and re.fullmatch(r"\d{1,3}", name):
                number = int(name)
            if number is None:
                raise CommandError(f"Error: Unknown bucket: {name}", 255)
            kept[package] = number
            call.phone.invalidate()
        case _:
            raise CommandError("Error: Argument expected", 255)
    return 0
