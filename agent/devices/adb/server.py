"""Find the adb binary, find or start an adb server, and stop the one that is ours.

The operator's server is used as it is: it is started when none runs, as adb itself would, and never
killed or replaced by another version. A server of our own (for virtual phones) listens on a unix
socket in the data directory, which no other user of the computer can open, leaves USB, mDNS and
emulator ports alone and keeps its files beside the socket.
Invariant: every server we started is written down, so that after a kill it is found again by
process id and start time, and is either used again or stopped.
"""

import asyncio
import logging
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Collection
from pathlib import Path

import msgspec

from agent.child_environment import child_environment
from agent.child_process import end_child
from agent.devices.adb.adb_binary import bundled_adb
from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.liveness import hear_server
from agent.devices.adb.newest_adb import newest
from agent.devices.adb.server_lock import start_lock
from agent.devices.resources.processes import end_process, is_running, start_mark
from agent.errors import AdbError
from agent.private_files import check_unshared

STARTABLE_PORT = ServerAddress().port
"""Where an adb server of the operator's may be started: any other port was named for one that is
to be there already, and what else may want it is not known."""
START_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 3.0
PORT_TIMEOUT_S = 1.0
_STARTS = 3
_FIRST_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 0.1
_EMULATOR_PORTS = range(5554, 5586)
_SOCKET_NAME = "server.sock"
_log = logging.getLogger(__name__)


class UnixSocketError(AdbError):
    """This adb cannot listen on a unix socket."""


class ServerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What is written down of a server that we started."""

    pid: int
    port: int = 0
    """0: it listens on the unix socket in the folder."""
    start_mark: str
    """When the process began, as the system tells it: a process id alone may be another's now."""


def find_adb(setting: str = "") -> Path:
    """Find the adb binary: $ADBUTILS_ADB_PATH, the setting adb.path, else the newer of the one on
    the PATH and the one of adbutils.

    Raises AdbError when a place that was named holds no program, or none is found anywhere.
    """
    named = (("$ADBUTILS_ADB_PATH", os.environ.get("ADBUTILS_ADB_PATH", "")), ("adb.path", setting))
    for name, value in named:
        if value:
            path = Path(value).expanduser().absolute()
            if path.is_file() and os.access(path, os.X_OK):
                return path
            raise AdbError(f"{name} names {value}, which is not a program.", f"Correct {name}.")
    on_path = shutil.which("adb")
    found = newest(Path(on_path).absolute(), bundled_adb()) if on_path else bundled_adb()
    if found is None:
        raise AdbError(
            "There is no adb on this machine.",
            "Install Android's platform-tools and put adb on the PATH, or set adb.path.",
        )
    return found


async def reach(address: ServerAddress, *, adb_setting: str = "") -> ServerAddress:
    """Make sure that the operator's adb server answers; start it at the default
    address of this machine when none runs there.

    Raises AdbError when it neither answers nor starts.
    """
    client = AdbClient(address)
    try:
        await client.version()
    except AdbError as error:
        if not address.is_local:
            raise
        if address.port != STARTABLE_PORT:
            raise AdbError(
                error.message,
                f"Start one there (adb -P {address.port} start-server), or correct adb.server, "
                "ADB_SERVER_SOCKET or ANDROID_ADB_SERVER_PORT.",
            ) from error
    else:
        return address
    said = await _start_by_adb(await asyncio.to_thread(find_adb, adb_setting), address)
    try:
        await client.version()
    except AdbError as error:
        raise AdbError(
            f"adb could not start a server at {address}: {_last_line(said)}.",
            "Run `adb start-server` by hand to see why, or stop the program that uses the port.",
        ) from error
    return address


