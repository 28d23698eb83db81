"""A client of the uiautomator service as uiautomator2 is one: a jar, a port, JSON over HTTP."""

import asyncio
import json
from dataclasses import dataclass

from virtual_phone.phone import Phone
from virtual_phone.server.pipes import Socket, read_all
from virtual_phone.server.served_phone import ServedPhone
from virtual_phone.uiautomator import CLASS

START = f"CLASSPATH=/data/local/tmp/u2.jar app_process / {CLASS} -p 9008"
TEXT, CLASS_NAME, DESCRIPTION, SCROLLABLE, INSTANCE = 0x1, 0x10, 0x40, 0x4000, 0x1000000
TEXT_CONTAINS, TEXT_MATCHES, RESOURCE_ID, INDEX = 0x2, 0x4, 0x200000, 0x800000
FIELD = "android.widget.EditText"
LIMIT_BYTES = 16 * 1024 * 1024


class Output:
    def __init__(self) -> None:
        self.text = ""

    async def write(self, data: bytes) -> None:
        self.text += data.decode()


@dataclass
class Client:
    served: ServedPhone
    output: Output
    running: asyncio.Task[int]

    @property
    def phone(self) -> Phone:
        return self.served.phone

    def connect(self) -> Socket:
        return self.served.userland.sockets.connect("tcp:9008")

    async def http(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Send one request on a connection of its own; return status and body."""
        socket = self.connect()
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        await socket.write(f"{head}Connection: close\r\n\r\n".encode() + body)
        answer = await read_all(socket, LIMIT_BYTES)
        head_bytes, _, content = answer.partition(b"\r\n\r\n")
        return int(head_bytes.split()[1]), content

    async def send(self, body: bytes) -> object:
        """Post bytes to the JSON-RPC path; return the decoded answer."""
        status, content = await self.http("POST", "/jsonrpc/0", body)
        assert status == 200
        return json.loads(content)

    async def ask(self, method: str, *params: object) -> dict[str, object]:
        """Call a method; return the whole answer."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}
        answer = await self.send(json.dumps(request).encode())
        assert isinstance(answer, dict)
        assert answer["id"] == 1
        return answer

    async def call(self, method: str, *params: object) -> object:
        """Call a method that succeeds; return its result."""
        answer = await self.ask(method, *params)
        assert "error" not in answer, answer
        return answer["result"]

    async def fails(self, method: str, *params: object) -> tuple[int, str]:
        """Call a method that fails; return code and message."""
        error = (await self.ask(method, *params))["error"]
        assert isinstance(error, dict)
        return error["code"], error["message"]

    async def open(self, package: str) -> None:
        """Bring an app to the front and wait until it stands."""
        self.phone.activities.launch(package)
        await self.phone.animations.wait_idle()


def where(**fields: object) -> dict[str, object]:
    """Return a selector as the library writes it, its mask from the fields given."""
    bits = {
        "text": TEXT,
        "textContains": TEXT_CONTAINS,
        "textMatches": TEXT_MATCHES,
        "className": CLASS_NAME,
        "description": DESCRIPTION,
        "scrollable": SCROLLABLE,
        "instance": INSTANCE,
        "resourceId": RESOURCE_ID,
        "index": INDEX,
    }
    mask = sum(bits[name] for name in fields)
    return {"mask": mask, "childOrSibling": [], "childOrSiblingSelector": [], **fields}


def step(selector: dict[str, object], relation: str, **fields: object) -> dict[str, object]:
    """Return a selector narrowed to a child or sibling."""
    return {**selector, "childOrSibling": [relation], "childOrSiblingSelector": [where(**fields)]}
