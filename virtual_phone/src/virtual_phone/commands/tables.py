"""Commands on the phone's tables: getprop, setprop, settings, logcat and log."""

import asyncio
import re
import string
import struct
import time
from functools import partial

from virtual_phone.commands.options import options
from virtual_phone.errors import PhoneError
from virtual_phone.numbers import is_number
from virtual_phone.shell.call import Call, CommandError, command, decode, encode
from virtual_phone.state.properties import VALUE_LIMIT
from virtual_phone.userland.log import LogEntry
from virtual_phone.well_formed import well_formed

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


_LEVELS = "VDIWEFS"
_PROPERTY_CHARACTERS = frozenset(string.ascii_letters + string.digits + ":@_.-")
LOWEST_PRIORITY = 2
"""Of `android_LogPriority`: VERBOSE."""
_FORMATS = frozenset(
    {
        *("brief", "process", "tag", "thread", "raw", "time", "threadtime", "long", "color"),
        *("epoch", "monotonic", "year", "zone", "usec", "uid", "descriptive", "printable"),
    }
)


@command("log")
async def log(call: Call) -> int:
    """Write to the phone's log."""
    found = options(call, "p:t:", leading=True)
    level = found.text("p", "i").upper()
    if level not in _LEVELS:
        raise CommandError(f"log: bad -p '{found.text('p')}'")
    call.userland.note(level, found.text("t", "log"), " ".join(found.operands), pid=call.pid)
    return 0


@command("logcat")
async def logcat(call: Call) -> int:
    """Show the log: -d, -c, -t N, -v FORMAT, -s, -b BUFFER, --pid, filters TAG:LEVEL."""
    found = options(
        call, "dcgGDLSBsb:v:t:T:e:f:n:r:m:", long=("pid=", "format=", "buffer=", "clear", "help")
    )
    if found.any("c") or "clear" in found:
        call.userland.log.clear()
        return 0
    if "g" in found:
        await call.line(
            "main: ring buffer is 256 KiB (64 KiB consumed, 256 KiB readable), max entry is 5120 "
            "B, max payload is 4068 B"
        )
        return 0
    form = found.text("v") or found.text("format") or "threadtime"
    if form.partition(",")[0] not in _FORMATS:
        raise CommandError(f'Invalid parameter "{form}" to -v')
    wanted = _Filter(
        found.operands, silent="s" in found, pid=found.text("pid"), regex=found.text("e")
    )
    ring = call.userland.log
    entries = [entry for entry in ring.since(0) if wanted.passes(entry)]
    count = found.text("t") or found.text("T")
    if is_number(count):
        entries = entries[-int(count[:9]) :] if int(count[:9]) else []
    limit = found.number(call, "m", 2**62)
    show = _binary if "B" in found else partial(_format, form=form)
    if ring.since(0) and "B" not in found:
        await call.line("--------- beginning of main")
    sequence = max((entry.sequence for entry in ring.since(0)), default=0)
    for entry in entries[:limit]:
        await call.stdout.write(show(entry))
    limit -= len(entries)
    while not found.any("dt") and limit > 0:
        try:
            async with asyncio.timeout(CHATTER_S):
                grown = await ring.wait(sequence)
        except TimeoutError:
            _chat(call)
            continue
        for entry in grown:
            sequence = entry.sequence
            if wanted.passes(entry) and limit > 0:
                await call.stdout.write(show(entry))
                limit -= 1
        await asyncio.sleep(0)
    return 0


CHATTER_S = 1.0


def _chat(call: Call) -> None:
    """Log what the system has to say now and then; phones chatter, and readers rely on it."""
    phone = call.phone
    call.userland.note(
        "D",
        "SystemHeartbeat",
        f"up {call.userland.uptime_s():.0f} s, frame {phone.compositor.version}, "
        f"top {phone.windows.focused_app}",
    )


class _Filter:
    """Which entries are shown."""

    def __init__(self, specs: list[str], *, silent: bool, pid: str, regex: str) -> None:
        self._tags: dict[str, int] = {}
        self._default = _LEVELS.index("S") if silent else 0
        self._pid = int(pid) if is_number(pid) else None
        try:
            self._regex = re.compile(regex)
        except re.error as error:
            raise CommandError(f"logcat: bad regex {regex}") from error
        for spec in specs:
            tag, _, level = spec.partition(":")
            level = "V" if level in ("", "*") else level.upper()[:1]
            if level not in _LEVELS:
                raise CommandError(f"Invalid filter expression '{spec}'")
            if tag == "*":
                self._default = _LEVELS.index(level)
            else:
                self._tags[tag] = _LEVELS.index(level)

    def passes(self, entry: LogEntry) -> bool:
        if self._pid is not None and entry.pid != self._pid:
            return False
        level = self._tags.get(entry.tag, self._default)
        return _LEVELS.index(entry.level) >= level and (
            self._regex.search(entry.message) is not None
        )


_ENTRY = struct.Struct("<HHiIIIII")
"""`struct logger_entry` of Android's log/log_read.h: payload and header size, pid, tid, seconds,
nanoseconds, buffer, uid."""
_MAIN, _ROOT = 0, 0


def _binary(entry: LogEntry) -> bytes:
    """Return an entry as `logcat -B` writes it: header, priority, tag and message."""
    payload = b"%c%s\0%s\0" % (
        _LEVELS.index(entry.level) + LOWEST_PRIORITY,
        encode(entry.tag),
        encode(entry.message),
    )
    seconds, part = divmod(entry.at, 1)
    size, ids, at = len(payload), (entry.pid, entry.tid), (int(seconds), int(part * 1e9))
    return _ENTRY.pack(size, _ENTRY.size, *ids, *at, _MAIN, _ROOT) + payload


def _format(entry: LogEntry, form: str) -> bytes:
    """Return an entry as a line of `logcat -v FORM`."""
    return encode(f"{_line(entry, form)}\n")


def _line(entry: LogEntry, form: str) -> str:
    stamp = (
        time.strftime("%m-%d %H:%M:%S", time.gmtime(entry.at)) + f".{int(entry.at % 1 * 1000):03d}"
    )
    level, tag, text = entry.level, entry.tag, entry.message
    match form.partition(",")[0]:
        case "brief":
            return f"{level}/{tag:<8}({entry.pid:>5}): {text}"
        case "process":
            return f"{level}({entry.pid:>5}) {text}  ({tag})"
        case "tag":
            return f"{level}/{tag:<8}: {text}"
        case "thread":
            return f"{level}({entry.pid:>5}:{entry.tid:>5}) {text}"
        case "raw":
            return text
        case "time":
            return f"{stamp} {level}/{tag:<8}({entry.pid:>5}): {text}"
        case "long":
            return f"[ {stamp} {entry.pid:>5}:{entry.tid:>5} {level}/{tag:<8} ]\n{text}\n"
        case "epoch":
            return f"{entry.at:>14.3f} {entry.pid:>5} {entry.tid:>5} {level} {tag:<8}: {text}"
        case _:
            return f"{stamp} {entry.pid:>5} {entry.tid:>5} {level} {tag:<8}: {text}"
