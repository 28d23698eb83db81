"""The bell: a virtual phone with a PIN, by a real adb server; a person opens it, or nobody does."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from agent.channels import bell
from agent.channels.bell import BellChannel
from agent.channels.channel import Button, Message, Outcome, Reply
from agent.channels.urgency import Urgency
from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.errors import UsageError, WebError
from tests.stage import PATIENCE_S

PIN = "2468"
SLEEP_AND_WAKE = "input keyevent 26; input keyevent 224"
CARD = Message(
    key="n-1",
    title="Pay <b>$15.00</b> to Tom Becker?",
    text="Amount: $15.00 & a fee",
    urgency=Urgency.URGENT,
    buttons=(Button("Approve", "token-of-yes"), Button("Deny", "token-of-no")),
    words_token="token-of-words",
)


class Desk:
    """Two phones on one adb server: one that agents drive, and the bell."""

    def __init__(self, client: AdbClient, fleet: AdbFleet, serials: tuple[str, ...]) -> None:
        self.client = client
        self.fleet = fleet
        self.driven, self.bell = serials
        self.replies: list[Reply] = []
        self.channel = self.channel_of(self.bell)

    def channel_of(self, serial: str) -> BellChannel:
        return BellChannel(
            "bell", "ana", serial=serial, client=self.client, phones=self.fleet.devices
        )

    async def take(self, reply: Reply) -> Outcome:
        self.replies.append(reply)
        return Outcome("Your answer counts: Approve.", counts=True)

    async def shell(self, command: str) -> str:
        """Do what the phone's owner does by hand."""
        features = await self.client.features(self.bell)
        found = await self.client.shell(self.bell, command, features=features, timeout_s=20)
        return found.text

    async def address(self) -> str:
        """Return the page that the phone was told to open, as `/SECRET` and its port."""
        dump = await self.shell("uiautomator dump /dev/tty")
        found = re.search(r"(?:http://)?127\.0\.0\.1:\d+/[-\w]{24}", dump)
        assert found is not None, dump[:4_000]
        return f"http://{found[0].removeprefix('http://')}"

    async def browse(self, url: str, token: str = "", host: str = "") -> tuple[int, str]:
        """Ask for a page as the phone's browser does, from the phone itself."""
        place, _, path = url.removeprefix("http://").partition("/")
        body = f"token={token}" if token else ""
        request = (
            f"{'POST' if token else 'GET'} /{path} HTTP/1.1\r\nHost: {host or place}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        )
        port = place.rpartition(":")[2]
        async with self.client.open(self.bell, f"tcp:{port}", timeout_s=20) as stream:
            stream.writer.write(request.encode())
            await stream.writer.drain()
            answer = (await stream.rest(100_000)).decode()
        return int(answer.split(" ")[1]), answer.partition("\r\n\r\n")[2]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    server = AdbServer(tmp_path / "adb")
    phones = VirtualPhones(tmp_path / "phones", server, count=2)
    await phones.start()
    fleet = AdbFleet([server.address], bells=phones.serials[1:])
    await fleet.start()
    try:
        async with asyncio.timeout(PATIENCE_S):
            await fleet.wait_for(phones.serials[0], timeout_s=PATIENCE_S)
        yield Desk(AdbClient(server.address), fleet, tuple(phones.serials))
    finally:
        await fleet.close()
        await phones.stop()
        await server.stop()


async def test_a_card_is_answered_only_behind_the_lock_that_a_person_opened(desk: Desk) -> None:
    assert [one.serial for one in desk.fleet.devices()] == [desk.driven]
    with pytest.raises(UsageError):
        await desk.fleet.device(desk.bell)
    with pytest.raises(WebError, match="has no lock"):
        await desk.channel.send(CARD)
    with pytest.raises(WebError, match="that agents may drive"):
        await desk.channel_of(desk.driven).send(CARD)
    await desk.shell(f"locksettings set-pin {PIN}")
    listening = asyncio.create_task(desk.channel.listen(desk.take))
    try:
        await desk.channel.send(CARD)
        url = await desk.address()
        status, page = await desk.browse(url)
        assert status == 200 and "Amount: $15.00 &amp; a fee" in page
        assert "&lt;b&gt;$15.00" in page and "<b>" not in page
        refusals = [
            ("", bell.NEVER_LOCKED),
            (SLEEP_AND_WAKE, bell.LOCKED),
            ("input keyevent 82; wm dismiss-keyguard", bell.LOCKED),
            ("input text 1111; input keyevent 66", bell.LOCKED),
        ]
        for by_hand, why in refusals:
            if by_hand:
                await desk.shell(by_hand)
            status, page = await desk.browse(url, "token-of-yes")
            assert (status, why in page) == (403, True), by_hand
        assert desk.replies == []
        assert (await desk.browse(f"{url}x", "token-of-yes"))[0] == 410
        assert (await desk.browse(url, "token-of-yes", host="evil.example"))[0] == 421
        await desk.shell(f"input text {PIN}; input keyevent 66")
        status, page = await desk.browse(url, "token-of-yes")
        assert status == 200 and "Your answer counts" in page
        status, _ = await desk.browse(url, "token-of-words&words=no%3A+too+dear")
        assert status == 200 and 'name="words"' in (await desk.browse(url))[1]
        assert desk.replies == [
            Reply(token="token-of-yes"),
            Reply(token="token-of-words", words="no: too dear"),
        ]
        shade = await desk.shell("dumpsys notification --noredact")
        assert "Tom Becker" in shade
        await desk.channel.withdraw(CARD, bell.GONE, is_own=True)
        assert (await desk.browse(url, "token-of-yes"))[0] == 410
    finally:
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening
