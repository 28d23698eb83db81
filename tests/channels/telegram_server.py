"""A strict server of Telegram's Bot API on loopback, and accounts that press and write.

After core.telegram.org/bots/api: making requests, getUpdates (long poll, offset, one at a time),
sendMessage, sendPhoto, editMessageText, answerCallbackQuery, InlineKeyboardButton (callback_data
of 1 to 64 bytes). What the documents do not allow is refused with ok: false.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.channels.ntfy_server import served

TOKEN = "123456:AAF-test_token"
MOST_CHARS = 4096
_KNOWN = {
    "sendMessage": {
        *("chat_id", "text", "reply_markup", "disable_notification", "link_preview_options")
    },
    "getUpdates": {"offset", "timeout", "allowed_updates", "limit"},
    "answerCallbackQuery": {"callback_query_id", "text", "show_alert"},
    "editMessageText": {"chat_id", "message_id", "text", "reply_markup"},
}


class RefusedError(Exception):
    """A call that the API does not allow."""


@dataclass
class TelegramServer:
    """The server, with the chats of its bot."""

    url: str = ""
    sent: list[dict[str, Any]] = field(default_factory=list)
    photos: list[bytes] = field(default_factory=list)
    updates: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What each press was answered with, by its id."""
    news: asyncio.Condition = field(default_factory=asyncio.Condition)
    polls: int = 0

    # --- accounts ----------

    async def press(self, message: dict[str, Any], label: str, *, user: int) -> str:
        """Press a button as an account; returns what the bot answers."""
        keys = [key for row in message["reply_markup"]["inline_keyboard"] for key in row]
        (key,) = [one for one in keys if one["text"] == label]
        return await self.press_data(key["callback_data"], user=user)

    async def press_data(self, data: str, *, user: int) -> str:
        """Send the data of a button as an account."""
        press_id = f"press-{len(self.updates)}"
        await self._update({"callback_query": {"id": press_id, "from": _user(user), "data": data}})
        async with self.news:
            await self.news.wait_for(lambda: press_id in self.answers)
        return str(self.answers[press_id]["text"])

    async def write(self, text: str, *, user: int, reply_to: int = 0) -> str:
        """Write to the bot as an account; returns what it writes back."""
        before = len(self.sent)
        written: dict[str, Any] = {
            "message_id": 10_000 + len(self.updates),
            "from": _user(user),
            "chat": {"id": user, "type": "private"},
            "date": 0,
            "text": text,
        }
        if reply_to:
            written["reply_to_message"] = {"message_id": reply_to, "chat": {"id": user}}
        await self._update({"message": written})

        def back() -> list[dict[str, Any]]:
            # What it writes back has no keyboard; a notice may come in between.
            return [
                one
                for one in self.sent[before:]
                if one["chat_id"] == user and "disable_notification" not in one
            ]

        async with self.news:
            await self.news.wait_for(back)
        return str(back()[0]["text"])

    async def _update(self, update: dict[str, Any]) -> None:
        async with self.news:
            self.updates.append({"update_id": 700 + len(self.updates), **update})
            self.news.notify_all()

    # --- HTTP ----------

    async def on_call(self, request: web.Request) -> web.Response:
        token, method = request.match_info["token"], request.match_info["method"]
        if token != TOKEN:
            return _fault(401, "Unauthorized")
        try:
            return web.json_response({"ok": True, "result": await self._call(method, request)})
        except RefusedError as error:
            return _fault(409 if "Conflict" in str(error) else 400, str(error))

    async def _call(self, method: str, request: web.Request) -> object:
        if method == "sendPhoto":
            return await self._photo(request)
        if request.content_type != "application/json" or method not in _KNOWN:
            raise RefusedError(f"Bad Request: {method}")
        body = await request.json()
        if unknown := set(body) - _KNOWN[method]:
            raise RefusedError(f"Bad Request: {unknown}")
        match method:
            case "getUpdates":
                return await self._poll(body)
            case "sendMessage":
                return await self._send(body)
            case "editMessageText":
                return await self._edit(body)
            case _:
                return await self._answer(body)

    async def _poll(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        if self.polls:
            raise RefusedError("Conflict: terminated by other getUpdates request")
        self.polls += 1
        try:
            offset = body.get("offset", 0)

            def found() -> list[dict[str, Any]]:
                return [one for one in self.updates if one["update_id"] >= offset]

            with suppress(TimeoutError):
                async with asyncio.timeout(body.get("timeout", 0)), self.news:
                    await self.news.wait_for(found)
            return found()
        finally:
            self.polls -= 1

    async def _send(self, body: dict[str, Any]) -> dict[str, Any]:
        _check_text(body["text"])
        if not isinstance(body["chat_id"], int):
            raise RefusedError("Bad Request: chat not found")
        for row in body.get("reply_markup", {}).get("inline_keyboard", []):
            for key in row:
                if set(key) != {"text", "callback_data"} or not key["text"]:
                    raise RefusedError("Bad Request: BUTTON_INVALID")
                if not 1 <= len(key["callback_data"].encode()) <= 64:
                    raise RefusedError("Bad Request: BUTTON_DATA_INVALID")
        async with self.news:
            made: dict[str, Any] = {"message_id": len(self.sent) + 1, **body}
            self.sent.append(made)
            self.news.notify_all()
        return made

    async def _edit(self, body: dict[str, Any]) -> dict[str, Any]:
        _check_text(body["text"])
        async with self.news:
            message: dict[str, Any] = self.sent[body["message_id"] - 1]
            if message["text"] == body["text"]:
                raise RefusedError("Bad Request: message is not modified")
            message.update(text=body["text"])
            message.pop("reply_markup", None)
            self.news.notify_all()
        return message

    async def _answer(self, body: dict[str, Any]) -> bool:
        press_id = body["callback_query_id"]
        known = {one["callback_query"]["id"] for one in self.updates if "callback_query" in one}
        if press_id not in known or press_id in self.answers or len(body.get("text", "")) > 200:
            raise RefusedError("Bad Request: query is too old or invalid")
        async with self.news:
            self.answers[press_id] = body
            self.news.notify_all()
        return True

    async def _photo(self, request: web.Request) -> dict[str, Any]:
        form = await request.post()
        photo = form["photo"]
        if not isinstance(photo, web.FileField) or not str(form["chat_id"]).isdigit():
            raise RefusedError("Bad Request: no photo")
        async with self.news:
            self.photos.append(photo.file.read())
            self.news.notify_all()
        return {"message_id": 9_000 + len(self.photos)}


def _check_text(text: str) -> None:
    if not 1 <= len(text) <= MOST_CHARS:
        raise RefusedError("Bad Request: message is too long or empty")


def _user(number: int) -> dict[str, Any]:
    return {"id": number, "is_bot": False, "first_name": "Somebody"}


def _fault(code: int, text: str) -> web.Response:
    return web.json_response({"ok": False, "error_code": code, "description": text}, status=code)


@asynccontextmanager
async def telegram_server() -> AsyncIterator[TelegramServer]:
    """Serve on a free port of loopback."""
    server = TelegramServer()
    app = web.Application()
    app.add_routes([web.post("/bot{token}/{method}", server.on_call)])
    async with served(app) as url:
        server.url = url
        yield server
