"""Count what is out before and after many mixed sessions on virtual phones: it must be the same.

`python -m tests.sessions.resource_count --sessions 500` plays them; the tests play a few. Sessions
work hidden, fail, hang until they are cancelled, are read, deleted or pruned, text is typed with a
borrowed keyboard, and now and then the core ends in their midst and another takes its place.
"""

import argparse
import asyncio
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path

from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.frames.shared_segment import PREFIX
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.devices.resources.resource_ledger import FOLDER, ResourceLedger
from agent.errors import WrongStateError
from agent.loop.timing import Pace
from agent.protocol import NoticeDone, SessionCancel, SessionCreate, SessionDelete, Target
from agent.records import SessionState, TargetPresentation
from agent.runtime.runtime import Runtime
from agent.settings import RecoverySettings, RetentionSettings, Settings
from agent.store.embedded.sqlite_store import SqliteStore
from agent.tasks.regular import RegularTask
from tests.sessions.lifecycle.words import Gates, WordModel, said

PHONES = 3
CORE_LIFE = 40  # How many sessions a core lives for.
BOUND_S = 120.0
APP = "com.android.settings"
PACE = Pace(initial_s=0, poll_s=0.02, settle_s=0.1, react_s=0, first_s=1, first_interactive=1)
SHM = Path("/dev/shm")


class House:
    """Virtual phones, and cores that live on them one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.server = AdbServer(folder / "adb")
        self.phones = VirtualPhones(folder / "phones", self.server, count=PHONES)
        self.ledger = ResourceLedger(self.data / FOLDER)
        self.gates = Gates()
        self.most_out = 0
        """How many records the ledger had at most: none would mean that nothing was counted."""
        self._life = AsyncExitStack()
        self.store: SqliteStore
        self.core: Runtime
        self.fleet: AdbFleet

    async def begin(self) -> None:
        settings = Settings(
            data_dir=self.data,
            config_file=self.data / "config.toml",
            recovery=RecoverySettings(auto_resume=False),
            retention=RetentionSettings(keep_trees=4),
        )
        self._life = AsyncExitStack()
        self.store = await self._life.enter_async_context(SqliteStore.open(self.data))
        self.fleet = AdbFleet([self.server.address], resources=self.ledger)
        self.core = await Runtime.spawn(
            settings,
            store=self.store,
            fleet=self.fleet,
            models=lambda session: WordModel(session, self.gates),
            task=lambda: RegularTask(pace=PACE),
        )
        self._life.push_async_callback(self.core.close)
        for serial in self.phones.serials:
            await self.fleet.wait_for(serial, timeout_s=BOUND_S)

    async def end(self) -> None:
        """End the core, whatever is under way."""
        await self._life.aclose()

    async def count(self) -> Counter[str]:
        """Count what is out on every phone and on this computer; no core may run."""
        out: Counter[str] = Counter()
        client = AdbClient(self.server.address)
        for serial in self.phones.serials:

            async def on_phone(command: str, serial: str = serial) -> str:
                result = await client.shell(
                    serial, command, features=frozenset(), timeout_s=BOUND_S
                )
                return result.text

            out["displays"] += (await on_phone("dumpsys display")).count("mDisplayId=")
            keyboard = await on_phone("settings get secure default_input_method")
            out[f"keyboard {keyboard.strip()}"] += 1
            for line in (await on_phone("ps -A -o NAME")).split():
                out[f"process {line}"] += 1
            for name in (await on_phone("ls -a /data/local/tmp /sdcard")).split():
                out[f"file {name}"] += 1
            async with client.open(serial, "reverse:list-forward", timeout_s=BOUND_S) as stream:
                out["reversals"] += len((await stream.block()).decode().splitlines())
        out["records"] = len(self.ledger.out())
        out["tasks"] = len(asyncio.all_tasks())
        return out + _here(self.data)

    # --- one session ----------

    async def play(self, number: int) -> None:
        """Play the session of a number on its phone, to its end."""
        serial = self.phones.serials[number % PHONES]
        kind = (number // PHONES) % 6
        if kind == 5:
            await self.type_on(serial)
            return
        word = ("quick", "fails", "hangs", "quick", "asks")[kind]
        target = Target(
            objective=said(word),
            serial=serial,
            package=APP,
            presentation=TargetPresentation.DETACHED_HIDDEN,
        )
        reply = await self.core.request(SessionCreate(goal=said("quick"), targets=(target,)))
        top, [child] = reply.session_id, reply.child_ids
        if word in {"hangs", "asks"}:
            waits = SessionState.WAITING_FOR_USER
            await self.until(
                child, lambda state: state is waits or child in self.gates.shown, "hang or ask"
            )
            self.note()
            await self.core.request(SessionCancel(session_id=top))
        await self.until(top, lambda state: state.is_terminal, "end")
        self.note()
        if kind == 0:
            await self.core.request(NoticeDone(session_id=top))
        elif kind == 3:
            await self.core.request(SessionDelete(session_id=top))

    async def type_on(self, serial: str) -> None:
        async with self.fleet.lease(serial, "s-types") as device:
            await device.type_text("né 世界")
            self.note()

    def note(self) -> None:
        self.most_out = max(self.most_out, len(self.ledger.out()))

    async def until(self, session_id: str, fits: Callable[[SessionState], bool], what: str) -> None:
        until = time.monotonic() + BOUND_S
        while True:
            session = await self.store.session(session_id)
            if fits(session.state):
                return
            if time.monotonic() > until:
                raise AssertionError(f"{session_id} did not {what}: {session}")
            await asyncio.sleep(0.01)


def _kind_of(descriptor: Path) -> str:
    try:
        return "descriptor " + re.sub(r"[0-9]+", "N", str(descriptor.readlink()))
    except OSError:
        return "descriptor of this listing"


def segments() -> int:
    """Count the shared memory of this process, in which all the cores live.

    The folder is everybody's: what other processes make and leave there meanwhile is theirs.
    """
    return len(list(SHM.glob(f"{PREFIX}{os.getpid()}-*")))


def _here(data: Path) -> Counter[str]:
    """Count what this process has on its computer; Linux alone tells the first three."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    return Counter(
        {
            **Counter(_kind_of(path) for path in Path("/proc/self/fd").glob("*")),
            "children": len(children.read_text().split()) if children.exists() else 0,
            "shared memory": segments(),
            "sockets": len(list(data.glob("*.sock"))),
        }
    )


