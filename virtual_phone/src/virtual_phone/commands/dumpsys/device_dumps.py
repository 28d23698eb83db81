"""`dumpsys telephony.registry`, `deviceidle`, `location` and `gfxinfo`, in the lines asked for.

Not all that these services print. Formats: the dumps of Android 14's TelephonyRegistry,
DeviceIdleController, LocationManagerService and ActivityManagerService. Invariant: each line
tells a state that the phone really has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

IN_CALL = ".InCallActivity"
IDLE, OFFHOOK = 0, 2
IN_SERVICE, POWER_OFF = 0, 3
DISCONNECTED, CONNECTED = 0, 2


def dump_telephony(phone: Phone, words: list[str]) -> str:
    """Return the report of the telephony registry: call, service and data states."""
    del words
    calling = any(
        page.activity.endswith(IN_CALL)
        for task in phone.tasks.front_to_back()
        for page in task.pages
    )
    off = phone.settings.flag("global", "airplane_mode_on")
    data = phone.settings.flag("global", "mobile_data") and not off
    return "\n".join(
        [
            "last known state:",
            "  Phone Id=0",
            f"    mCallState={OFFHOOK if calling else IDLE}",
            "    mRingingCallState=0",
            f"    mForegroundCallState={1 if calling else 0}",
            f"    mServiceState={{mVoiceRegState={POWER_OFF if off else IN_SERVICE}"
            f"({'POWER_OFF' if off else 'IN_SERVICE'}), mDataRegState="
            f"{POWER_OFF if off else IN_SERVICE}({'POWER_OFF' if off else 'IN_SERVICE'})}}",
            f"    mDataConnectionState={CONNECTED if data else DISCONNECTED}",
            f"    mUserMobileDataState={str(phone.settings.flag('global', 'mobile_data')).lower()}",
        ]
    )


def idle_values(phone: Phone) -> dict[str, str]:
    """Return what the device idle controller answers to `get NAME`."""
    forced = phone.state_record.policies.forced_idle
    state = "IDLE" if forced else "ACTIVE"
    return {
        "deep": state,
        "light": "OVERRIDE" if forced else "ACTIVE",
        "force": _word(forced),
        "quick": "false",
        "screen": _word(phone.power.screen_on),
        "charging": _word(phone.state_record.battery_charging),
        "network": _word(not phone.settings.flag("global", "airplane_mode_on")),
    }


def idle_enabled(phone: Phone, mode: str) -> bool:
    """Return whether the phone may idle, `deep` or `light`."""
    return mode not in phone.state_record.policies.idle_off


def _word(value: bool) -> str:
    return str(value).lower()


def dump_deviceidle(phone: Phone, words: list[str]) -> str:
    """Return the report of the device idle controller."""
    del words
    values = idle_values(phone)
    listed = phone.state_record.policies.awake_list
    return "\n".join(
        [
            "  Settings:",
            f"  mLightEnabled={_word(idle_enabled(phone, 'light'))}  "
            f"mDeepEnabled={_word(idle_enabled(phone, 'deep'))}",
            f"  mForceIdle={values['force']}",
            f"  mScreenOn={values['screen']}",
            f"  mScreenLocked={_word(phone.power.locked)}",
            f"  mNetworkConnected={values['network']}",
            f"  mCharging={values['charging']}",
            f"  mState={values['deep']}",
            f"  mLightState={values['light']}",
            *(["  Whitelist user apps:", *(f"    {name}" for name in listed)] if listed else []),
        ]
    )


def location_on(phone: Phone) -> bool:
    """Return whether apps may be told where the phone is."""
    return phone.settings.get("secure", "location_mode") not in (None, "", "0")


def dump_location(phone: Phone, words: list[str]) -> str:
    """Return the report of the location manager; the phone has no place to tell."""
    del words
    on = str(location_on(phone)).lower()
    return (
        f"Location Manager State:\n  User Info:\n    current users: u[0]\n  Location Setting: {on}"
    )


def dump_gfxinfo(phone: Phone, words: list[str]) -> str:
    """Return which processes draw; frames are counted for the phone and not for each."""
    names = [word for word in words if not word.startswith("-")]
    rows = ["Applications Graphics Acceleration Info:", f"Uptime: {round(phone.now() * 1000)}"]
    found = [one for one in phone.processes.all() if not names or one.name == names[0]]
    if names and not found:
        return f"No process found for: {names[0]}"
    rows += [f"\n** Graphics info for pid {one.pid} [{one.name}] **" for one in found]
    return "\n".join(rows)
