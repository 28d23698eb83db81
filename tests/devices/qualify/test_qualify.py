"""Phones are qualified without a trace, with rows at once, also where they do not answer."""

from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import av  # noqa: F401 - before the phone's and the decoder's threads could both begin to
import pytest

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb_device import AdbDevice
from agent.devices.passport.choosing import input_row, text_row
from agent.devices.passport.passport import Area, CaptureWay, InputWay, Outcome, Passport, Row
from agent.devices.passport.scripts import SAMPLES
from agent.devices.protocols import TextWay
from agent.devices.qualify.harmless_place import ROOT_ACTION, SEARCH_ACTION
from agent.devices.qualify.phone_parts import PhoneParts
from agent.devices.qualify.qualification import qualify
from agent.devices.scrcpy.link import ScrcpySettings
from agent.errors import DeviceError
from virtual_phone.phone import Phone
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.serve import PhoneHost

ALL_ROWS_MS = 30_000
"""Twice what the slowest examination is to take: this machine may be shared."""
UNTOLD = (TextWay.KEYS, "heat", "unlocked since its start")
"""What a virtual phone does not do or tell."""


@dataclass
class Bench:
    """One phone, seen from both sides."""

    host: PhoneHost
    phone: Phone
    device: AdbDevice
    parts: PhoneParts
    commands: list[str]

    def fault(self, kind: FaultKind) -> None:
        self.host.fault(self.parts.serial, kind)

    async def said(self, command: str) -> str:
        return (await self.parts.shell.run(command, 30)).text

    async def qualified(self, told: Callable[[tuple[Row, ...]], None] | None = None) -> Passport:
        return await qualify(
            self.parts,
            reached_by="virtual",
            driving=nullcontext(),
            launch=self.device.launch,
            on_rows=told or (lambda _rows: None),
        )

    async def traces(self) -> tuple[str, ...]:
        """Return all that qualifying may have changed on the phone."""
        return (
            self.phone.clipboard.text,
            await self.said("settings list secure"),
            await self.said("settings list system"),
            await self.said("settings list global"),
            await self.said("ime list -s"),
            await self.said("dumpsys window | grep mCurrentFocus"),
            await self.said("dumpsys power | grep mWakefulness="),
            await self.said("ls /data/local/tmp /sdcard"),
        )


