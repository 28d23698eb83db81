"""What an operator does to a phone by hand: examine, mend, install, read its log, drive, unplug."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Bench
from tests.end_to_end.harness import Line, Running, wait_until

PILOT = ("--model", "pilot")
SETTINGS = "com.android.settings"


def front(bench: Bench) -> str:
    """Return which app is in front, as the phone itself tells it."""
    return bench.adb("-s", bench.serial, "shell", "dumpsys window | grep mCurrentFocus")


def found_by(call: str) -> dict[str, Line]:
    return {one["name"]: one for one in json.loads(call)["data"]}


def test_a_phone_that_sleeps_is_examined_mended_and_waked(bench: Bench) -> None:
    bench.adb("-s", bench.serial, "shell", "input keyevent SLEEP")
    ill = bench.call("devices", "doctor", bench.serial)
    assert ill.code == 1 and "!!  screen    off" in ill.out, ill
    mended = bench.call("devices", "repair", bench.serial, "--json")
    assert mended.code == 0, mended
    assert found_by(mended.out)["screen"]["ok"]
    well = bench.call("devices", "doctor", bench.serial, "--json")
    assert well.code == 0, well
    found = found_by(well.out)
    assert {"shell", "battery", "storage", "keyboard", "capture"} <= set(found)
    assert "by the UI Automator service" in found["tree"]["detail"]
    assert "scrcpy" in found["video"]["detail"] and found["video"]["took_ms"] > 0
    assert "scrcpy" in found["touch"]["detail"]
    bench.adb("-s", bench.serial, "shell", "input keyevent SLEEP")
    assert bench.call("devices", "unlock", bench.serial).code == 0
    assert "mWakefulness=Awake" in bench.adb("-s", bench.serial, "shell", "dumpsys power")


def test_what_cannot_be_installed_or_removed_is_told_in_the_phones_words(
    bench: Bench, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.apk"
    with zipfile.ZipFile(broken, "w") as archive:
        archive.writestr("readme.txt", "no manifest")
    call = bench.call("devices", "install", bench.serial, str(broken))
    assert call.code == 1 and "INSTALL_" in call.err, call
    call = bench.call("devices", "uninstall", bench.serial, "com.none.such")
    assert call.code == 1 and "did not uninstall com.none.such" in call.err, call
    left = bench.adb("-s", bench.serial, "shell", "ls /data/local/tmp")
    assert ".apk" not in left


def test_the_log_is_read_with_filters_and_ends_when_it_is_not_followed(bench: Bench) -> None:
    bench.adb("-s", bench.serial, "shell", "log -t Ledger -p w the sum is wrong")
    bench.adb("-s", bench.serial, "shell", "log -t Ledger -p i the sum is right")
    call = bench.call("devices", "logcat", bench.serial, "Ledger:W", "--no-follow")
    assert call.code == 0, call
    assert "the sum is wrong" in call.out and "the sum is right" not in call.out
    assert "ActivityManager" not in call.out


@pytest.fixture
def daemon(bench: Bench) -> Iterator[None]:
    """A core that outlives the commands."""
    assert bench.call("daemon", "start").code == 0
    yield
    bench.call("daemon", "stop", "--force")


@pytest.mark.usefixtures("daemon")
def test_a_phone_is_driven_by_the_wheel_and_only_while_it_is_held(bench: Bench) -> None:
    bench.begin()
    early = bench.call("devices", "wheel", "tap", bench.serial, "0.5", "0.5")
    assert early.code != 0 and "wheel" in early.err, early
    taken = bench.call("devices", "wheel", "take", bench.serial)
    assert taken.code == 0, taken
    [in_use] = json.loads(bench.call("devices", "in-use", "--json").out)["data"]
    assert (in_use["serial"], in_use["driver"]) == (bench.serial, "operator")
    bench.adb(
        "-s", bench.serial, "shell", f"monkey -p {SETTINGS} -c android.intent.category.LAUNCHER 1"
    )
    assert SETTINGS in front(bench)
    for act in (
        ("tap", bench.serial, "0.5", "0.3"),
        ("swipe", bench.serial, "0.5", "0.8", "0.5", "0.3", "--ms", "50"),
        ("press", bench.serial, "home"),
    ):
        call = bench.call("devices", "wheel", *act)
        assert call.code == 0, call
    assert "launcher" in front(bench)
    refused = bench.call("devices", "rotate", bench.serial, "landscape")
    assert refused.code == 1 and "is driven by" in refused.err, refused
    assert bench.call("devices", "wheel", "back", bench.serial, "--note", "done").code == 0
    assert "No phone is in use." in bench.call("devices", "in-use").err
    late = bench.call("devices", "wheel", "press", bench.serial, "home")
    assert late.code != 0, late


LONG = "open Settings, then open Notes, then open Messaging, then open Settings"
PHONE = "virtual-1"


def unplugged(bench: Bench, run: Running) -> Line:
    """Pull the cable once the session has looked; returns what is told of the loss."""
    run.wait_for_type("observation_recorded")
    assert bench.call("phone", "fault", PHONE, "disconnect").code == 0
    lost: Line = run.wait_for(lambda line: is_flagged(line, lost=True), "the loss")["msg"]
    return lost


def is_flagged(line: Line, *, lost: bool) -> bool:
    msg = line["msg"]
    return msg["type"] == "session_flags_changed" and msg.get("lost", False) is lost


def plug_in(bench: Bench) -> None:
    """Put the cable back, and have adb meet the phone at once and not with its next try."""
    assert bench.call("phone", "fault", PHONE, "--clear").code == 0
    bench.adb("disconnect", bench.serial)
    wait_until(
        lambda: "connected to" in bench.adb("connect", bench.serial), "the phone is connected"
    )


@pytest.mark.slow
def test_a_phone_that_is_unplugged_for_a_while_is_waited_for_and_gone_on_with(bench: Bench) -> None:
    bench.begin()
    with bench.running("run", LONG, "--device", bench.serial, "--json", *PILOT) as run:
        lost = unplugged(bench, run)
        assert f"{bench.serial} is away; waiting up to 120 s" in lost["reason"], lost
        (info,) = bench.call("devices", "--json").json["data"]
        assert info["state"] != "device" and info["note"], info
        thought = sum(line["msg"]["type"] == "agent_message" for line in run.seen)
        plug_in(bench)
        back = run.wait_for(lambda line: is_flagged(line, lost=False), "the return")
        assert back["msg"]["reason"] == f"{bench.serial} is back"
        meanwhile = sum(line["msg"]["type"] == "agent_message" for line in run.seen)
        assert meanwhile <= thought + 1, "no model is asked while the phone is away"
        assert run.wait() == 0, run
    assert "is away" in "".join(run.speech)


@pytest.mark.slow
def test_a_phone_that_is_unplugged_for_good_ends_the_run_with_the_reason(bench: Bench) -> None:
    bench.begin()
    grace = {"SWITCHBOARD_RECOVERY_DEVICE_GRACE_S": "1", "SWITCHBOARD_RECOVERY_RETRIES": "0"}
    try:
        with bench.running("run", LONG, "--device", bench.serial, "--json", *PILOT, **grace) as run:
            assert "waiting up to 1 s" in unplugged(bench, run)["reason"]
            assert run.wait() == 1, run
        told = "".join(run.speech)
        assert bench.serial in told and "sessions resume" in told, told
    finally:
        plug_in(bench)
        # The run could not take back its mark on a phone that was away: it runs out by itself.
        wait_until(
            lambda: bench.call("devices", "unlock", bench.serial).code == 0, "the phone is free"
        )


@pytest.mark.slow
def test_a_phone_that_is_not_there_is_a_wrong_call_and_one_is_found_by_its_name(
    bench: Bench,
) -> None:
    absent = bench.call("devices", "info", "nosuch")
    assert absent.code == 2 and "'nosuch'" in absent.err and bench.serial in absent.err, absent
    assert bench.call("devices", "tag", bench.serial, "--name", "Desk phone").code == 0
    assert bench.call("devices", "info", "desk phone").code == 0
