"""Serve a Core on a unix socket, so that other processes of the same user can use it.

Not a core: it keeps nothing but connections. Invariants: only the user who runs it is heard, and
operators who sign in, from other computers by TLS alone (`agent.rpc.tls_listener`); no
client, however slow or hostile, makes the core wait or its memory grow without bound; what a client
missed it can ask for again with `after`; who is turned away is told why.
"""

import asyncio
import logging
import os
import socket
import stat
import struct
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from agent.consent.gate import Gates
from agent.consent.processes import peer_process
from agent.core import SharedCore
from agent.errors import ConfigError, StoreError
from agent.operators.door import Door
from agent.operators.operator_core import OperatorCore
from agent.protocol import PROTOCOL_VERSION
from agent.rpc.connection import Link, refuse, too_many_clients
from agent.rpc.host_door import HostDoor
from agent.rpc.rpc_messages import MAX_CALL_BYTES, ClientStatus, FleetStore, Status
from agent.rpc.tls_listener import Listening, TlsListener
from agent.unix_sockets import short_address

__all__ = ["Daemon", "serve"]

MAX_CLIENTS = 64
"""How many may be connected for as long as they like, and follow things."""
SPARE_CLIENTS = 8
"""How many more are served single calls, so that an operator's stop always gets through."""
SPARE_S = 30.0
"""How long one of those may stay."""
_REFUSED_AT_ONCE = 16
_REFUSAL_S = 2.0
_GRACE_S = 2.0
_PATH_LOOK_S = 1.0  # How often it is looked whether clients can still find the socket.
_log = logging.getLogger(__name__)


