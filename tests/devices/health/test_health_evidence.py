"""A phone is called well only on evidence: what it does not tell is said, and is no good sign."""

import asyncio

import pytest

from agent.devices.adb.client import ShellResult
from agent.devices.health.findings import RepairableFinding
from agent.devices.health.phone_checks import Health
from agent.devices.shell.profile import read_profile
from agent.errors import DeviceError

GONE = ShellResult(stdout=b"", stderr=b"/bin/sh: 1: not found\n", exit_code=127)


class PoorPhone:
    """A phone whose shell knows some commands; the others fail, or hang."""

    serial = "poor"

    def __init__(self, *, hangs: bool = False, **known: str) -> None:
        self._hangs = hangs
        self._known = known
        self.hanging = self.most_hanging = 0
        """How many commands hang now, and how many hung at once at most."""

    async def shell(self, *words: str, **_: object) -> ShellResult:
        command = words[-1]
        program = command.split()[0]
        if program in self._known:
            said = self._known[program].encode()
            return ShellResult(stdout=said, stderr=b"", exit_code=0)
        if self._hangs:
            self.hanging += 1
            self.most_hanging = max(self.most_hanging, self.hanging)
            try:
                await asyncio.Event().wait()
            finally:
                self.hanging -= 1
        return GONE

    async def capture(self) -> None:
        raise DeviceError("It shows nothing.")

    tree = server = capture

    async def features(self, *_: str, **__: object) -> frozenset[str]:
        return frozenset()


async def states(phone: PoorPhone) -> dict[str, RepairableFinding]:
    health = Health(phone, phone, phone)  # type: ignore[arg-type]
    return {one.name: one for one in await health.examine()}


STATES = ("screen", "lock", "keyboard", "dialogs", "clock", "battery", "thermal", "storage")


async def test_a_phone_without_the_commands_is_not_called_well() -> None:
    found = await states(PoorPhone(echo=""))
    for name in STATES:
        assert not found[name].ok, found[name]
        assert "127" in found[name].detail


async def test_a_phone_that_says_nothing_is_not_called_well() -> None:
    found = await states(PoorPhone(echo="", dumpsys="", settings="", df="", date=""))
    for name in STATES:
        assert not found[name].ok, found[name]


async def test_what_a_phone_says_that_it_has_not_is_no_ailment() -> None:
    said = "Can't find service: thermalservice\n  present: false\n"
    found = await states(PoorPhone(echo="", dumpsys=said))
    assert found["thermal"].ok
    assert found["battery"].ok
    assert found["battery"].detail == "it has none"


async def test_a_phone_whose_dumpsys_hangs_is_told_of_within_one_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agent.devices.health.phone_checks._STATE_TIMEOUT_S", 0.2)
    monkeypatch.setattr("agent.devices.health.phone_checks._FINDING_TIMEOUT_S", 0.2)
    phone = PoorPhone(echo="", hangs=True)
    async with asyncio.timeout(30):
        found = await states(phone)
    assert "no answer within" in found["battery"].detail
    # One bound for all of them: they are asked at once, not one after the other.
    assert phone.most_hanging >= len(STATES)


async def test_a_property_of_several_lines_or_none_shifts_no_other() -> None:
    class ReportingPhone(PoorPhone):
        async def shell(self, *words: str, **_: object) -> ShellResult:
            said = (
                "@ro.product.model\nPixel\nNine\n@ro.build.version.release\n"
                "@ro.build.version.sdk\n34\n@sys.boot_completed\n1\n@ro.virtual_phone.name\n"
                "@ro.virtual_phone.unicode_input\n@size\nPhysical size: 1080x2400\n"
            )
            return ShellResult(stdout=said.encode(), stderr=b"", exit_code=0)

    profile = await read_profile(ReportingPhone(), "poor", timeout_s=1)  # type: ignore[arg-type]
    assert (profile.android, profile.sdk, profile.booted, profile.virtual) == ("", 34, True, False)
    assert profile.natural_size == (1080, 2400)
