"""A server over HTTP, on a core with one virtual phone."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2
import pytest

from console.http_api.app import HttpApi, serving
from tests.mcp.conftest import stand as stand
from tests.mcp.stand import Stand

TOKEN = "a-token-for-this-test"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@dataclass
class Served:
    url: str
    api: HttpApi
    stand: Stand

    def client(self, name: str = "", **headers: str) -> httpx2.AsyncClient:
        named = {"Switchboard-Client": name} if name else {}
        return httpx2.AsyncClient(
            base_url=f"{self.url}/v1", headers=HEADERS | named | headers, timeout=60
        )


@pytest.fixture
async def served(stand: Stand) -> AsyncIterator[Served]:
    api = HttpApi(stand.socket, idle_s=2.0, hung_up_s=0.2)
    async with serving(api, TOKEN, port=0) as url:
        yield Served(url, api, stand)
