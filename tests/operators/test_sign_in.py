"""Who comes in: by key, by token, for how long; and what is revoked is gone at once."""

import asyncio
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from agent.errors import ConfigError, NotAllowedError, RuntimeDiedError, SwitchboardError
from agent.operators.changes import without, without_credential
from agent.operators.door import MOST_TRIES
from agent.operators.file_register import FileRegister
from agent.operators.keys import make_key, sign, signed_words
from agent.protocol import SessionAttach, SessionPrune, SessionResume
from agent.records import Right
from agent.rpc.credentials import KeyFile, TokenShown, read_token
from agent.rpc.remote_core import Client
from agent.rpc.rpc_messages import Hello, HelloParams, SignedIn, SignInParams, Status
from console.cli import cli
from tests.operators.house import HOUR_MS, House


async def test_without_operators_nobody_signs_in(house: House) -> None:
    client = await house.come()
    assert len((await client.overview()).devices) == 2
    await client.request(SessionPrune())


async def test_who_came_before_the_first_operator_has_to_sign_in_then(house: House) -> None:
    before = await house.come()
    await house.add("ana", Right.WATCH)
    with pytest.raises(NotAllowedError, match="sign in"):
        await before.overview()


async def test_a_key_and_a_token_open(house: House) -> None:
    token = await house.add("ana", Right.WATCH)
    for client in (await house.come("ana", program="deck"), await house.come(token=token)):
        assert len((await client.overview()).devices) == 2
    status = await client.status()
    assert [one.operator for one in status.clients] == ["ana", "ana"]
    assert all(one.name.startswith("ana: ") for one in status.clients)


async def test_a_program_cannot_call_itself_another_operator(house: House) -> None:
    await house.add("ana", Right.WATCH)
    await house.add("ben", Right.WATCH)
    client = await house.come("ana", program="ben: boss")
    (told,) = (await client.status()).clients
    assert (told.operator, told.name.split(":")[0]) == ("ana", "ana")


@pytest.mark.parametrize("shown", ["", "x", "swb_0000_wrong", "\ud800", "a" * 200])
async def test_a_wrong_token_opens_nothing(house: House, shown: str) -> None:
    await house.add("ana", Right.WATCH)
    with pytest.raises(SwitchboardError) as refusal:
        await house.come(token=shown or " ")
    assert "swb_" not in str(refusal.value)


async def test_a_key_of_nobody_opens_nothing(house: House) -> None:
    await house.add("ana", Right.WATCH)
    make_key(house.keys / "stranger")
    with pytest.raises(NotAllowedError, match="refused"):
        await house.come("stranger")


async def test_a_signature_opens_one_connection_once(house: House) -> None:
    await house.add("ana", Right.WATCH)

    class Kept:
        def __init__(self) -> None:
            self.shown = SignInParams()

        def answer(self, challenge: bytes, channel: bytes) -> SignInParams:
            self.shown = KeyFile(house.keys / "ana").answer(challenge, channel)
            return self.shown

    kept = Kept()
    client = await Client.connect(house.daemon.path, credentials=kept)
    house.clients.append(client)

    class Again:
        def answer(self, challenge: bytes, channel: bytes) -> SignInParams:
            return kept.shown

    with pytest.raises(NotAllowedError, match="refused"):
        await Client.connect(house.daemon.path, credentials=Again())


async def test_a_signature_for_another_channel_opens_nothing(house: House) -> None:
    await house.add("ana", Right.WATCH)

    class Relayed:
        def answer(self, challenge: bytes, channel: bytes) -> SignInParams:
            words = signed_words(challenge, b"the certificate of somebody in between")
            public, signature = sign(house.keys / "ana", words)
            return SignInParams(public=public, signature=signature)

    with pytest.raises(NotAllowedError, match="refused"):
        await Client.connect(house.daemon.path, credentials=Relayed())


async def test_who_tries_too_often_is_hung_up_on(house: House) -> None:
    await house.add("ana", Right.WATCH)

    reader, writer = await asyncio.open_unix_connection(str(house.daemon.path))
    line = msgspec.json.encode({"id": 1, "method": "sign_in", "params": {"token": "x"}}) + b"\n"
    writer.write(line * (MOST_TRIES + 2))
    heard = await reader.read()
    assert heard.count(b"refused") <= MOST_TRIES + 1
    assert reader.at_eof()
    writer.close()


async def test_a_token_expires(house: House) -> None:
    token = await house.add("ana", Right.WATCH)
    client = await house.come(token=token)
    await client.overview()
    house.stage.now_ms = house.stage.clock() + 2 * HOUR_MS
    with pytest.raises((NotAllowedError, RuntimeDiedError)):
        await client.overview()
    with pytest.raises(NotAllowedError, match="refused"):
        await house.come(token=token)


