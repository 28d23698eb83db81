"""ADB on the wire: what a phone answers to good, bad and slow peers."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from virtual_phone.adbd import wire
from virtual_phone.adbd.wire import Command, MalformedPacketError
from virtual_phone.errors import PhoneError
from virtual_phone.server.serve import PhoneHost

HOST_FEATURES = b"host::features=shell_v2,cmd,stat_v2"


class Peer:
    """A hand-made adb server on one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes = b"") -> None:
        self.writer.write(wire.encode(command, arg0, arg1, payload))

    async def take(self) -> tuple[wire.Header, bytes]:
        async with asyncio.timeout(30):
            header = wire.decode_header(await self.reader.readexactly(wire.HEADER_BYTES))
            return header, await self.reader.readexactly(header.length)

    async def hello(self, banner: bytes = HOST_FEATURES) -> bytes:
        self.send(Command.CNXN, wire.VERSION_SKIP_CHECKSUM, wire.MAX_PAYLOAD_BYTES, banner)
        header, payload = await self.take()
        assert header.command is Command.CNXN
        return payload

    async def ended(self) -> bool:
        """Whether the phone has closed the connection."""
        async with asyncio.timeout(30):
            try:
                while await self.reader.read(65536):
                    pass
            except ConnectionError:
                pass
        return True


@asynccontextmanager
async def peer_of(host: PhoneHost) -> AsyncIterator[Peer]:
    port = int(host.serials[0].rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4 * 1024 * 1024)
    try:
        yield Peer(reader, writer)
    finally:
        writer.close()


async def says_hi(host: PhoneHost) -> bool:
    """Whether the phone still serves a shell."""
    async with peer_of(host) as peer:
        await peer.hello()
        peer.send(Command.OPEN, 1, 0, b"shell:echo hi\0")
        out = b""
        while True:
            header, payload = await peer.take()
            if header.command is Command.WRTE:
                out += payload
                peer.send(Command.OKAY, 1, header.arg0)
            if header.command is Command.CLSE:
                return out == b"hi\n"


@given(
    st.sampled_from(list(Command)),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
    st.binary(max_size=64),
)
def test_a_packet_survives_encoding(command: Command, one: int, two: int, body: bytes) -> None:
    raw = wire.encode(command, one, two, body, summed=True)
    header = wire.decode_header(raw[: wire.HEADER_BYTES])
    assert header == wire.Header(command, one, two, len(body), wire.checksum(body))
    assert raw[wire.HEADER_BYTES :] == body


@given(st.binary(min_size=24, max_size=24))
def test_a_header_is_understood_or_refused(raw: bytes) -> None:
    try:
        assert wire.decode_header(raw).length <= wire.MAX_PAYLOAD_BYTES
    except MalformedPacketError as error:
        assert isinstance(error, PhoneError)


async def test_the_phone_says_what_it_is_and_can(host: PhoneHost) -> None:
    async with peer_of(host) as peer:
        banner = wire.decode_banner(await peer.hello())
        assert banner.kind == "device"
        assert {"shell_v2", "cmd", "stat_v2", "ls_v2", "sendrecv_v2"} <= banner.features
        assert "delayed_ack" not in banner.features


async def test_only_one_write_is_in_flight_without_delayed_ack(host: PhoneHost) -> None:
    async with peer_of(host) as peer:
        await peer.hello()
        peer.send(Command.OPEN, 5, 0, b"source:3000000\0")
        header, _ = await peer.take()
        assert (header.command, header.arg1) == (Command.OKAY, 5)
        header, payload = await peer.take()
        assert header.command is Command.WRTE
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await peer.reader.readexactly(1)
        total = len(payload)
        while True:
            peer.send(Command.OKAY, 5, header.arg0)
            header, payload = await peer.take()
            if header.command is Command.CLSE:
                break
            total += len(payload)
        assert total == 3_000_000


