"""The remedy: a core of another user, and an agent that has no rights of theirs."""

import asyncio
import json
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agent.consent.gate import Gates
from agent.consent.judge import Consent
from agent.consent.passphrase import FILE_NAME as PASSPHRASE
from agent.consent.script_tokens import FILE_NAME as TOKENS
from agent.consent.script_tokens import ScriptToken
from agent.records import Autonomy
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import serve
from agent.store.embedded.sqlite_store import SqliteStore
from tests.small_core import SmallCore

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")
CORE, AGENT = 61001, 61002


def as_user(uid: int, work: Callable[[], object], out: int) -> int:
    """Fork a process of another user that works, and writes what comes of it as JSON."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        os.write(out, json.dumps(work()).encode() + b"\n")
    except BaseException as error:
        os.write(out, json.dumps(f"failed: {error!r}").encode() + b"\n")
    finally:
        os._exit(0)


async def serve_here(data: Path, out: int, *, for_ever: bool = True) -> None:
    consent = Consent(data)
    consent.passphrase.choose("correct horse battery")
    now_ms = consent.clock_ms()
    token = ScriptToken(
        token_id="", name="n", sha256="", made_ms=now_ms, until_ms=now_ms + 3_600_000
    )
    consent.tokens.create(token)
    gates = Gates(consent, Autonomy.ASK_BEFORE_ACTION)
    async with (
        SqliteStore.open(data) as store,
        serve(SmallCore(store), socket_path(data), gates=gates),
    ):
        os.write(out, b'"serves"\n')
        if for_ever:
            await asyncio.Event().wait()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user may look into."""
    with tempfile.TemporaryDirectory(prefix="sb-users-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


def attempts(data: Path, core: int) -> dict[str, str]:
    """Try what a program of the core's own user could do; returns what each came to."""

    def connect() -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
            made.connect(str(socket_path(data)))

    def write(name: str) -> None:
        (data / name).write_text("{}")

    tried: dict[str, Callable[[], object]] = {
        "connect": connect,
        "list": lambda: list(data.iterdir()),
        "read the passphrase": lambda: (data / PASSPHRASE).read_bytes(),
        "remove the passphrase": lambda: (data / PASSPHRASE).unlink(),
        "write a passphrase": lambda: write(PASSPHRASE),
        "read the tokens": lambda: (data / TOKENS).read_bytes(),
        "write a token": lambda: write(TOKENS),
        "write the database": lambda: next(data.glob("*.sqlite*")).write_bytes(b""),
        "move the data directory": lambda: data.rename(data.with_name("mine")),
        "read the core's memory": lambda: Path(f"/proc/{core}/mem").read_bytes(),
        "read the core's environment": lambda: Path(f"/proc/{core}/environ").read_bytes(),
        "take the core's files": lambda: list(Path(f"/proc/{core}/fd").iterdir()),
        "end the core": lambda: os.kill(core, signal.SIGKILL),
    }
    found = {}
    for name, attempt in tried.items():
        try:
            attempt()
        except (OSError, StopIteration) as error:
            found[name] = type(error).__name__
        else:
            found[name] = "opened"
    return found


def test_a_core_of_another_user_is_closed_to_an_agents_programs(folder: Path) -> None:
    data = folder / "data"
    data.mkdir(mode=0o700)
    os.chown(data, CORE, CORE)
    reading, writing = os.pipe()
    # Once as ourselves: another user may not be let in to where modules are loaded from.
    (warm := folder / "warm").mkdir(mode=0o700)
    asyncio.run(serve_here(warm, writing, for_ever=False))
    core = as_user(CORE, lambda: asyncio.run(serve_here(data, writing)), writing)
    try:
        with os.fdopen(reading) as told:
            assert [json.loads(told.readline()) for _ in range(2)] == ["serves"] * 2
            agent = as_user(AGENT, lambda: attempts(data, core), writing)
            os.waitpid(agent, 0)
            found = json.loads(told.readline())
        assert set(found.values()) <= {"PermissionError", "StopIteration"}, found
        os.kill(core, 0)
    finally:
        os.close(writing)
        with suppress(ProcessLookupError):
            os.kill(core, signal.SIGKILL)
        os.waitpid(core, 0)
