"""Commands on the phone's tables: getprop, setprop, settings, logcat and log."""

import string

from virtual_phone.errors import PhoneError
from virtual_phone.shell.call import Call, CommandError, command, decode, encode
from virtual_phone.state.properties import VALUE_LIMIT
from virtual_phone.well_formed import well_formed

_PROPERTY_CHARACTERS = frozenset(string.ascii_letters + string.digits + ":@_.-")

SETTINGS_USAGE = """Settings provider (settings) commands:
  help
      Print this help text.
  get [--user <USER_ID> | current] NAMESPACE KEY
      Retrieve the current value of KEY.
  put [--user <USER_ID> | current] NAMESPACE KEY VALUE [TAG] [default]
      Change the contents of KEY to VALUE.
  delete [--user <USER_ID> | current] NAMESPACE KEY
      Delete the entry for KEY.
  list [--user <USER_ID> | current] NAMESPACE
      Print all defined keys.
      NAMESPACE is one of {system, secure, global}, case-insensitive"""


@command("getprop", inline=True)
async def getprop(call: Call) -> int:
    """Show one property or all."""
    properties = call.phone.properties
    words = [word for word in call.args if word not in ("-T", "-Z")]
    if words:
        default = words[1] if len(words) > 1 else ""
        await call.line(_property(call, words[0]) or default)
        return 0
    for key, value in properties.items():
        await call.line(f"[{key}]: [{value}]")
    return 0


def _property(call: Call, key: str) -> str:
    if key == "ro.boottime.init":
        return "1"
    return str(call.phone.properties.get(key, ""))


@command("setprop", inline=True)
async def setprop(call: Call) -> int:
    """Set a property."""
    if len(call.args) != 2:
        raise CommandError("usage: setprop NAME VALUE\n\nSets an Android system property.")
    key, value = call.args
    # The checks and words of AOSP's toolbox/setprop.cpp, which asks init only after them.
    if key.startswith(".") or key.endswith("."):
        raise CommandError("Property names must not start or end with a '.'")
    if ".." in key:
        raise CommandError("'..' is not allowed in a property name")
    for byte in encode(key):
        if chr(byte) not in _PROPERTY_CHARACTERS:
            raise CommandError(f"Invalid character '{decode(bytes([byte]))}' in name '{key}'")
    size = len(encode(value))
    if size >= VALUE_LIMIT and not value.startswith("ro."):
        raise CommandError(f"Value '{value}' is too long, {size} bytes vs a max of {VALUE_LIMIT}")
    if well_formed(value) != value:
        raise CommandError(f"Value '{value}' is not a UTF8 encoded string")
    try:
        call.phone.properties[key] = value
        call.phone.invalidate()
    except PhoneError as error:
        raise CommandError(
            f"Failed to set property '{key}' to '{value}'.\nSee dmesg for error reason."
        ) from error
    return 0


@command("settings", java=True)
async def settings(call: Call) -> int:
    """Read and write the settings tables."""
    words = list(call.args)
    if "--user" in words:
        at = words.index("--user")
        del words[at : at + 2]
    if not words or words[0] == "help":
        await call.line(SETTINGS_USAGE)
        return 0 if words else 255
    verb, *rest = words
    if verb not in ("get", "put", "delete", "list", "reset"):
        raise CommandError(f"Invalid command: {verb}\n{SETTINGS_USAGE}", 255)
    namespace = rest[0].lower() if rest else ""
    if namespace not in ("system", "secure", "global"):
        raise CommandError(f"Invalid namespace '{namespace}'", 255)
    table = call.phone.settings
    match verb, rest[1:]:
        case "get", [key]:
            value = table.get(namespace, key)
            await call.line("null" if value is None else value)
        case "put", [key, value, *_]:
            table.put(namespace, key, value)
        case "delete", [key]:
            await call.line(f"Deleted {table.delete(namespace, key)} rows")
        case "list", []:
            for key, value in table.list(namespace).items():
                await call.line(f"{key}={value}")
        case "reset", _:
            return 0
        case _:
            raise CommandError(f"Bad arguments\n{SETTINGS_USAGE}", 255)
    return 0
