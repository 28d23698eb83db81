"""`input`: taps, swipes, keys and text, with the durations they have on a phone."""

import asyncio
import re

from virtual_phone.commands.key_names import code_of
from virtual_phone.input import injection
from virtual_phone.shell.call import Call, CommandError, command

TAP_TEXT_LIMIT = 10_000
DEFAULT_SWIPE_MS = 300
DRAG_HOLD_MS = 500
MAX_DURATION_MS = 600_000
SOURCES = frozenset(
    [
        "dpad",
        "keyboard",
        "mouse",
        "touchpad",
        "gamepad",
        "touchnavigation",
        "joystick",
        "touchscreen",
        "stylus",
        "trackball",
        "rotaryencoder",
    ]
)
USAGE = """Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]

The sources are: 
      touchnavigation
      touchscreen
      joystick
      stylus
      touchpad
      gamepad
      dpad
      mouse
      keyboard
      trackball
      rotaryencoder

[-d]: specify the display ID.
      (Default: -1 for key event, 0 for motion event if not specified.)
The commands and default sources are:
      text <string> (Default: touchscreen)
      keyevent [--longpress|--doubletap|--async] [--delay <duration between keycodes in ms>] <key code number or name> ... (Default: keyboard)
      tap <x> <y> (Default: touchscreen)
      swipe <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      draganddrop <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      press (Default: trackball)
      roll <dx> <dy> (Default: trackball)
      motionevent <DOWN|UP|MOVE|CANCEL> <x> <y> (Default: touchscreen)
      scroll (Default: rotaryencoder). Has the following syntax:
            scroll <x> <y> [axis_value] (for pointer-based sources)
            scroll [axis_value] (for non-pointer-based sources)
      keycombination [-t duration(ms)] <key code 1> <key code 2> ... (Default: keyboard)"""  # noqa: E501, W291


@command("input", java=True)
async def input_command(call: Call) -> int:
    """Inject input events."""
    words = list(call.args)
    if words and words[0] in SOURCES:
        words.pop(0)
    display = 0
    if words[:1] == ["-d"] and call.phone.form_factor.android.can("input_display"):
        if len(words) < 2:
            raise _usage()
        text = words[1]
        display = {"INVALID_DISPLAY": 0, "DEFAULT_DISPLAY": 0}.get(text) or _integer(text)
        words = words[2:]
    if display < 0:
        display = 0
    if not words:
        raise _usage()
    verb, *rest = words
    if injection.is_refused(call.userland):
        raise CommandError(*injection.shell_words(call.userland, verb))
    match verb:
        case "tap":
            x, y = _numbers(rest, 2)
            await call.phone.gestures.tap(x, y, display)
        case "swipe" | "touchscreen":
            x1, y1, x2, y2, duration = _stroke(rest)
            await call.phone.gestures.swipe(x1, y1, x2, y2, int(duration), display)
        case "draganddrop":
            x1, y1, x2, y2, duration = _stroke(rest)
            await _drag(call, (x1, y1, x2, y2), duration, display)
        case "motionevent":
            if len(rest) != 3:
                raise _usage()
            if rest[0].upper() not in _motions(call):
                raise _failure(f"Unknown action: {rest[0]}", "IllegalArgumentException")
            x, y = _numbers(rest[1:], 2)
            call.phone.gestures.finger(rest[0].lower(), 0, x, y, display)
        case "text":
            await _text(call, rest)
        case "keyevent":
            await _keys(call, rest)
        case "keycombination":
            await _combination(call, rest)
        case "scroll":
            await _scroll(call, rest, display)
        case "press":
            call.phone.keys.press(23)
        case "roll":
            dx, dy = _numbers(rest, 2)
            code = (22 if dx > 0 else 21) if abs(dx) > abs(dy) else (20 if dy > 0 else 19)
            call.phone.keys.press(code)
        case _:
            raise CommandError(f"Error: Unknown command: {verb}\n{USAGE}", 255)
    return 0


def _motions(call: Call) -> tuple[str, ...]:
    """Return the actions of `motionevent`: CANCEL since Android 12."""
    known = ("DOWN", "UP", "MOVE")
    return (*known, "CANCEL") if call.phone.form_factor.android.can("input_cancel") else known


def _usage() -> CommandError:
    return CommandError(f"Error: Invalid arguments for command: \n{USAGE}", 255)


