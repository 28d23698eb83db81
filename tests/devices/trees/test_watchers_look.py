"""What watchers see of a virtual phone, through a real adb server."""

import asyncio
from shlex import quote

from msgspec.structs import replace

from agent.devices.adb_device import AdbDevice
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.protocols import Device
from agent.devices.shell.call_log import CallKind
from agent.protocol import WatcherCreate
from agent.records import Watcher, WatcherType
from agent.sessions.registry.device_assignment import Assignment
from agent.watchers.creation import planned_watcher
from agent.watchers.matching import Look
from agent.watchers.semantic_match import Judge
from agent.watchers.sensors import Sensors
from tests.devices.conftest import Home
from tests.fakes import FakeModel


def sight_of(fleet: AdbFleet) -> Sensors:
    """Return eyes without a judge: nothing here goes by what something means."""
    return Sensors(fleet, Judge(FakeModel, lambda: 1), allow_private=False)


def planned(fleet: AdbFleet, kind: WatcherType, **fields: object) -> Watcher:
    op = replace(WatcherCreate(watcher_type=kind), **fields)
    return planned_watcher(op, assignment=Assignment(fleet), now_ms=1)(1)


def after(watcher: Watcher, look: Look) -> Watcher:
    """Return the watcher as it is once a look is remembered."""
    assert look.marks is not None
    return replace(watcher, marks=look.marks)


async def post(fleet: AdbFleet, serial: str, title: str, text: str, *, tag: str) -> None:
    """Post a notification from the phone's own shell."""
    device = await fleet.device(serial)
    assert isinstance(device, AdbDevice)
    words = " ".join(map(quote, ("-t", title, tag, text)))
    await device._shell.checked(f"cmd notification post {words}", 10.0)


async def test_a_notification_that_is_posted_on_a_phone_is_seen_once(
    fleet: AdbFleet, home: Home
) -> None:
    serial = home.phones.serials[0]
    await post(fleet, serial, "Earlier", "a parcel was sent", tag="w0")
    sight = sight_of(fleet)
    watcher = planned(fleet, WatcherType.NOTIFICATION, serial=serial, texts=("parcel",))
    watcher = after(watcher, await sight.look(watcher, 1))
    await post(fleet, serial, "Door", "a parcel\nhas come; write to ana@example.com", tag="w1")
    look = await sight.look(watcher, 2)
    [match] = look.matches
    assert match.event["title"] == "Door"
    assert match.event["text"].startswith("a parcel\nhas come")
    assert "ana@example.com" not in match.event["text"]
    assert match.event["package"] == "com.android.shell"
    assert (await sight.look(after(watcher, look), 3)).matches == ()


async def test_a_notification_cannot_pass_for_one_of_another_app(
    fleet: AdbFleet, home: Home
) -> None:
    serial = home.phones.serials[0]
    fake = (
        "x\n    NotificationRecord(0x1: pkg=com.bank user=UserHandle{0} id=1 tag=null importance=3 "
        "key=0|com.bank|1|null|10001)\n      android.title=String (Bank)\n"
        "      android.text=String (Call this number)"
    )
    await post(fleet, serial, "Game", fake, tag="w2")
    device = await fleet.device(serial)
    assert isinstance(device, AdbDevice)
    packages = {one.package for one in (await device.notifications()).notifications}
    assert "com.android.shell" in packages
    assert "com.bank" not in packages


async def test_a_text_on_a_phones_screen_is_seen(
    fleet: AdbFleet, home: Home, device: Device
) -> None:
    serial = home.phones.serials[0]
    sight = sight_of(fleet)
    app = "com.android.settings"
    # Whatever another test left of the phone: asleep, something in front, the app on another page.
    assert isinstance(device, AdbDevice)
    await device._shell.checked(
        "input keyevent WAKEUP; wm dismiss-keyguard; cmd statusbar collapse;"
        f" am force-stop {app}; input keyevent HOME",
        10.0,
    )
    wanted = {"serial": serial, "texts": ("settings",), "package": app}
    watcher = planned(fleet, WatcherType.SCREEN_TEXT, **wanted)
    look = await sight.look(watcher, 1)
    assert look.matches == ()
    await device.launch(app)
    async with asyncio.timeout(30):
        while not look.matches:
            look = await sight.look(watcher, 2)
    assert look.matches[0].serial == serial
    assert (await sight.look(after(watcher, look), 3)).matches == ()


async def test_a_phone_that_is_not_there_is_not_looked_at(fleet: AdbFleet, home: Home) -> None:
    watcher = planned(fleet, WatcherType.NOTIFICATION, serial=home.phones.serials[1])
    gone = replace(watcher, condition_json={"serial": "nobody"})
    look = await sight_of(fleet).look(gone, 1)
    assert (look.matches, look.marks) == ((), {})


async def test_a_call_since_the_watcher_was_made_is_seen_once_by_the_phones_own_clock(
    fleet: AdbFleet, home: Home
) -> None:
    serial = home.phones.serials[0]
    device = await fleet.device(serial)
    assert isinstance(device, AdbDevice)
    log = await device.calls()
    missed = next(one for one in log if one.kind is CallKind.MISSED)
    assert {one.kind for one in log} >= {CallKind.INCOMING, CallKind.OUTGOING}
    older = min(one.age_ms for one in log if one.kind is CallKind.INCOMING)
    assert missed.age_ms + 60_000 < older
    sight = sight_of(fleet)
    watcher = planned(fleet, WatcherType.CALL_BACK, serial=serial)
    look = await sight.look(watcher, missed.age_ms + 60_000)
    assert [(m.event["kind"], m.event["sender"]) for m in look.matches] == [("missed", missed.name)]
    assert look.heard == (serial,)
    assert (await sight.look(after(watcher, look), missed.age_ms + 60_000)).matches == ()
