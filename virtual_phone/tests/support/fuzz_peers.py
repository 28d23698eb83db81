"""Throw random requests at the peers of a phone that are no shell: automation, scrcpy, the channel.

`python -m support.fuzz_peers --seconds 60 [--seed N]`; the test suite runs a short form with a
fixed seed. A round is made from the seed and its number alone. It fails when a peer raises what
is no refusal, logs an error, answers what is not JSON, or leaves a phone that cannot be saved.
"""

import asyncio
import contextlib
import json
import random
import struct
import sys
from pathlib import Path

from support.fuzz import FuzzError, mutated, rounds_of, run
from virtual_phone.errors import PhoneError
from virtual_phone.phone import Phone
from virtual_phone.scrcpy.control import ControlReader, ControlType
from virtual_phone.scrcpy.dialect import dialect
from virtual_phone.scrcpy.injector import Injector
from virtual_phone.server.channel import channel_path
from virtual_phone.server.pipes import BytesSource, CollectingSink
from virtual_phone.server.serve import PhoneHost
from virtual_phone.shell.call import Descriptors, decode
from virtual_phone.shell.interpreter import Shell
from virtual_phone.uiautomator.device_methods import DeviceMethods
from virtual_phone.uiautomator.object_methods import ObjectMethods
from virtual_phone.uiautomator.rpc import MethodTable, answer
from virtual_phone.uiautomator.selector import Mask, Selector
from virtual_phone.uiautomator.service import Service

ROUND_S = 0.25  # How long a peer waits before it goes.
CHECK_EVERY = 50
VERSIONS = ("1.20", "1.22", "1.24", "2.0", "2.7", "3.0", "3.3.4", "4.0", "4.1", "5.0.1")
TEXTS = (
    "",
    "Settings",
    "Network",
    "é\U0001f600",
    "\ufffd",
    "\0",
    "a\nb",
    "x" * 3000,
    "²",
    "-1",
    "%",
    "(",
    "(a+)+$",
    "[",
    ".*",
    "*",
    "1" * 400,
    "com.android.settings",
    "back",
    "natural",
    "child",
    "sibling",
    "android.widget.TextView",
    "/sdcard/x",
    "..",
    "global",
    "NaN",
    "\x1b[2J",
)
NUMBERS = (
    0,
    1,
    -1,
    2,
    5,
    100,
    540,
    1200,
    65535,
    2**31,
    2**63,
    -(2**63),
    10**300,
    0.5,
    -0.0,
    1e308,
    1e-9,
)
OPTIONS = (
    "max_size",
    "video_bit_rate",
    "bit_rate",
    "max_fps",
    "display_id",
    "new_display",
    "scid",
    "video",
    "audio",
    "control",
    "tunnel_forward",
    "send_device_meta",
    "power_on",
    "crop",
    "min_size_alignment",
    "video_codec",
    "log_level",
    "cleanup",
    "no_such_option",
    "angle",
)
CHANNEL_WORDS = ("fault", "clear", "faults", "state", "touch", "swipe", "turn", "reset", "no such")
FAULTS = (
    "disconnect",
    "null-root",
    "hung-dump",
    "clock-jump",
    "app-crash",
    "low-storage",
    "no such",
)


def value(chance: random.Random, depth: int = 0) -> object:
    """Make a JSON value: a text, a number, a selector, a list or an object."""
    match chance.randrange(9 if depth < 3 else 5):
        case 0 | 1:
            return chance.choice(TEXTS)
        case 2 | 3:
            return chance.choice(NUMBERS)
        case 4:
            return chance.choice((None, True, False))
        case 5 | 6:
            return selector(chance, depth)
        case 7:
            return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
        case _:
            return {chance.choice(TEXTS): value(chance, depth + 1) for _ in range(2)}


def fitting(chance: random.Random, kind: object) -> object:
    """Make a value of the kind that a parameter has, most of the time."""
    if chance.random() < 0.1:
        return value(chance)
    if kind is bool:
        return chance.random() < 0.5
    if kind is int:
        return chance.choice([one for one in NUMBERS if isinstance(one, int)])
    if kind is float:
        return chance.choice(NUMBERS)
    if kind is Selector:
        return selector(chance, 0)
    if kind == list[float]:
        return [chance.choice(NUMBERS) for _ in range(chance.randrange(7))]
    return chance.choice(TEXTS) if "str" in str(kind) else value(chance)


