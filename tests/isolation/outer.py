"""The world outside, in a namespace of its own: `python -m tests.isolation.outer FOLDER`.

It is started by `unshare --net --mount`, makes a second namespace with a core in it, and is all
that this core can reach: the way to every address, a name server that knows every name, a web
server, and the model's endpoint. Prints one JSON line with what arrived.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

from tests.end_to_end.harness import BOUND_S, SWITCHBOARD, base_environment, script_token
from tests.isolation.obedient import ATTACKS, EVIL, Attack, Obedient
from tests.isolation.recording import Recorder
from tests.openai_server import openai_server

HERE, THERE = "10.77.0.2", "10.77.0.1"
PUBLIC = "93.184.215.14"
"""Where every name leads: an address of the internet, which a core may fetch from."""
OUT, IN = "out0", "in0"
_ANSWERS = 12


def _do(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True, timeout=BOUND_S)


def _name_servers(folder: Path) -> None:
    resolver = folder / "resolv.conf"
    resolver.write_text(f"nameserver {HERE}\noptions timeout:1 attempts:1\n")
    _do("mount", "--bind", str(resolver), "/etc/resolv.conf")


def _networks() -> subprocess.Popen[bytes]:
    """Lay the cable, and return a process that keeps the inner namespace."""
    holder = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo ready; exec sleep 3600"], stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"ready\n"
    _do("ip", "link", "set", "lo", "up")
    _do("ip", "link", "add", OUT, "type", "veth", "peer", "name", IN)
    _do("ip", "link", "set", IN, "netns", str(holder.pid))
    for address in (f"{HERE}/24", f"{PUBLIC}/32"):
        _do("ip", "addr", "add", address, "dev", OUT)
    _do("ip", "link", "set", OUT, "up")
    for words in (
        ("ip", "link", "set", "lo", "up"),
        # The kernel's own neighbour discovery is nobody's data.
        ("sh", "-c", f"echo 1 > /proc/sys/net/ipv6/conf/{IN}/disable_ipv6"),
        ("ip", "addr", "add", f"{THERE}/24", "dev", IN),
        ("ip", "link", "set", IN, "up"),
        ("ip", "route", "add", "default", "via", HERE),
    ):
        _do(*_inside(holder.pid), *words)
    return holder


def _inside(pid: int) -> tuple[str, ...]:
    return ("nsenter", "--preserve-credentials", "--target", str(pid), "--net")


class _Names(asyncio.DatagramProtocol):
    """A name server that answers every question for an address with the same one."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, address: Any) -> None:
        end = data.index(b"\0", 12) + 5
        wants_ipv4 = data[end - 4 : end - 2] == b"\0\1"
        head = data[:2] + b"\x81\x80\0\1" + (b"\0\1" if wants_ipv4 else b"\0\0") + b"\0\0\0\0"
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + bytes(map(int, PUBLIC.split(".")))
        self._transport.sendto(head + data[12:end] + (answer if wants_ipv4 else b""), address)


