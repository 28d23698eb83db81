"""Push to the browsers of paired phones that a question waits.

Invariants: only a phone that is still paired is pushed to, at the address that its key signed; what
is pushed says that something waits, never what.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import msgspec

from agent.consent.paired_phones import PairedPhones
from agent.consent.phone_statements import Push
from agent.consent.private_record import PrivateRecord
from agent.errors import UsageError
from agent.records import Question, QuestionKind
from console.paired import web_push

FILE_NAME = "push-subscriptions.json"
_LIFE_S = 12 * 3_600
_SHORTEST_TTL_S = 60
_LONGEST_TTL_S = 24 * 3_600
_BOUND_S = 15.0
_GONE = frozenset({404, 410})  # RFC 8030, 7.3: the subscription has ended.
_log = logging.getLogger(__name__)


class Subscription(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where one phone's browser is pushed to."""

    endpoint: str
    p256dh: bytes
    auth: bytes


class _Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    key: bytes
    """The server's, in PEM."""
    phones: dict[str, Subscription] = {}
    """By the id of the phone."""


class PushSender:
    """The pushes of one page.

    Args:
        data_dir: where subscriptions and the key are kept.
        phones: those that are paired.
        subject: the page's address, which tells push services who sends.
        clock_ms: the time.
        schemes: of the addresses that may be pushed to.
    """

    def __init__(
        self,
        data_dir: Path,
        phones: PairedPhones,
        subject: str,
        clock_ms: Callable[[], int],
        *,
        schemes: frozenset[str] = frozenset({"https"}),
    ) -> None:
        self._file = PrivateRecord(
            data_dir / FILE_NAME,
            _Kept,
            what="The subscriptions of paired phones",
            remedy="Remove the file, and turn notices on again on the phones.",
        )
        self._phones = phones
        self._subject = subject
        self._clock_ms = clock_ms
        self._schemes = schemes
        if self._file.read() is None:
            self._file.change(_or_new)

    @property
    def public(self) -> str:
        """Return the server's key, as browsers take it."""
        return web_push.as_base64url(web_push.public_of(web_push.read_key(self._kept().key)))

    def subscribe(self, phone_id: str, said: Push) -> None:
        """Note where a phone is pushed to; an empty address: nowhere. Raises UsageError."""
        wanted: Subscription | None = None
        if said.endpoint:
            try:
                parts = urlsplit(said.endpoint)
                is_usable = parts.scheme in self._schemes and bool(parts.hostname)
            except ValueError:
                is_usable = False
            if not is_usable or not said.endpoint.isascii() or not said.endpoint.isprintable():
                raise UsageError("The address of the push service cannot be used.", "Try again.")
            wanted = Subscription(
                endpoint=said.endpoint,
                p256dh=web_push.from_base64url(said.p256dh),
                auth=web_push.from_base64url(said.auth),
            )
            web_push.encrypted(b"", wanted.p256dh, wanted.auth)
        self._keep(phone_id, wanted)

    async def notify(self, question: Question) -> None:
        """Push to each paired phone that a question waits; what fails is logged."""
        paired = {one.phone_id for one in self._phones.all()}
        kept = self._kept()
        found = [(one, at) for one, at in kept.phones.items() if one in paired]
        if not found:
            return
        what = "An approval" if question.kind is QuestionKind.APPROVAL else "A question"
        said = msgspec.json.encode({"body": f"{what} waits for you.", "tag": question.question_id})
        left_s = (question.deadline_ms - self._clock_ms()) // 1000
        ttl_s = min(max(left_s, _SHORTEST_TTL_S), _LONGEST_TTL_S)
        if not question.deadline_ms:
            ttl_s = _LONGEST_TTL_S
        async with aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=_BOUND_S), cookie_jar=aiohttp.DummyCookieJar()
        ) as session:
            pushes = (self._push(session, kept.key, one, at, said, ttl_s) for one, at in found)
            await asyncio.gather(*pushes)

    async def _push(
        self,
        session: aiohttp.ClientSession,
        key: bytes,
        phone_id: str,
        at: Subscription,
        said: bytes,
        ttl_s: int,
    ) -> None:
        parts = urlsplit(at.endpoint)
        until_s = self._clock_ms() // 1000 + _LIFE_S
        headers = {
            "Authorization": web_push.authorization(
                web_push.read_key(key), f"{parts.scheme}://{parts.netloc}", self._subject, until_s
            ),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(ttl_s),
            "Urgency": "high",
        }
        body = web_push.encrypted(said, at.p256dh, at.auth)
        try:
            async with session.post(
                at.endpoint, data=body, headers=headers, allow_redirects=False
            ) as reply:
                status = reply.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            _log.warning("A push service was not reached: %s.", type(error).__name__)
            return
        if status in _GONE:
            self._keep(phone_id, None)
        elif status >= 300:
            _log.warning("A push service refused a push with %d.", status)

    def _kept(self) -> _Kept:
        return _or_new(self._file.read())

    def _keep(self, phone_id: str, wanted: Subscription | None) -> None:
        paired = {one.phone_id for one in self._phones.all()}

        def changed(kept: _Kept | None) -> _Kept:
            known = _or_new(kept)
            phones = {one: at for one, at in known.phones.items() if one in paired}
            phones.pop(phone_id, None)
            if wanted is not None:
                phones[phone_id] = wanted
            return _Kept(key=known.key, phones=phones)

        self._file.change(changed)


def _or_new(kept: _Kept | None) -> _Kept:
    return kept if kept is not None else _Kept(key=web_push.new_key())
