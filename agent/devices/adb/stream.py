"""One socket to an adb server: requests, blocks and what a refusal means.

Not the calls (`agent.devices.adb.client`). Invariants: a stream that ends in the middle of an
answer is an error, never a short answer; what another side sends is bounded.
"""

import asyncio
import socket
from contextlib import suppress

from agent.errors import AdbError, DeviceError, DeviceLostError

OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024
"""More than any screen or tree holds; a phone that says more is broken or hostile."""
BUFFER_BYTES = 1 << 20
_SERVICE_LIMIT_BYTES = 0xFFFF


class ServiceClosedError(DeviceLostError):
    """The phone closed a service at once: it does not know it, or it is going away."""


class StreamEndedError(DeviceLostError):
    """The other side closed the connection in the middle of an answer."""


class AdbStream:
    """One open socket to a server, or through it to a service of a phone."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, subject: str
    ) -> None:
        self.reader = reader
        self.writer = writer
        self._subject = subject

    async def request(self, service: str) -> None:
        """Ask for a service and wait for OKAY.

        Raises AdbError, DeviceLostError or DeviceError by what FAIL says.
        """
        encoded = service.encode("utf-8", "surrogateescape")
        if len(encoded) > _SERVICE_LIMIT_BYTES:
            raise DeviceError(
                f"A request of {len(encoded)} bytes to {self._subject} is too long for adb.",
                "Send it in parts.",
            )
        self.writer.write(b"%04x" % len(encoded) + encoded)
        await self.writer.drain()
        status = await self.exactly(4)
        if status == b"OKAY":
            return
        if status != b"FAIL":
            raise AdbError(
                f"What answers for {self._subject} is not an adb server (it answered {status!r}).",
                "Check the address, or stop the program that uses the port.",
            )
        raise refusal(self._subject, (await self.block()).decode("utf-8", "replace"))

    async def exactly(self, count: int) -> bytes:
        """Read so many bytes. Raises StreamEndedError when the stream ends before."""
        try:
            return await self.reader.readexactly(count)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise StreamEndedError(
                f"The adb server ended the connection to {self._subject}.",
                "Reconnect the phone, or see that the adb server runs.",
            ) from error

    async def block(self) -> bytes:
        """Read one block that starts with four hexadecimal digits of length."""
        digits = await self.exactly(4)
        if digits == b"FAIL":
            # `host:pair` says OKAY first, then that it failed.
            raise refusal(self._subject, (await self.block()).decode("utf-8", "replace"))
        try:
            count = int(digits, 16)
        except ValueError:
            raise AdbError(
                f"The adb server of {self._subject} sent an invalid reply ({digits!r}).",
                "Check that the port belongs to an adb server.",
            ) from None
        return await self.exactly(count)

    async def rest(self, limit: int = OUTPUT_LIMIT_BYTES) -> bytes:
        """Read until the other side closes. Raises DeviceError beyond `limit` bytes."""
        kept = bytearray()
        while chunk := await self._read_chunk():
            kept += chunk
            if len(kept) > limit:
                raise self.too_much(limit)
        return bytes(kept)

    @property
    def is_quiet(self) -> bool:
        """Whether the connection is open and nothing has come that was not read."""
        # A StreamReader says in no public way that it holds something.
        held: bytearray = self.reader._buffer  # type: ignore[attr-defined]
        return not (held or self.reader.at_eof() or self.writer.is_closing())

    def acknowledge(self) -> None:
        """Have what came acknowledged now, where the system can be told so (Linux).

        An adb server sends a second small packet only after the first was acknowledged, which a
        system that hopes to send something itself puts off by 40 ms.
        """
        sock = self.writer.get_extra_info("socket")
        if sock is not None and hasattr(socket, "TCP_QUICKACK"):
            with suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def close(self) -> None:
        """Drop the connection at once: nothing is left to send."""
        self.writer.transport.abort()

    async def _read_chunk(self) -> bytes:
        try:
            return await self.reader.read(BUFFER_BYTES)
        except ConnectionError as error:
            raise DeviceLostError(
                f"The connection to {self._subject} broke.", "Reconnect the phone."
            ) from error

    def too_much(self, limit: int) -> DeviceError:
        """Make the error for a phone that never stops talking."""
        return DeviceError(
            f"{self._subject} sent more than {limit} bytes and was cut off.",
            "Restart the phone if this continues.",
        )


def refusal(subject: str, reason: str) -> DeviceError:
    """Turn what follows FAIL into the error that fits; `subject` is a serial or a server."""
    said = reason.strip()
    low = said.lower()
    if low == "closed":
        return ServiceClosedError(
            f"{subject} closed the service at once.",
            "Its Android does not offer it, or the phone is going away.",
        )
    if "unauthorized" in low or "authorizing" in low:
        return DeviceLostError(
            f"{subject} is not authorized: {said}.",
            'Unlock the phone and accept the dialog "Allow USB debugging?".',
        )
    if "not found" in low or "offline" in low or "no such device" in low or "no devices" in low:
        return DeviceLostError(
            f"{subject} is away: {said}.", "Plug the phone in again or connect it by adb."
        )
    if "unknown host service" in low:
        return AdbError(f"{subject} is too old: {said}.", "Update adb to a current version.")
    if "connect" in low or "more than one device" in low or "protocol fault" in low:
        return DeviceLostError(f"{subject} cannot be reached: {said}.", "Reconnect the phone.")
    return DeviceError(f"{subject} refused: {said or 'no reason given'}.", "Try again.")
