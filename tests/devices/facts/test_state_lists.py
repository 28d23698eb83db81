"""Heat, space and input methods as Android prints them over its versions."""

import pytest

from agent.devices.facts.fact import Known, Unknown
from agent.devices.facts.input_methods import read_input_methods, read_method_ids
from agent.devices.facts.storage import read_free_percent
from agent.devices.facts.thermal import read_thermal
from agent.devices.health.state_findings import keyboard_finding, storage_finding, thermal_finding

GBOARD = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"
ADB = "com.android.adbkeyboard/.AdbIME"


def thermal(status: object, *, override: str = "false", ready: str = "true") -> str:
    """Print what ThermalManagerService.dump does (android-14)."""
    return (
        f"IsStatusOverride: {override}\nThermalEventListeners:\n\tcallbacks: 2\n\tkilled: false\n"
        f"ThermalStatusListeners:\n\tcallbacks: 3\nThermal Status: {status}\n"
        "Cached temperatures:\n\tTemperature{mValue=58.4, mType=0, mName=CPU, mStatus=4}\n"
        f"HAL Ready: {ready}\nHAL connection:\n\tThermalHAL AIDL 1  connected: yes\n"
    )


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "ok", "words"),
    [
        (thermal(0), True, "thermal status none"),
        (thermal(2), True, "moderate"),
        (thermal(3), False, "severe"),
        (thermal(6), False, "shutdown"),
        (thermal(4, override="true"), False, "critical, as set by hand"),
        (thermal(0, ready="false"), False, "its temperature sensors are not ready"),
        (thermal(-1), False, "thermal status -1"),
        (thermal(9), False, "thermal status 9"),
        ("Can't find service: thermalservice\n", True, "from version 10 on"),
        ("", False, "nothing"),
    ],
)
def test_heat_is_what_the_service_says_and_not_a_sensor(
    text: str, ok: bool, words: str, ends: str
) -> None:
    finding = thermal_finding(read_thermal(text.replace("\n", ends)))
    assert finding.ok == ok
    assert words in finding.detail


@pytest.mark.parametrize(
    ("text", "free"),
    [
        (
            "Filesystem      1K-blocks     Used Available Use% Mounted on\n"
            "/dev/block/dm-5 112738544 51210412  61397060  46% /data\n",
            54,
        ),
        (
            "Filesystem                                             1K-blocks Used Available Use% "
            "Mounted on\n/dev/block/by-name/userdata_with_a_long_name\n"
            "                        112738544 51210412  61397060  97% /data/user/0\n",
            3,
        ),
        ("Filesystem         Size     Used     Free   Blksize\n/data  10G  7.5G  2.5G  4096\n", 25),
        ("df: /data: Permission denied\n", None),
        ("", None),
    ],
)
def test_space_is_read_from_both_programs(text: str, free: int | None) -> None:
    fact = read_free_percent(text)
    assert (fact.value if isinstance(fact, Known) else None) == free
    assert storage_finding(fact).ok == (free is not None and free >= 5)


def answer(chosen: str, enabled: str, installed: str = "", dump: str = "") -> str:
    return (
        f"{chosen}\n@switchboard-input-method enabled\n{enabled}\n"
        f"@switchboard-input-method installed\n{installed}\n"
        f"@switchboard-input-method dump\n{dump}\n"
    )


@pytest.mark.parametrize(
    ("text", "ok", "words"),
    [
        (answer(GBOARD, GBOARD), True, GBOARD),
        (answer(GBOARD, f"{GBOARD}\n{ADB}").replace("\n", "\r\n"), True, GBOARD),
        (answer(ADB, f"{GBOARD}\n{ADB}"), False, ADB),
        (answer("null", GBOARD), False, "none is chosen"),
        (answer(GBOARD, "com.other/.Ime"), False, "is not enabled"),
        (answer(f"WARNING: linker: x\n{GBOARD}", GBOARD), True, GBOARD),
        # Android 15 and older, then 16.
        (
            answer("cmd: Can't find service: settings", GBOARD, dump=f"  mCurMethodId={GBOARD}"),
            True,
            GBOARD,
        ),
        (answer("", GBOARD, dump=f"      mSelectedMethodId={GBOARD}"), True, GBOARD),
        (answer("java.lang.SecurityException: no", GBOARD), False, "does not report"),
        ("", False, "does not report"),
    ],
)
def test_the_chosen_keyboard_is_known_or_unknown_and_never_guessed(
    text: str, ok: bool, words: str
) -> None:
    finding = keyboard_finding(read_input_methods(text))
    assert finding.ok == ok
    assert words in finding.detail


def test_input_methods_are_listed_by_user_short_and_long() -> None:
    long = f"{GBOARD}:\n  mId={GBOARD} mSettingsActivityName=a.b/.C mIsVrOnly=false\n{ADB}:\n"
    several = f"User #0:\n{GBOARD}\nUser #10:\n{ADB}\n"
    for text, user, ids in (
        (f"{GBOARD}\n{ADB}\n", None, (GBOARD, ADB)),
        (long, None, (GBOARD, ADB)),
        (several, None, (GBOARD,)),
        (several, 10, (ADB,)),
    ):
        fact = read_method_ids(text, user)
        assert isinstance(fact, Known)
        assert fact.value == ids
    for failed in (
        "",
        "Error: java.lang.SecurityException\n",
        "cmd: Can't find service: input_method",
    ):
        assert isinstance(read_method_ids(failed), Unknown)
