"""Recordings are kept whole, loaded as they were, and read as the phone is read."""

import asyncio
import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.recordings.collecting import collect
from agent.devices.recordings.questions import QUESTIONS
from agent.devices.recordings.recording import MANIFEST, Entry, Recording, keep, load
from agent.devices.recordings.replay import facts_of
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import UsageError
from console.commands.devices.devices import devices
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.serve import PhoneHost

CORPUS = Path(__file__).parents[2] / "data" / "recordings"
RECORDINGS = sorted(path.parent for path in CORPUS.glob("*/expect.json"))
RECORDING = Recording(
    made_on="2026-11-28",
    maker="Example",
    android="16",
    entries=(
        Entry(name="power", command="dumpsys power", exit_code=0, took_ms=3, text="a\r\nb\udcff"),
        Entry(name="thermal", command="x", cut="no answer within 15 s", errors="no such service"),
    ),
)


@pytest.mark.parametrize("name", ["phone", "phone.zip"])
def test_a_recording_is_loaded_as_it_was_kept(tmp_path: Path, name: str) -> None:
    keep(RECORDING, tmp_path / name)
    assert load(tmp_path / name) == RECORDING
    with pytest.raises(UsageError, match="already exists"):
        keep(RECORDING, tmp_path / name)


def test_the_manifest_says_what_was_asked_and_how_it_ended(tmp_path: Path) -> None:
    keep(RECORDING, tmp_path / "phone")
    manifest = json.loads((tmp_path / "phone" / MANIFEST).read_text(encoding="utf-8"))
    assert (manifest["android"], manifest["maker"]) == ("16", "Example")
    assert manifest["entries"] == [
        {"name": "power", "command": "dumpsys power", "exit_code": 0, "took_ms": 3},
        {"name": "thermal", "command": "x", "cut": "no answer within 15 s"},
    ]


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/b", "", "A", "a" * 80, "a.b"])
def test_a_manifest_reads_nothing_outside_its_recording(tmp_path: Path, name: str) -> None:
    place = tmp_path / "phone"
    keep(RECORDING, place)
    manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
    manifest["entries"][0]["name"] = name
    (place / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    with pytest.raises(UsageError, match="no recording"):
        load(place)


@given(st.binary(max_size=200))
def test_no_bytes_are_a_recording_by_accident(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    place = tmp_path_factory.mktemp("made")
    (place / "a.zip").write_bytes(data)
    (place / MANIFEST).write_bytes(data)
    for one in (place / "a.zip", place, place / "nothing"):
        with pytest.raises(UsageError):
            load(one)


def test_a_zip_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "big.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(MANIFEST, b" " * (17 << 20))
    with pytest.raises(UsageError, match="larger than"):
        load(tmp_path / "big.zip")


# --- phones ----------


async def test_a_phone_is_collected_whole_and_reads_as_it_did(
    adb_address: ServerAddress, tmp_path: Path
) -> None:
    async with PhoneHost(tmp_path / "phones") as host:
        (serial,) = host.serials
        client = AdbClient(adb_address)
        await client.connect(serial)
        shell = PhoneShell(client, serial)
        raw: dict[str, Entry] = {}
        collected = await collect(shell, on_entry=lambda entry: raw.__setitem__(entry.name, entry))
        recording = collected.recording
        assert [entry.name for entry in recording.entries] == list(QUESTIONS)
        assert {entry.name for entry in recording.entries if entry.cut} == set()
        before = Recording(entries=tuple(raw.values()))
        assert facts_of(recording) == facts_of(before)
        profile = await shell.profile()
        for entry in recording.entries:
            assert profile.phone not in entry.text
        assert recording.build == profile.fingerprint
        host.fault(serial, FaultKind.HUNG_DUMPSYS)
        few = {name: QUESTIONS[name] for name in ("properties", "power")}
        collecting = asyncio.create_task(collect(shell, questions=few))
        late = (await collecting).recording
        assert [bool(entry.cut) for entry in late.entries] == [False, True]
        await client.disconnect(serial)


# --- the corpus ----------


@pytest.mark.parametrize("place", RECORDINGS, ids=lambda place: place.name)
def test_a_recording_is_read_as_a_person_reads_it(place: Path) -> None:
    expected = json.loads((place / "expect.json").read_text(encoding="utf-8"))
    told = facts_of(load(place))
    assert {name: told[name] for name in expected} == expected


def test_there_are_recordings() -> None:
    assert RECORDINGS


def test_the_command_is_there() -> None:
    shown = CliRunner().invoke(devices, ["collect", "--help"])
    assert shown.exit_code == 0
    assert "--yes" in shown.output
