"""What an operator, a disk or another program gets wrong: one clear line, the remedy, the code."""

import os
import resource
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from agent.devices.adb.server import find_adb
from support.adb import free_port
from tests.end_to_end.harness import Call, Workshop

RUN = ("run", "open Settings", "--virtual")


def clear(call: Call, *words: str) -> None:
    """Check that an error is a line and a remedy, with these words in it."""
    assert call.out == "", call
    lines = call.err.splitlines()
    assert "Traceback" not in call.err
    assert any(line.startswith(("switchboard: ", "switchboard phone: ")) for line in lines), call
    assert len(lines) <= 3, call
    for word in words:
        assert word in call.err, call


def test_no_adb_binary_anywhere(workshop: Workshop) -> None:
    call = workshop.call(*RUN, ADBUTILS_ADB_PATH="/nowhere/adb")
    assert call.code == 1
    clear(call, "/nowhere/adb", "Correct $ADBUTILS_ADB_PATH")


def test_an_adb_server_that_is_far_away_and_silent(workshop: Workshop) -> None:
    call = workshop.call("devices", SWITCHBOARD_ADB_SERVER="198.51.100.7:5037")
    assert call.code == 1
    clear(call, "198.51.100.7:5037")


def test_another_program_listens_where_the_adb_server_should_be(workshop: Workshop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = stranger.getsockname()[1]
        call = workshop.call("devices", ADB_SERVER_SOCKET=f"tcp:127.0.0.1:{port}")
    assert call.code == 1
    clear(call, f"127.0.0.1:{port}")


def test_no_phone_is_connected(workshop: Workshop) -> None:
    port = free_port()
    environment = {"ADB_SERVER_SOCKET": f"tcp:127.0.0.1:{port}", "ADB_USB": "0", "ADB_MDNS": "0"}
    try:
        # A server that was named is to be there; none is started at a port like this.
        unserved = workshop.call("run", "open Settings", **environment)
        assert unserved.code == 1
        clear(unserved, f"adb -P {port} start-server")
        named = workshop.environment
        subprocess.run(
            [find_adb(), "-P", str(port), "start-server"],
            check=True,
            timeout=60,
            env={key: value for key, value in named.items() if key != "ADB_SERVER_SOCKET"}
            | {"ADB_USB": "0", "ADB_MDNS": "0", "ADB_LOCAL_TRANSPORT_MAX_PORT": "5553"},
        )
        call = workshop.call("run", "open Settings", **environment)
        assert call.code == 2
        clear(call, "No phone is connected", "--virtual", "switchboard devices")
        listed = workshop.call("devices", **environment)
        assert listed.code == 0
        assert "switchboard demo" in listed.err
    finally:
        subprocess.run([find_adb(), "-P", str(port), "kill-server"], check=False, timeout=60)


def test_the_port_of_a_served_phone_is_in_use(workshop: Workshop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = stranger.getsockname()[1]
        call = workshop.call("phone", "serve", "--port", str(port))
    assert call.code == 1
    clear(call, str(port), "another port")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[model]\nname = \n", ("config.toml", "line 2")),
        ("[model]\nnmae = 'x'\n", ("config.toml", "nmae", "name")),
        ("[run]\nmax_steps = 'many'\n", ("config.toml", "max_steps")),
    ],
)
def test_a_broken_settings_file(workshop: Workshop, text: str, words: tuple[str, ...]) -> None:
    workshop.data.mkdir()
    (workshop.data / "config.toml").write_text(text, encoding="utf-8")
    call = workshop.call(*RUN)
    assert call.code == 2
    clear(call, *words)
    doctor = workshop.call("doctor")
    assert doctor.code == 1
    assert "FAIL  settings" in doctor.out
    assert "python" in doctor.out