async def play(folder: Path, sessions: int) -> tuple[dict[str, int], int]:
    """Play sessions; returns what was out afterwards and not before, and the most that was out."""
    house = House(folder)
    try:
        await house.phones.start()
        # What stays for the next run is placed by the first.
        await house.begin()
        typing = 5 * PHONES
        await asyncio.gather(*(_lane(house, [at, at + typing]) for at in range(PHONES)))
        await house.end()
        before = await house.count()
        numbers = iter(range(sessions))
        while batch := [n for _, n in zip(range(CORE_LIFE), numbers, strict=False)]:
            await house.begin()
            lanes = [asyncio.create_task(_lane(house, batch[at::PHONES])) for at in range(PHONES)]
            await asyncio.gather(*lanes)
            # One more, in whose midst the core ends.
            target = Target(
                objective=said("hangs"),
                serial=house.phones.serials[0],
                package=APP,
                presentation=TargetPresentation.DETACHED_HIDDEN,
            )
            reply = await house.core.request(SessionCreate(goal=said("hangs"), targets=(target,)))
            [child] = reply.child_ids
            await house.until(child, lambda _, c=child: c in house.gates.shown, "hang")  # type: ignore[misc]
            await house.end()
        return dict(await house.count() - before), house.most_out
    finally:
        with suppress(WrongStateError):
            await house.end()
        await house.phones.stop()
        await house.server.stop()


async def _lane(house: House, numbers: list[int]) -> None:
    for number in numbers:
        await house.play(number)


def main(arguments: list[str]) -> int:
    """Play; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.sessions.resource_count")
    parser.add_argument("--sessions", type=int, default=500)
    given = parser.parse_args(arguments)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        out, most = asyncio.run(play(Path(folder), given.sessions))
    took_s = time.monotonic() - began
    print(f"{given.sessions} sessions in {took_s:.0f} s; at most {most} out; left: {out or 0}")
    return 1 if out or not most else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
