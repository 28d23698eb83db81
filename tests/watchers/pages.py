"""A real HTTP server on loopback that says what a test wants said."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Pages:
    """What is served, by path: whole replies, or bodies of HTML."""

    port: int = 0
    bodies: dict[str, str] = field(default_factory=dict)
    replies: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    drips_s: float = 0.0  # How long to wait between the bytes of a reply; 0: it is sent at once.

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            line, *headers = head.strip().split("\r\n")
            path = line.split(" ")[1]
            self.asked.append((path, dict(h.lower().split(": ", 1) for h in headers)))
            for piece in self._pieces(self._reply(path)):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(self.drips_s)
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    def _pieces(self, reply: bytes) -> list[bytes]:
        if not self.drips_s:
            return [reply]
        return [reply[at : at + 1] for at in range(len(reply))]

    def _reply(self, path: str) -> bytes:
        if path in self.replies:
            return self.replies[path]
        if path not in self.bodies:
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        body = self.bodies[path].encode()
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
        return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


def redirect(target: str, status: int = 302) -> bytes:
    """Return a reply that sends its reader elsewhere."""
    head = f"HTTP/1.1 {status} Elsewhere\r\nLocation: {target}\r\nContent-Length: 0\r\n"
    return f"{head}Connection: close\r\n\r\n".encode()


@asynccontextmanager
async def serving() -> AsyncIterator[Pages]:
    pages = Pages()
    server = await asyncio.start_server(pages.serve, "127.0.0.1", 0)
    pages.port = server.sockets[0].getsockname()[1]
    try:
        yield pages
    finally:
        server.close()