def limited(workshop: Workshop, limit_bytes: int, *words: str) -> Call:
    """Run the command with a limit on the size of the files that it writes."""
    done = subprocess.run(
        [sys.executable, "-c", "from console.cli import main; main()", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env=workshop.environment,
        stdin=subprocess.DEVNULL,
        # Python ignores SIGXFSZ, so a write past the limit fails with EFBIG as a full disk does.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes)),
        check=False,
    )
    return Call(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("limit_bytes", [0, 4096])
def test_a_disk_that_is_full_from_the_start(workshop: Workshop, limit_bytes: int) -> None:
    call = limited(workshop, limit_bytes, "sessions", "list")
    assert call.code == 1
    clear(call)
    assert str(workshop.data) in call.err


@pytest.mark.slow
def test_a_disk_that_fills_up_during_a_session(workshop: Workshop) -> None:
    call = limited(workshop, 150_000, *RUN, "--quiet")
    assert call.code == 1, call
    assert "Traceback" not in call.err
    assert "switchboard: " in call.err
    assert workshop.call("sessions", "list").code == 0


def test_a_data_directory_that_cannot_be_made(workshop: Workshop) -> None:
    call = workshop.call("sessions", "list", SWITCHBOARD_DATA_DIR="/proc/switchboard")
    assert call.code == 1
    clear(call, "/proc/switchboard")


@pytest.mark.slow
def test_a_data_directory_on_a_read_only_mount(workshop: Workshop, tmp_path: Path) -> None:
    place = tmp_path / "readonly"
    place.mkdir()
    script = (
        'mount -t tmpfs -o ro none "$1" && exec "$2" -c '
        '"from console.cli import main; main()" sessions list'
    )
    environment = {**workshop.environment, "SWITCHBOARD_DATA_DIR": str(place / "data")}
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", place, sys.executable],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
    )
    if "switchboard" not in done.stderr and done.returncode != 0:
        pytest.skip(f"this machine lets nobody mount: {done.stderr.strip()[:100]}")
    assert done.returncode == 1
    clear(Call(done.returncode, done.stdout, done.stderr), "read-only", "SWITCHBOARD_DATA_DIR")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_data_directory_without_permission(workshop: Workshop) -> None:
    workshop.data.mkdir(mode=0o500)
    call = workshop.call("sessions", "list")
    assert call.code == 1
    clear(call, "not writable")


def test_a_database_that_is_none(workshop: Workshop) -> None:
    workshop.data.mkdir()
    (workshop.data / "switchboard.db").write_bytes(b"This is no database." * 500)
    call = workshop.call("sessions", "list")
    assert call.code == 1
    clear(call, "not an SQLite database")


@pytest.mark.parametrize("verb", ["show", "answer", "stop", "cancel", "resume"])
def test_a_session_that_nobody_knows(workshop: Workshop, verb: str) -> None:
    more = ["yes"] if verb == "answer" else []
    call = workshop.call("sessions", verb, "0000", *more)
    assert call.code == 2
    clear(call, "0000")


def test_a_test_of_no_model(workshop: Workshop) -> None:
    call = workshop.call("models", "test", "pilot")
    assert call.code == 2
    clear(call, "pilot", "model.name")


@pytest.mark.slow
def test_an_endpoint_that_is_not_there_is_told_and_tried_again(workshop: Workshop) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    with workshop.running(*RUN, "--model", "none", "--base-url", url, "--json") as running:
        failure = running.wait_for_type("stream_error")
        assert url in failure["message"] or "onnect" in failure["message"]
        running.process.send_signal(signal.SIGINT)
        assert running.wait() == 130, running


def test_a_run_that_takes_too_long_is_stopped(workshop: Workshop) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    call = workshop.call(*RUN, "--model", "none", "--base-url", url, "--timeout", "1")
    assert call.code == 1, call
    assert "not done within 1 s" in call.err
    assert "switchboard sessions resume" in call.err


def test_what_never_closes_in_the_settings_file_is_placed_where_it_is(
    workshop: Workshop, tmp_path: Path
) -> None:
    settings = tmp_path / "open.toml"
    settings.write_text("[run]\nmax_steps = 3\nmodel = [[[\n")
    call = workshop.call("devices", SWITCHBOARD_CONFIG=str(settings))
    assert call.code == 2, call
    clear(call, "line 3, column", "not closed")
    assert "x00" not in call.err


def test_a_replay_of_an_unknown_session_says_so_before_it_wants_a_terminal(
    workshop: Workshop,
) -> None:
    call = workshop.call("replay", "nope")
    assert call.code == 2, call
    assert "nope" in call.err
    assert "terminal" not in call.err
    assert "switchboard jobs list" in workshop.call("jobs", "stop", "99").err