async def test_what_is_revoked_is_gone_at_once_also_for_who_follows(house: House) -> None:
    await house.add("ana", Right.WATCH, Right.DRIVE)
    client = await house.come("ana")

    async def follow() -> str:
        async with client.events(after=0) as events:
            async for _ in events:
                pass
        return "ended"

    following = asyncio.create_task(follow())
    await client.overview()
    await house.register.change("ana", lambda known: without(known["ana"], [Right.DRIVE], ()))
    with pytest.raises(NotAllowedError, match="drive"):
        await client.request(SessionResume(session_id=house.sessions["lab"]))
    await house.register.change("ana", lambda known: without_credential(known["ana"], "all"))
    with pytest.raises((NotAllowedError, RuntimeDiedError)):
        await client.overview()
    with pytest.raises((RuntimeDiedError, NotAllowedError)):
        async with asyncio.timeout(30):
            await following


async def test_a_register_that_cannot_be_read_lets_nobody_in(house: House) -> None:
    token = await house.add("ana", Right.ADMINISTER)
    whole = house.register.path.read_bytes()
    for broken in (whole[:40], b"", whole.replace(b'"version": 1', b'"version": 2'), b"[]"):
        house.register.path.write_bytes(broken)
        with pytest.raises(NotAllowedError):
            await house.come(token=token)
        with pytest.raises(NotAllowedError):
            await house.come()
    house.register.path.write_bytes(whole)
    house.register.path.chmod(0o644)
    with pytest.raises(NotAllowedError):
        await house.come(token=token)
    house.register.path.chmod(0o600)
    assert await house.come(token=token)


async def test_the_register_holds_neither_token_nor_private_key(house: House) -> None:
    token = await house.add("ana", Right.WATCH)
    kept = house.register.path.read_text()
    assert token not in kept
    assert token.rsplit("_", 1)[1] not in kept
    assert "PRIVATE" not in kept
    assert stat.S_IMODE(house.register.path.stat().st_mode) == 0o600


def test_files_that_others_may_read_are_refused(tmp_path: Path) -> None:
    make_key(tmp_path / "key")
    (tmp_path / "token").write_text("swb_x\n")
    for name in ("key", "token"):
        (tmp_path / name).chmod(0o640)
    with pytest.raises(ConfigError, match="Others may read"):
        sign(tmp_path / "key", b"x")
    with pytest.raises(ConfigError, match="Others may read"):
        read_token(tmp_path / "token")


def test_a_token_is_in_no_text_of_who_shows_it() -> None:
    assert "geheim" not in repr(TokenShown("geheim"))
    assert "geheim" not in repr(SignInParams(token="geheim"))


def _cli(data_dir: Path, *line: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["--data-dir", str(data_dir), "operators", *line])
    return done.exit_code, done.output


def test_commands_make_and_unmake_an_operator(tmp_path: Path) -> None:
    data, key = tmp_path / "data", tmp_path / "mine"
    assert _cli(data, "keygen", str(key))[0] == 0
    added = _cli(data, "add", "ana", "--may", "drive", "--tag", "lab", "--key", f"{key}.pub")
    assert added[0] == 0
    assert _cli(data, "grant", "ana", "approve", "--tag", "lab")[0] == 0
    code, printed = _cli(data, "token", "ana", "--for", "1h")
    assert code == 0
    token = next(line for line in printed.splitlines() if line.startswith("swb_"))
    code, listed = _cli(data, "list")
    assert "drive on lab; approve on lab" in listed
    assert token not in listed
    token_id = token.split("_")[1]
    assert token_id in listed
    register = FileRegister(data)
    ana = register.find("ana")
    assert ana is not None
    assert ana.may([Right.DRIVE], ["lab"])
    assert not ana.may([Right.DRIVE], ["bank"])
    assert not ana.may([Right.DRIVE], None)
    assert _cli(data, "revoke", "ana", "drive", "--credential", token_id)[0] == 0
    ana = register.find("ana")
    assert ana is not None
    assert not ana.may([Right.DRIVE], ["lab"])
    assert not ana.tokens
    assert _cli(data, "remove", "ana")[0] == 0
    assert not register.is_used


async def test_hello_says_that_a_sign_in_is_wanted(house: House) -> None:
    client = await house.come()
    assert (await client._caller.call("hello", HelloParams(), Hello)).challenge == b""
    token = await house.add("ana", Right.WATCH)
    told = await client._caller.call("hello", HelloParams(), Hello)
    assert len(told.challenge) == 32
    shown: Any = SignInParams(token=token)
    signed = await client._caller.call("sign_in", shown, SignedIn)
    assert signed.operator == "ana"
    assert await client.overview()


async def test_the_status_says_who_looks_at_what_and_who_drives(house: House) -> None:
    await house.add("ana", Right.DRIVE)
    await house.add("ben", Right.WATCH, tags=("lab",))
    ana, ben = await house.come("ana"), await house.come("ben")
    for tag in ("lab", "bank"):
        await ana.request(SessionAttach(session_id=house.sessions[tag]))

    def of_ana(status: Status) -> tuple[tuple[str, ...], set[str]]:
        (found,) = (one for one in status.clients if one.operator == "ana")
        return found.looks_at, set(found.drives)

    both = set(house.sessions.values())
    async with (
        ana.frames("lab-1", width_px=8, height_px=8, max_hz=1),
        ana.frames("bank-1", width_px=8, height_px=8, max_hz=1),
    ):
        assert of_ana(await ana.status()) == (("bank-1", "lab-1"), both)
        assert of_ana(await ben.status()) == (("lab-1",), {house.sessions["lab"]})
