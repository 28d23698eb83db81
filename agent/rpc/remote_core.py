"""Use a core of another process through its socket, as if it were here.

Not a core and not a cache. Invariants: it is a `Core`, and raises what the core raised; a core that
has died or hangs is an error to every caller, never a wait without end.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Literal, Self, TypeVar

import msgspec

from agent.config import Settings
from agent.consent.gate import Proved
from agent.consent.phone_door import Paired, PairingOffer
from agent.core import CoreBase, Overview, TextDelta
from agent.errors import RuntimeDiedError, UnansweredError
from agent.private_files import check_unshared
from agent.protocol import Answer, Event, LookUp, Op, Reply, answer_type
from agent.records import LiveFrame
from agent.rpc import rpc_messages
from agent.rpc.credentials import Credentials, credentials_of, script_token
from agent.rpc.places import Place, TlsPlace, place_of
from agent.rpc.rpc_client import NOBODY, OP_TIMEOUT_S, RpcClient

__all__ = ["Client", "connect_or_none"]
T = TypeVar("T")


class Client(CoreBase):
    """A Core at the other end of a socket; made by `connect`."""

    def __init__(self, caller: RpcClient) -> None:
        self._caller = caller

    @classmethod
    async def connect(
        cls,
        path: Path | Place,
        *,
        name: str = "",
        credentials: Credentials | None = None,
        speaks_for: Literal["", "model", "programs"] = "",
    ) -> Self:
        """Connect to the core that listens on a socket, or at a place, under a name for people.

        Args:
            speaks_for: whom the client passes on; then no person is behind it.

        Raises:
            RuntimeDiedError: nobody is there, or whoever is there does not answer.
            WrongStateError: it speaks another version of the protocol.
        """
        try:
            return cls(
                await RpcClient.connect(
                    path, name=name, credentials=credentials, speaks_for=speaks_for
                )
            )
        except NOBODY as error:
            remedy = path.remedy if isinstance(path, TlsPlace) else "Start one."
            raise RuntimeDiedError(f"No core listens on {path}.", remedy) from error

    @property
    def pid(self) -> int:
        return self._caller.pid

    @property
    def client_id(self) -> str:
        """What the core calls this connection."""
        return self._caller.client_id

    @property
    def operator(self) -> str:
        """Who has signed in with it; empty where the core asked for no sign-in."""
        return "" if self._caller.signed is None else self._caller.signed.operator

    async def speak_for(self, whom: Literal["model", "programs"]) -> None:
        """Say that no person is behind this client."""
        params = rpc_messages.HelloParams(speaks_for=whom)
        await self._caller.call("hello", params, rpc_messages.Hello)

    async def prove(
        self, passphrase: str = "", *, chooses: bool = False, token: str = ""
    ) -> Proved:
        """Show that a person is here, or the token of a script; see `Gate.prove`."""
        params = rpc_messages.ProveParams(passphrase=passphrase, chooses=chooses, token=token)
        return await self._caller.call("prove", params, Proved)

    async def pairing_offer(self, name: str, life_s: int) -> PairingOffer:
        """Begin to pair a phone, which only a person may; see `PhoneDoor.offer`."""
        params = rpc_messages.PairingOfferParams(name=name, life_s=life_s)
        return await self._caller.call("pairing_offer", params, PairingOffer)

    async def pairing_accept(self, code: str, public: bytes, signature: bytes) -> Paired:
        """Pair the phone that shows a code; see `PhoneDoor.accept`."""
        params = rpc_messages.PairingAcceptParams(code=code, public=public, signature=signature)
        return await self._caller.call("pairing_accept", params, Paired)

    async def phone_act(self, phone_id: str, statement: str, signature: bytes) -> Reply:
        """Carry out what a paired phone signed; see `PhoneDoor.act`."""
        params = rpc_messages.PhoneActParams(
            phone_id=phone_id, statement=statement, signature=signature
        )
        return await self._caller.call("phone_act", params, Reply, OP_TIMEOUT_S)

    async def status(self) -> rpc_messages.Status:
        """Ask what process it is, and what goes on in it."""
        return await self._caller.call("status", rpc_messages.Nothing(), rpc_messages.Status)

    # --- the Core ----------

    async def submit(self, op: Op) -> str:
        """Queue an op and return its submission id."""
        submitted = await self._send("submit", op, rpc_messages.Submitted)
        return submitted.submission_id

    async def request(self, op: Op) -> Reply:
        """Submit an op and wait until it is carried out; raises what it failed with."""
        return await self._send("request", op, Reply)

    async def _send(self, method: str, op: Op, kind: type[T]) -> T:
        was_there = not self._caller.died.is_set()
        try:
            return await self._caller.call(method, rpc_messages.OpParams(op=op), kind, OP_TIMEOUT_S)
        except RuntimeDiedError as error:
            if was_there and not op.changes_nothing:
                raise UnansweredError(
                    f"{error.message} It is unknown whether the request was carried out.",
                    f"{error.remedy} Then check whether it was done.".strip(),
                ) from error
            raise

    @asynccontextmanager
    async def events(self, *, after: int | None = None) -> AsyncIterator[AsyncIterator[Event]]:
        """Follow events, without gap or repetition."""
        stream = self._caller.stream(Event)
        params = rpc_messages.EventsParams(subscription=stream.number, after=after)
        async with (
            self._caller.subscribed(stream, "events", params),
            aclosing(self._caller.iterate_all(stream)) as events,
        ):
            yield events

    @asynccontextmanager
    async def deltas(self, session_id: str = "") -> AsyncIterator[AsyncIterator[TextDelta]]:
        """Follow the newest words of models."""
        stream = self._caller.stream(TextDelta)
        params = rpc_messages.DeltasParams(subscription=stream.number, session_id=session_id)
        async with (
            self._caller.subscribed(stream, "deltas", params),
            aclosing(self._caller.iterate_newest(stream)) as deltas,
        ):
            yield deltas

    @asynccontextmanager
    async def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[AsyncIterator[LiveFrame]]:
        """Follow the newest picture of a device."""
        stream = self._caller.stream(LiveFrame)
        params = rpc_messages.FramesParams(
            subscription=stream.number,
            serial=serial,
            width_px=width_px,
            height_px=height_px,
            max_hz=max_hz,
        )
        async with (
            self._caller.subscribed(stream, "frames", params),
            aclosing(self._caller.iterate_newest(stream)) as frames,
        ):
            yield frames

    async def overview(self) -> Overview:
        """Take the picture at this moment."""
        return await self._caller.call("overview", rpc_messages.Nothing(), Overview)

    async def look_up(self, query: LookUp[Answer]) -> Answer:
        """Answer a look-up; see `Core.look_up`."""
        answer: Answer = await self._caller.call(query.method, query, answer_type(type(query)))
        return answer

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        """Read a session's stored events in order; see `Core.history`."""
        found: list[Event] = []
        decoder = msgspec.json.Decoder(Event)
        more = limit > 0
        while more and len(found) < limit:
            after = found[-1].seq if found and not before_seq else after_seq
            before = found[0].seq if found and before_seq else before_seq
            params = rpc_messages.HistoryParams(
                session_id=session_id, after_seq=after, before_seq=before, limit=limit - len(found)
            )
            page = await self._caller.call("history", params, rpc_messages.HistoryPage)
            events = [decoder.decode(event) for event in page.events]
            found = [*events, *found] if before_seq else [*found, *events]
            more = page.more and bool(events)
        return tuple(found)

    async def blob(self, digest: str) -> bytes:
        """Read a frame, tree, prompt or reply. Raises StoreError when it is gone."""
        return (
            await self._caller.call(
                "blob", rpc_messages.BlobParams(digest=digest), rpc_messages.BlobReply
            )
        ).data

    async def wait_closed(self) -> bool:
        """Wait until the core has ended, or this client is closed.

        Returns:
            Whether the core said that it closes; False when it died or hangs.
        """
        await self._caller.died.wait()
        return self._caller.ended_in_order

    @property
    def death(self) -> RuntimeDiedError | None:
        """Why the core ended by itself; see `Core.death`."""
        return self._caller.told_death

    async def close(self) -> None:
        """Hang up; the core goes on."""
        await self._caller.close()


