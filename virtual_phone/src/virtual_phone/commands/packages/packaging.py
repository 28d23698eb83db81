"""`pm` and `cmd package`: what is installed."""

from virtual_phone.commands.packages.installing import install
from virtual_phone.commands.packages.listing import apk_path, list_packages
from virtual_phone.commands.packages.resolving import query_activities, resolve_activity
from virtual_phone.commands.packages.users import user_lines
from virtual_phone.errors import PhoneError
from virtual_phone.phone import Phone
from virtual_phone.shell.call import Call, CommandError, command


@command("pm", java=True)
async def pm(call: Call) -> int:
    """Work on packages."""
    return await package_command(call, call.args)


async def package_command(call: Call, words: list[str]) -> int:
    """Run what `pm` and `cmd package` have in common."""
    if not words:
        await call.line("Package manager (package) commands:\n  help\n    Print this help text.")
        return 255
    verb, *rest = words
    match verb:
        case "list":
            return await _list(call, rest)
        case "path":
            return await _path(call, rest)
        case "dump":
            from virtual_phone.commands.dumpsys.package_dump import dump_package

            await call.line(dump_package(call.phone, _first(rest)))
            return 0
        case "clear":
            return await _clear(call, rest)
        case "grant" | "revoke":
            return await _grant(call, verb, rest)
        case "resolve-activity":
            return await resolve_activity(call, rest)
        case "query-activities":
            return await query_activities(call, rest)
        case "uninstall":
            return await _uninstall(call, rest)
        case (
            "install" | "install-create" | "install-write" | "install-commit" | ("install-abandon")
        ):
            return await install(call, verb, rest)
        case "enable" | "disable" | "disable-user" | "suspend" | "unsuspend" | "hide" | "unhide":
            return await _enable(call, verb, rest)
        case "has-feature":
            known = _first(rest).removeprefix("feature:") in features(call.phone)
            await call.line(str(known).lower())
            return int(not known)
        case "get-max-users":
            await call.line("Maximum supported users: 4")
            return 0
        case "get-install-location":
            await call.line("0[auto]")
            return 0
        case "trim-caches" | "compile" | "bg-dexopt-job" | "reset-permissions":
            await call.line("Success")
            return 0
        case _:
            raise CommandError(f"Unknown command: {verb}", 255)


FEATURES = [
    "android.hardware.bluetooth",
    "android.hardware.camera",
    "android.hardware.location",
    "android.hardware.microphone",
    "android.hardware.nfc",
    "android.hardware.screen.landscape",
    "android.hardware.screen.portrait",
    "android.hardware.telephony",
    "android.hardware.touchscreen",
    "android.hardware.touchscreen.multitouch",
    "android.hardware.wifi",
    "android.software.app_widgets",
    "android.software.home_screen",
    "android.software.input_methods",
    "android.software.webview",
]


def features(phone: Phone) -> list[str]:
    """Return what the phone has, by name: what every phone has, but for what its kind says."""
    profile = phone.form_factor.profile
    absent = set(profile.without_features)
    if not profile.touchscreen:
        absent |= {name for name in FEATURES if "touchscreen" in name}
    return sorted({*FEATURES, *profile.features} - absent)


def _first(words: list[str]) -> str:
    rest = list(words)
    while rest and rest[0].startswith("--"):
        if rest.pop(0) == "--user" and rest:
            rest.pop(0)
    if not rest:
        raise CommandError("Error: no package specified", 1)
    return rest[0]


async def _list(call: Call, words: list[str]) -> int:
    if not words:
        raise CommandError("Error: didn't specify type of data to list", 255)
    kind, *rest = words
    match kind:
        case "packages" | "package":
            return await list_packages(call, rest)
        case "features":
            names = [f"feature:{name}" for name in features(call.phone)]
            rows = ["feature:reqGlEsVersion=0x30002", *names]
        case "users":
            rows = user_lines(call.phone)
        case "permissions":
            known = {name for info in call.phone.packages for name in info.permissions}
            rows = ["All Permissions:", "", *(f"permission:{name}" for name in sorted(known))]
        case "permission-groups":
            groups = ("CALENDAR", "CAMERA", "CONTACTS", "LOCATION", "MICROPHONE", "PHONE", "SMS")
            rows = [f"permission group:android.permission-group.{name}" for name in groups]
        case "libraries":
            rows = ["library:android.test.base", "library:org.apache.http.legacy"]
        case "instrumentation":
            rows = []
        case _:
            raise CommandError(f"Error: unknown list type '{kind}'", 255)
    for row in rows:
        await call.line(row)
    return 0


async def _path(call: Call, words: list[str]) -> int:
    info = call.phone.packages.get(_first(words))
    if info is None:
        return 1
    await call.line(f"package:{apk_path(info)}")
    return 0


async def _clear(call: Call, words: list[str]) -> int:
    try:
        call.phone.activities.clear(_first(words))
    except PhoneError:
        await call.line("Failed")
        return 1
    await call.line("Success")
    return 0


async def _grant(call: Call, verb: str, words: list[str]) -> int:
    names = [word for word in words if not word.startswith("--") and word != "0"]
    if len(names) < 2:
        raise CommandError("Error: no permission specified", 1)
    package, permission = names[:2]
    if package not in call.phone.packages:
        raise CommandError(
            f"\nException occurred while executing '{verb}':\n"
            f"java.lang.IllegalArgumentException: Unknown package: {package}",
            255,
        )
    if verb == "grant":
        call.phone.permissions.grant(package, permission)
    else:
        call.phone.permissions.revoke(package, permission)
    return 0


async def _uninstall(call: Call, words: list[str]) -> int:
    package = _first([word for word in words if word != "-k"])
    info = call.phone.packages.get(package)
    if info is None:
        await call.line("Failure [DELETE_FAILED_INTERNAL_ERROR]")
        return 1
    try:
        call.phone.activities.uninstall(package)
    except PhoneError:
        await call.line(
            "Failure [DELETE_FAILED_DEVICE_POLICY_MANAGER]"
            if not info.system
            else "Failure [DELETE_FAILED_INTERNAL_ERROR]"
        )
        return 1
    await call.line("Success")
    return 0


async def _enable(call: Call, verb: str, words: list[str]) -> int:
    package = _first(words)
    if package not in call.phone.packages:
        raise CommandError(
            f"\nException occurred while executing '{verb}':\n"
            f"java.lang.IllegalArgumentException: Unknown package: {package}",
            255,
        )
    if verb == "enable":
        await call.line(f"Package {package} new state: enabled")
        return 0
    raise CommandError(f"Error: {verb} is not possible on this phone", 1)