async def _start_by_adb(adb: Path, address: ServerAddress) -> bytes:
    """Have adb start its server, and give what it said. Raises AdbError: there is no such adb."""
    environment = child_environment(keeps_adb=True)
    environment.pop("ADB_SERVER_SOCKET", None)
    try:
        process = await asyncio.create_subprocess_exec(
            adb,
            "-P",
            str(address.port),
            "start-server",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
        )
    except OSError as error:
        raise _not_startable(adb, error) from error
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            _, said = await process.communicate()
    except TimeoutError:
        await end_child(process)
        said = b"it did not answer in time"
    return said


class AdbServer:
    """An adb server of our own, kept in a folder of the data directory.

    Args:
        folder: where its record, key and log are kept; made when missing.
        adb_setting: the setting adb.path.
        named: the addresses of servers that are to be there already; ours never starts on one.
        on_port: whether it listens on a TCP port of the loopback interface instead, which every
            user of the computer can open: for programs that know no other way to an adb server.
    """

    def __init__(
        self,
        folder: Path,
        *,
        adb_setting: str = "",
        named: Collection[ServerAddress] = (),
        on_port: bool = False,
    ) -> None:
        self._folder = folder.absolute()
        self._adb_setting = adb_setting
        self._on_port = on_port
        self._avoid = frozenset(address.port for address in named if address.is_local)
        self._record: ServerRecord | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = asyncio.Lock()

    @property
    def address(self) -> ServerAddress:
        """Where it listens. Raises AdbError while it is not started."""
        if self._record is None:
            raise AdbError("Switchboard's adb server is not running.", "Start it first.")
        return self._address_of(self._record)

    @property
    def key_file(self) -> Path:
        """The public key by which phones know this server; adb makes it when it starts."""
        return self._folder / ".android" / "adbkey.pub"

    @property
    def pid(self) -> int:
        """The server's process id; 0 while it is not started."""
        return self._record.pid if self._record else 0

    @property
    def is_child(self) -> bool:
        """Whether this process started it, rather than found it running."""
        return self._process is not None

    async def start(self) -> ServerAddress:
        """Use the server that a killed Switchboard left, or start one at the same address.

        An adb that cannot listen on a unix socket gets a TCP port; `is_private` then says no.

        Raises AdbError when adb is missing, no server starts, others may write the folder, or it
        went with the directory that it was in.
        """
        if self._record is not None and not await asyncio.to_thread(self._folder.parent.is_dir):
            # A directory that was moved away is not made again in its old place.
            raise AdbError(f"{self._folder.parent} is gone.", "Restore it, then try again.")
        async with self._starting, start_lock(self._folder):
            # The file first: another process may have replaced a server of ours that died.
            known = await asyncio.to_thread(self._read_record) or self._record
            if known is not None and await self._adopt(known):
                self._record = known
                return self.address
            adb = await asyncio.to_thread(find_adb, self._adb_setting)
            await asyncio.to_thread(self._prepare_folder)
            if not self._on_port:
                try:
                    await self._spawn(adb, 0)
                except UnixSocketError:
                    _log.warning("%s cannot listen on a unix socket.", adb)
                else:
                    return self.address
            port = await self._choose_port(known)
            for attempt in range(_STARTS):
                try:
                    await self._spawn(adb, port)
                    return self.address
                except AdbError:
                    if attempt == _STARTS - 1:
                        raise
                    port = _free_port(self._avoid)
            raise AssertionError("unreachable")

    async def revive(self, address: ServerAddress) -> None:
        """Start it again on its port if `address` is ours and nothing answers there."""
        if self._record is not None and address == self.address:
            await self.start()

    async def stop(self) -> None:
        async with self._starting:
            record, self._record = self._record, None
            process, self._process = self._process, None
            if record is None:
                return
            if not await asyncio.to_thread(self._folder.parent.is_dir):
                # Nobody can have started another there, and nothing is to be made there.
                await end_process(record.pid, record.start_mark, process, STOP_TIMEOUT_S)
                return
            async with start_lock(self._folder):
                await end_process(record.pid, record.start_mark, process, STOP_TIMEOUT_S)
                # Another process may have started one since ours died: that record is not ours.
                if await asyncio.to_thread(self._read_record) == record:
                    await asyncio.to_thread(self._path.unlink, missing_ok=True)

    async def running_address(self) -> ServerAddress | None:
        """Return the address of ours if it runs and answers; nothing is started."""
        record = self._record or await asyncio.to_thread(self._read_record)
        if record is None or not is_running(record.pid, record.start_mark):
            return None
        address = self._address_of(record)
        try:
            await AdbClient(address).version()
        except AdbError:
            return None
        return address

    async def end_leftover(self) -> bool:
        """End the server that a killed Switchboard left, if there is one; says whether it was.

        Only for whoever owns the data directory, and needs no server.
        """
        if not self._path.exists():
            return False
        async with self._starting, start_lock(self._folder):
            left = await asyncio.to_thread(self._read_record)
            was_running = left is not None and is_running(left.pid, left.start_mark)
            if left is not None:
                await end_process(left.pid, left.start_mark, None, STOP_TIMEOUT_S)
            await asyncio.to_thread(self._path.unlink, missing_ok=True)
            return was_running

    # --- below ----------

    @property
    def _path(self) -> Path:
        return self._folder / "server.json"

    @property
    def socket_path(self) -> Path:
        """Where it listens, unless it has a port."""
        return self._folder / _SOCKET_NAME

    def _address_of(self, record: ServerRecord) -> ServerAddress:
        if record.port:
            return ServerAddress("127.0.0.1", record.port)
        return ServerAddress.unix(self.socket_path)

    def _prepare_folder(self) -> None:
        """Make the folder this user's alone. Raises AdbError."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            check_unshared(self._folder)
            self._folder.chmod(0o700)
        except OSError as error:
            raise AdbError(
                f"{self._folder} cannot be used: {error.strerror or error}.",
                "Correct the permissions of the data directory.",
            ) from error

    def _read_record(self) -> ServerRecord | None:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=ServerRecord)
        except (FileNotFoundError, NotADirectoryError, msgspec.DecodeError):
            # A record cut short by a crash names nobody; its server is then a stranger's to us.
            return None
        except OSError as error:
            raise AdbError(
                f"{self._path} cannot be read: {error.strerror}.", "Correct its permissions."
            ) from error

    async def _adopt(self, record: ServerRecord) -> bool:
        """Whether the recorded server lives and answers; one that lives and is mute is ended."""
        if not is_running(record.pid, record.start_mark):
            return False
        try:
            if record.port and not self._on_port:
                # An earlier version left it, or an adb that could do no better: try again.
                raise AdbError("It listens on a port.")
            await hear_server(AdbClient(self._address_of(record)))
        except AdbError:
            await end_process(record.pid, record.start_mark, self._process, STOP_TIMEOUT_S)
            return False
        return True

    async def _choose_port(self, known: ServerRecord | None) -> int:
        """Keep the port that the phones' connections know, unless it is taken or named now."""
        if known is None or not known.port or known.port in self._avoid:
            return _free_port(self._avoid)
        kept = await asyncio.to_thread(_becomes_free, known.port)
        return known.port if kept else _free_port(self._avoid)

    async def _spawn(self, adb: Path, port: int) -> None:
        try:
            # Not in a thread: a cancellation must not lose sight of a server that was started.
            process = self._launch(adb, port)
        except OSError as error:
            raise _not_startable(adb, error) from error
        record = ServerRecord(pid=process.pid, port=port, start_mark=start_mark(process.pid))
        self._process = process
        try:
            # Before it answers: whoever kills us now leaves a server that can be found.
            self._write_record(record)
            await self._answering(process, self._address_of(record))
        except BaseException:
            await end_process(process.pid, record.start_mark, process, STOP_TIMEOUT_S)
            self._path.unlink(missing_ok=True)
            raise
        self._record = record

    def _launch(self, adb: Path, port: int) -> subprocess.Popen[bytes]:
        # Spelled so, adb listens on the loopback address only, in every version. The socket is
        # named from the folder, in which adb starts: its whole path may be too long.
        where = f"tcp:localhost:{port}" if port else f"localfilesystem:{_SOCKET_NAME}"
        if not port:
            # The lock is held and no server of ours runs: nobody listens on what is left there.
            self.socket_path.unlink(missing_ok=True)
        with open(self._folder / "server.log", "wb", opener=_private) as log:
            return subprocess.Popen(
                [adb, "-L", where, "nodaemon", "server"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment(),
                cwd=self._folder,
                start_new_session=True,
            )

    def _environment(self) -> dict[str, str]:
        """Keep the server's files with us, its hands off USB and mDNS, and the operator's keys."""
        keys = [key for key in os.environ.get("ADB_VENDOR_KEYS", "").split(":") if key]
        own_key = Path.home() / ".android" / "adbkey"
        if own_key.is_file():
            keys.append(str(own_key))
        return child_environment() | {
            "HOME": str(self._folder),
            "ADB_VENDOR_KEYS": ":".join(keys),
            "ADB_USB": "0",
            "ADB_MDNS": "0",
            "ADB_MDNS_OPENSCREEN": "0",
            "ADB_MDNS_AUTO_CONNECT": "0",
            "ADB_LOCAL_TRANSPORT_MAX_PORT": str(_EMULATOR_PORTS.start - 1),
        }

    async def _answering(self, process: subprocess.Popen[bytes], address: ServerAddress) -> None:
        client = AdbClient(address)
        pause_s = _FIRST_PAUSE_S
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                while True:
                    code = process.poll()
                    if code is not None:
                        said = (self._folder / "server.log").read_bytes()
                        refusal = UnixSocketError if _knows_no_sockets(said) else AdbError
                        raise refusal(
                            f"adb ended at once (exit code {code}) at {address}: "
                            f"{_last_line(said)}.",
                            "Free the port, or see `switchboard doctor` for the adb that is used.",
                        )
                    try:
                        await client.version()
                        return
                    except AdbError:
                        await asyncio.sleep(pause_s)
                        pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
        except TimeoutError:
            raise AdbError(
                f"Switchboard's adb server did not answer at {address} within "
                f"{START_TIMEOUT_S:g} s.",
                f"Read {self._folder / 'server.log'} for details.",
            ) from None

    def _write_record(self, record: ServerRecord) -> None:
        new = self._path.with_suffix(".new")
        try:
            with open(new, "wb", opener=_private) as file:
                file.write(msgspec.json.encode(record))
            new.replace(self._path)
        except OSError as error:
            raise AdbError(
                f"{self._path} cannot be written: {error.strerror}.",
                "Free space in the data directory or correct its permissions.",
            ) from error


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _knows_no_sockets(said: bytes) -> bool:
    """Return whether adb refused the form of the address (adb's socket_spec.cpp)."""
    return any(words in said for words in (b"unknown socket spec", b"unix domain", b"usage:"))


def _not_startable(adb: Path, error: OSError) -> AdbError:
    return AdbError(
        f"{adb} cannot be started: {error.strerror or error}.",
        "Set adb.path to an adb for this machine; see `switchboard doctor`.",
    )


def _free_port(avoid: Collection[int]) -> int:
    """Let the system choose a port that is not named, nor taken for an emulator's by adb."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port not in _EMULATOR_PORTS and port not in avoid:
            return port


def _becomes_free(port: int) -> bool:
    """Wait a moment for a port: the threads of a killed server hold it a little longer."""
    until = time.monotonic() + PORT_TIMEOUT_S
    while not is_free(port):
        if time.monotonic() > until:
            return False
        time.sleep(_FIRST_PAUSE_S)
    return True


def is_free(port: int) -> bool:
    """Return whether nobody listens on a port of this computer."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip().rstrip(".") if lines else "it printed nothing"