def _failure(text: str, kind: str = "NumberFormatException") -> CommandError:
    return CommandError(f"\nException occurred while executing '':\njava.lang.{kind}: {text}", 255)


def _numbers(words: list[str], count: int) -> list[float]:
    if len(words) != count:
        raise _usage()
    return [_number(word) for word in words]


def _number(text: str) -> float:
    if not re.fullmatch(r"[-+]?(\d{1,9}\.?\d{0,9}|\.\d{1,9})", text):
        raise _failure(f'For input string: "{text}"')
    return float(text)


def _integer(text: str) -> int:
    if not re.fullmatch(r"[-+]?\d{1,9}", text):
        raise _failure(f'For input string: "{text}"')
    return int(text)


def _stroke(words: list[str]) -> list[float]:
    if len(words) not in (4, 5):
        raise _usage()
    numbers = [_number(word) for word in words[:4]]
    duration = _integer(words[4]) if len(words) == 5 else DEFAULT_SWIPE_MS
    if duration < 0:
        duration = DEFAULT_SWIPE_MS
    return [*numbers, float(min(duration, MAX_DURATION_MS))]


async def _drag(
    call: Call, points: tuple[float, float, float, float], duration_ms: float, display: int
) -> None:
    x1, y1, x2, y2 = points
    steps = max(1, int(duration_ms / 16))
    call.phone.gestures.finger("down", 0, x1, y1, display)
    await asyncio.sleep(DRAG_HOLD_MS / 1000)
    for step in range(1, steps + 1):
        part = step / steps
        call.phone.gestures.finger("move", 0, x1 + (x2 - x1) * part, y1 + (y2 - y1) * part, display)
        await asyncio.sleep(duration_ms / steps / 1000)
    call.phone.gestures.finger("up", 0, x2, y2, display)


async def _text(call: Call, words: list[str]) -> None:
    """Type; `%s` is a space, and characters outside of the key map crash the command."""
    if not words:
        raise _usage()
    if len(words) > 1:
        raise _usage()
    text = words[0].replace("%s", " ")[:TAP_TEXT_LIMIT]
    if any(ord(char) > 126 for char in text):
        raise _failure("Attempt to get length of null array", "NullPointerException")
    call.phone.keys.type_text(text)


async def _keys(call: Call, words: list[str]) -> None:
    long_press = double = False
    delay_ms = 0
    while words and words[0].startswith("--"):
        option = words.pop(0)
        long_press = long_press or option == "--longpress"
        double = double or option == "--doubletap"
        if option == "--delay":
            if not words:
                raise _usage()
            delay_ms = max(0, min(_integer(words.pop(0)), MAX_DURATION_MS))
        elif option not in ("--longpress", "--doubletap", "--async"):
            raise _usage()
    if not words:
        raise _usage()
    for index, word in enumerate(words):
        code = code_of(word)
        if code is None:
            raise CommandError(
                f"Error: Invalid arguments for command: keyevent\nUnknown keycode: {word}", 255
            )
        if index and delay_ms:
            await asyncio.sleep(delay_ms / 1000)
        for _ in range(2 if double else 1):
            call.phone.keys.press(code, long_press=long_press)
        if long_press:
            await asyncio.sleep(0.5)


async def _combination(call: Call, words: list[str]) -> None:
    if words[:1] == ["-t"]:
        words = words[2:]
    codes = [code_of(word) for word in words]
    if len(codes) < 2 or None in codes:
        raise CommandError("keycombination requires at least 2 keycodes", 255)
    shift, control = {59, 60}, {113, 114}
    meta = (1 if shift & set(codes) else 0) | (0x1000 if control & set(codes) else 0)
    for code in codes:
        if code is not None and code not in shift | control | {57, 58, 117, 118}:
            call.phone.keys.press(code, meta=meta)


async def _scroll(call: Call, words: list[str], display: int) -> None:
    amount = 0.0
    points: list[float] = []
    at = 0
    while at < len(words):
        if words[at] == "--axis" and at + 1 < len(words):
            name, _, value = words[at + 1].partition(",")
            amount = _number(value) if name.upper() in ("VSCROLL", "SCROLL") else amount
            at += 2
        else:
            points.append(_number(words[at]))
            at += 1
    if len(points) == 3:
        amount = points.pop()
    width, height, _ = call.phone.displays.size(display)
    x, y = points if len(points) == 2 else (width / 2, height / 2)
    call.phone.touch.scroll_wheel(x, y, amount * 64, display)
