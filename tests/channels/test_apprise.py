"""Apprise's services, one way: each line of the secret file, against servers on loopback."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from agent.channels.apprise_services import AppriseChannel
from agent.channels.channel import Button, Message
from agent.channels.urgency import Urgency
from agent.errors import ConfigError, WebError
from tests.channels.ntfy_server import served

MESSAGE = Message(key="n", title="Input needed", text="Which *one*?\nred", urgency=Urgency.URGENT)


async def test_a_message_goes_to_every_service_and_a_failure_of_one_is_said() -> None:
    got: list[dict[str, Any]] = []
    status = 200

    async def on_post(request: web.Request) -> web.Response:
        got.append(await request.json())
        return web.Response(status=status)

    app = web.Application()
    app.add_routes([web.post("/{name}", on_post)])
    async with served(app) as url:
        place = url.removeprefix("http://")
        channel = AppriseChannel(
            "pager", "ana", addresses=f"json://user:pass1234@{place}/a\n\n  json://{place}/b\n"
        )
        await channel.send(MESSAGE)
        assert [(one["title"], one["message"], one["type"]) for one in got] == [
            ("Input needed", "Which *one*?\nred", "warning")
        ] * 2
        status = 500
        with pytest.raises(WebError, match="did not accept") as refused:
            await channel.send(MESSAGE._replace(buttons=(Button("Approve", "t"),)))
    assert "pass1234" not in str(refused.value)
    assert not channel.takes_answers


def test_a_line_that_is_no_address_is_named_by_its_number_only() -> None:
    channel = AppriseChannel("pager", "", addresses="json://localhost/a\nnothing://s3cret\n")
    with pytest.raises(ConfigError, match="Line 2 of") as refused:
        asyncio.run(channel.send(MESSAGE))
    assert "s3cret" not in str(refused.value)
