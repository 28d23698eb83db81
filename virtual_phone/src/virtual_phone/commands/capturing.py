"""`screencap`, `uiautomator` and `screenrecord`: what can be seen, as bytes."""

import struct

from virtual_phone.commands.dumpsys.display_dump import physical_id
from virtual_phone.commands.dumpsys.window_trees import dump_displays
from virtual_phone.commands.options import options
from virtual_phone.display import capture
from virtual_phone.server.faults import FaultKind
from virtual_phone.shell.call import Call, CommandError, command, encode
from virtual_phone.state.records import NotIdleError, NullRootError

IDLE_TIMEOUT_S = 10.0
DEFAULT_DUMP = "/sdcard/window_dump.xml"
_RAW_HEADER = struct.Struct("<4I")
RGBA_8888, SRGB = 1, 1
SCREENCAP_USAGE = """usage: screencap [-ahp] [-d display-id] [FILENAME]
   -h: this message
   -a: captures all the active displays. This appends an integer postfix to the FILENAME.
       e.g., FILENAME_0.png, FILENAME_1.png. If both -a and -d are given, it ignores -d.
   -p: outputs in png format.
   --hint-for-seamless If set will use the hintForSeamless path in SF

If FILENAME ends with .png it will be saved as a png.
If FILENAME is not given, the results will be printed to stdout."""


@command("screencap")
async def screencap(call: Call) -> int:
    """Write the display: PNG with -p or a name that ends in .png, else raw pixels."""
    found = options(call, "hpad:", long=("hint-for-seamless",))
    if "h" in found:
        raise CommandError(SCREENCAP_USAGE, 1)
    display = 0
    if "d" in found:
        text = found.text("d")
        known = {str(one.id): one.id for one in call.phone.displays.all()}
        known |= {physical_id(one): one for one in known.values()}
        if text not in known:
            raise CommandError(f"Display Id '{text}' is not valid.", 1)
        display = known[text]
    elif call.phone.form_factor.android.can("screencap_warns"):
        await _warn_of_displays(call)
    path = found.operands[0] if found.operands else ""
    if "p" in found or path.endswith(".png"):
        data = await capture.png(call.userland, display)
    else:
        width, height, pixels = await capture.raw_pixels(call.userland, display)
        data = _RAW_HEADER.pack(width, height, RGBA_8888, SRGB) + pixels
    if not path:
        await call.stdout.write(data)
        return 0
    try:
        await call.open_sink(path).write(data)
    except OSError as error:
        raise CommandError(f"Error opening file: {path} ({error.strerror})", 1) from error
    return 0


async def _warn_of_displays(call: Call) -> None:
    """Say what screencap.cpp of Android 14 and later says where several panels are there."""
    displays = call.phone.displays
    if sum(displays.is_physical(one.id) for one in displays.all()) > 1:
        await call.err(
            "[Warning] Multiple displays were found, but no display id was specified! Defaulting "
            "to the first display found, however this default is not guaranteed to be consistent "
            "across captures. A display id should be specified.\n"
            "A display ID can be specified with the [-d display-id] option.\n"
            'See "dumpsys SurfaceFlinger --display-id" for valid display IDs.'
        )


@command("uiautomator", java=True)
async def uiautomator(call: Call) -> int:
    """Write the UI tree of the window in front."""
    words = list(call.args)
    if not words or words[0] in ("help", "--help"):
        await call.line(
            "Usage: uiautomator <subcommand> [options]\n\nAvailable subcommands:\n\n"
            "help: displays help message\n\nruntest: executes UI automation tests\n\n"
            "dump: creates an XML dump of current UI hierarchy\n"
            "    dump [--verbose][file]\n"
            "      [--compressed]: dumps compressed layout information.\n"
            "      [--windows]: dumps all windows of all displays.\n"
            "      [file]: the location where the dumped XML should be stored, default is\n"
            f"      {DEFAULT_DUMP}\n\nevents: prints out accessibility events until terminated"
        )
        return 0
    if words[0] != "dump":
        await call.line(f"Unknown subcommand: {words[0]}")
        return 1
    if call.userland.automation is not None:
        # The system gives its automation to one program; the second one is killed by its exception.
        call.userland.note(
            "E",
            "AndroidRuntime",
            "java.lang.IllegalStateException: UiAutomationService already registered!",
        )
        raise CommandError("Killed", 137)
    compressed = "--compressed" in words
    paths = [word for word in words[1:] if not word.startswith("--")]
    path = paths[0] if paths else DEFAULT_DUMP
    # Before Android 11 an option that is not known is passed over.
    windows = "--windows" in words and call.phone.form_factor.android.can("dump_windows")
    xml = await _tree(call, compressed, windows=windows)
    if xml is None:
        return 0
    data = encode(xml)
    try:
        sink = call.open_sink(path)
        await sink.write(data)
    except OSError as error:
        await call.err(f"ERROR: could not create file {path}: {error.strerror}")
        return 1
    await call.line(f"UI hierchary dumped to: {path}")
    return 0


async def _tree(call: Call, compressed: bool, *, windows: bool) -> str | None:
    """Return the tree, or None after the message that a phone gives instead."""
    faults = call.userland.faults
    await faults.hold(FaultKind.HUNG_DUMP)
    busy = FaultKind.DUMP_NOT_IDLE in faults
    if busy or not await call.phone.animations.wait_idle(IDLE_TIMEOUT_S):
        await call.err("ERROR: could not get idle state.")
        return None
    if FaultKind.NULL_ROOT in faults:
        await call.err("ERROR: null root node returned by UiTestAutomationBridge.")
        return None
    try:
        if windows:
            return dump_displays(call.phone, compressed=compressed)
        return call.phone.windows.dump(compressed=compressed)
    except (NotIdleError, NullRootError) as error:
        await call.err(error.message)
        return None
