"""adb-shell, which talks to the phone's port itself, without an adb server."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from adb_shell.adb_device import AdbDeviceTcp
from adb_shell.adb_device_async import AdbDeviceTcpAsync
from adb_shell.auth.keygen import keygen
from adb_shell.auth.sign_pythonrsa import PythonRSASigner
from adb_shell.exceptions import AdbCommandFailureException, PushFailedError
from cases import run

HOST, PORT = os.environ["EXAM_SERIAL"].rsplit(":", 1)
FOLDER = Path(tempfile.mkdtemp())
PATH = "/data/local/tmp/adb-shell.bin"


def connected():
    device = AdbDeviceTcp(HOST, int(PORT), default_transport_timeout_s=20)
    assert device.connect(auth_timeout_s=5)
    return device


def connects():
    """connects"""
    assert connected().available


def signs():
    """connects with an RSA key of its own"""
    path = FOLDER / "key"
    keygen(str(path))
    signer = PythonRSASigner(path.with_suffix(".pub").read_text(), path.read_text())
    device = AdbDeviceTcp(HOST, int(PORT))
    assert device.connect(rsa_keys=[signer], auth_timeout_s=5)
    assert device.shell("echo signed") == "signed\n"


def runs_commands():
    """runs shell commands one after the other"""
    device = connected()
    for number in range(50):
        assert device.shell(f"echo {number}") == f"{number}\n"


def streams():
    """streams a command's output"""
    text = "".join(connected().streaming_shell("seq 1 20000"))
    assert text.split() == [str(n) for n in range(1, 20001)]


def runs_exec():
    """runs exec-out, bytes unchanged"""
    png = connected().exec_out("screencap -p", decode=False)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")


def pushes_and_pulls():
    """pushes and pulls a file of 5 MB unchanged"""
    device = connected()
    data = os.urandom(5_000_000)
    here, back = FOLDER / "here", FOLDER / "back"
    here.write_bytes(data)
    device.push(str(here), PATH, mtime=1_600_000_000)
    device.pull(PATH, str(back))
    assert back.read_bytes() == data


def stats():
    """tells mode, size and time of a file"""
    mode, size, mtime = connected().stat(PATH)
    assert (mode & 0o170000, size, mtime) == (0o100000, 5_000_000, 1_600_000_000)
    assert connected().stat("/no/such") == (0, 0, 0)


def lists():
    """lists a folder"""
    names = [entry.filename for entry in connected().list("/data/local/tmp")]
    assert b"adb-shell.bin" in names


def misses():
    """raises for files that are not there or may not be written"""
    device = connected()
    try:
        device.pull("/no/such", str(FOLDER / "x"))
    except AdbCommandFailureException:
        pass
    else:
        raise AssertionError("pulled what is not there")
    try:
        device.push(str(FOLDER / "here"), "/system/no")
    except PushFailedError:
        pass
    else:
        raise AssertionError("pushed where nothing may be written")


async def runs_many():
    """runs 20 commands at once, asynchronously"""

    async def one(number):
        device = AdbDeviceTcpAsync(HOST, int(PORT))
        await device.connect(auth_timeout_s=5)
        said = await device.shell(f"sleep 0.2; echo {number}")
        await device.close()
        return said

    answers = await asyncio.gather(*(one(number) for number in range(20)))
    assert answers == [f"{number}\n" for number in range(20)]


def answers_root():
    """answers root as a production build does"""
    said = connected().root()
    assert said is None or "production" in str(said) or "root" in str(said), said


run(
    [
        connects,
        signs,
        runs_commands,
        streams,
        runs_exec,
        pushes_and_pulls,
        stats,
        lists,
        misses,
        runs_many,
        answers_root,
    ]
)