class Daemon:
    """The listening end; made by `serve`."""

    def __init__(
        self,
        core: SharedCore,
        path: Path,
        *,
        data_dir: Path,
        role: str,
        door: Door | None = None,
        host_door: HostDoor | None = None,
        fleet: FleetStore | None = None,
        gates: Gates | None = None,
    ) -> None:
        self.path = path
        self._fleet = fleet
        self._gates = gates
        self._core = core
        self._door = door
        self._host_door = host_door
        self._data_dir = data_dir
        self.role = role
        self._started_ms = time.time_ns() // 1_000_000
        self._links: dict[Link, asyncio.Task[None]] = {}
        self._refused = 0
        self._server: asyncio.Server | None = None
        self._inode = 0
        self._keeping: asyncio.Task[None] | None = None
        self._far: TlsListener | None = None

    @property
    def clients(self) -> int:
        """How many are connected."""
        return len(self._links)

    @property
    def far(self) -> TlsListener | None:
        """What listens for other computers; None where nothing does."""
        return self._far

    @property
    def _everybody(self) -> tuple[Link, ...]:
        return (*self._links, *(() if self._far is None else self._far.links))

    async def start(self) -> None:
        """Listen. Raises StoreError when the socket cannot be made or another core has it."""
        await self._listen()
        self._keeping = asyncio.create_task(self._keep_path(), name="socket's path")

    async def listen_far(self, listening: Listening) -> TlsListener:
        """Listen for other computers too, whose clients have to sign in.

        Raises:
            ConfigError: there are neither operators nor other hosts, a certificate cannot be used,
                or nothing can listen there.
        """
        has_operators = self._door is not None and self._door.is_shut
        if not has_operators and self._host_door is None:
            raise ConfigError(
                "A core without operators cannot accept other computers: it would refuse every "
                "client.",
                "Add one first: switchboard operators add NAME --key FILE.pub",
            )
        self._far = TlsListener(listening, self._far_link)
        await self._far.start()
        return self._far

    def _far_link(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, peer: str, channel: bytes
    ) -> Link:
        return Link(
            self._core,
            reader,
            writer,
            peer=peer,
            socket=str(self.path),
            status=self.status,
            door=self._door,
            # Also where the last operator was removed meanwhile.
            must_sign_in=True,
            channel=channel,
            host_door=self._host_door,
            gate=None if self._gates is None else self._gates.far(),
        )

    async def _listen(self) -> None:
        listener = _listen(self.path)
        self._inode = self.path.lstat().st_ino
        self._server = await asyncio.start_unix_server(
            self._connected, sock=listener, limit=MAX_CALL_BYTES
        )

    async def _keep_path(self) -> None:
        """Make the socket anew when its file was removed, as by what tidies old files up.

        Whoever is connected stays so. One that somebody else has put there is theirs, and where
        the directory is gone too there is nothing to come back to.
        """
        while True:
            await asyncio.sleep(_PATH_LOOK_S)
            if self._door is not None:
                for link in self._everybody:
                    link.look_again()
            if self.path.is_symlink() or self.path.exists() or not self.path.parent.exists():
                continue
            before = self._server
            try:
                await self._listen()
            except (StoreError, OSError) as error:
                _log.warning("The socket was removed, and could not be made anew: %s", error)
                continue
            _log.warning("The socket was removed, and was made anew.")
            if before is not None:
                before.close()

    async def close(self) -> None:
        """Answer what is being answered, hang up, and remove the socket."""
        if self._server is None:
            return
        if self._keeping is not None:
            self._keeping.cancel()
        self._server.close()
        with suppress(OSError):
            # A newer owner may have put its own socket there.
            if self.path.lstat().st_ino == self._inode:
                self.path.unlink()
        await asyncio.gather(*(link.finish(_GRACE_S) for link in self._everybody))
        if (death := self._core.death) is not None:
            await asyncio.gather(*(link.tell_death(death) for link in self._everybody))
        if self._far is not None:
            await self._far.close()
        tasks = list(self._links.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._server = None

    async def status(self, seen_by: OperatorCore | None = None) -> Status:
        """Return what process this is, who is connected to it and what goes on in its core.

        Args:
            seen_by: the core as an operator meets it, who is told of their own phones alone.
        """
        picture = await (seen_by or self._core).overview()
        drives = [(one.driver, one.session_id) for one in picture.sessions if one.held]
        states = Counter(session.state.value for session in picture.sessions)
        return Status(
            pid=os.getpid(),
            protocol=PROTOCOL_VERSION,
            role=self.role,
            data_dir=str(self._data_dir),
            socket=str(self.path),
            log=str(log_path(self._data_dir)),
            started_ms=self._started_ms,
            clients=tuple(
                ClientStatus(
                    client_id=link.client.client_id,
                    name=link.client.name,
                    since_ms=link.since_ms,
                    operator=link.client.operator,
                    looks_at=tuple(
                        one for one in link.looks_at if seen_by is None or seen_by.sees_phone(one)
                    ),
                    drives=tuple(
                        session_id for driver, session_id in drives if driver == link.client.name
                    ),
                )
                for link in self._everybody
            ),
            sessions=dict(states),
            questions=len(picture.questions),
            devices=picture.devices,
            jobs=len(picture.jobs),
        )

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        uid, pid = peer_of(writer.get_extra_info("socket"))
        if uid != os.geteuid():
            _log.warning("Refused a client of user %s.", uid)
            writer.close()
            return
        if len(self._links) >= MAX_CLIENTS + SPARE_CLIENTS:
            await self._refuse(reader, writer)
            return
        peer = f"process {pid}" if pid > 0 else "a process of yours"
        is_spare = len(self._links) >= MAX_CLIENTS
        chain = peer_process(writer.get_extra_info("socket"), pid)
        link = Link(
            self._core,
            reader,
            writer,
            peer=peer,
            socket=str(self.path),
            status=self.status,
            may_follow=not is_spare,
            door=self._door,
            host_door=self._host_door,
            fleet=self._fleet,
            gate=None if self._gates is None else self._gates.near(chain, peer),
        )
        self._links[link] = task
        try:
            async with asyncio.timeout(SPARE_S if is_spare else None):
                await link.run()
        except TimeoutError:
            _log.info("A client beyond the first %d was disconnected.", MAX_CLIENTS)
        except asyncio.CancelledError:
            # Only `close` cancels; the stream server would log it as a failure.
            pass
        except Exception:
            _log.exception("A client's connection failed.")
        finally:
            del self._links[link]
            writer.transport.abort()

    async def _refuse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a client's first call with why it is turned away, then hang up."""
        _log.warning("Refused a client; %d are connected.", self.clients)
        self._refused += 1
        try:
            if self._refused <= _REFUSED_AT_ONCE:
                async with asyncio.timeout(_REFUSAL_S):
                    await refuse(reader, writer, too_many_clients(self.clients))
        except (TimeoutError, OSError, ValueError):
            pass  # It said nothing, or is gone already.
        finally:
            self._refused -= 1
            writer.close()


@asynccontextmanager
async def serve(
    core: SharedCore,
    path: Path,
    *,
    data_dir: Path | None = None,
    role: str = "core",
    door: Door | None = None,
    host_door: HostDoor | None = None,
    listening: Listening | None = None,
    fleet: FleetStore | None = None,
    gates: Gates | None = None,
) -> AsyncIterator[Daemon]:
    """Serve a core for the length of a `with` block.

    Args:
        core: what is served.
        path: of the socket (`agent.rpc.rpc_messages.socket_path`).
        data_dir: what the core works on; the socket's directory when not said.
        role: what kind of process serves it, for whoever asks for the status.
        door: lets operators in; None: the user who runs it may do everything.
        host_door: lets other hosts of a fleet see pictures and words; None: it is in none.
        listening: where it listens for other computers too; None: nowhere.
        fleet: the fleet's database that the core works on; None: a store of its own.
        gates: admit what allows more; None: whoever is let in may.

    Raises:
        ConfigError: it cannot listen there; see `Daemon.listen_far`.
        StoreError: the socket cannot be made there, or a living core has it.
    """
    daemon = Daemon(
        core,
        path,
        data_dir=data_dir or path.parent,
        role=role,
        door=door,
        host_door=host_door,
        fleet=fleet,
        gates=gates,
    )
    await daemon.start()
    try:
        if listening is not None:
            await daemon.listen_far(listening)
        yield daemon
    finally:
        await daemon.close()


def is_stale(path: Path) -> bool:
    """Whether a socket file has nobody behind it any more. Raises OSError for other troubles."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            with short_address(path) as address:
                probe.connect(address)
        except (ConnectionRefusedError, FileNotFoundError):
            return True
        except BlockingIOError:
            # Whoever has more callers than it takes at once is there.
            return False
    return False


def log_path(data_dir: Path) -> Path:
    """Return where the owner of a data directory writes its log."""
    return data_dir / "logs" / "switchboard.log"


def peer_of(connection: socket.socket) -> tuple[int, int]:
    """Return the user and the process at the other end; −1 for what the system does not tell.

    SO_PEERCRED is Linux's `struct ucred` (pid, uid, gid); LOCAL_PEERCRED is the BSDs' `struct
    xucred` (version, uid, …), option 1 of level 0.
    """
    if hasattr(socket, "SO_PEERCRED"):
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        pid, uid, _gid = struct.unpack("iII", credentials)
        return int(uid), int(pid)
    if sys.platform == "darwin":
        return int(struct.unpack_from("II", connection.getsockopt(0, 1, 76))[1]), -1
    return -1, -1


def _listen(path: Path) -> socket.socket:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists() or path.is_symlink():
            if not stat.S_ISSOCK(path.lstat().st_mode):
                raise StoreError(
                    f"{path} exists and is not a socket.", "Move it away, then try again."
                )
            if not is_stale(path):
                raise StoreError(
                    f"Another core already listens on {path}.", "Use that one, or end it first."
                )
            path.unlink()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # Whoever gets in before the chmod is still turned away by the peer check.
            with short_address(path) as address:
                listener.bind(address)
            path.chmod(0o600)
            listener.listen(16)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise StoreError(
            f"The socket {path} could not be created: {error.strerror or error}.",
            "Check the data directory, or point SWITCHBOARD_DATA_DIR at another one.",
        ) from error
    return listener
