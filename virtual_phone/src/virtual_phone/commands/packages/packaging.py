"""`pm` and `cmd package`: what is installed."""

import textwrap

from virtual_phone.commands.intents import IntentArguments, parse_intent, shorten
from virtual_phone.commands.packages.installing import install
from virtual_phone.errors import PhoneError
from virtual_phone.packages.installed import PackageInfo
from virtual_phone.phone import Phone
from virtual_phone.shell.call import Call, CommandError, command
from virtual_phone.state.records import UnknownActivityError
from virtual_phone.task_stack import MAIN


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
        case "resolve-activity" | "query-activities":
            return await _resolve(call, verb, rest)
        case "uninstall":
            return await _uninstall(call, rest)
        case (
            "install" | "install-create" | "install-write" | "install-commit" | ("install-abandon")
        ):
            return await install(call, verb, rest)
        case "enable" | "disable" | "disable-user" | "suspend" | "unsuspend" | "hide" | "unhide":
            return await _enable(call, verb, rest)
        case "has-feature":
            known = _first(rest).removeprefix("feature:") in FEATURES
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
            return await _list_packages(call, rest)
        case "features":
            rows = ["feature:reqGlEsVersion=0x30002", *(f"feature:{name}" for name in FEATURES)]
        case "users":
            await call.line("Users:\n\tUserInfo{0:Owner:4c13} running")
            return 0
        case "permissions":
            known = {name for info in call.phone.packages for name in info.permissions}
            rows = ["All Permissions:", "", *(f"permission:{name}" for name in sorted(known))]
        case "permission-groups":
            names = ("CALENDAR", "CAMERA", "CONTACTS", "LOCATION", "MICROPHONE", "PHONE", "SMS")
            rows = [f"permission group:android.permission-group.{name}" for name in names]
        case "libraries":
            rows = ["library:android.test.base", "library:org.apache.http.legacy"]
        case "instrumentation":
            rows = []
        case _:
            raise CommandError(f"Error: unknown list type '{kind}'", 255)
    for row in rows:
        await call.line(row)
    return 0


async def _list_packages(call: Call, words: list[str]) -> int:
    letters: set[str] = set()
    filters: list[str] = []
    versioned = False
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--show-versioncode":
            versioned = True
        elif word in ("--user", "--uid"):
            if rest:
                rest.pop(0)
        elif word in ("-f", "-3", "-s", "-e", "-d", "-i", "-U", "-u", "-a", "-l", "--apex-only"):
            letters.add(word)
        elif word.startswith("-"):
            raise CommandError(f"Error: Unknown option: {word}", 255)
        else:
            filters.append(word)
    if "--apex-only" in letters or "-d" in letters:
        return 0
    for info in call.phone.packages.list():
        if ("-3" in letters and info.system) or ("-s" in letters and not info.system):
            continue
        if filters and filters[0] not in info.package:
            continue
        row = (
            f"package:{apk_path(info)}={info.package}"
            if "-f" in letters
            else (f"package:{info.package}")
        )
        if versioned:
            row += f" versionCode:{info.version_code}"
        if "-i" in letters:
            row += "  installer=null"
        if "-U" in letters:
            row += f" uid:{info.uid}"
        await call.line(row)
    return 0


def apk_path(info: PackageInfo) -> str:
    """Return the path of a package's APK."""
    return info.path or f"/system/app/{info.label.replace(' ', '')}/{info.package}.apk"


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


async def _resolve(call: Call, verb: str, words: list[str]) -> int:
    """Print which activity, or which activities, answer an intent.

    As PackageManagerShellCommand's runResolveActivity and runQueryIntentActivities print it, and
    ResolveInfo.dump.
    """
    intent = parse_intent(
        words,
        flags=frozenset({"--brief", "--components"}),
        valued=frozenset({"--user", "--query-flags"}),
    )
    found = _answering(call.phone, intent)
    way = next((one for one in ("--components", "--brief") if one in intent.options), "")
    if verb == "resolve-activity":
        if len(found) > 1 and intent.action in (None, MAIN):
            found = [(ANDROID, CHOOSER)]
        await call.line(_shown(*found[0], way) if found else "No activity found")
        return 0
    if not found:
        await call.line("No activities found")
    elif way == "--components":
        for info, cls in found:
            await call.line(_shown(info, cls, way))
    else:
        await call.line(f"{len(found)} activities found:")
        for at, (info, cls) in enumerate(found):
            await call.line(f"  Activity #{at}:")
            await call.line(textwrap.indent(_shown(info, cls, way), "    "))
    return 0


def _answering(phone: Phone, intent: IntentArguments) -> list[tuple[PackageInfo, str]]:
    """Return the activities that answer, the one that is started first."""
    if "android.intent.category.HOME" in intent.categories:
        info = phone.packages.get(HOME[0])
        return [(info, HOME[1])] if info is not None else []
    if intent.component is not None:
        try:
            return [
                phone.tasks.resolve(
                    component=intent.component, package=None, action=None, data=None
                )
            ]
        except UnknownActivityError:
            return []
    return phone.tasks.candidates(
        package=intent.package, action=intent.action, data=intent.data, mime_type=intent.mime_type
    )


def _shown(info: PackageInfo, cls: str, way: str) -> str:
    """Return an answer as `--brief` or `--components` has it, or the whole of it."""
    component = shorten(f"{info.package}/{cls}")
    if way == "--components":
        return component
    head = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true"
    if way == "--brief":
        return f"{head}\n{component}"
    return (
        f"{head}\nActivityInfo:\n  name={cls}\n  packageName={info.package}\n"
        "  enabled=true exported=true directBootAware=false\n  ApplicationInfo:\n"
        f"    packageName={info.package}\n    labelRes=0x0 "
        f"nonLocalizedLabel={info.label} icon=0x0 banner=0x0\n"
        f"    processName={info.package}"
    )


ANDROID = PackageInfo("android", "Android System")
CHOOSER = "com.android.internal.app.ResolverActivity"
"""What Android names where several activities answer and none of them is the default."""

HOME = ("com.android.launcher3", "com.android.launcher3.uioverrides.QuickstepLauncher")


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