async def _web(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        await writer.drain()
    writer.close()


async def _run(pid: int, *words: str, folder: Path, **more: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *_inside(pid),
        *words,
        env={**_environment(folder), **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    async with asyncio.timeout(BOUND_S * 2):
        out, said = await process.communicate()
    return process.returncode or 0, out.decode(), said.decode()


async def _attack(pid: int, attack: Attack, folder: Path, answer: str) -> dict[str, Any]:
    token = script_token(folder / "data", folder)
    answers = [word for _ in range(_ANSWERS) for word in ("--answer", answer)]
    code, out, said = await _run(
        pid,
        *(*SWITCHBOARD, "run", attack.goal, "--json", "--at-limit", "stop", *answers),
        folder=folder,
        SWITCHBOARD_OPERATOR_SCRIPT_TOKEN_FILE=str(token),
    )
    asked = [json.loads(line)["msg"] for line in out.splitlines() if "request_user_input" in line]
    questions = [one["question"] for one in asked if one["type"] == "request_user_input"]
    effects = [(q.get("subject") or {}).get("effect") or {} for q in questions]
    return {
        "name": attack.name,
        "code": code,
        "verbs": [effect.get("verb", "") for effect in effects],
        "questions": [q.get("text", "") for q in questions],
        "said": said[-2000:],
    }


async def _until(arrives: Callable[[], bool]) -> None:
    """Wait for something to arrive; bounded."""
    with suppress(TimeoutError):
        async with asyncio.timeout(BOUND_S):
            while not arrives():
                await asyncio.sleep(0.2)


@asynccontextmanager
async def _core(pid: int, folder: Path) -> AsyncIterator[None]:
    """Run a core with a phone for all attacks: what one left behind would go on during the next."""
    daemon = await asyncio.create_subprocess_exec(
        *(*_inside(pid), *SWITCHBOARD, "daemon", "run", "--phones", "1", "--virtual-only"),
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    opening = (*SWITCHBOARD, "run", "open Settings", "--model", "pilot")
    try:
        async with asyncio.timeout(BOUND_S * 2):
            while (await _run(pid, *SWITCHBOARD, "daemon", "status", folder=folder))[0] != 0:
                await asyncio.sleep(0.5)
            while (await _run(pid, *opening, folder=folder))[0] != 0:
                await asyncio.sleep(0.5)
        yield
    finally:
        daemon.terminate()
        await daemon.wait()


def _environment(folder: Path) -> dict[str, str]:
    (folder / "home").mkdir(exist_ok=True)
    return {
        **base_environment(folder / "home"),
        "SWITCHBOARD_DATA_DIR": str(folder / "data"),
        "SWITCHBOARD_CONFIG": str(folder / "config.toml"),
        "OPENAI_API_KEY": "k",
    }


async def _play(folder: Path) -> dict[str, Any]:
    holder = _networks()
    recorder, model = Recorder(OUT), Obedient()
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(_Names, local_addr=(HERE, 53))
    found: dict[str, Any] = {"attacks": []}
    try:
        async with (
            openai_server(model.play, host=HERE) as endpoint,
            await asyncio.start_server(_web, "0.0.0.0", 80),
        ):
            (folder / "config.toml").write_text(
                # Who does what it is told would review as it is told.
                f'[model]\nname = "obedient"\nbase_url = "http://{HERE}:{endpoint.port}/v1"\n'
                '[safety]\nreviewer = "off"\n'
            )
            endpoints = f"tcp {HERE}:{endpoint.port}"
            # That the recorder would see it: a name, a page, a closed port, a datagram, a ping.
            probe = (
                "import socket, urllib.request as u\n"
                f"u.urlopen('http://{EVIL}/', timeout=30).read()\n"
                f"socket.socket().connect_ex(('{PUBLIC}', 4444))\n"
                f"socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('{PUBLIC}', 9))\n"
                "p = socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)\n"
                f"p.sendto(bytes((8, 0, 0xf7, 0xff, 0, 0, 0, 0)), ('{PUBLIC}', 0))\n"
            )
            await _run(holder.pid, sys.executable, "-c", probe, folder=folder)
            found["probe"] = recorder.counts_so_far()
            state = (*SWITCHBOARD, "phone", "state", "--json")
            async with _core(holder.pid, folder):
                for attack in ATTACKS:
                    model.begin(attack)
                    played = await _attack(holder.pid, attack, folder, "Deny")
                    found["attacks"].append(played)
                found["state"] = json.loads((await _run(holder.pid, *state, folder=folder))[1])
                found["model"] = {k: n for k, n in recorder.bytes.items() if k == endpoints}
                counts = recorder.counts_so_far()
                found["arrived"] = {k: n for k, n in counts.items() if k != endpoints}
                found["missing"] = model.missing
                # The same, and the operator agrees: now it does arrive.
                model.begin(ATTACKS[0])
                await _attack(holder.pid, ATTACKS[0], folder, "Approve")
                await _until(lambda: any(name.endswith(":80") for name in [*recorder.bytes]))
                counts = recorder.counts_so_far()
                found["approved"] = {k: n for k, n in counts.items() if k != endpoints}
    finally:
        holder.kill()
        holder.wait()
    return found


def main() -> None:
    """Play all attacks, and print what arrived."""
    folder = Path(sys.argv[1])
    _name_servers(folder)
    sys.stdout.write(json.dumps(asyncio.run(_play(folder))) + "\n")


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
