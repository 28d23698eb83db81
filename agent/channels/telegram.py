"""Show messages by a bot of Telegram, and take answers from one account.

After core.telegram.org/bots/api: `sendMessage` with an inline keyboard, `getUpdates` as a long
poll, `answerCallbackQuery`, `editMessageText`, `sendPhoto`. Telegram says which account pressed or
wrote; every account but the channel's is refused, also in a group.
"""

import asyncio
import secrets
from collections import OrderedDict
from typing import Any

import msgspec

from agent.channels.channel import Message, Outcome, Reply, Take
from agent.channels.http_client import HttpClient, checked_address
from agent.channels.urgency import Urgency
from agent.errors import ConfigError, WebError
from agent.text import one_line

PUBLIC_URL = "https://api.telegram.org"
POLL_S = 50
MOST_CALLBACK_CHARS = 200
MOST_KEPT = 500
"""How many sent messages are remembered, for replies to them."""
NOT_YOURS = "This bot takes answers from another account."
_MOST_WAIT_S = 60


class _User(msgspec.Struct, frozen=True):
    id: int


class _Sent(msgspec.Struct, frozen=True):
    message_id: int


class _Written(msgspec.Struct, frozen=True, kw_only=True):
    message_id: int
    chat: _User
    from_: _User | None = msgspec.field(name="from", default=None)
    text: str = ""
    reply_to_message: _Sent | None = None


class _Pressed(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    from_: _User = msgspec.field(name="from")
    data: str = ""


class _Update(msgspec.Struct, frozen=True, kw_only=True):
    update_id: int
    message: _Written | None = None
    callback_query: _Pressed | None = None


class TelegramChannel:
    """One person's chat with a bot.

    Args:
        name: of the channel in the settings.
        operator: whose account it is.
        url: the server of the Bot API; empty: the public one.
        bot_token: of the bot.
        user: the number of the account.
    """

    kind = "telegram"
    takes_answers = True
    most_bytes = 3_500
    """A text has at most 4,096 characters."""

    def __init__(self, name: str, operator: str, *, url: str, bot_token: str, user: int) -> None:
        self.name = name
        self.operator = operator
        self._named = f"notices.channels.{name}"
        base = checked_address(url or PUBLIC_URL, f"{self._named}.url")
        if not bot_token.replace(":", "").replace("-", "").replace("_", "").isalnum():
            raise ConfigError(
                f"The file of {self._named}.secret_file does not hold a bot's token.",
                "Ask @BotFather for one; it looks like 123456:ABC-DEF.",
            )
        self._base = f"{base}/bot{bot_token}"
        self._user = user
        self._http = HttpClient()
        self._offset = 0
        self._sent: OrderedDict[int, Message] = OrderedDict()
        """The newest messages, by the number that Telegram gave them."""

    async def send(self, message: Message) -> None:
        body: dict[str, object] = {
            "chat_id": self._user,
            "text": _text(message),
            "disable_notification": message.urgency is Urgency.LOW,
            "link_preview_options": {"is_disabled": True},
        }
        if message.buttons:
            keys = [{"text": one.label, "callback_data": one.token} for one in message.buttons]
            body["reply_markup"] = {"inline_keyboard": [[one] for one in keys]}
        found = msgspec.convert(await self._call("sendMessage", body), _Sent)
        self._sent[found.message_id] = message
        while len(self._sent) > MOST_KEPT:
            self._sent.popitem(last=False)

    async def send_picture(self, message: Message, png: bytes) -> None:
        mark = secrets.token_hex(16)
        head = (
            f'--{mark}\r\nContent-Disposition: form-data; name="chat_id"\r\n\r\n{self._user}\r\n'
            f'--{mark}\r\nContent-Disposition: form-data; name="photo"; filename="screen.png"\r\n'
            "Content-Type: image/png\r\n\r\n"
        )
        content = head.encode() + png + f"\r\n--{mark}--\r\n".encode()
        await self._post("sendPhoto", content, f"multipart/form-data; boundary={mark}")

    async def withdraw(self, message: Message, why: str, *, is_own: bool) -> None:
        for number, sent in list(self._sent.items()):
            if sent.key == message.key:
                del self._sent[number]
                text = f"{_text(sent)}\n\n{why}"
                await self._call(
                    "editMessageText", {"chat_id": self._user, "message_id": number, "text": text}
                )

    async def listen(self, take: Take) -> None:
        while True:
            asked = {
                "offset": self._offset,
                "timeout": POLL_S,
                "allowed_updates": ["message", "callback_query"],
            }
            raw = await self._call("getUpdates", asked, timeout_s=POLL_S + 15)
            for one in raw if isinstance(raw, list) else ():
                await self._handle(one, take)

    async def close(self) -> None:
        await self._http.close()

    async def _handle(self, raw: object, take: Take) -> None:
        try:
            update = msgspec.convert(raw, _Update)
        except msgspec.ValidationError:
            # What cannot be read would come again for ever: it is confirmed too.
            number = raw.get("update_id") if isinstance(raw, dict) else None
            self._offset = max(self._offset, number + 1 if isinstance(number, int) else 0)
            return
        self._offset = max(self._offset, update.update_id + 1)
        if update.callback_query is not None:
            await self._pressed(update.callback_query, take)
        elif update.message is not None:
            await self._written(update.message, take)

    async def _pressed(self, press: _Pressed, take: Take) -> None:
        if press.from_.id != self._user:
            outcome = Outcome(NOT_YOURS, counts=False)
        else:
            outcome = await take(Reply(token=press.data))
        await self._call(
            "answerCallbackQuery",
            {
                "callback_query_id": press.id,
                "text": one_line(outcome.text, MOST_CALLBACK_CHARS),
                "show_alert": not outcome.counts,
            },
        )

    async def _written(self, written: _Written, take: Take) -> None:
        if written.from_ is None or not written.text:
            return
        if written.from_.id != self._user:
            text = NOT_YOURS
        elif written.text.startswith("/start"):
            text = "Notices of Switchboard are shown here."
        else:
            told = written.reply_to_message
            about = self._sent.get(told.message_id) if told is not None else None
            token = about.words_token if about is not None else ""
            text = (await take(Reply(token=token, words=written.text))).text
        await self._call("sendMessage", {"chat_id": written.chat.id, "text": text})

    async def _call(
        self, method: str, body: dict[str, object], *, timeout_s: float = 20.0
    ) -> object:
        return await self._post(
            method, msgspec.json.encode(body), "application/json", timeout_s=timeout_s
        )

    async def _post(
        self, method: str, content: bytes, content_type: str, *, timeout_s: float = 20.0
    ) -> object:
        answer = await self._http.send(
            "POST",
            f"{self._base}/{method}",
            headers={"Content-Type": content_type},
            content=content,
            timeout_s=timeout_s,
        )
        said = answer.json()
        if said.get("ok") is True:
            return said.get("result")
        await asyncio.sleep(_wait_s(said))
        what = one_line(str(said.get("description", "")), 120) or f"status {answer.status}"
        raise WebError(
            f"Telegram refused {method}: {what}.",
            f"Check {self._named}: secret_file and user, and that one core uses the bot.",
        )


def _wait_s(said: dict[str, Any]) -> float:
    """Return how long Telegram asks to be left alone; 0 where it does not."""
    parameters = said.get("parameters")
    wait = parameters.get("retry_after", 0) if isinstance(parameters, dict) else 0
    return min(wait, _MOST_WAIT_S) if isinstance(wait, int) and wait > 0 else 0


def _text(message: Message) -> str:
    return f"{message.title}\n\n{message.text}".strip()
