"""Who may follow a host's pictures: who knows the secret of its opening, and nothing else by it."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import NotAllowedError, SwitchboardError, UsageError
from agent.operators.door import Door
from agent.operators.file_register import FileRegister
from agent.operators.operator import Operator
from agent.protocol import SessionCreate
from agent.rpc.connection import METHODS
from agent.rpc.host_door import METHODS as HOST_METHODS
from agent.rpc.host_door import SECRET_BYTES, HostDoor, HostShown, read_wire
from agent.rpc.remote_core import Client
from agent.rpc.rpc_messages import SignInParams
from tests.hosts.bench import PHONE, THERE, OwnPhones, Rack, looking, serving, soon
from tests.operators.house import House, opened
from tests.small_core import SmallCore
from tests.store.memory import MemoryStore

BOX = {"width_px": 4, "height_px": 8, "max_hz": 30.0}


def door() -> HostDoor:
    return HostDoor(THERE, OwnPhones(SmallCore(MemoryStore())))


def secret_of(one: HostDoor) -> bytes:
    return read_wire(one.wire()).secret


async def come(rack: Rack, secret: bytes, *, to: str = THERE) -> Client:
    return await Client.connect(rack.daemon.path, credentials=HostShown("rack-1", to, secret))


async def test_a_host_follows_pictures_and_can_call_nothing_else(tmp_path: Path) -> None:
    async with serving(tmp_path) as rack:
        client = await come(rack, secret_of(rack.door))
        try:
            async with client.frames(PHONE, **BOX) as frames:
                assert (await soon(frames)).serial == PHONE
            refused = 0
            for method in (*METHODS, "session.list", "session.create", "nonsense"):
                if method in HOST_METHODS:
                    continue
                with pytest.raises(SwitchboardError) as error:
                    await client._caller.call(method, msgspec.Raw(b"{}"), type(None))  # type: ignore[arg-type]
                if method != "sign_in":
                    assert isinstance(error.value, NotAllowedError), method
                refused += 1
            assert refused > 10
            with pytest.raises(NotAllowedError):
                await client.request(SessionCreate(goal="pay"))
            with pytest.raises(NotAllowedError):
                async with client.events():
                    pass
            # Words of one session, never of all.
            with pytest.raises(NotAllowedError):
                async with client.deltas():
                    pass
            assert not rack.phones.core.clients
        finally:
            await client.close()


async def test_who_does_not_know_the_secret_gets_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path) as rack:
        right = secret_of(rack.door)
        wrong = (bytes(SECRET_BYTES), right[:-1], right + b"\0", b"", secret_of(door()))
        for secret in (*wrong, bytes([right[0] ^ 1]) + right[1:]):
            with pytest.raises(NotAllowedError):
                await come(rack, secret)
        # Made for another host.
        with pytest.raises(NotAllowedError):
            await come(rack, right, to="rack-3")
        assert not rack.phones.followed


async def test_an_older_life_of_a_host_is_forgotten(tmp_path: Path) -> None:
    async with serving(tmp_path) as rack:
        old = rack.wire
    async with serving(tmp_path) as rack, looking({THERE: old}) as lines:
        async with lines.frames(PHONE, **BOX) as frames:
            assert "are not available here" in (await soon(frames)).detail
        assert not rack.phones.followed


async def test_who_answers_in_a_hosts_place_shows_nothing(tmp_path: Path) -> None:
    """Another computer may have a core at the same path."""
    async with serving(tmp_path / "here", host="rack-1") as other, serving(tmp_path / "a") as rack:
        wire = rack.door.wire(f"unix:{other.daemon.path}")
        async with looking({THERE: wire}) as lines, lines.frames(PHONE, **BOX) as frames:
            assert "are not available here" in (await soon(frames)).detail
        assert not other.phones.followed


def test_a_proof_counts_for_its_challenge_and_connection_alone() -> None:
    one = door()
    secret = secret_of(one)
    asks = HostShown("rack-1", THERE, secret)
    shown = asks.answer(b"challenge", b"channel")
    signed = one.let_in(shown, b"challenge", b"channel")
    asks.check(signed, b"challenge", b"channel")
    for challenge, channel in ((b"other", b"channel"), (b"challenge", b"other"), (b"", b"channel")):
        with pytest.raises(NotAllowedError):
            one.let_in(shown, challenge, channel)
        with pytest.raises(NotAllowedError):
            asks.check(signed, challenge, channel)
    # What a host proves is not what it would be asked by: nothing is reflected.
    with pytest.raises(NotAllowedError):
        one.let_in(msgspec.structs.replace(shown, proof=signed.proof), b"challenge", b"channel")
    with pytest.raises(NotAllowedError):
        asks.check(msgspec.structs.replace(signed, proof=shown.proof), b"challenge", b"channel")
    # Bytes that move from one part to the next are another proof.
    with pytest.raises(NotAllowedError):
        one.let_in(shown, b"challengec", b"hannel")


@given(
    host=st.text(max_size=200),
    nonce=st.binary(max_size=32),
    proof=st.binary(max_size=64),
    challenge=st.binary(max_size=32),
)
def test_no_guess_opens_the_door(host: str, nonce: bytes, proof: bytes, challenge: bytes) -> None:
    with pytest.raises(NotAllowedError):
        door().let_in(SignInParams(host=host, nonce=nonce, proof=proof), challenge, b"")


def test_a_secret_is_in_no_text() -> None:
    one = door()
    secret = secret_of(one)
    assert secret not in repr(read_wire(one.wire())).encode()
    shown = HostShown("rack-1", THERE, secret)
    assert secret not in repr(shown.answer(b"c", b"")).encode()
    assert len({secret_of(door()) for _ in range(3)}) == 3


async def test_where_a_core_has_operators_a_host_comes_by_its_secret_and_nobody_else(
    tmp_path: Path,
) -> None:
    register = FileRegister(tmp_path)
    await register.change("zoe", lambda _one: Operator(name="zoe", made_ms=1))
    async with serving(tmp_path) as rack:
        core = rack.phones.core
    shut = Door(core, register)  # type: ignore[arg-type]
    async with serving(tmp_path, door=shut) as rack:
        with pytest.raises(NotAllowedError):
            await Client.connect(rack.daemon.path)
        client = await come(rack, secret_of(rack.door))
        try:
            async with client.frames(PHONE, **BOX) as frames:
                assert (await soon(frames)).serial == PHONE
            with pytest.raises(NotAllowedError):
                await client.overview()
        finally:
            await client.close()


async def test_a_core_that_is_in_no_fleet_lets_no_host_in(tmp_path: Path) -> None:
    house: House
    async with opened(tmp_path) as house:
        for secret in (bytes(SECRET_BYTES), secret_of(door())):
            with pytest.raises(NotAllowedError):
                await Client.connect(
                    house.daemon.path, credentials=HostShown("rack-1", THERE, secret)
                )
        await house.add("zoe")
        with pytest.raises((NotAllowedError, UsageError)):
            await Client.connect(
                house.daemon.path, credentials=HostShown("rack-1", THERE, bytes(SECRET_BYTES))
            )