async def connect_or_none(settings: Settings, *, name: str = "") -> Client | None:
    """Connect to the core that owns the data directory; None when there is none.

    A socket file that a dead core left behind counts as none. A core on another computer that the
    settings name takes the place of all that: it is there, or it is an error.

    Raises:
        RuntimeDiedError: a core is there and cannot be used.
        NotAllowedError: it has operators, and the settings name nobody's key or token.
        WrongStateError: it speaks another version of the protocol.
        ConfigError: others may write the data directory, so the socket may be anybody's.
        StoreError: the settings name a fleet's database, and the directory has a store of its own,
            or its core works on another database.
    """
    place = place_of(settings)
    if isinstance(place, TlsPlace):
        far = await Client.connect(place, name=name, credentials=credentials_of(settings))
        return await _with_token(far, settings)
    check_unshared(settings.data_dir)
    if settings.store.dsn:
        from agent.store.database.identity import check_has_no_database

        # A core of the directory's own store would answer for the fleet.
        check_has_no_database(settings.data_dir)
    try:
        caller = await RpcClient.connect(place, name=name, credentials=credentials_of(settings))
    except NOBODY:
        return None
    if settings.store.dsn and caller.fleet is not None:
        from agent.rpc.fleet_store import check_is_named

        try:
            await check_is_named(caller.fleet, settings)
        except BaseException:
            await caller.close()
            raise
    return await _with_token(Client(caller), settings)


async def _with_token(client: Client, settings: Settings) -> Client:
    """Show the script's token that the settings name."""
    try:
        token = script_token(settings)
        if token:
            await client.prove(token=token)
    except BaseException:
        await client.close()
        raise
    return client
