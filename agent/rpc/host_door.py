"""How a host of a fleet lets the others see the pictures and words of its phones, and only those.

Not operators (`agent.operators.door`) and not the ops of other hosts, which come by the database.
Invariants: both sides prove that they know the secret of the host's opening, and neither says it; a
proof counts once, on the connection that it was made for; who came in this way follows pictures and
words of this host's phones, and can call nothing else.
"""

import hmac
import secrets
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Annotated, ClassVar, NoReturn, Protocol

import msgspec

from agent.core import TextDelta
from agent.errors import NotAllowedError, StoreError
from agent.operators.door import wrong_sign_in
from agent.records import LiveFrame
from agent.rpc.rpc_messages import NONCE_BYTES, SignedIn, SignInParams

SECRET_BYTES = 32
METHODS = frozenset({"hello", "ping", "frames", "deltas", "next", "unsubscribe"})
"""What a host may call once it has signed in."""
MOST_ADDRESSES = 8
_LONGEST = 4096


class HostWire(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one opening of a host is reached; kept in the database, for the other hosts alone."""

    addresses: Annotated[
        tuple[Annotated[str, msgspec.Meta(max_length=_LONGEST)], ...],
        msgspec.Meta(max_length=MOST_ADDRESSES),
    ] = ()
    """As `unix:/path/of/core.sock` or `tls://HOST:PORT`, in the order in which they are tried."""
    secret: Annotated[bytes, msgspec.Meta(max_length=SECRET_BYTES)] = b""

    def __repr__(self) -> str:
        """Return its name alone: a secret is never written anywhere else."""
        return "HostWire(…)"


def read_wire(text: str) -> HostWire:
    """Return what a host says of how it is reached; of one that says nothing, nothing.

    Raises StoreError for what cannot be read.
    """
    if not text:
        return HostWire()
    try:
        return msgspec.json.decode(text, type=HostWire)
    except msgspec.MsgspecError as error:
        raise StoreError("A host's address in the database cannot be read.") from error


class Pictures(Protocol):
    """The pictures and words of one host's own phones."""

    def frames_here(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AbstractAsyncContextManager[AsyncIterator[LiveFrame]]:
        """Follow the newest picture of a phone of this host."""

    def deltas_here(self, session_id: str) -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        """Follow what the model of a session at this host writes."""


class HostDoor:
    """The door of one opening of a host, for the other hosts of its fleet.

    Args:
        host: whose it is.
        pictures: what is seen through it.
    """

    def __init__(self, host: str, pictures: Pictures) -> None:
        self.host = host
        self.core = _HostView(pictures)
        self._secret = secrets.token_bytes(SECRET_BYTES)

    def wire(self, *addresses: str) -> str:
        """Return how this opening is reached, to be put into the database."""
        return msgspec.json.encode(
            HostWire(addresses=addresses[:MOST_ADDRESSES], secret=self._secret)
        ).decode()

    def let_in(self, shown: SignInParams, challenge: bytes, channel: bytes) -> SignedIn:
        """Let a host in that knows the secret, and prove that it is known here.

        Raises NotAllowedError.
        """
        of = (shown.host, self.host, challenge, channel, shown.nonce)
        proven = hmac.compare_digest(_proof(self._secret, b"asks", *of), shown.proof)
        if not proven or not shown.host or len(shown.nonce) != NONCE_BYTES or not challenge:
            raise wrong_sign_in()
        return SignedIn(operator="", grants=(), proof=_proof(self._secret, b"answers", *of))


class HostShown:
    """What a host signs in with at another; of one connection.

    Args:
        host: who asks.
        to_host: who is asked.
        secret: of its opening.
    """

    is_all_there_is: ClassVar[bool] = True

    def __init__(self, host: str, to_host: str, secret: bytes) -> None:
        self._who = (host, to_host)
        self._secret = secret
        self._nonce = secrets.token_bytes(NONCE_BYTES)

    def answer(self, challenge: bytes, channel: bytes) -> SignInParams:
        """Return what proves that the secret is known."""
        proof = _proof(self._secret, b"asks", *self._who, challenge, channel, self._nonce)
        return SignInParams(host=self._who[0], nonce=self._nonce, proof=proof)

    def check(self, signed: SignedIn, challenge: bytes, channel: bytes) -> None:
        """Raise NotAllowedError where who answers does not know the secret."""
        proof = _proof(self._secret, b"answers", *self._who, challenge, channel, self._nonce)
        if not hmac.compare_digest(proof, signed.proof):
            raise NotAllowedError(
                f"Another process answers where host {self._who[1]} should.",
                "Check which core listens there: switchboard daemon status",
            )


def _proof(secret: bytes, side: bytes, host: str, to_host: str, *parts: bytes) -> bytes:
    if len(secret) != SECRET_BYTES:
        raise wrong_sign_in()
    said = b"".join(
        len(part).to_bytes(8, "big") + part
        for part in (b"switchboard host 1", side, host.encode(), to_host.encode(), *parts)
    )
    return hmac.digest(secret, said, "sha256")


class _HostView:
    """A core as another host meets it."""

    def __init__(self, pictures: Pictures) -> None:
        self._pictures = pictures

    def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AbstractAsyncContextManager[AsyncIterator[LiveFrame]]:
        """Follow the newest picture of a phone of this host; see `Core.frames`."""
        return self._pictures.frames_here(
            serial, width_px=width_px, height_px=height_px, max_hz=max_hz
        )

    def deltas(self, session_id: str = "") -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        """Follow what the model of a session at this host writes; see `Core.deltas`.

        Raises NotAllowedError where no session is named.
        """
        if not session_id:
            raise NotAllowedError("A host follows the streamed text of one session.", "Name it.")
        return self._pictures.deltas_here(session_id)

    def events(self, *, after: int | None = None) -> NoReturn:
        """Refuse: events come by the database."""
        raise NotAllowedError("Events are not followed this way.", "Read them from the database.")
