"""The browser's way back after signing in: one address on loopback that takes one answer.

After RFC 8252 (native apps) and RFC 9207 (`iss`). Not the asking and not the token. Invariants:
nothing but loopback is listened on; what does not answer our own question ends nothing and is
told so; the answer is repeated on no page.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

from agent.errors import ModelError, UsageError
from agent.text import one_line

_HEAD_TIMEOUT_S = 10.0
_MAX_FIELDS = 100
_BACK = "You can close this page and go back to the terminal."
_NOT_OURS = "This answers another question than the one that was asked. Nothing was done."


class Callback:
    """Waits for the answer to one question.

    Args:
        issuer: who is asked; an answer that names another is not ours.
    """

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer.rstrip("/")
        self._state = ""
        self._answers: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self.port = 0
        self.strangers = 0
        """How many answers came that were to another question."""

    @property
    def address(self) -> str:
        """Where the browser is to come back to."""
        return f"http://127.0.0.1:{self.port}/callback"

    async def code(self, state: str) -> str:
        """Wait for the code that answers the question with this state.

        Raises:
            ModelError: the person or the issuer said no.
        """
        self._state = state
        while True:
            said = await self._answers.get()
            if "error" in said:
                why = said.get("error_description") or said["error"]
                raise ModelError(
                    f"The issuer refused: {one_line(why, 200)}.", "Try again.", retryable=False
                )
            if said.get("code"):
                return said["code"]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one request of the browser and give it a page."""
        try:
            async with asyncio.timeout(_HEAD_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
            status, said = self._take(head)
            page = f"<!doctype html><meta charset=utf-8><title>Switchboard</title><p>{said}"
            body = page.encode()
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n"
                "Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            # A browser that went away, or something else that knocked.
            pass
        finally:
            writer.close()

    def _take(self, head: bytes) -> tuple[str, str]:
        """Judge a request; returns the status and what the page says."""
        parts = head.split(b" ", 2)
        target = parts[1].decode("ascii", "replace") if len(parts) == 3 else ""
        path, _, query = target.partition("?")
        if parts[0] != b"GET" or path != "/callback":
            return "404 Not Found", "There is nothing here."
        try:
            fields = parse_qs(query, max_num_fields=_MAX_FIELDS)
        except ValueError:
            self.strangers += 1
            return "400 Bad Request", _NOT_OURS
        said = {name: values[0] for name, values in fields.items()}
        is_ours = bool(self._state) and said.get("state") == self._state
        if not is_ours or said.get("iss", self._issuer).rstrip("/") != self._issuer:
            self.strangers += 1
            return "400 Bad Request", _NOT_OURS
        if not said.get("code") and "error" not in said:
            return "400 Bad Request", "This is not an answer: it holds no code."
        self._answers.put_nowait(said)
        if "error" in said:
            return "200 OK", f"Nobody was signed in. {_BACK}"
        return "200 OK", _BACK


@asynccontextmanager
async def callback(issuer: str, port: int) -> AsyncIterator[Callback]:
    """Listen on loopback while a person signs in.

    Args:
        port: to listen on; 0 for any that is free.

    Raises:
        UsageError: the port is taken.
    """
    callback_server = Callback(issuer)
    try:
        server = await asyncio.start_server(callback_server.serve, "127.0.0.1", port)
    except OSError as error:
        raise UsageError(
            f"Port {port} of loopback cannot be listened on: {error.strerror or error}.",
            "Set model.login_port to another, or to 0.",
        ) from error
    async with server:
        callback_server.port = server.sockets[0].getsockname()[1]
        yield callback_server