@pytest.fixture
async def bench(
    adb_address: ServerAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    async with PhoneHost(tmp_path / "phones") as host:
        (serial,) = host.serials
        client = AdbClient(adb_address)
        await client.connect(serial)
        (phone,) = host.phones
        parts = PhoneParts(client, serial, scrcpy=ScrcpySettings())
        commands: list[str] = []
        run = parts.shell.run

        async def noted(command: str, timeout_s: float) -> object:
            commands.append(command)
            return await run(command, timeout_s)

        monkeypatch.setattr(parts.shell, "run", noted)
        device = AdbDevice(client, serial)
        yield Bench(host, phone, device, parts, commands)
        await parts.close()
        await device.close()
        await client.disconnect(serial)


def outcomes(passport: Passport, area: Area) -> dict[str, Outcome]:
    return {row.name: row.outcome for row in passport.rows if row.area is area}


@pytest.mark.slow
async def test_everything_that_a_phone_can_do_is_seen_to_work(bench: Bench) -> None:
    passport = await bench.qualified()
    for area in Area:
        wrong = {
            name: outcome
            for name, outcome in outcomes(passport, area).items()
            if outcome is not Outcome.WORKS and not name.startswith(UNTOLD)
        }
        assert wrong == {}, area
    assert set(outcomes(passport, Area.TEXT)) == {
        "field",
        *(text_row(way, script) for way in TextWay for script in SAMPLES),
    }
    assert set(outcomes(passport, Area.INPUT)) == {
        "left as found",
        *(input_row(way, act) for way in InputWay for act in ("tap", "swipe", "key")),
    }
    profile = await bench.parts.shell.profile()
    assert passport.is_of(profile.phone, profile.fingerprint)


@pytest.mark.slow
async def test_keys_type_what_they_type_and_nothing_is_said_to_arrive_that_did_not(
    bench: Bench,
) -> None:
    text = outcomes(await bench.qualified(), Area.TEXT)
    keys = {script for script in SAMPLES if text[text_row(TextWay.KEYS, script)] is Outcome.WORKS}
    assert keys == {"ASCII"}


@pytest.mark.slow
@pytest.mark.parametrize("front", ["com.android.deskclock", "com.android.settings", ""])
async def test_the_phone_is_as_it_was(bench: Bench, front: str) -> None:
    bench.phone.clipboard.set("what somebody copied")
    # What stays on purpose, such as a server file, is there already.
    await bench.qualified()
    await bench.device.key("HOME")
    apps = [app.package for app in await bench.device.apps()]
    if front:
        front = front if front in apps else apps[0]
        await bench.device.launch(front)
    before = await bench.traces()
    await bench.qualified()
    assert await bench.traces() == before


@pytest.mark.slow
async def test_a_screen_that_was_off_is_off_again(bench: Bench) -> None:
    await bench.said("locksettings set-disabled true; input keyevent 223")
    before = await bench.traces()
    passport = await bench.qualified()
    assert outcomes(passport, Area.INPUT)["input: tap"] is Outcome.WORKS
    assert outcomes(passport, Area.CAPTURE)["agreement"] is Outcome.WORKS
    assert (await bench.traces())[6] == before[6]


async def test_a_locked_phone_is_looked_at_and_not_touched(bench: Bench) -> None:
    await bench.said("locksettings set-pin 1234; input keyevent 223; input keyevent 224")
    bench.commands.clear()
    passport = await bench.qualified()
    for area in (Area.INPUT, Area.TEXT):
        assert set(outcomes(passport, area).values()) == {Outcome.UNKNOWN}
    assert not any("input " in command or "am start" in command for command in bench.commands)
    assert passport.choices.input is None


@pytest.mark.slow
async def test_a_phone_whose_dumpsys_hangs_is_not_touched_and_waited_for_once(bench: Bench) -> None:
    bench.fault(FaultKind.HUNG_DUMPSYS)
    told: list[tuple[int, tuple[Row, ...]]] = []
    passport = await bench.qualified(lambda rows: told.append((len(bench.commands), rows)))
    # The first row is there before anything was asked of the phone.
    assert told[0][0] == 0
    assert passport.took_ms < ALL_ROWS_MS
    # What hangs is asked side by side: all of it together takes as long as the slowest.
    hung = [row.took_ms for row in passport.rows if "no answer" in row.detail]
    assert len(hung) >= 2
    assert sum(hung) > max(hung) * 1.5
    assert outcomes(passport, Area.CAPTURE)[CaptureWay.SCREENCAP] is Outcome.WORKS
    assert set(outcomes(passport, Area.INPUT).values()) == {Outcome.UNKNOWN}
    assert not any("input " in command or "am start" in command for command in bench.commands)


@pytest.mark.slow
async def test_a_phone_whose_shell_hangs_gets_no_passport(bench: Bench) -> None:
    await bench.parts.shell.profile()
    bench.fault(FaultKind.HUNG_SHELL)
    passport = await bench.qualified()
    assert passport.fingerprint == ""
    assert passport.choices.capture is passport.choices.tree is passport.choices.input is None
    assert {row.outcome for row in passport.rows[1:]} == {Outcome.UNKNOWN}


@pytest.mark.parametrize(
    ("fault", "area", "name"),
    [(FaultKind.NULL_ROOT, Area.TREE, "dump"), (FaultKind.LOW_STORAGE, Area.LINK, "files")],
)
async def test_what_fails_is_not_said_to_work(
    bench: Bench, fault: FaultKind, area: Area, name: str
) -> None:
    bench.fault(fault)
    assert outcomes(await bench.qualified(), area)[name] is not Outcome.WORKS


async def test_black_pictures_agree_about_nothing(bench: Bench) -> None:
    bench.fault(FaultKind.BLACK_CAPTURE)
    passport = await bench.qualified()
    assert outcomes(passport, Area.CAPTURE)["agreement"] is Outcome.UNKNOWN


@pytest.mark.slow
async def test_nothing_but_settings_is_opened_and_enter_is_never_pressed(bench: Bench) -> None:
    await bench.qualified()
    opened = [line for line in bench.commands if "am start" in line]
    assert opened
    allowed = (ROOT_ACTION, SEARCH_ACTION, "android.intent.action.MAIN")
    assert all(any(f"-a {action} " in one for action in allowed) for one in opened)
    assert not any("keyevent 66" in line or "KEYCODE_ENTER" in line for line in bench.commands)


@pytest.mark.slow
async def test_an_app_that_cannot_be_opened_again_is_said(bench: Bench) -> None:
    await bench.said("am start -a android.intent.action.DIAL")

    async def refuse(package: str) -> None:
        raise DeviceError(f"{package} cannot be started.", "Open it by hand.")

    bench.device.launch = refuse  # type: ignore[method-assign]
    left = {row.name: row for row in (await bench.qualified()).rows}["left as found"]
    assert left.outcome in {Outcome.WORKS, Outcome.FAILS}
    if left.outcome is Outcome.FAILS:
        assert "cannot be started" in left.detail


@pytest.mark.slow
async def test_where_touches_are_refused_every_act_says_so_with_its_remedy(bench: Bench) -> None:
    await bench.device.launch("com.android.deskclock")
    before = await bench.traces()
    bench.fault(FaultKind.REFUSED_INPUT)
    passport = await bench.qualified()
    assert (await bench.traces())[5] == before[5]
    acts = [row for row in passport.rows if row.area is Area.INPUT and ": " in row.name]
    assert {row.outcome for row in acts} == {Outcome.FAILS}
    assert all("INJECT_EVENTS" in row.detail or "USB debugging" in row.remedy for row in acts)
    assert passport.choices.input is None
