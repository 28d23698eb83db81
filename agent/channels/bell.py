"""Ring a phone of the operator's own: the card of what waits, answered there behind its lock.

No app is installed: `adb reverse` lets the phone's browser reach a page of this process, `am start`
opens it, `cmd notification post` rings. Invariants: agents never drive this phone; an
answer counts only from a phone whose secure lock was seen closed after the card was sent and is
open now, which nothing here opened: only a person has its PIN or finger.
"""

import asyncio
import html
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from shlex import quote
from urllib.parse import parse_qs

from agent.channels.channel import Message, Reply, Take
from agent.channels.http_listener import HttpReply, HttpRequest, listening
from agent.channels.urgency import Urgency
from agent.devices.adb.client import AdbClient
from agent.devices.facts.fact import Known
from agent.devices.facts.keyguard import KEYGUARD, Keyguard, read_keyguard
from agent.errors import DeviceError, WebError
from agent.records import DeviceInfo
from agent.text import one_line

LOOK_S = 1.0
"""How often the lock is looked at while a card waits."""
TIMEOUT_S = 10.0
READY_S = 30.0
NO_LOCK = "This phone has no lock: set a PIN, so that it can tell you from somebody else."
LOCKED = "Unlock the phone first."
NEVER_LOCKED = "Lock the phone and unlock it again: that shows that you are here."
UNKNOWN_LOCK = "The phone does not say whether it is locked. Answer at a console."
GONE = "It needs no answer any more."
_NOTE_CHARS = 300
_HEADERS = (
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
    ),
    ("Referrer-Policy", "no-referrer"),
)
_STYLE = (
    "body{font:20px sans-serif;margin:5vw;white-space:pre-wrap}"
    "button,input{box-sizing:border-box;font:24px sans-serif;width:100%;padding:4vw;margin:2vw 0}"
)


@dataclass
class _Card:
    """A message on the phone."""

    message: Message
    secret: str
    was_locked: bool = False
    """Whether the lock was seen closed since it was sent."""


