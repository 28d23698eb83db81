"""Post signed notices to a person's own program, which posts signed answers back.

The form is Standard Webhooks 1.0 both ways, with one key. The program posts its answer to
`/webhooks/NAME` at `notices.listen`: `{"token": …}` of an option, or `{"words": …, "token": …}`.
"""

import asyncio
import base64
import secrets
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from agent.channels.channel import Message, Outcome, Reply, Take
from agent.channels.http_client import HttpClient, checked_address
from agent.channels.http_listener import HttpReply, HttpRequest
from agent.channels.signature import TOLERANCE_S, fault_of_signed, signed_headers
from agent.errors import WebError

PATH = "/webhooks/"
_MOST_SEEN = 10_000


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    token: str = ""
    words: str = ""


class WebhookChannel:
    """One person's program.

    Args:
        name: of the channel in the settings.
        operator: whose program it is.
        url: where notices are posted.
        key: signs both ways.
        clock_ms: milliseconds since the epoch.
    """

    kind = "webhook"
    takes_answers = True
    most_bytes = 20_000

    def __init__(
        self, name: str, operator: str, *, url: str, key: bytes, clock_ms: Callable[[], int]
    ) -> None:
        self.name = name
        self.operator = operator
        self._url = checked_address(url, f"notices.channels.{name}.url")
        self._key = key
        self._clock_ms = clock_ms
        self._http = HttpClient()
        self._seen: OrderedDict[str, int] = OrderedDict()
        """The ids of the answers that came, and when."""
        self._take: Take | None = None

    async def send(self, message: Message) -> None:
        await self._post(
            "notice.posted",
            {
                "key": message.key,
                "title": message.title,
                "text": message.text,
                "urgency": message.urgency.value,
                "sessionId": message.session_id,
                "questionId": message.question_id,
                "options": [{"label": one.label, "token": one.token} for one in message.buttons],
                "wordsToken": message.words_token,
            },
        )

    async def send_picture(self, message: Message, png: bytes) -> None:
        picture = base64.b64encode(png).decode()
        await self._post("notice.picture", {"key": message.key, "png": picture})

    async def withdraw(self, message: Message, why: str, *, is_own: bool) -> None:
        await self._post("notice.withdrawn", {"key": message.key, "reason": why})

    async def listen(self, take: Take) -> None:
        self._take = take
        try:
            await asyncio.Event().wait()
        finally:
            self._take = None

    async def close(self) -> None:
        await self._http.close()

    async def answer(self, request: HttpRequest) -> HttpReply:
        """Take an answer that was posted: 200 it counts, 409 it does not, 401 it is not signed."""
        if request.method != "POST":
            return _reply(405, Outcome("Post an answer here.", counts=False))
        now_ms = self._clock_ms()
        fault = fault_of_signed(self._key, request.headers, now_ms, request.body)
        if fault:
            return _reply(401, Outcome(fault, counts=False))
        if self._was_seen(request.headers["webhook-id"], now_ms):
            return _reply(409, Outcome("This webhook-id was used before.", counts=False))
        try:
            said = msgspec.json.decode(request.body, type=_Answer)
        except msgspec.MsgspecError as error:
            return _reply(400, Outcome(f"The body is not an answer: {error}.", counts=False))
        if self._take is None:
            return _reply(503, Outcome("Answers are not taken now.", counts=False))
        outcome = await self._take(Reply(token=said.token, words=said.words))
        return _reply(200 if outcome.counts else 409, outcome)

    def _was_seen(self, message_id: str, now_ms: int) -> bool:
        if message_id in self._seen:
            return True
        self._seen[message_id] = now_ms
        oldest_ms = now_ms - 2 * TOLERANCE_S * 1000
        while self._seen and (
            len(self._seen) > _MOST_SEEN or next(iter(self._seen.values())) < oldest_ms
        ):
            self._seen.popitem(last=False)
        return False

    async def _post(self, kind: str, data: dict[str, object]) -> None:
        now_ms = self._clock_ms()
        moment = datetime.fromtimestamp(now_ms / 1000, UTC).isoformat()
        body = msgspec.json.encode({"type": kind, "timestamp": moment, "data": data})
        headers = signed_headers(self._key, f"msg_{secrets.token_hex(12)}", now_ms, body)
        headers["Content-Type"] = "application/json"
        answer = await self._http.send("POST", self._url, headers=headers, content=body)
        if not 200 <= answer.status < 300:
            raise WebError(f"The webhook {self.name} answered with status {answer.status}.")


def _reply(status: int, outcome: Outcome) -> HttpReply:
    body = msgspec.json.encode({"ok": outcome.counts, "message": outcome.text})
    return HttpReply(status, body)
