"""`monkey`: launch a package, as `monkey -p PKG -c CATEGORY 1` is used; or tap at random.

After Monkey.java and MonkeySourceRandom.java of AOSP (alike in 9, 10 and main). Invariant: whatever
it did, it leaves the screen free to rotate (MonkeyRotationEvent at its end).
"""

import asyncio
import re
from dataclasses import dataclass, field

from virtual_phone.commands.packages.resolving import LAUNCHER, LAUNCHERS
from virtual_phone.input import injection
from virtual_phone.shell.call import Call, CommandError, command

MONKEY_CATEGORY = "android.intent.category.MONKEY"
NO_ACTIVITIES, NO_KEYS = 252, 251  # Exit codes -4 and -5.
SYSTEM_KEYS_PERCENT = 2.0


@dataclass(slots=True)
class _Orders:
    """What the words of the command said."""

    packages: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    seed: str = "1700000000000"
    throttle_ms: float = 0.0
    system_keys: float = SYSTEM_KEYS_PERCENT
    verbose: int = 0
    count: int = 0


@command("monkey", java=True)
async def monkey(call: Call) -> int:
    """Launch a package by its launcher activity, or tap at random."""
    orders = _read(list(call.args))
    await _echo(call, orders)
    phone = call.phone
    known = [name for name in orders.packages if _launchable(call, name, orders.categories)]
    offered = known or (not orders.packages and _offers(call, orders.categories))
    if not offered:
        await call.line("** No activities found to run, monkey aborted.")
        return NO_ACTIVITIES
    if orders.system_keys and not phone.form_factor.profile.system_keys:
        await call.err(
            f"** SYS_KEYS has no physical keys but with factor {orders.system_keys:.1f}%."
        )
        return NO_KEYS
    done = 0
    for event in range(orders.count):
        if event == 0 and known:
            phone.activities.launch(call.userland.random.choice(known))
        elif injection.is_refused(call.userland):
            await call.err("** Error: SecurityException while injecting event")
            break
        else:
            width, height, _ = phone.displays.size(0)
            random = call.userland.random
            await phone.gestures.tap(
                random.randrange(width), random.randrange(height // 20, height)
            )
        done += 1
        await asyncio.sleep(min(orders.throttle_ms / 1000, 10))
    # MonkeyRotationEvent(Surface.ROTATION_0, false): frozen upright, then thawed. That stays.
    phone.rotation.lock(0)
    phone.settings.put("system", "accelerometer_rotation", "1")
    await call.line(f"Events injected: {done}")
    await call.line(
        "## Network stats: elapsed time=12ms (0ms mobile, 0ms wifi, 12ms not connected)"
    )
    if orders.verbose:
        await call.line("// Monkey finished")
    return 0


def _read(words: list[str]) -> _Orders:
    orders = _Orders()
    count: int | None = None
    while words:
        word = words.pop(0)
        if word in ("-p", "-c") and words:
            (orders.packages if word == "-p" else orders.categories).append(words.pop(0))
        elif word in ("-s", "--throttle") and words:
            value = words.pop(0)
            if word == "-s":
                orders.seed = value
            else:
                orders.throttle_ms = _number(value)
        elif word.startswith("--pct-") and words:
            value = words.pop(0)
            if word == "--pct-syskeys":
                orders.system_keys = _number(value)
        elif word == "-v":
            orders.verbose += 1
        elif word.startswith("-"):
            continue
        elif re.fullmatch(r"\d{1,7}", word):
            count = int(word)
        else:
            raise CommandError("** Error: Count (or other arg) not a number: " + word, 255)
    if count is None:
        raise CommandError("usage: monkey [-p ALLOWED_PACKAGE [-p ALLOWED_PACKAGE] ...] COUNT", 255)
    orders.count = count
    return orders


def _number(text: str) -> float:
    if not re.fullmatch(r"\d{1,7}(\.\d{1,3})?", text):
        raise CommandError(f"** Error: Option value not a number: {text}", 255)
    return float(text)


async def _echo(call: Call, orders: _Orders) -> None:
    for word in call.args:
        await call.line(f"  bash arg: {word}")
    await call.err(f"args: [{', '.join(call.args)}]")
    for word in call.args:
        await call.err(f' arg: "{word}"')
    for word in [*orders.packages, *orders.categories]:
        await call.err(f'data="{word}"')
    if orders.verbose:
        await call.line(f":Monkey: seed={orders.seed} count={orders.count}")
        for package in orders.packages:
            await call.line(f":AllowPackage: {package}")
        for category in orders.categories or [LAUNCHER, MONKEY_CATEGORY]:
            await call.line(f":IncludeCategory: {category}")


def _offers(call: Call, categories: list[str]) -> bool:
    """Return whether an activity has any of the categories; monkey takes those of each."""
    asked = categories or [LAUNCHER]
    return any(
        one == call.phone.form_factor.profile.launcher_category for one in asked if one in LAUNCHERS
    )


def _launchable(call: Call, package: str, categories: list[str]) -> bool:
    info = call.phone.packages.get(package)
    return info is not None and info.launcher_activity is not None and _offers(call, categories)
