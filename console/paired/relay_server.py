"""Be a relay: boxes for sealed messages, and the page, for computers that nobody can reach.

Invariants: it reads nothing of a message and keeps it in memory alone, for a minute; what one box
holds, and how many there are, is bounded.
"""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable

from aiohttp import web

from console.paired.page_server import FILES, GUARDS, page_file

MESSAGE_BYTES = 128 * 1024
MESSAGE_LIFE_MS = 60_000
MOST_MESSAGES = 32
MOST_BOXES = 1_000
WAIT_S = 20.0
NUMBER = "Message-Number"
_BOX = re.compile(r"[0-9a-f]{32}")


class _Box:
    def __init__(self) -> None:
        self.messages: OrderedDict[int, tuple[int, bytes]] = OrderedDict()
        """When each came, and what it is, by its number."""
        self.arrived = asyncio.Event()
        self.readers = 0


class Boxes:
    """The boxes of one relay.

    Args:
        clock_ms: the time.
        wait_s: how long a reader waits for a message.
    """

    def __init__(
        self,
        clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        *,
        wait_s: float = WAIT_S,
    ) -> None:
        self._clock_ms = clock_ms
        self._wait_s = wait_s
        self._boxes: OrderedDict[str, _Box] = OrderedDict()
        self._number = 0

    def put(self, name: str, message: bytes) -> bool:
        """Lay a message into a box; returns False where there is no room."""
        box = self._box(name)
        if box is None or len(box.messages) >= MOST_MESSAGES:
            return False
        # Readers ask for what is newer than they have: a relay that restarts must not count anew.
        self._number = max(self._number + 1, self._clock_ms())
        box.messages[self._number] = (self._clock_ms(), message)
        box.arrived.set()
        return True

    async def read(self, name: str, after: int) -> tuple[int, bytes] | None:
        """Return the oldest message after a number, and drop those up to it; None: none came."""
        box = self._box(name)
        if box is None:
            return None
        box.readers += 1
        try:
            async with asyncio.timeout(self._wait_s):
                while True:
                    for number in [one for one in box.messages if one <= after]:
                        del box.messages[number]
                    for number, (_, message) in box.messages.items():
                        return number, message
                    box.arrived.clear()
                    await box.arrived.wait()
        except TimeoutError:
            return None
        finally:
            box.readers -= 1

    def _box(self, name: str) -> _Box | None:
        old_ms = self._clock_ms() - MESSAGE_LIFE_MS
        for other, box in tuple(self._boxes.items()):
            while box.messages and next(iter(box.messages.values()))[0] <= old_ms:
                box.messages.popitem(last=False)
            if not box.messages and not box.readers and other != name:
                del self._boxes[other]
        if name not in self._boxes and len(self._boxes) >= MOST_BOXES:
            return None
        return self._boxes.setdefault(name, _Box())


def relay_app(boxes: Boxes) -> web.Application:
    """Make the application of a relay."""

    async def put(request: web.Request) -> web.Response:
        has_room = boxes.put(_box_of(request), await request.read())
        return web.Response(status=204 if has_room else 429)

    async def read(request: web.Request) -> web.Response:
        after = request.query.get("after", "0")
        if not (after.isascii() and after.isdecimal() and len(after) <= 16):
            raise web.HTTPBadRequest(text="Name a number: ?after=0\n")
        found = await boxes.read(_box_of(request), int(after))
        if found is None:
            return web.Response(status=204)
        number, message = found
        return web.Response(
            body=message, content_type="application/octet-stream", headers={NUMBER: str(number)}
        )

    async def mark(_request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(GUARDS)

    app = web.Application(client_max_size=MESSAGE_BYTES)
    app.on_response_prepare.append(mark)
    for path, (name, kind) in FILES.items():
        app.router.add_get(path, page_file(name, kind))
    app.router.add_post("/box/{box}", put)
    app.router.add_get("/box/{box}", read)
    return app


def _box_of(request: web.Request) -> str:
    name = request.match_info["box"]
    if not _BOX.fullmatch(name):
        raise web.HTTPNotFound(text="A box is called by 32 hexadecimal digits.\n")
    return name