def selector(chance: random.Random, depth: int) -> dict[str, object]:
    """Make a selector, at times with a field of a wrong kind."""
    flags = chance.sample(list(Mask), chance.randrange(4))
    made: dict[str, object] = {"mask": sum(flags) if chance.random() < 0.9 else -1}
    for flag in flags:
        head, *rest = (flag.name or "").lower().split("_")
        name = head + "".join(word.title() for word in rest)
        made[name] = value(chance, 9) if chance.random() < 0.2 else chance.choice(TEXTS)
        if flag in (Mask.INDEX, Mask.INSTANCE):
            made[name] = chance.choice(NUMBERS)
        elif flag.name and flag.name.lower().endswith(("able", "ed")):
            made[name] = True
    if chance.random() < 0.3 and depth < 3:
        made["childOrSibling"] = [chance.choice(("child", "sibling", "x"))]
        made["childOrSiblingSelector"] = [selector(chance, depth + 1)]
    return made


def control_bytes(chance: random.Random) -> bytes:
    """Make control messages as some dialect has them, or nearly."""
    out = b""
    for _ in range(chance.randint(1, 12)):
        kind = chance.choice(list(ControlType))
        text = chance.choice(TEXTS).encode()
        match kind:
            case ControlType.KEYCODE:
                body = struct.pack(
                    ">BIII",
                    chance.choice((0, 1)),
                    chance.choice((3, 4, 66, 67, 187, 2**32 - 1)),
                    0,
                    chance.choice((0, 1, 0x1000, 2**32 - 1)),
                )
            case ControlType.TEXT:
                body = struct.pack(">I", len(text)) + text
            case ControlType.TOUCH:
                body = struct.pack(
                    ">BqiiHHHI",
                    chance.randrange(8),
                    chance.choice((-1, -2, 0, 2**63 - 1)),
                    chance.choice((0, 540, -5, 2**31 - 1)),
                    chance.choice((0, 1200, -(2**31))),
                    1080,
                    2400,
                    0xFFFF,
                    0,
                )
                body += b"\0" * 4 * chance.randrange(2)
            case ControlType.SCROLL:
                body = struct.pack(
                    ">iiHHii",
                    540,
                    1200,
                    1080,
                    2400,
                    *(chance.choice((0, 1, -1, 2**31 - 1, -(2**31))) for _ in range(2)),
                )
            case ControlType.SET_CLIPBOARD:
                body = struct.pack(">QBI", chance.choice((0, 7)), 1, len(text)) + text
            case ControlType.UHID_CREATE:
                body = struct.pack(">HB", 1, 1) + b"k" + struct.pack(">H", 2) + b"ab"
            case ControlType.UHID_INPUT:
                body = struct.pack(">HH", 1, 8) + chance.randbytes(8)
            case ControlType.START_APP:
                body = bytes([len(text[:200])]) + text[:200]
            case _:
                body = chance.randbytes(chance.randrange(6))
        out += bytes([kind]) + body
    return mutated(chance, out) if chance.random() < 0.3 else out


def channel_line(chance: random.Random, name: str) -> bytes:
    """Make a request to the channel, at times damaged."""
    request: dict[str, object] = {"do": chance.choice(CHANNEL_WORDS), "phone": name}
    if chance.random() < 0.7:
        request["kind"] = chance.choice(FAULTS)
    for key in ("value", "duration_s", "start", "end", "duration_ms", "degrees", "phone"):
        if chance.random() < 0.3:
            odd = [chance.choice(NUMBERS), chance.choice(NUMBERS)]
            request[key] = chance.choice((value(chance, 9), odd))
    line = json.dumps(request).encode()
    return (mutated(chance, line) if chance.random() < 0.2 else line).replace(b"\n", b" ") + b"\n"


