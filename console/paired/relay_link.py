"""Be reached through a relay: fetch what paired phones sealed, and lay replies into their boxes.

Invariant: what cannot be opened, or is not of this form, is dropped; what it says is judged as if
it had come by the network (`console.paired.phone_page`).
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import msgspec

from agent.consent.paired_phones import PairedPhones
from agent.consent.private_record import PrivateRecord
from console.paired.page_messages import ToPage
from console.paired.relay_server import MESSAGE_BYTES, NUMBER, WAIT_S
from console.paired.sealing import way_down, way_up

FILE_NAME = "relay-secrets.json"
_AGAIN_S = 2.0
_AT_ONCE = 16
_log = logging.getLogger(__name__)
Reply = Callable[[bytes], Awaitable[bytes]]


class Letter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is sealed: one request of the page, or its reply, by the same id."""

    id: str
    body: str


class _Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    secrets: dict[str, bytes] = {}
    """By the id of the phone."""


class RelayLink:
    """The computer's end of a relay.

    Args:
        url: of the relay, without a slash at its end.
        reply: answers what a page sends.
        data_dir: where the secrets of paired phones are kept.
        phones: those that are paired.
    """

    def __init__(self, url: str, reply: Reply, data_dir: Path, phones: PairedPhones) -> None:
        self._url = url
        self._reply = reply
        self._phones = phones
        self._file = PrivateRecord(
            data_dir / FILE_NAME,
            _Kept,
            what="The secrets of paired phones",
            remedy="Remove the file, and pair them again.",
        )
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._answering: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def fetching(self, offered: bytes = b"") -> AsyncIterator[None]:
        """Serve the phones for the length of a `with` block.

        Args:
            offered: the secret of a phone that is to be paired; empty: none is.
        """
        secrets = {offered} if offered else set()
        secrets.update(self.secrets().values())
        limits = aiohttp.ClientTimeout(total=WAIT_S + 20)
        async with aiohttp.ClientSession(
            timeout=limits, cookie_jar=aiohttp.DummyCookieJar()
        ) as session:
            tasks = {asyncio.create_task(self._fetch(session, one)) for one in secrets}
            try:
                yield
            finally:
                tasks |= self._answering
                for task in tasks:
                    task.cancel()
                if tasks:
                    await asyncio.wait(tasks)

    def secrets(self) -> dict[str, bytes]:
        """Return those of the phones that are paired, by their ids."""
        paired = {one.phone_id for one in self._phones.all()}
        kept = (self._file.read() or _Kept()).secrets
        return {phone: secret for phone, secret in kept.items() if phone in paired}

    async def _fetch(self, session: aiohttp.ClientSession, secret: bytes) -> None:
        up, after, is_lost = way_up(secret), 0, False
        while True:
            try:
                place = f"{self._url}/box/{up.box}"
                async with session.get(place, params={"after": str(after)}) as found:
                    if found.status == 204:
                        is_lost = False
                        continue
                    found.raise_for_status()
                    after = int(found.headers.get(NUMBER, "0"))
                    sealed = await _bounded(found)
                is_lost = False
            except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
                if not is_lost:
                    _log.warning("The relay is not reached: %s.", type(error).__name__)
                is_lost = True
                await asyncio.sleep(_AGAIN_S)
                continue
            await self._room.acquire()
            task = asyncio.create_task(self._answer(session, secret, sealed))
            self._answering.add(task)
            task.add_done_callback(self._answered)

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._room.release()
        self._answering.discard(task)

    async def _answer(self, session: aiohttp.ClientSession, secret: bytes, sealed: bytes) -> None:
        plain = way_up(secret).open(sealed)
        try:
            letter = None if plain is None else msgspec.json.decode(plain, type=Letter)
        except (msgspec.MsgspecError, UnicodeError):
            letter = None
        if letter is None:
            _log.warning("The relay brought what no paired phone sealed.")
            return
        body = await self._reply(letter.body.encode())
        said = msgspec.json.decode(body, type=ToPage)
        if said.phone_id:
            self._keep(said.phone_id, secret)
        down = way_down(secret)
        reply = msgspec.json.encode(Letter(letter.id, body.decode()))
        try:
            async with session.post(f"{self._url}/box/{down.box}", data=down.seal(reply)) as laid:
                if laid.status != 204:
                    _log.warning("The relay refused a reply with %d.", laid.status)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            # The page asks again.
            _log.warning("The relay did not take a reply: %s.", type(error).__name__)

    def _keep(self, phone_id: str, secret: bytes) -> None:
        living = self.secrets()

        def changed(kept: _Kept | None) -> _Kept:
            return _Kept(secrets={**living, phone_id: secret})

        self._file.change(changed)


async def _bounded(found: aiohttp.ClientResponse) -> bytes:
    """Return a message. Raises ValueError: it is longer than any."""
    sealed = bytearray()
    async for part in found.content.iter_chunked(16 * 1024):
        sealed += part
        if len(sealed) > MESSAGE_BYTES:
            raise ValueError
    return bytes(sealed)
