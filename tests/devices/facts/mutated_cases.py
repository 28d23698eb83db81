"""What a phone says, with a reader for each answer: the material of the mutations.

Every text is one that the tests beside this one hold to their sources; the recordings are those of
an Android 4.4.2. Not the changes themselves (`tests.devices.facts.mutations`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.devices.adb.device_list import parse_rows
from agent.devices.facts.battery import read_battery
from agent.devices.facts.displays import read_displays
from agent.devices.facts.fact import Fact, Known, Unknown
from agent.devices.facts.foreground import read_front
from agent.devices.facts.input_methods import read_input_methods
from agent.devices.facts.keyboard import read_keyboard_shown
from agent.devices.facts.keyguard import read_locked
from agent.devices.facts.notifications import read_notifications
from agent.devices.facts.packages import read_launchable, read_packages, read_user
from agent.devices.facts.power import read_awake
from agent.devices.facts.sizes import read_natural_size, read_viewport_size
from agent.devices.facts.storage import read_free_percent
from agent.devices.facts.thermal import read_thermal
from agent.devices.facts.windows import read_secure
from agent.devices.trees.tree_parser import parse_tree
from agent.errors import TreeUnavailableError
from tests.devices.facts.notification_texts import Post, dump, listing, record
from tests.devices.facts.shapes import (
    COVER,
    HDMI,
    Shown,
    displays_text,
    input_method_text,
    policy_text,
    windows_text,
)
from tests.devices.facts.test_battery import dump as battery_text
from tests.devices.facts.test_packages import PLAIN, answer, query, started
from tests.devices.facts.test_state_lists import answer as method_text
from tests.devices.facts.test_state_lists import thermal

Facts = Mapping[str, object]
ANDROIDS = (9, 10, 11, 12, 13, 14, 15, 16)
MARK = "MARK"
_IN_NAMES = frozenset({"interleaved"})
"""A name or number without its beginning is one too, and nothing stands beside it."""
_BY_PROTOCOL = frozenset({"interleaved", "wrapped"})
"""What adb's server answers by its protocol no other program breaks into."""
RECORDED = Path(__file__).parents[2] / "data/devices/android-4.4.2"


@dataclass(frozen=True)
class Case:
    """One text and how it is read.

    Attributes:
        read: what is known after reading; what is unknown is left out.
        spared: changes that it cannot tell from what the phone says.
    """

    name: str
    text: str
    read: Callable[[str], Facts]
    spared: frozenset[str] = frozenset()


def known(**facts: Fact[object]) -> Facts:
    return {name: fact.value for name, fact in facts.items() if isinstance(fact, Known)}


def read_windows_text(text: str) -> Facts:
    found: dict[str, object] = {}
    front = read_front(text)
    if isinstance(front, Known) and front.value.package:
        found["app"] = front.value.package
    displays = read_displays(text)
    for one in displays.value if isinstance(displays, Known) else ():
        its = known(size=one.size, rotation=one.rotation, locked=one.keyguard_showing)
        found |= {f"{name} of {one.number}": value for name, value in its.items()}
    return found | known(
        secure=read_secure(text), locked=read_locked(text), keyboard=read_keyboard_shown("", text)
    )


def read_battery_text(text: str) -> Facts:
    battery = read_battery(text)
    if isinstance(battery, Unknown):
        return {}
    its = battery.value
    return known(level=its.level_percent, charging=its.charging, full=its.full, present=its.present)


def read_methods_text(text: str) -> Facts:
    its = read_input_methods(text)
    return known(installed=its.installed, enabled=its.enabled, chosen=its.chosen)


def read_listing(text: str) -> Facts:
    return {
        f"{row.serial}#{row.transport_id}": row.state.value
        for row in parse_rows(text)
        if row.transport_id
    }


def read_shade(text: str) -> Facts:
    shade = read_notifications(text, MARK)
    if isinstance(shade, Unknown):
        return {}
    there = shade.value.notifications
    found: dict[str, object] = {one.key: one.title for one in there if not one.redacted}
    # An answer that is cut off has no exit code, and is not read.
    if not shade.value.lost and text.rstrip().endswith("|com.mail|3|UNhY|10123"):
        found["all"] = len(shade.value.notifications)
    return found


def read_size_text(text: str) -> Facts:
    # It is asked with more behind it, so an answer that was cut off is known to be.
    said, mark, _ = text.partition(MARK)
    return known(size=read_natural_size(said)) if mark else {}


def read_tree(text: str) -> Facts:
    try:
        nodes = parse_tree(text.encode(), (480, 800))
    except TreeUnavailableError:
        return {}
    return {"texts": tuple(node.text for node in nodes)}


def cases() -> Iterator[Case]:
    """Return every case."""
    for android in ANDROIDS:
        displays = (COVER, Shown(keyboard="shown" if android >= 11 else "hidden"), HDMI)
        text = displays_text(android, displays) + windows_text(android, displays)
        yield Case(f"windows {android}", text, read_windows_text)
        locked = lambda text: known(locked=read_locked(text))  # noqa: E731
        yield Case(f"lock {android}", policy_text(android, showing=True), locked)
        yield Case(f"no lock {android}", policy_text(android, showing=False), locked)
        keys = input_method_text(android, shown=True, view=True, bits=3)
        yield Case(f"keyboard {android}", keys, lambda text: known(on=read_keyboard_shown(text)))
    yield from _states()
    yield from _lists()
    recorded = RECORDED
    for path in sorted(recorded.glob("*.focus.txt")):
        # Only the end of the whole answer, which is not recorded, says that no line is missing.
        yield Case(path.name, path.read_text(), read_windows_text, frozenset({"cut"}))
    whole = (recorded / "dumpsys_window_displays.txt").read_text()
    yield Case("recorded displays", whole, read_windows_text)
    rows = (recorded / "adb_devices_l.txt").read_text()
    yield Case("recorded rows", rows, read_listing, _BY_PROTOCOL)
    for name in ("home", "calculator", "notepad_list"):
        yield Case(f"{name}.xml", (recorded / f"{name}.xml").read_text(), read_tree)


def _states() -> Iterator[Case]:
    yield Case("battery", battery_text(level=30, scale=200, usb="true"), read_battery_text)
    # BatteryService of a Samsung, whose words stand below those of Android.
    more = "  LED Low Battery: true\n  charge counter: 2967000\nLLB MAN:\nBatteryInfoBackUp\n"
    yield Case("battery and more", battery_text(level=84, scale=100) + more, read_battery_text)
    yield Case("heat", thermal(3), lambda text: known(heat=read_thermal(text)))
    power = "Power Manager State:\n  mDirty=0x0\n  mWakefulness=Dozing\nDisplay Power: state=DOZE\n"
    yield Case("power", power, lambda text: known(awake=read_awake(text)))
    head = "Filesystem      1K-blocks     Used Available Use% Mounted on\n"
    row = "/dev/block/dm-5 112738544 51210412  61397060  46% /data\n"
    yield Case("space", head + row, lambda text: known(free=read_free_percent(text)))
    size = f"Physical size: 1440x3120\nOverride size: 1080x2340\n{MARK}\n"
    yield Case("size", size, read_size_text)
    panel = (
        "DISPLAY MANAGER (dumpsys display)\n  mViewports=[DisplayViewport{type=INTERNAL, "
        "valid=true, isActive=true, displayId=0, uniqueId='local:0', orientation=0, "
        "logicalFrame=Rect(0, 0 - 1440, 2960), physicalFrame=Rect(0, 0 - 1440, 2960)}]\n"
    )
    yield Case("viewport", panel, lambda text: known(size=read_viewport_size(text)))
    whose = answer(PLAIN, user="10")
    yield Case("user", whose, lambda text: known(user=read_user(text)), _IN_NAMES)


def _lists() -> Iterator[Case]:
    packages = answer(PLAIN)
    yield Case("packages", packages, lambda text: known(packages=read_packages(text)))
    activities = started(query("com.android.settings/.Settings", "com.chat/.Main"))
    apps = lambda text: known(apps=read_launchable(text).packages)  # noqa: E731
    yield Case("apps", activities, apps, _IN_NAMES)
    methods = "com.example.keys/.Keys\ncom.iflytek.inputmethod.miui/.FlyIME"
    keys = method_text("com.example.keys/.Keys", methods, methods)
    yield Case("input methods", keys, read_methods_text, _IN_NAMES)
    posts = (
        Post(title="美咲", text="写真を\n送信しました", number=1),
        Post(package="com.music", title="مرحبا (2)", number=2, tag="a\nb|1"),
        Post(package="com.mail", title="Letter", number=3, tag="UNhY"),
    )
    shade = dump(*(record(post) for post in posts)) + listing(*posts)
    # In the middle of what an app wrote, another program's words are a part of it.
    yield Case("notifications", shade, read_shade, frozenset({"interleaved", "wrapped"}))
    table = (
        "* daemon started successfully\nList of devices attached\n"
        "04032ab809ef3131       offline usb:3-4 transport_id:1\n"
        "emulator-5554          device product:a model:Sdk_phone device:emu64xa transport_id:2\n"
        "8XV5                   no permissions (missing udev rules? user is in the plugdev group); "
        "see [http://developer.android.com/tools/device.html] usb:1-2 transport_id:7\n"
    )
    yield Case("rows", table, read_listing, _BY_PROTOCOL)
