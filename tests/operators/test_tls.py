"""A core that listens to other computers by TLS: who comes in, and everybody who does not.

The streams are real, on the loopback; certificates are made by the authority of the product.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from agent.errors import ConfigError, NotAllowedError, RuntimeDiedError, SwitchboardError
from agent.operators.changes import without_credential
from agent.operators.keys import make_key, sign, signed_words
from agent.records import Right
from agent.rpc import tls_listener
from agent.rpc.connection import BEFORE_SIGN_IN, METHODS
from agent.rpc.credentials import KeyFile, TokenShown
from agent.rpc.places import TlsPlace
from agent.rpc.remote_core import Client
from agent.rpc.rpc_messages import MAX_CALL_BYTES, SignInParams
from agent.rpc.tls_listener import MAX_WAITING_OF_ONE, Listening, TlsListener
from agent.tls import authority
from agent.tls.authority import IssuedFiles, init, issue, now_utc
from agent.tls.contexts import client_context
from tests.operators.house import House

HERE = "127.0.0.1"


@dataclass
class Wire:
    """A core that listens, and what it takes to come."""

    house: House
    listener: TlsListener
    ca: Path  # The directory of the authority.
    host: IssuedFiles
    caller: IssuedFiles
    opened: list[asyncio.StreamWriter] = field(default_factory=list)

    def place(
        self, *, ca: Path | None = None, host: str = HERE, by: IssuedFiles | None = None
    ) -> TlsPlace:
        """Return the place of the core, with a certificate to show."""
        cert, key = (None, None) if by is None else (by.certificate, by.key)
        trusted = ca or self.ca / authority.CERTIFICATE
        return TlsPlace(host, self.listener.port, trusted, cert, key)

    async def come(
        self, name: str = "", *, token: str = "", place: TlsPlace | None = None
    ) -> Client:
        credentials = (
            TokenShown(token) if token else KeyFile(self.house.keys / name) if name else None
        )
        client = await Client.connect(place or self.place(), name="test", credentials=credentials)
        self.house.clients.append(client)
        return client

    async def raw(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection whose handshake is done, and say nothing."""
        context = client_context(self.ca / authority.CERTIFICATE, None, None)
        reader, writer = await asyncio.open_connection(HERE, self.listener.port, ssl=context)
        self.opened.append(writer)
        return reader, writer

    async def plain(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection, and say nothing."""
        reader, writer = await asyncio.open_connection(HERE, self.listener.port)
        self.opened.append(writer)
        return reader, writer


@asynccontextmanager
async def listening(house: House, directory: Path, *, mutual: bool = False) -> AsyncIterator[Wire]:
    """Let a house's core listen, with an operator ana who may see everything."""
    ca = directory / "authority"
    init(ca, now_utc())
    host = issue(ca, "rack-1", [HERE, "localhost"], now_utc())
    caller = issue(ca, "ana", (), now_utc(), is_caller=True)
    if not house.register.is_used:
        await house.add("ana", Right.DRIVE)
    trusted = ca / authority.CERTIFICATE if mutual else None
    where = Listening(HERE, 0, host.certificate, host.key, trusted)
    listener = await house.daemon.listen_far(where)
    wire = Wire(house, listener, ca, host, caller)
    try:
        yield wire
    finally:
        for writer in wire.opened:
            writer.transport.abort()


@pytest.fixture
async def wire(house: House, tmp_path: Path) -> AsyncIterator[Wire]:
    async with listening(house, tmp_path) as made:
        yield made


async def read_to_end(reader: asyncio.StreamReader) -> bytes:
    """Read until the other side hangs up."""
    said = b""
    async with asyncio.timeout(60):
        with suppress(OSError):
            while part := await reader.read(65536):
                said += part
    return said


# --- who comes in ----------


async def test_an_operator_comes_in_by_key_and_by_token(house: House, tmp_path: Path) -> None:
    token = await house.add("ben", Right.WATCH, tags=("lab",))
    await house.add("ana", Right.DRIVE)
    async with listening(house, tmp_path) as wire:
        ana, ben = await wire.come("ana"), await wire.come(token=token)
        assert len((await ana.overview()).devices) == 2
        assert [one.serial for one in (await ben.overview()).devices] == ["lab-1"]
        clients = (await ana.status()).clients
        assert [(one.operator, one.name) for one in clients] == [
            ("ana", f"ana: test ({HERE})"),
            ("ben", f"ben: test ({HERE})"),
        ]


async def test_events_and_pictures_come_over_it(wire: Wire) -> None:
    client = await wire.come("ana")
    async with client.events(after=0) as events:
        assert await anext(events)
    async with client.frames("lab-1", width_px=8, height_px=8, max_hz=5) as frames:
        assert (await anext(frames)).serial == "lab-1"


async def test_a_core_without_operators_listens_to_nobody(house: House, tmp_path: Path) -> None:
    ca = tmp_path / "authority"
    init(ca, now_utc())
    host = issue(ca, "rack-1", [HERE], now_utc())
    with pytest.raises(ConfigError, match="without operators") as refusal:
        await house.daemon.listen_far(Listening(HERE, 0, host.certificate, host.key))
    assert "operators add" in refusal.value.remedy


async def test_who_comes_after_the_last_operator_was_removed_stays_out(wire: Wire) -> None:
    await wire.house.register.change("ana", lambda _one: None)
    assert not wire.house.register.is_used
    with pytest.raises(SwitchboardError):
        await (await wire.come()).overview()
    with pytest.raises(NotAllowedError):
        await wire.come("ana")


async def test_what_is_revoked_is_hung_up_on(wire: Wire) -> None:
    client = await wire.come("ana")
    assert wire.listener.links
    await wire.house.register.change("ana", lambda known: without_credential(known["ana"], "all"))
    async with asyncio.timeout(60):
        assert not await client.wait_closed()
    assert not (await wire.house.daemon.status()).clients


async def test_a_certificate_that_was_renewed_is_shown_to_who_comes_next(wire: Wire) -> None:
    before = await wire.come("ana")
    shown = wire.host.certificate.read_bytes()
    issue(wire.ca, "rack-1", [HERE], now_utc())
    assert wire.host.certificate.read_bytes() != shown
    # By key: so what each connection signs is the certificate that it was shown.
    after = await wire.come("ana")
    for client in (before, after):
        assert (await client.overview()).devices


async def test_a_certificate_that_was_half_written_changes_nothing(wire: Wire) -> None:
    whole = wire.host.certificate.read_bytes()
    for broken in (b"", whole[:200], b"-----BEGIN CERTIFICATE-----\nAAAA\n", whole.lower()):
        wire.host.certificate.write_bytes(broken)
        assert await wire.come("ana")
    other = issue(wire.ca, "other", [HERE], now_utc())
    wire.host.certificate.write_bytes(other.certificate.read_bytes())
    assert await wire.come("ana")


async def test_a_certificate_of_its_own_may_be_asked_for(house: House, tmp_path: Path) -> None:
    async with listening(house, tmp_path, mutual=True) as wire:
        client = await wire.come("ana", place=wire.place(by=wire.caller))
        (told,) = (await client.status()).clients
        assert told.name == f"ana: test (ana at {HERE})"
        # It opens nothing by itself.
        for tries in range(3):
            with pytest.raises(NotAllowedError):
                await wire.come(token=f"swb_{tries}", place=wire.place(by=wire.caller))
        init(tmp_path / "other", now_utc())
        old = now_utc() - timedelta(days=9)
        wrong = [
            None,
            issue(tmp_path / "other", "ana", (), now_utc(), is_caller=True),
            issue(wire.ca, "old", (), old, life=timedelta(days=2), is_caller=True, output=tmp_path),
        ]
        for by in wrong:
            with pytest.raises(SwitchboardError) as refusal:
                await wire.come("ana", place=wire.place(by=by))
            assert "a valid certificate" in str(refusal.value)
            assert "fleet authority issue" in refusal.value.remedy or "core.cert" in str(
                refusal.value.remedy
            )


# --- whom a console believes ----------


@asynccontextmanager
async def pretender(
    made: IssuedFiles, *, newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3, plain: bool = False
) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Listen as somebody who would like to be the core; also returns what was said to them."""
    said: list[bytes] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)
    context.maximum_version = newest

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            if plain:
                writer.write(b"HTTP/1.0 200 OK\r\n\r\nhello\n")
                await writer.drain()
            said.append(await reader.read(65536))
        writer.transport.abort()

    server = await asyncio.start_server(answer, HERE, 0, ssl=None if plain else context)
    try:
        yield server.sockets[0].getsockname()[1], said
    finally:
        server.close()
        await server.wait_closed()


async def _refused_as(place: TlsPlace, said: list[bytes]) -> SwitchboardError:
    with pytest.raises(SwitchboardError) as refusal:
        await Client.connect(place, credentials=TokenShown("swb_verborgen"))
    assert not any(b"swb_" in one or b"hello" in one for one in said)
    assert "verborgen" not in str(refusal.value)
    assert refusal.value.remedy
    return refusal.value


async def test_a_core_of_another_authority_is_told_nothing(tmp_path: Path) -> None:
    for name in ("mine", "theirs"):
        init(tmp_path / name, now_utc())
    theirs = issue(tmp_path / "theirs", "rack-1", [HERE], now_utc())
    async with pretender(theirs) as (port, said):
        place = TlsPlace(HERE, port, tmp_path / "mine" / authority.CERTIFICATE)
        assert "not signed by the authority" in str(await _refused_as(place, said))
        # Nor is one whom nobody vouched for, where the system's authorities are asked.
        assert "this system trusts" in str(await _refused_as(TlsPlace(HERE, port), said))


@pytest.mark.parametrize(
    ("names", "ago", "life", "is_caller", "expected"),
    [
        ([HERE], 30, 10, False, "has expired"),
        ([HERE], -30, 10, False, "not valid yet"),
        (["rack-2.lan"], 0, 10, False, "another name"),
        (["10.1.2.3"], 0, 10, False, "another name"),
        (["localhost"], 0, 10, False, "another name"),
        ([], 0, 10, True, "for callers"),
    ],
)
async def test_a_core_whose_certificate_does_not_count_is_told_nothing(
    tmp_path: Path, names: list[str], ago: int, life: int, is_caller: bool, expected: str
) -> None:
    ca = tmp_path / "ca"
    init(ca, now_utc() - timedelta(days=100))
    moment = now_utc() - timedelta(days=ago)
    made = issue(ca, "rack-1", names, moment, life=timedelta(days=life), is_caller=is_caller)
    async with pretender(made) as (port, said):
        error = await _refused_as(TlsPlace(HERE, port, ca / authority.CERTIFICATE), said)
    assert expected in str(error)


async def test_nothing_older_and_nothing_plain_is_spoken(tmp_path: Path) -> None:
    ca = tmp_path / "ca"
    init(ca, now_utc())
    made = issue(ca, "rack-1", [HERE], now_utc())
    trusted = ca / authority.CERTIFICATE
    async with pretender(made, newest=ssl.TLSVersion.TLSv1_2) as (port, said):
        assert "TLS 1.3" in str(await _refused_as(TlsPlace(HERE, port, trusted), said))
    async with pretender(made, plain=True) as (port, said):
        assert "does not speak TLS" in str(await _refused_as(TlsPlace(HERE, port, trusted), said))


async def test_a_signature_does_not_open_the_core_behind_somebody_in_between(wire: Wire) -> None:
    """Who has a certificate of the same authority passes on what the operator signed for it."""
    between = issue(wire.ca, "between", [HERE], now_utc())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(between.certificate, between.key)

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner = await wire.raw()

        async def copy(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
            with suppress(OSError):
                while part := await source.read(65536):
                    to.write(part)
                    await to.drain()

        await asyncio.gather(copy(reader, inner), copy(inner_reader, writer))
        writer.transport.abort()

    server = await asyncio.start_server(relay, HERE, 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    try:
        with pytest.raises(NotAllowedError, match="refused"):
            await wire.come("ana", place=TlsPlace(HERE, port, wire.ca / authority.CERTIFICATE))
    finally:
        server.close()
    assert not wire.listener.links


# --- who does not come in ----------


async def test_forty_guesses_open_nothing(wire: Wire) -> None:
    known = await wire.house.add("ben", Right.ADMINISTER)
    guesses = [
        *(
            "",
            " ",
            "x",
            "swb_",
            "swb_0",
            "admin",
            "null",
            "true",
            "0",
            "*",
            "%",
            "'",
            "../",
            "\ud800",
        ),
        *(
            known[:-1],
            known + "x",
            known.upper(),
            known.lower(),
            known[::-1],
            known[4:],
            f" {known}",
        ),
        *(f"swb_{known.split('_')[1]}_{one}" for one in ("", "x", "a" * 43, "0" * 43, "=" * 43)),
        *(f"swb_{number:08x}_{'A' * 43}" for number in range(14)),
    ]
    assert len(guesses) >= 40
    for guess in guesses:
        with pytest.raises(SwitchboardError) as refusal:
            await wire.come(token=guess or " ")
        assert "swb_" not in str(refusal.value)
    assert await wire.come(token=known)
    assert [link.client.operator for link in wire.listener.links] == ["ben"]


async def test_keys_that_are_not_the_operators_open_nothing(wire: Wire) -> None:
    make_key(wire.house.keys / "stranger")
    with pytest.raises(NotAllowedError):
        await wire.come("stranger")
    ana = wire.house.keys / "ana"
    kept: list[SignInParams] = []

    class Wrong:
        is_all_there_is = False

        def __init__(self, how: str) -> None:
            self.how = how

        def answer(self, challenge: bytes, channel: bytes) -> SignInParams:
            if self.how == "again" and kept:
                return kept[0]
            words = {
                "socket": signed_words(challenge, b""),
                "other certificate": signed_words(challenge, channel[:-1] + b"x"),
                "own challenge": signed_words(b"\0" * 32, channel),
                "no challenge": signed_words(b"", channel),
            }.get(self.how, signed_words(challenge, channel))
            public, signature = sign(ana, words)
            if self.how == "cut":
                signature = signature[:-1]
            if self.how == "none":
                signature = b""
            if self.how == "zeros":
                signature = bytes(64)
            if self.how == "other key":
                public = bytes(reversed(public))
            kept.append(SignInParams(public=public, signature=signature))
            return kept[-1]

    await Client.connect(wire.place(), credentials=Wrong("right"))
    for how in (
        *("again", "socket", "other certificate", "own challenge", "no challenge", "cut", "none"),
        *("zeros", "other key"),
    ):
        with pytest.raises(NotAllowedError):
            await Client.connect(wire.place(), credentials=Wrong(how))


@pytest.mark.parametrize("method", sorted({*METHODS, "codex.initialize"} - BEFORE_SIGN_IN))
async def test_nothing_is_answered_before_somebody_signed_in(wire: Wire, method: str) -> None:
    reader, writer = await wire.raw()
    writer.write(msgspec.json.encode({"id": 1, "method": method, "params": {}}) + b"\n")
    answer = msgspec.json.decode(await reader.readline())
    assert "sign in first" in answer["error"]["message"]
    assert "result" not in answer


@pytest.mark.parametrize(
    "said",
    [
        b'{"id":1,"method":"overview"}\n',
        b'{"id":1,"method":"sign_in","params":{"token":"x"}}\n',
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"SSH-2.0-x\r\n",
        b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
        b"\x16\x03\x01\xff\xff" + b"\0" * 70000,
        b"\0" * 100,
        b"\x15\x03\x03\x00\x02\x02\x28",
    ],
)
async def test_what_is_no_tls_is_answered_with_nothing_of_ours(wire: Wire, said: bytes) -> None:
    reader, writer = await wire.plain()
    writer.write(said)
    writer.write_eof()
    answer = await read_to_end(reader)
    # At most an alert of TLS (RFC 8446, 6): seven bytes.
    assert len(answer) <= 7
    assert await wire.come("ana")


async def test_an_older_tls_is_refused(wire: Wire) -> None:
    context = client_context(wire.ca / authority.CERTIFICATE, None, None)
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await asyncio.open_connection(HERE, wire.listener.port, ssl=context)


@pytest.mark.parametrize("ends", [b"", b"\n"])
async def test_a_line_without_end_is_hung_up_on(wire: Wire, ends: bytes) -> None:
    reader, writer = await wire.raw()
    with suppress(OSError):
        for _ in range(4 * MAX_CALL_BYTES // 65536):
            writer.write(b"x" * 65536)
            await writer.drain()
        writer.write(ends)
    answer = await read_to_end(reader)
    assert len(answer) < 200
    assert await wire.come("ana")


async def test_who_only_connects_is_gone_in_time(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls_listener, "HANDSHAKE_S", 0.3)
    monkeypatch.setattr(tls_listener, "SIGN_IN_S", 0.3)
    silent = await wire.plain()
    half = await wire.plain()
    half[1].write(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc")
    shaken = await wire.raw()
    pinging = await wire.raw()

    async def ping() -> None:
        with suppress(OSError):
            for number in range(1000):
                pinging[1].write(b'{"id":%d,"method":"ping"}\n' % number)
                await pinging[1].drain()
                await asyncio.sleep(0.05)

    keeps_pinging = asyncio.create_task(ping())
    for reader, _ in (silent, half, shaken, pinging):
        await read_to_end(reader)
    keeps_pinging.cancel()
    async with asyncio.timeout(60):
        while wire.listener.waiting:
            await asyncio.sleep(0)
    assert not wire.listener.links


async def test_strangers_without_number_keep_no_operator_out(wire: Wire) -> None:
    ana = await wire.come("ana")
    strangers = [await wire.plain() for _ in range(5 * MAX_WAITING_OF_ONE)]
    assert wire.listener.waiting <= MAX_WAITING_OF_ONE
    # Who is in stays in, and who can sign in comes in: the oldest stranger goes.
    assert (await ana.overview()).devices
    assert await wire.come("ana")
    gone = [asyncio.create_task(read_to_end(reader)) for reader, _ in strangers]
    async with asyncio.timeout(60):
        await asyncio.wait(gone, return_when=asyncio.FIRST_COMPLETED)
    assert wire.listener.waiting <= MAX_WAITING_OF_ONE
    for one in gone:
        one.cancel()
    # The socket of this computer has its own places.
    assert await wire.house.come("ana")


async def test_no_more_than_so_many_are_signed_in(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls_listener, "MAX_SIGNED_IN", 2)
    first, second = await wire.come("ana"), await wire.come("ana")
    third = await wire.come("ana")
    async with asyncio.timeout(60):
        await third.wait_closed()
    assert (await first.overview()).devices
    await second.close()
    async with asyncio.timeout(60):
        while len(wire.listener.links) > 1:
            await asyncio.sleep(0)
    fourth = await wire.come("ana")
    assert (await fourth.overview()).devices


async def test_the_end_of_the_core_reaches_who_is_far(wire: Wire) -> None:
    client, place = await wire.come("ana"), wire.place()
    async with client.events(after=0):
        await wire.house.daemon.close()
        async with asyncio.timeout(60):
            await client.wait_closed()
    with pytest.raises(RuntimeDiedError, match="No core listens"):
        await wire.come("ana", place=place)


async def test_no_token_and_no_key_is_in_the_log(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    token = await wire.house.add("ben", Right.WATCH)
    await wire.come(token=token)
    with pytest.raises(NotAllowedError):
        await wire.come(token="swb_11112222_geheimes")
    said = caplog.text
    assert token.rsplit("_", 1)[1] not in said
    assert "geheimes" not in said
    assert "PRIVATE" not in said
