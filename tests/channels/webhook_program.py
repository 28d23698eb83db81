"""A person's own program: it gets signed notices and posts signed answers, on loopback.

After Standard Webhooks 1.0; signatures are made and checked here by hand, not by Switchboard's own
code.
"""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientSession, web

from tests.channels.ntfy_server import served

KEY = b"k" * 32
SECRET = "whsec_" + base64.b64encode(KEY).decode()


def signature(key: bytes, message_id: str, seconds: str, body: bytes) -> str:
    made = hmac.new(key, f"{message_id}.{seconds}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(made).decode()


@dataclass
class WebhookProgram:
    """The program, with what it got."""

    clock_ms: Callable[[], int]
    url: str = ""
    answers_at: str = ""
    got: list[dict[str, Any]] = field(default_factory=list)
    news: asyncio.Condition = field(default_factory=asyncio.Condition)
    count: int = 0

    def posted(self) -> list[dict[str, Any]]:
        return [one["data"] for one in self.got if one["type"] == "notice.posted"]

    async def on_post(self, request: web.Request) -> web.Response:
        body = await request.read()
        heads = request.headers
        wanted = signature(KEY, heads["webhook-id"], heads["webhook-timestamp"], body)
        if heads["webhook-signature"] != wanted:
            return web.Response(status=401)
        async with self.news:
            self.got.append(json.loads(body))
            self.news.notify_all()
        return web.Response(status=204)

    async def answer(
        self,
        said: object,
        *,
        key: bytes = KEY,
        late_s: float = 0,
        message_id: str = "",
        changed: bytes = b"",
        method: str = "POST",
    ) -> tuple[int, str]:
        """Post an answer; returns the status and what is said.

        Args:
            late_s: how old the signature is.
            changed: what is sent in place of the signed body.
        """
        self.count += 1
        body = json.dumps(said).encode()
        message_id = message_id or f"msg_{self.count}"
        at = str(int(self.clock_ms() / 1000 - late_s))
        headers = {
            "webhook-id": message_id,
            "webhook-timestamp": at,
            "webhook-signature": signature(key, message_id, at, body),
        }
        async with (
            ClientSession() as session,
            session.request(
                method, self.answers_at, data=changed or body, headers=headers
            ) as reply,
        ):
            return reply.status, (await reply.json(content_type=None)).get("message", "")


@asynccontextmanager
async def webhook_program(clock_ms: Callable[[], int]) -> AsyncIterator[WebhookProgram]:
    """Run it on a free port of loopback."""
    program = WebhookProgram(clock_ms)
    app = web.Application()
    app.add_routes([web.post("/hook", program.on_post)])
    async with served(app) as url:
        program.url = f"{url}/hook"
        yield program
