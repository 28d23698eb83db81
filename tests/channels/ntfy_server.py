"""A strict server of ntfy's HTTP API on loopback, and the app of a person on it.

After docs.ntfy.sh, "Publishing" (as JSON, action buttons, limitations, access tokens) and
"Subscribe via API" (JSON stream, since, message format). What the documents do not allow is
refused, so that a client that strays fails.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientSession, web

TOPIC = re.compile(r"[-_A-Za-z0-9]{1,64}")
_FIELDS = {
    *("topic", "message", "title", "tags", "priority", "actions", "click", "attach", "markdown"),
    *("icon", "filename", "delay", "email", "call"),
}
_ACTION_FIELDS = {"action", "label", "url", "method", "headers", "body", "clear"}


@dataclass
class NtfyServer:
    """The server, with what was published."""

    url: str = ""
    access_token: str = ""
    messages: list[dict[str, Any]] = field(default_factory=list)
    pictures: list[bytes] = field(default_factory=list)
    is_down: bool = False
    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    def of(self, topic: str) -> list[dict[str, Any]]:
        return [one for one in self.messages if one["topic"] == topic]

    async def publish(self, topic: str, **fields: Any) -> dict[str, Any]:
        made = {
            "id": f"m{len(self.messages):09d}",
            "time": int(time.time()),
            "event": "message",
            "topic": topic,
            **fields,
        }
        async with self.news:
            self.messages.append(made)
            self.news.notify_all()
        return made

    # --- the person's app ----------

    async def press(self, message: dict[str, Any], label: str) -> int:
        """Press a button: the app sends the request of its action."""
        (action,) = [one for one in message["actions"] if one["label"] == label]
        async with ClientSession() as session:
            method = action.get("method", "POST")
            async with session.request(
                method, action["url"], data=action.get("body", "").encode()
            ) as answer:
                return answer.status

    async def write(self, topic: str, text: str) -> None:
        """Publish a text, as the app does."""
        async with ClientSession() as session:
            await session.post(f"{self.url}/{topic}", data=text.encode())

    # --- HTTP ----------

    async def on_json(self, request: web.Request) -> web.Response:
        if refused := self._refused(request):
            return refused
        try:
            body = await request.json()
            _check(body)
        except (ValueError, KeyError) as error:
            return web.json_response({"code": 40024, "http": 400, "error": str(error)}, status=400)
        topic = body.pop("topic")
        return web.json_response(await self.publish(topic, **body))

    async def on_text(self, request: web.Request) -> web.Response:
        topic = request.match_info["topic"]
        # Everybody may write to it: buttons are pressed without the core's access token.
        if not topic.endswith("-answers") and (refused := self._refused(request)):
            return refused
        if not TOPIC.fullmatch(topic):
            return web.Response(status=404)
        data = await request.read()
        if "filename" in request.query:
            self.pictures.append(data)
            return web.json_response(await self.publish(topic, message="attachment"))
        return web.json_response(await self.publish(topic, message=data.decode()))

    async def on_stream(self, request: web.Request) -> web.StreamResponse:
        if refused := self._refused(request):
            return refused
        topic = request.match_info["topic"]
        answer = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await answer.prepare(request)
        await answer.write(b'{"id":"open1","time":1,"event":"open","topic":"t"}\n')
        at = self._since(request.query.get("since", ""))
        while True:
            async with self.news:
                while len(self.messages) <= at and not self.is_down:
                    await self.news.wait()
            if self.is_down:
                return answer
            for one in self.messages[at:]:
                if one["topic"] == topic:
                    await answer.write(bytes(web.json_response(one).body) + b"\n")  # type: ignore[arg-type]
            at = len(self.messages)
            await answer.write(b'{"id":"ka1","time":1,"event":"keepalive","topic":"t"}\n')

    def _since(self, since: str) -> int:
        if since.isdigit():
            later = (n for n, one in enumerate(self.messages) if one["time"] >= int(since))
            return next(later, len(self.messages))
        after = (n + 1 for n, one in enumerate(self.messages) if one["id"] == since)
        return next(after, 0 if since == "all" else len(self.messages))

    def _refused(self, request: web.Request) -> web.Response | None:
        if self.is_down:
            return web.Response(status=503)
        wanted = f"Bearer {self.access_token}"
        if self.access_token and request.headers.get("Authorization") != wanted:
            return web.json_response({"code": 40301, "http": 403, "error": "forbidden"}, status=403)
        return None


def _check(body: dict[str, Any]) -> None:
    unknown = set(body) - _FIELDS
    if unknown or not TOPIC.fullmatch(body["topic"]):
        raise ValueError(f"invalid field or topic: {unknown}")
    if len(body.get("message", "").encode()) > 4096:
        raise ValueError("the message would become an attachment")
    if body.get("priority", 3) not in range(1, 6):
        raise ValueError("invalid priority")
    actions = body.get("actions", [])
    if len(actions) > 3:
        raise ValueError("too many actions")
    for one in actions:
        if one["action"] != "http" or set(one) - _ACTION_FIELDS or not one["label"]:
            raise ValueError("invalid action")
        if not one["url"].startswith(("http://", "https://")):
            raise ValueError("invalid url of an action")


@asynccontextmanager
async def ntfy_server(access_token: str = "") -> AsyncIterator[NtfyServer]:
    """Serve on a free port of loopback."""
    server = NtfyServer(access_token=access_token)
    app = web.Application()
    app.add_routes(
        [
            web.post("/", server.on_json),
            web.post("/{topic}", server.on_text),
            web.put("/{topic}", server.on_text),
            web.get("/{topic}/json", server.on_stream),
        ]
    )
    async with served(app) as url:
        server.url = url
        yield server


@asynccontextmanager
async def served(app: web.Application) -> AsyncIterator[str]:
    """Serve an app on a free port of loopback; gives its address."""
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