class BellChannel:
    """One person's phone.

    Args:
        name: of the channel in the settings.
        operator: whose phone it is.
        serial: of the phone, as its adb server lists it.
        client: of that server.
        phones: lists the phones that agents may drive.
    """

    kind = "bell"
    takes_answers = True
    most_bytes = 6_000

    def __init__(
        self,
        name: str,
        operator: str,
        *,
        serial: str,
        client: AdbClient,
        phones: Callable[[], Iterable[DeviceInfo]],
    ) -> None:
        self.name = name
        self.operator = operator
        self._serial = serial
        self._client = client
        self._phones = phones
        self._cards: dict[str, _Card] = {}
        """By their secret."""
        self._news = asyncio.Event()
        self._ready = asyncio.Event()
        self._port = 0

    async def send(self, message: Message) -> None:
        try:
            await self._check_phone()
            if message.buttons or message.words_token:
                await self._show(message)
            if message.urgency is not Urgency.LOW:
                await self._shell("input keyevent KEYCODE_WAKEUP")
            await self._note(message.key, message.title, message.text)
        except DeviceError as error:
            raise WebError(f"The bell {self.name} was not rung: {error.message}") from error

    async def send_picture(self, message: Message, png: bytes) -> None:
        """Show nothing more: the page has the card, and the phone the app."""

    async def withdraw(self, message: Message, why: str, *, is_own: bool) -> None:
        for secret in [
            one.secret for one in self._cards.values() if one.message.key == message.key
        ]:
            del self._cards[secret]
        if not is_own:
            with suppress(DeviceError):
                # The shell cannot take a notification away; the newest text of a tag is shown.
                await self._note(message.key, message.title, why)

    async def listen(self, take: Take) -> None:
        async def answer(request: HttpRequest) -> HttpReply:
            return await self._answer(request, take)

        try:
            async with listening("127.0.0.1", 0, answer) as self._port:
                self._ready.set()
                while True:
                    await self._news.wait()
                    await self._look()
                    if not self._cards:
                        self._news.clear()
                    await asyncio.sleep(LOOK_S)
        finally:
            self._ready.clear()
            with suppress(DeviceError):
                await self._reverse(f"killforward:tcp:{self._port}")

    async def close(self) -> None:
        """Do nothing: no connection is kept."""

    # --- the phone ----------

    async def _check_phone(self) -> None:
        """Raise WebError: agents may drive it, under this name or another, or it has no lock."""
        number = (await self._shell("getprop ro.serialno")).strip()
        for phone in self._phones():
            if phone.serial == self._serial or (number and phone.hardware_serial == number):
                raise WebError(
                    f"The bell {self.name} is a phone that agents may drive ({phone.serial}).",
                    "Disconnect it there: a bell is connected once, under its own serial.",
                )
        lock = await self._lock()
        if lock is None or not _is_secure(lock):
            raise WebError(f"The bell {self.name} was not rung. {NO_LOCK}")

    async def _show(self, message: Message) -> None:
        async with asyncio.timeout(READY_S):
            await self._ready.wait()
        card = _Card(message, secrets.token_urlsafe(18))
        self._cards[card.secret] = card
        await self._reverse(f"forward:tcp:{self._port};tcp:{self._port}")
        await self._look()
        self._news.set()
        url = f"http://127.0.0.1:{self._port}/{card.secret}"
        await self._shell(f"am start -a android.intent.action.VIEW -d {quote(url)}")

    async def _note(self, tag: str, title: str, text: str) -> None:
        words = ("-t", title, f"switchboard-{tag}", one_line(text or title, _NOTE_CHARS))
        await self._shell(f"cmd notification post {' '.join(map(quote, words))}")

    async def _look(self) -> None:
        """Note of the cards that wait whether the lock is closed now."""
        with suppress(DeviceError):
            lock = await self._lock()
            if lock is not None and lock.showing and _is_secure(lock):
                for card in self._cards.values():
                    card.was_locked = True

    async def _lock(self) -> Keyguard | None:
        found = read_keyguard(await self._shell(KEYGUARD))
        return found.value if isinstance(found, Known) else None

    async def _shell(self, command: str) -> str:
        features = await self._client.features(self._serial)
        result = await self._client.shell(
            self._serial, command, features=features, timeout_s=TIMEOUT_S
        )
        return result.text

    async def _reverse(self, request: str) -> None:
        service = f"reverse:{request}"
        async with self._client.open(self._serial, service, timeout_s=TIMEOUT_S) as stream:
            if await stream.exactly(4) != b"OKAY":
                said = (await stream.block()).decode("utf-8", "replace")
                raise DeviceError(f"{self._serial} refuses a reverse connection: {said}.")

    # --- its page ----------

    async def _answer(self, request: HttpRequest, take: Take) -> HttpReply:
        if request.headers.get("host") != f"127.0.0.1:{self._port}":
            return HttpReply(421, b"")
        card = self._cards.get(request.path.strip("/"))
        if card is None:
            return _page(410, GONE)
        match request.method:
            case "GET":
                return _page(200, card.message.text, card)
            case "POST":
                said = parse_qs(request.body.decode("utf-8", "replace"))
                reply = Reply(token=said.get("token", [""])[0], words=said.get("words", [""])[0])
                why = await self._why_no_person(card)
                if why:
                    return _page(403, f"{why}\n\n{card.message.text}", card)
                outcome = await take(reply)
                return _page(200 if outcome.counts else 409, outcome.text)
            case _:
                return HttpReply(405, b"")

    async def _why_no_person(self, card: _Card) -> str:
        """Return why no person is known to be at the phone, as a sentence; empty: one is."""
        try:
            lock = await self._lock()
        except DeviceError:
            lock = None
        if lock is None:
            return UNKNOWN_LOCK
        if not _is_secure(lock):
            return NO_LOCK
        if lock.showing:
            card.was_locked = True
            return LOCKED
        return "" if card.was_locked else NEVER_LOCKED


def _is_secure(lock: Keyguard) -> bool:
    return isinstance(lock.secure, Known) and lock.secure.value


def _page(status: int, text: str, card: _Card | None = None) -> HttpReply:
    title = html.escape(card.message.title if card else "Switchboard")
    buttons = "".join(
        f'<button name="token" value="{html.escape(one.token)}">{html.escape(one.label)}</button>'
        for one in (card.message.buttons if card else ())
    )
    words_token = card.message.words_token if card else ""
    words = (
        f'<form method="post"><input type="hidden" name="token" value="{html.escape(words_token)}">'
        '<input name="words" maxlength="2000" aria-label="Answer in words" required>'
        "<button>Send</button></form>"
    )
    body = (
        '<!doctype html><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style><h2>{title}</h2>{html.escape(text)}"
        f'<form method="post">{buttons}</form>{words if words_token else ""}'
    )
    return HttpReply(status, body.encode("utf-8", "replace"), "text/html; charset=utf-8", _HEADERS)