class PeerFuzzer:
    """Rounds against one served phone.

    Args:
        host: serves it, so that there is a channel.
        path: the channel's socket.
        seed: what the rounds are made from.
    """

    def __init__(self, host: PhoneHost, path: Path, seed: int) -> None:
        self._served = host.served(host.serials[0])
        self._path = path
        self._seed = seed
        self._table = MethodTable()
        service = Service(self._served.userland)
        DeviceMethods(service).register(self._table)
        ObjectMethods(service).register(self._table)

    @property
    def _phone(self) -> Phone:
        return self._served.phone

    async def round(self, number: int, errors: list[str]) -> None:
        chance = random.Random(f"peers/{self._seed}/{number}")
        where = f"seed {self._seed}, round {number}"
        try:
            await chance.choice((self._rpc, self._rpc, self._control, self._server, self._channel))(
                chance
            )
            if number % CHECK_EVERY == CHECK_EVERY - 1:
                self._check()
        except Exception as error:
            raise FuzzError(f"{where}: {type(error).__name__}: {error}") from error
        if errors:
            raise FuzzError(f"{where}: {errors[0]}")

    async def _rpc(self, chance: random.Random) -> None:
        method = chance.choice([*self._table.names(), "no such"])
        shape = chance.choice([*self._table.shapes(method), (), (int, str)])
        request: object = {
            "jsonrpc": "2.0",
            "id": chance.choice((1, "a", None)),
            "method": method,
            "params": [fitting(chance, kind) for kind in shape],
        }
        body = json.dumps(request).encode()
        if chance.random() < 0.1:
            body = mutated(chance, body)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ROUND_S):
                said = await answer(self._table, body)
                if said:
                    json.loads(said)

    async def _control(self, chance: random.Random) -> None:
        source = BytesSource(control_bytes(chance))

        async def read_exactly(size: int) -> bytes:
            found = b""
            while len(found) < size:
                part = await source.read(size - len(found))
                if not part:
                    raise EOFError
                found += part
            return found

        async def send(data: bytes) -> None:
            del data

        async def log(line: str) -> None:
            del line

        ways = dialect(chance.choice(VERSIONS))
        injector = Injector(
            self._served.userland,
            ways,
            0,
            answers_clipboard=True,
            shown_size=lambda: (1080, 2400),
            send=send,
            log=log,
            restart_video=lambda: None,
        )
        reader = ControlReader(ways, read_exactly)
        with contextlib.suppress(TimeoutError, PhoneError, EOFError):
            async with asyncio.timeout(ROUND_S):
                while True:
                    await injector.handle(await reader.next())
        await injector.release()

    async def _server(self, chance: random.Random) -> None:
        words = [chance.choice((*VERSIONS, "1.17", *TEXTS))]
        for _ in range(chance.randrange(6)):
            text = str(
                chance.choice((*TEXTS, *NUMBERS, "true", "720x1280/300", "h264", "ffffffff"))
            )
            words.append(f"{chance.choice(OPTIONS)}={text}" if chance.random() < 0.9 else text)
        quoted = " ".join("'" + word.replace("'", "").replace("\0", "") + "'" for word in words)
        line = f"app_process / com.genymobile.scrcpy.Server {quoted}"
        streams: Descriptors = {0: BytesSource(b""), 1: CollectingSink(), 2: CollectingSink()}
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ROUND_S):
                await Shell(self._served.userland).run_text(decode(line.encode()), streams)

    async def _channel(self, chance: random.Random) -> None:
        reader, writer = await asyncio.open_unix_connection(self._path, limit=1 << 24)
        try:
            for _ in range(chance.randint(1, 4)):
                writer.write(channel_line(chance, self._phone.name))
                json.loads(await reader.readline())
        finally:
            writer.transport.abort()
        self._served.userland.faults.clear()

    def _check(self) -> None:
        """See that the phone can be saved, read back and looked at."""
        phone = self._phone
        kept = phone.snapshot()
        json.dumps(phone.state()).encode()
        phone.compositor.scene()
        phone.restore(kept)
        if phone.snapshot() != kept:
            raise FuzzError("a snapshot changed what it was taken of")
        self._served.reset()


async def fuzz(home: Path, seed: int, *, seconds: float = 0.0, rounds: int = 0) -> int:
    """Fuzz for some seconds or rounds; return how many rounds there were. Raises FuzzError."""
    async with PhoneHost(home) as host:
        fuzzer = PeerFuzzer(host, channel_path(home), seed)
        return await rounds_of(fuzzer.round, seconds=seconds, rounds=rounds)


if __name__ == "__main__":
    sys.exit(run("support.fuzz_peers", lambda *how: fuzz(how[0], how[1], seconds=how[2])))
