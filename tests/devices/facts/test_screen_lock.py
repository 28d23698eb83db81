"""A phone is awake and unlocked when it says so, and no app ever gets its PIN."""

import pytest

from agent.devices.adb.client import ShellResult
from agent.devices.health import screen_lock
from agent.devices.health.screen_lock import ScreenLock
from agent.errors import DeviceError
from tests.devices.facts.said_phone import SaidPhone, result
from tests.devices.facts.shapes import COVER, Shown, displays_text, on, policy_text, windows_text

MAIN = Shown()
PIN = "2580"
ANDROIDS = (7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_lock, "SETTLE_S", 0.0)


class LockedPhone(SaidPhone):
    """A phone with a lock screen that a PIN puts away.

    Args:
        covered: whether a call is drawn over it.
        silent: what `dumpsys` says nothing of: lock, power or both.
    """

    def __init__(
        self, android: int, *, covered: bool = False, silent: str = "", pin: str = PIN
    ) -> None:
        super().__init__(self._say)
        self._android = android
        self._covered = covered
        self._silent = silent
        self._pin = pin
        self.locked = True
        self.dismissed = False
        self._typed = ""

    def _say(self, command: str) -> str | ShellResult:
        words = command.split()
        if command.startswith("wm dismiss-keyguard"):
            if self._android < 8:
                # Its shell always ends with 0.
                return "Error: unknown command 'dismiss-keyguard'\r\n"
            return ""
        if words[:2] == ["input", "text"]:
            self._typed = words[2]
        if command == "input keyevent 82":
            self.dismissed = True
        if command == "input keyevent 66":
            self.locked = self.locked and self._typed != self._pin
        if words[0] != "dumpsys":
            return ""
        return "\n".join(self._dump(one.split()[1:]) for one in command.split("; "))

    def _dump(self, words: list[str]) -> str:
        title = "StatusBar" if self._android < 11 else "NotificationShade"
        focus = "com.example.dialer/.Call" if self._covered else title
        main = on(MAIN, focus=focus if self.locked else MAIN.focus, locked=self.locked)
        shown = [on(COVER, locked=True), main]
        if words == ["power"]:
            return "" if "power" in self._silent else "  mWakefulness=Awake\n"
        if "lock" in self._silent:
            return "Can't find service: window"
        if words == ["window", "policy"]:
            return policy_text(self._android, showing=self.locked, occluded=self._covered)
        if words == ["window", "displays"]:
            return displays_text(self._android, shown)
        if words == ["window", "windows"]:
            return windows_text(self._android, shown)
        return ""

    @property
    def lock(self) -> ScreenLock:
        async def run(command: str) -> ShellResult:
            return result(await self.run(command))

        return ScreenLock("phone", run)


@pytest.mark.parametrize("android", ANDROIDS)
async def test_the_pin_is_typed_on_every_version(android: int) -> None:
    phone = LockedPhone(android)
    await phone.lock.unlock(PIN)
    assert f"input text {PIN}" in phone.ran
    assert not phone.locked
    # The menu key is for phones that have no command for it.
    assert phone.dismissed is (android < 8)


@pytest.mark.parametrize("android", ANDROIDS)
async def test_a_phone_that_stays_locked_is_not_called_unlocked(android: int) -> None:
    for pin in ("", "1111"):
        with pytest.raises(DeviceError, match="stays locked"):
            await LockedPhone(android).lock.unlock(pin)


@pytest.mark.parametrize("android", ANDROIDS)
async def test_an_unlocked_phone_gets_no_pin_whatever_its_outer_display_is(android: int) -> None:
    phone = LockedPhone(android)
    phone.locked = False
    await phone.lock.unlock(PIN)
    assert f"input text {PIN}" not in phone.ran


@pytest.mark.parametrize("android", [one for one in ANDROIDS if one > 7])
async def test_no_app_gets_the_pin(android: int) -> None:
    phone = LockedPhone(android, covered=True)
    with pytest.raises(DeviceError, match=r"com\.example\.dialer"):
        await phone.lock.unlock(PIN)
    assert f"input text {PIN}" not in phone.ran


@pytest.mark.parametrize("pin", ["", PIN])
async def test_a_lock_that_is_unknown_is_no_success(pin: str) -> None:
    phone = LockedPhone(14, silent="lock")
    with pytest.raises(DeviceError, match=r"unknown|not typed"):
        await phone.lock.unlock(pin)
    assert f"input text {PIN}" not in phone.ran


async def test_a_screen_that_is_unknown_is_not_awake() -> None:
    with pytest.raises(DeviceError, match="unknown"):
        await LockedPhone(14, silent="power").lock.wake()
