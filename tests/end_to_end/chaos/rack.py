"""Hosts of a fleet as real processes with real phones, what is done to them, and what has to hold.

A host is `switchboard host serve` with a recorder (`recorded_host`, beside); its phones are served
by a process of their own and outlive it. The work is the offline pilot's: notes that it writes, and
messages that it asks about.
"""

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import msgspec

from agent.config import load_settings
from agent.devices.adb.server import find_adb
from agent.errors import StoreError
from agent.protocol import Event, Op, Reply, SessionCreate, UserInputAnswer
from agent.records import Question, SessionState
from agent.rpc.remote_core import Client, connect_or_none
from agent.state.commit import Commit
from agent.store.database.lock import owner_pid
from agent.store.postgres.postgres_store import PostgresStore
from support.adb import free_port
from tests.end_to_end import warm
from tests.end_to_end.chaos.findings import Findings, Recorded
from tests.end_to_end.harness import base_environment, end_all_of, script_token
from tests.store.postgres_server import PostgresServer

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 600.0
LOOK_S = 0.1
APPROVE = "Approve"
_GONE = "the database or the host does not answer"


class Rack:
    """Hosts, phones and sessions on one database; made by `rack`.

    Args:
        server: the database's.
        folder: of this rack alone.
        dispatcher: of the hosts: `local` or `dbos`.
    """

    def __init__(self, server: PostgresServer, folder: Path, *, dispatcher: str) -> None:
        self.server = server
        self.dsn = server.new_database()
        self.folder = folder
        self.unfenced: set[str] = set()
        """Hosts that keep to no lease: the control."""
        self._dispatcher = dispatcher
        self.record_file = folder / "recorded"
        self.record_file.touch()
        (folder / "home").mkdir()
        self.hosts: dict[str, asyncio.subprocess.Process] = {}
        self.around: dict[str, tuple[str, ...]] = {}
        """Words before a host's command, as of a network namespace."""
        self.dsns: dict[str, str] = {}
        """Addresses of the database, where a host has one of its own."""
        self.phones_at: dict[str, str] = {}
        """Where a host reaches this computer's adb servers, where that is not 127.0.0.1."""
        self.more: dict[str, dict[str, str]] = {}
        """Environment of a host, beside what all have."""
        self.clocks: dict[str, dict[str, str]] = {}
        """Environment in which a host's clock is wrong."""
        self.phones: dict[str, list[str]] = {}
        """Serials by the name of what serves them."""
        self.servers_of_phones: dict[str, asyncio.subprocess.Process] = {}
        self.adb_servers: dict[str, asyncio.subprocess.Process] = {}
        self.seen: dict[int, bytes] = {}
        """Events as the observer was told of them."""
        self.goals: dict[str, list[str]] = {}
        """What each session has to leave on its phone."""
        self.store: PostgresStore
        self._stack: AsyncExitStack

    # --- making ----------

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Have an observer look on for the length of the block, and end everything after it."""
        async with AsyncExitStack() as stack:
            self._stack = stack
            self.store = await stack.enter_async_context(PostgresStore.open(self.dsn, "observer"))
            stack.callback(self.store.subscribe(self._observe))
            stack.push_async_callback(self._end)
            yield

    def _observe(self, commit: Commit) -> None:
        for event in commit.events:
            self.seen[event.event_id] = msgspec.json.encode(event)

    async def serve_phones(self, name: str, count: int) -> None:
        """Serve virtual phones on an adb server of their own, which hosts are then named."""
        environment = self.environment(name)
        adb_port = await self._adb_server(name)
        words = ("-c", "from console.cli import main; main()", "phone", "serve", "--count")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *words, str(count)),
            stdout=asyncio.subprocess.PIPE,
            stdin=asyncio.subprocess.DEVNULL,
            env=environment,
            cwd=ROOT,
        )
        self._stack.push_async_callback(_ended, process)
        self.servers_of_phones[name] = process
        assert process.stdout is not None
        self.phones[name] = []
        async with asyncio.timeout(PATIENCE_S):
            for _ in range(count):
                serial = json.loads(await process.stdout.readline())["serial"]
                while "connected to" not in await self.adb(adb_port, "connect", serial):
                    await asyncio.sleep(LOOK_S)
                self.phones[name].append(serial)

    async def _adb_server(self, name: str) -> int:
        port = free_port()
        process = await asyncio.create_subprocess_exec(
            *(find_adb(), "-a", "-L", f"tcp:{port}", "nodaemon", "server"),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env={
                **self.environment(name),
                "ADB_USB": "0",
                "ADB_MDNS": "0",
                "ADB_LOCAL_TRANSPORT_MAX_PORT": "5553",
            },
        )
        self._stack.push_async_callback(_ended, process)
        self.adb_servers[name] = process
        self.more[name] = {"ADB_SERVER_SOCKET": f"tcp:127.0.0.1:{port}"}
        async with asyncio.timeout(PATIENCE_S):
            while "List of devices" not in await self.adb(port, "devices"):
                await asyncio.sleep(LOOK_S)
        return port

    async def adb(self, port: int, *words: str) -> str:
        """Call adb on one of our servers; returns what it printed."""
        process = await asyncio.create_subprocess_exec(
            *(find_adb(), "-P", str(port), *words),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "ADB_SERVER_SOCKET": f"tcp:127.0.0.1:{port}"},
        )
        said, _ = await process.communicate()
        return said.decode()

    def environment(self, name: str) -> dict[str, str]:
        """Return what a host, or what serves its phones, has around it."""
        more = self.more.get(name, {})
        place = self.phones_at.get(name)
        if place and "ADB_SERVER_SOCKET" in more:
            server = more["ADB_SERVER_SOCKET"].replace("127.0.0.1", place)
            more = {**more, "ADB_SERVER_SOCKET": server}
        return {
            **base_environment(self.folder / "home"),
            "PYTHONUNBUFFERED": "1",
            "SWITCHBOARD_DATA_DIR": str(self.folder / name),
            "SWITCHBOARD_STORE_HOST": name,
            "SWITCHBOARD_STORE_DSN": self.dsns.get(name, self.dsn),
            "SWITCHBOARD_STORE_DISPATCHER": self._dispatcher,
            # On a slow computer a round takes longer than people are given for an answer.
            "SWITCHBOARD_RUN_ANSWER_TIMEOUT_S": "0",
            **more,
        }

    # --- hosts ----------

    async def start(self, name: str, *, phones: int) -> None:
        """Start a host; returns when its phones are there, as the database has it."""
        process = await self.run_as(name, self.serving(name))

        def is_there() -> bool:
            assert process.returncode is None, f"{name} ended: {self.said(name)}"
            return self.online(name, process.pid) >= phones

        await self.until(is_there, f"{name} and its phones")

    def serving(self, name: str) -> tuple[str, ...]:
        how = "unfenced" if name in self.unfenced else "fenced"
        recorder = (sys.executable, "-m", "tests.end_to_end.chaos.recorded_host")
        around = self.around.get(name, ())
        return (*around, *recorder, str(self.record_file), how, "host", "serve")

    async def run_as(self, name: str, words: Sequence[str]) -> asyncio.subprocess.Process:
        """Run a program as a host; what it says is kept."""
        with (self.folder / f"{name}.said").open("ab") as said:
            self.hosts[name] = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env={**self.environment(name), **self.clocks.get(name, {})},
                cwd=ROOT,
            )
        return self.hosts[name]

    def said(self, name: str) -> str:
        """Return the end of what a host wrote to its terminal."""
        return (self.folder / f"{name}.said").read_text(errors="replace")[-3000:]

    def online(self, name: str, pid: int) -> int:
        """Count the phones of a host that can be used, as its process with this id says."""
        found = self.sql(
            "SELECT count(*) FROM switchboard.host h, jsonb_array_elements(h.phones::jsonb) p "
            f"WHERE h.name = '{name}' AND h.is_open = 1 AND p->>'state' = 'device' "
            "AND h.seen_ms > h.since_ms"
        )
        if owner_pid(self.folder / name) != pid:
            return 0
        return int(found or 0)

    def is_here(self, name: str) -> bool:
        """Whether a host has said within the last seconds that it is there."""
        return (
            self.sql(
                "SELECT extract(epoch FROM clock_timestamp()) * 1000 - seen_ms < 4000 "
                f"FROM switchboard.host WHERE name = '{name}'"
            )
            == "t"
        )

    async def kill(self, name: str) -> None:
        """End a host as `kill -9` does."""
        self.hosts[name].kill()
        await self.hosts[name].wait()

    def signal(self, name: str, what: "signal.Signals") -> None:
        """Send a host's process a signal."""
        os.kill(self.hosts[name].pid, what)

    async def _end(self) -> None:
        for process in self.hosts.values():
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGCONT)
                    process.kill()
            await process.wait()
        for name in self.hosts:
            end_all_of(self.folder / name)

    # --- sessions ----------

    async def client(self, host: str, *words: str) -> asyncio.subprocess.Process:
        """Start a command that is a client of a host's core."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", "from console.cli import main; main()", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=self.environment(host),
            cwd=ROOT,
        )
        self._stack.push_async_callback(_ended, process)
        return process

    async def call(self, host: str, *words: str) -> str:
        """Run a command at a host to its end; returns what it printed."""
        done = await asyncio.to_thread(warm.call, words, self.environment(host), bound_s=PATIENCE_S)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    @asynccontextmanager
    async def core(self, host: str) -> AsyncIterator[Client]:
        """Have a connection to a host's core for the length of the block."""
        environment = self.environment(host)
        settings = load_settings(environ=environment)
        async with asyncio.timeout(PATIENCE_S):
            while (client := await connect_or_none(settings)) is None:
                await asyncio.sleep(LOOK_S)
        try:
            yield client
        finally:
            await client.close()

    async def request(self, host: str, op: Op) -> Reply:
        """Ask a host's core."""
        async with self.core(host) as core:
            return await core.request(op)

    async def begin_notes(self, host: str, serial: str, word: str, count: int) -> str:
        """Have notes written on a phone by one session; returns its id."""
        notes = [f"{word} {number}" for number in range(count)]
        goal = " then ".join(f'write a note saying "{note}"' for note in notes)
        op = SessionCreate(
            goal=goal, serial=f"{host}/{serial}", model="pilot", max_steps=40 * count
        )
        session_id = (await self.request(host, op)).session_id
        self.goals[session_id] = notes
        return session_id

    async def begin_message(self, host: str, serial: str, text: str) -> tuple[str, Question]:
        """Have a message sent up to the approval, which stays open; returns that too."""
        goal = f'tell Ben Okafor "{text}"'
        op = SessionCreate(goal=goal, serial=f"{host}/{serial}", model="pilot", max_steps=100)
        session_id = (await self.request(host, op)).session_id
        self.goals[session_id] = [text]
        return session_id, await self.question(session_id)

    async def question(self, session_id: str) -> Question:
        found: list[Question] = []

        async def is_asked() -> bool:
            found[:] = [
                one for one in await self.store.open_questions() if one.session_id == session_id
            ]
            return bool(found)

        await self.until(is_asked, f"a question of {session_id}")
        return found[0]

    async def answer(self, host: str, question: Question, answer: str = APPROVE) -> None:
        op = UserInputAnswer(question_id=question.question_id, answer=answer)
        data = self.folder / host
        token = (await asyncio.to_thread(script_token, data, data)).read_text().strip()
        async with self.core(host) as core:
            await core.prove(token=token)
            await core.request(op)

    # --- waiting ----------

    async def until(
        self, true: Callable[[], bool] | Callable[[], Awaitable[bool]], what: str
    ) -> None:
        """Wait for a condition; a database or a host that is away does not count as an answer."""
        last = _GONE
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    try:
                        found = true()
                        if found if isinstance(found, bool) else await found:
                            return
                        last = "it is not so"
                    except (StoreError, AssertionError) as error:
                        if "ended" in str(error):
                            raise
                        last = str(error)
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            said = "\n".join(f"--- {name}\n{self.said(name)}" for name in self.hosts)
            raise AssertionError(f"no {what}: {last}\n{await self.told()}\n{said}") from None

    async def told(self) -> str:
        """Return how the sessions stand, a line each."""
        with suppress(StoreError):
            found = await self.store.sessions(limit=1000)
            return "\n".join(f"{s.session_id} {s.serial} {s.state} {s.waits_for!r}" for s in found)
        return "the database does not answer"

    def sql(self, statement: str) -> str:
        """Ask the database, past everything of ours."""
        database = self.dsn.partition("///")[2].partition("?")[0]
        return self.server.sql(statement, database=database)

    def now_ms(self) -> int:
        """Return the time by the database's clock."""
        return int(self.sql("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"))

    def runs(self, job_id: int) -> int:
        return int(self.sql(f"SELECT count(*) FROM switchboard.job_run WHERE job_id = {job_id}"))

    def most_runs(self, job_id: int) -> int:
        """Count the runs of a job that were for one due time; of the time that had most."""
        return int(
            self.sql(
                "SELECT max(count(*)) OVER () FROM switchboard.job_run "
                f"WHERE job_id = {job_id} GROUP BY record::json->>'due_at' LIMIT 1"
            )
        )

    def state(self, session_id: str) -> str:
        """Return how a session stands, past everything of ours."""
        return self.sql(f"SELECT state FROM switchboard.session WHERE session_id = '{session_id}'")

    def acts(self, host: str = "") -> int:
        """Count the acts so far; of a host, where one is named."""
        return sum(one.kind == "act" and host in ("", one.host) for one in self.recorded())

    async def more_acts(self, count: int = 1) -> None:
        """Wait until more was done on phones than before; or all has ended."""
        before = self.acts()

        async def is_more() -> bool:
            return self.acts() >= before + count or await self.rests()

        await self.until(is_more, "further acts")

    async def rests(self) -> bool:
        """Whether no session is at work or queued."""
        return await self.busy() == 0

    async def busy(self) -> int:
        """Count the sessions at work or queued."""
        states = (SessionState.QUEUED, SessionState.RUNNING)
        active = await self.store.sessions(limit=1000, active_only=True)
        return sum(one.state in states for one in active)

    async def until_rest(self) -> None:
        """Wait until every session has ended or waits for a person."""
        await self.until(self.rests, "rest")

    # --- looking ----------

    def recorded(self) -> list[Recorded]:
        """Read what hosts wrote down, in order; a killed one may have left half a line."""
        lines = self.record_file.read_text(encoding="utf-8").split("\n")[:-1]
        return [
            Recorded(kind, host, process, tuple(words))
            for kind, host, process, *words in map(str.split, lines)
        ]

    async def look(self) -> Findings:
        """Compare log, records, what the observer saw and phones with each other."""
        sessions = await self.store.sessions(limit=10_000)
        logs = {one.session_id: await self._log(one.session_id) for one in sessions}
        found = Findings()
        for session in sessions:
            found.take_session(session, logs[session.session_id])
        found.take_events(logs, self.recorded(), self.seen)
        found.take_acts(logs, self.recorded())
        texts = {text for texts in self.goals.values() for text in texts}
        states = [state for name in self.phones for state in await self.phone_states(name)]
        found.take_phones(states, texts)
        return found

    async def _log(self, session_id: str) -> tuple[Event, ...]:
        events: list[Event] = []
        while page := await self.store.session_events(
            session_id, after_seq=events[-1].seq if events else 0
        ):
            events.extend(page)
        return tuple(events)

    async def phone_states(self, name: str) -> list[object]:
        found: list[object] = []
        for path in sorted((self.folder / name / "phones").glob("*/claim")):
            words = ("phone", "state", path.parent.name, "--json")
            done = await asyncio.to_thread(warm.call, words, self.environment(name))
            found.append(json.loads(done.stdout)["apps"])
        return found


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
        try:
            async with asyncio.timeout(30):
                await process.wait()
        except TimeoutError:
            process.kill()
    await process.wait()


@asynccontextmanager
async def rack(
    server: PostgresServer, folder: Path, *, dispatcher: str = "local"
) -> AsyncIterator[Rack]:
    """Have a rack without hosts for the length of the block."""
    one = Rack(server, folder, dispatcher=dispatcher)
    async with one.open():
        yield one


# --- what is done to it ----------


async def kill_hosts(
    one: Rack, times: int, *, phones: int, refill: Callable[[], Awaitable[None]], seed: int = 1
) -> int:
    """Kill hosts at random moments and start them again, each time once more was done; returns how
    often. More work is begun before the last of it is done.
    """
    chance = random.Random(seed)
    for _ in range(times):
        if await one.busy() <= phones:
            await refill()
        name = chance.choice(sorted(one.hosts))
        await asyncio.sleep(chance.uniform(0, 2.0))
        await one.kill(name)
        await one.start(name, phones=phones)
        await one.more_acts()
    return times