async def test_delayed_ack_is_spoken_when_the_server_asks(host: PhoneHost) -> None:
    async with peer_of(host) as peer:
        banner = wire.decode_banner(await peer.hello(HOST_FEATURES + b",delayed_ack"))
        assert "delayed_ack" in banner.features
        peer.send(Command.OPEN, 5, 600_000, b"source:2000000\0")
        header, window = await peer.take()
        assert header.command is Command.OKAY and struct.unpack("<i", window)[0] > 0
        total = 0
        while total < 600_000:
            header, payload = await peer.take()
            assert header.command is Command.WRTE
            total += len(payload)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await peer.reader.readexactly(1)
        while header.command is Command.WRTE:
            peer.send(Command.OKAY, 5, header.arg0, struct.pack("<i", len(payload)))
            header, payload = await peer.take()
            total += len(payload)
        assert (header.command, total) == (Command.CLSE, 2_000_000)


@pytest.mark.parametrize(
    "service", [b"nonsense:", b"", b"tcp:1", b"localabstract:none", b"x" * 5000]
)
async def test_a_service_that_is_not_there_is_refused(host: PhoneHost, service: bytes) -> None:
    async with peer_of(host) as peer:
        await peer.hello()
        peer.send(Command.OPEN, 9, 0, service + b"\0")
        header, _ = await peer.take()
        assert (header.command, header.arg0, header.arg1) == (Command.CLSE, 0, 9)
    assert await says_hi(host)


@pytest.mark.parametrize(
    "junk",
    [
        b"GET / HTTP/1.1\r\nHost: phone\r\n\r\n",
        b"\0" * 24,
        struct.pack("<6I", Command.CNXN, 1, 4096, 2**31, 0, Command.CNXN ^ 0xFFFFFFFF),
        wire.encode(Command.OPEN, 0, 0, b"shell:x\0"),
    ],
)
async def test_malformed_packets_close_the_connection_and_no_other(
    host: PhoneHost, junk: bytes
) -> None:
    async with peer_of(host) as good, peer_of(host) as bad:
        await good.hello()
        if junk[:4] == b"OPEN":
            await bad.hello()
        bad.writer.write(junk)
        assert await bad.ended()
        good.send(Command.OPEN, 1, 0, b"shell:echo fine\0")
        assert (await good.take())[0].command is Command.OKAY


async def test_a_flood_that_is_never_read_is_bounded(host: PhoneHost) -> None:
    async with peer_of(host) as peer:
        await peer.hello()
        peer.send(Command.OPEN, 3, 0, b"shell:sleep 1000\0")
        header, _ = await peer.take()
        chunk = bytes(wire.MAX_PAYLOAD_BYTES)
        for _ in range(12):
            peer.send(Command.WRTE, 3, header.arg0, chunk)
        assert await peer.ended()
    assert await says_hi(host)


async def test_too_many_streams_are_refused_not_served(host: PhoneHost) -> None:
    async with peer_of(host) as peer:
        await peer.hello()
        for number in range(1, 1100):
            peer.send(Command.OPEN, number, 0, b"shell:sleep 1000\0")
        refused = 0
        for _ in range(1099):
            refused += (await peer.take())[0].command is Command.CLSE
        assert refused == 1099 - 1024
    assert await says_hi(host)


_PACKETS = st.lists(
    st.tuples(
        st.sampled_from(list(Command)),
        st.integers(0, 4),
        st.integers(0, 4),
        st.one_of(
            st.binary(max_size=60),
            st.sampled_from(
                [
                    b"shell:cat\0",
                    b"sync:\0",
                    b"shell,v2,raw:cat\0",
                    b"reverse:forward:tcp:0;tcp:1\0",
                    b"SEND\x0c\0\0\0/sdcard/f,33",
                    b"LIST\x01\0\0\0/",
                    b"\x00\x04\0\0\0abcd",
                    b"DATA\xff\xff\xff\x7f",
                    b"exec:yes\0",
                    b"track-jdwp\0",
                    b"RECV\xff\xff\0\0",
                ]
            ),
        ),
    ),
    max_size=25,
)


async def test_random_packets_never_hurt_the_phone(
    tmp_path: Path, host: PhoneHost, caplog: pytest.LogCaptureFixture
) -> None:
    batches: list[list[tuple[Command, int, int, bytes]]] = []

    @given(_PACKETS)
    def collect(packets: list[tuple[Command, int, int, bytes]]) -> None:
        batches.append(packets)

    collect()
    for packets in batches:
        async with peer_of(host) as peer:
            await peer.hello()
            for packet in packets:
                peer.send(*packet)
            peer.writer.write_eof()
            assert await peer.ended()
    assert await says_hi(host)
    assert [record for record in caplog.records if record.exc_info] == []
