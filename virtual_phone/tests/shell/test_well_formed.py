"""Bytes that are no UTF-8: files and pipes keep them, Java and all that a phone keeps has text."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.command import NAME, virtual_phone
from support.hand import new_phone
from virtual_phone.errors import PhoneError
from virtual_phone.phone import Phone
from virtual_phone.server.channel import channel_path
from virtual_phone.server.pipes import BytesSource, CollectingSink
from virtual_phone.server.serve import PhoneHost
from virtual_phone.shell.call import decode, encode
from virtual_phone.shell.interpreter import Shell
from virtual_phone.state import checkpoint
from virtual_phone.uiautomator.rpc import MethodTable, answer
from virtual_phone.userland.userland import Userland
from virtual_phone.well_formed import json_of, well_formed

BAD = b"x\xff\xe2\x82y"
READ = "x\ufffd\ufffd\ufffdy"  # What Java makes of it.

Run = Callable[[bytes], Awaitable[tuple[int, bytes, bytes]]]


@pytest.fixture
async def userland(tmp_path: Path) -> AsyncIterator[Userland]:
    phone = Phone(tmp_path, name="shell")
    yield Userland(phone, tmp_path, "shell")
    phone.close()


async def run_on(userland: Userland, line: bytes) -> tuple[int, bytes, bytes]:
    out, err = CollectingSink(), CollectingSink()
    shell = Shell(userland)
    shell.cwd = "/data/local/tmp"
    async with asyncio.timeout(30):
        status = await shell.run_text(decode(line), {0: BytesSource(b""), 1: out, 2: err})
    return status, bytes(out.data), bytes(err.data)


@pytest.fixture
def run(userland: Userland) -> Run:
    async def run(line: bytes) -> tuple[int, bytes, bytes]:
        return await run_on(userland, line)

    return run


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"setprop a.b " + BAD, b"Value '" + BAD + b"' is not a UTF8 encoded string\n"),
        (b"setprop a.\xff 1", b"Invalid character '\xff' in name 'a.\xff'\n"),
        (b"setprop .a 1", b"Property names must not start or end with a '.'\n"),
        (b"setprop a..b 1", b"'..' is not allowed in a property name\n"),
        (
            b"setprop a.b " + b"v" * 92,
            b"Value '%s' is too long, 92 bytes vs a max of 92\n" % (b"v" * 92),
        ),
        (
            b"setprop ro.a 1",
            b"Failed to set property 'ro.a' to '1'.\nSee dmesg for error reason.\n",
        ),
    ],
)
async def test_setprop_refuses_what_init_would(run: Run, line: bytes, said: bytes) -> None:
    assert await run(line) == (1, b"", said)
    assert await run(b"getprop a.b") == (0, b"\n", b"")


@pytest.mark.parametrize(
    ("put", "get"),
    [
        (b"settings put global k '%s'", b"settings get global k"),
        (b"cmd settings put global k '%s'", b"settings get global k"),
        (b"settings put global '%s' v", b"settings list global | grep '=v$' | cut -d= -f1"),
    ],
)
async def test_java_programs_read_bad_bytes_as_replacement_characters(
    run: Run, put: bytes, get: bytes
) -> None:
    assert (await run(put % BAD))[0] == 0
    assert (await run(get))[1].decode() == READ + "\n"


@pytest.mark.parametrize(
    "line",
    [
        b"echo '%s'",
        b"printf '%%s\\n' '%s'",
        b"echo '%s' >f; cat f",
        b"echo x >'%s'; ls",
        b"x='%s'; echo $x",
        b"echo $(printf '%%s' '%s')",
        b"sh -c 'cat /proc/$$/cmdline' '%s' | tr '\\0' '\\n' | tail -1",
        b"log -t a '%s'; logcat -d -v raw a:V | tail -1",
    ],
)
async def test_files_pipes_and_native_programs_keep_every_byte(run: Run, line: bytes) -> None:
    assert (await run(line % BAD))[1] == BAD + b"\n"


@pytest.mark.parametrize(
    ("line", "out"),
    [(rb"printf %s $'\xff\xc3\xa9'", b"\xff\xc3\xa9"), (rb"printf %s $'\303\251' | wc -m", b"1\n")],
)
async def test_escapes_in_dollar_quotes_are_bytes(run: Run, line: bytes, out: bytes) -> None:
    assert (await run(line))[1] == out


_LINES = st.sampled_from(
    [
        b"setprop debug.a %s",
        b"settings put system k %s",
        b"settings put secure %s v",
        b"content insert --uri content://settings/global --bind name:s:%s --bind value:s:%s",
        b"content insert --uri content://sms --bind address:s:%s --bind body:s:%s",
        b"am start -a %s -d %s",
        b"am broadcast -a %s --es msg %s",
        b"input text %s",
        b"ime set %s",
        b"appops set com.android.notes %s allow",
        b"pm grant com.android.notes %s",
        b"cmd notification post -t %s tag %s",
        b"cmd locale set-app-locales com.android.notes %s",
        b"cmd clipboard %s",
        b"wm size %s",
        b"touch /sdcard/%s",
        b"mkdir -p /sdcard/%s/%s",
        b"am set-standby-bucket com.android.notes %s",
        b"cmd deviceidle whitelist +%s",
        b"monkey -p %s 1",
        b"uiautomator dump /sdcard/%s",
        b"screencap /sdcard/%s",
    ]
)
_WORDS = st.binary(min_size=1, max_size=6).map(
    lambda word: b"'" + word.replace(b"'", b"").replace(b"\0", b"") + b"\xed\xa0\x80'"
)


@given(lines=st.lists(st.tuples(_LINES, _WORDS), min_size=1, max_size=6))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_shell_line_keeps_a_phone_from_being_saved_and_read_back(
    tmp_path: Path, lines: list[tuple[bytes, bytes]]
) -> None:
    async def scenario() -> None:
        phone = new_phone(tmp_path / "phone")
        userland = Userland(phone, tmp_path / "phone", "shell")
        phone.reset()
        for line, word in lines:
            await run_on(userland, line.replace(b"%s", word))
        kept = phone.snapshot()
        phone.restore(kept)
        assert phone.snapshot() == kept
        assert kept.decode() == well_formed(kept.decode())
        msgspec.json.encode(phone.state())
        taken = checkpoint.take(phone)
        checkpoint.write(taken, tmp_path / "kept")
        assert checkpoint.read(tmp_path / "kept") == taken
        phone.close()

    asyncio.run(scenario())


def test_a_snapshot_is_taken_whatever_a_string_of_the_phone_holds(tmp_path: Path) -> None:
    phone = new_phone(tmp_path)
    # Past every door: as if one had been forgotten.
    phone.state_record.clipboard = "a\ud800b"
    phone.settings.put("global", "k\udcff", "v\udcff")
    with pytest.raises(PhoneError):
        phone.properties["debug.a"] = "\udcff"
    kept = phone.snapshot()
    phone.restore(kept)
    assert phone.clipboard.text == "a\ufffdb"
    assert phone.settings.get("global", "k\ufffd") == "v\ufffd"
    assert phone.snapshot() == kept
    phone.close()


@pytest.mark.parametrize(("text", "data"), [("a\udcffb", b"a\xffb"), ("a\ud83d", b"a\xef\xbf\xbd")])
def test_output_is_bytes_whatever_a_text_holds(text: str, data: bytes) -> None:
    assert encode(text) == data


def test_apps_as_raw_json_are_kept_where_strings_are_mended() -> None:
    raw = msgspec.Raw(b'{"deep":[1,"x"]}')
    assert json.loads(json_of({"raw": raw, "bad": ["\udcff"], "b": b"12"})) == {
        "raw": {"deep": [1, "x"]},
        "bad": ["\ufffd"],
        "b": "MTI=",
    }


def test_the_state_of_a_phone_names_files_whose_names_are_no_text(homes: Path) -> None:
    phone = new_phone(homes / NAME)
    phone.storage.write("Download/x\udcff.txt", b"kept", 1.0)
    taken = checkpoint.take(phone)
    phone.storage.delete("Download/x\udcff.txt")
    checkpoint.go_back(phone, taken)
    assert phone.storage.open_path("Download/x\udcff.txt").read_bytes() == b"kept"
    phone.close()
    said = virtual_phone("state", NAME, "--json")
    assert said.returncode == 0, said.stderr
    assert ["Download/x\ufffd.txt", 4] in json.loads(said.stdout)["files"]


async def test_the_channel_gives_the_state_and_refuses_lines_that_are_no_text(
    tmp_path: Path,
) -> None:
    async with PhoneHost(tmp_path) as host:
        served = host.served(host.serials[0])
        served.phone.storage.write("Download/x\udcff", b"kept", 1.0)
        reader, writer = await asyncio.open_unix_connection(channel_path(tmp_path), limit=1 << 24)
        writer.write(b'{"do":"state","phone":"\xff"}\n')
        assert b"cannot be read" in await reader.readline()
        writer.write(b'{"do":"state","phone":"\\ud800"}\n')
        assert b"cannot be read" in await reader.readline()
        writer.write(json.dumps({"do": "state", "phone": served.phone.name}).encode() + b"\n")
        said = json.loads(await reader.readline())
        assert ["Download/x\ufffd", 4] in said["state"]["files"]
        writer.close()


@pytest.mark.parametrize("text", [b'"\\ud800"', b'"\xff"', b'"\xed\xa0\x80"', b'"\\udcff\\ud800"'])
async def test_a_request_that_is_no_text_gets_an_error_of_its_own(text: bytes) -> None:
    said = await answer(MethodTable(), b'{"jsonrpc":"2.0","id":1,"method":%s}' % text)
    assert json.loads(said)["error"]["code"] == -32700


async def test_an_answer_is_json_whatever_a_text_on_the_screen_holds() -> None:
    async def text() -> str:
        return "a\udcff"

    table = MethodTable()
    table.add("text", text)
    said = await answer(table, b'{"jsonrpc":"2.0","id":1,"method":"text"}')
    assert json.loads(said)["result"] == "a\ufffd"
