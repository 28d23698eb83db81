"""Two operators try each other's doors between two real hosts of a fleet: none opens."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent import protocol
from agent.errors import NotAllowedError, SwitchboardError, UsageError
from agent.records import Campaign, JobType, QuestionKind, SessionState, WatcherType
from agent.rpc.credentials import TokenShown
from agent.rpc.remote_core import Client
from agent.rpc.rpc_messages import socket_path
from agent.store.postgres.link import Link
from agent.store.postgres.op_table import OpTable
from console.http_api.app import HttpApi, serving
from console.http_api.operations import ops
from tests.end_to_end.harness import Workshop, script_token
from tests.end_to_end.rack import HOSTS, Rack, rack_of_two
from tests.operators.house import BANK_WORD, LAB_WORD, Furniture
from tests.operators.test_doors import LISTS, aimed, looks, shut
from tests.operators.test_other_doors import OWN_TOKEN, mcp, serving_mcp, web
from tests.store.postgres_server import PostgresServer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fleets")]
PATIENCE_S = 120.0
TAGS = {"first": "lab", "second": "bank"}
WORDS = {"lab": LAB_WORD, "bank": BANK_WORD}
OTHER = {"lab": "bank", "bank": "lab"}
NAMES = {"lab": "ana", "bank": "ben"}


@dataclass(kw_only=True)
class Fleet(Furniture):
    """Two hosts with a phone each, a session, a job and a watcher on each phone."""

    rack: Rack
    shop: Workshop
    stack: AsyncExitStack
    tokens: dict[str, str]
    scripts: dict[str, str] = field(default_factory=dict)

    def at(self, host: str) -> Path:
        return socket_path(self.rack.directory(host))

    async def come(self, host: str, name: str = "") -> Client:
        shown = TokenShown(self.tokens[name]) if name else None
        client = await Client.connect(self.at(host), name="test", credentials=shown)
        self.stack.push_async_callback(client.close)
        if host not in self.scripts:
            data = self.rack.directory(host)
            kept = await asyncio.to_thread(script_token, data, data)
            self.scripts[host] = kept.read_text().strip()
        # No person sits at a test.
        await client.prove(token=self.scripts[host])
        return client

    async def operators(self, *words: str) -> str:
        done = await asyncio.to_thread(self.shop.call, "operators", *words)
        assert done.code == 0, done
        return done.out.strip()

    async def add(self, name: str, *words: str) -> None:
        await self.operators("add", name, *words)
        self.tokens[name] = await self.operators("token", name)
        for host in HOSTS:
            await until(lambda host=host: self._lets_in(host, name), f"{name} at {host}")

    async def _lets_in(self, host: str, name: str) -> bool:
        try:
            await self.come(host, name)
        except NotAllowedError:
            return False
        return True


async def until(holds: Callable[[], Awaitable[bool]], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not await holds():
        assert time.monotonic() < end, f"not in time: {what}"
        await asyncio.sleep(0.05)


async def _furnish(fleet: Fleet) -> None:
    client = await fleet.come("first")
    for host, tag in TAGS.items():
        serial = await asyncio.to_thread(fleet.rack.phone, host)
        fleet.serials[tag] = serial
        tagged = await asyncio.to_thread(
            fleet.shop.call, "devices", "tag", serial, "--tag", tag, **fleet.rack.at(host)
        )
        assert tagged.code == 0, tagged
        goal = f'tell Ben "I look at the {WORDS[tag]}"'
        made = await client.request(protocol.SessionCreate(goal=goal, serial=serial, model="pilot"))
        fleet.sessions[tag] = made.session_id
        later = time.time_ns() // 1_000_000 + 24 * 3_600_000
        job = protocol.JobCreate(title=goal, prompt=goal, serial=serial, next_run_at=later)
        made = await client.request(job)
        assert made.job is not None
        fleet.jobs[tag] = made.job.id
        watcher = protocol.WatcherCreate(
            watcher_type=WatcherType.SCREEN_TEXT, texts=(WORDS[tag],), serial=serial
        )
        made = await client.request(watcher)
        assert made.watcher is not None
        fleet.watchers[tag] = made.watcher.id

    async def asked() -> bool:
        found = await client.overview()
        for tag, session_id in fleet.sessions.items():
            for question in found.questions:
                if question.session_id == session_id:
                    fleet.questions[tag] = question
        tagged = {one.serial: one.tags for one in found.devices}
        return len(fleet.questions) == 2 and all(
            tagged.get(fleet.serials[tag]) == (tag,) for tag in WORDS
        )

    await until(asked, "both sessions ask, and both hosts say their tags")
    found = {
        tag: {
            one
            for event in await client.history(session_id)
            for one in _digests(msgspec.to_builtins(event))
        }
        for tag, session_id in fleet.sessions.items()
    }
    for tag in WORDS:
        # Phones that are alike have pictures that are the same, which are of both sessions.
        fleet.blobs[tag] = tuple(sorted(found[tag] - found[OTHER[tag]]))[:5]
        assert fleet.blobs[tag]
    await client.close()


def _digests(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _digests(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _digests(one)
    elif isinstance(value, str) and len(value) == 64 and not set(value) - set("0123456789abcdef"):
        yield value


@pytest.fixture
async def fleet(workshop: Workshop, server: PostgresServer) -> AsyncIterator[Fleet]:
    with rack_of_two(workshop, server) as rack:
        async with AsyncExitStack() as stack:
            made = Fleet(rack=rack, shop=workshop, stack=stack, tokens={})
            await _furnish(made)
            await made.add("ana", *_all_on("lab"))
            await made.add("ben", *_all_on("bank"))
            await made.add("boss", "--may", "administer")
            yield made


def _all_on(tag: str) -> tuple[str, ...]:
    rights = ("watch", "answer", "drive", "approve", "administer")
    return (*(word for right in rights for word in ("--may", right)), "--tag", tag)


def across(fleet: Fleet, tag: str) -> Iterator[tuple[str, protocol.Op]]:
    """List what would reach the other's phone through both hosts at once."""
    own, other = fleet.serials[OTHER[tag]], fleet.serials[tag]
    yield "moved away", protocol.SessionMove(session_id=fleet.sessions[tag], serial=own)
    yield "moved to", protocol.SessionMove(session_id=fleet.sessions[OTHER[tag]], serial=other)
    yield (
        "by the phone's own name",
        protocol.SessionCreate(goal="x", serial=other.rpartition("/")[2] + "x"),
    )
    yield "by another host's name", protocol.SessionCreate(goal="x", serial=f"nowhere/{other}")
    for phones in ((other,), (own, other)):
        yield (
            "a campaign over both hosts",
            protocol.JobCreate(
                title="x", prompt="y", job_type=JobType.CAMPAIGN, campaign=Campaign(phones=phones)
            ),
        )


async def test_no_door_of_the_other_opens_at_any_host(fleet: Fleet, tmp_path: Path) -> None:
    boss = await fleet.come("first", "boss")
    for tag, name in (("bank", "ana"), ("lab", "ben")):
        session_id, word = fleet.sessions[tag], WORDS[tag]
        before = await boss.history(session_id)
        tries = 0
        for host in HOSTS:
            client = await fleet.come(host, name)
            for what, op in (*shut(fleet, tag), *across(fleet, tag)):
                with pytest.raises((NotAllowedError, UsageError)) as refusal:
                    await client.request(op)
                assert word not in str(refusal.value), (host, what)
                tries += 1
            for what, came in await looks(client, fleet, tag):
                text = repr(came)
                assert word not in text, (host, what)
                for secret in (session_id, fleet.serials[tag]):
                    assert secret not in text or isinstance(came, str), (host, what)
                tries += 1
        assert tries >= 2 * 100
        assert await boss.history(session_id) == before
    await _no_door_of_a_server_opens(fleet, tmp_path)
    await _each_drives_their_own_from_the_other_host(fleet)
    await _nothing_of_it_is_written_down(fleet)


async def _no_door_of_a_server_opens(fleet: Fleet, directory: Path) -> None:
    """By HTTP and MCP at the first host, at what is on the second."""
    boss, token, tries = TokenShown(fleet.tokens["boss"]), fleet.tokens["ana"], 0
    api = HttpApi(fleet.at("first"), credentials=boss)
    async with serving(api, OWN_TOKEN, port=0) as address, web(f"{address}/v1", token) as client:
        for name, kind in ops().items():
            op = msgspec.to_builtins(aimed(kind, fleet, "bank"))
            op.pop("type")
            answer = await client.post(f"/ops/{name}", json=op)
            assert BANK_WORD not in answer.text, name
            if kind not in LISTS:
                assert answer.status_code in {403, 422}, (name, answer.text)
            tries += 1
        for path in ("/overview", "/status", "/sessions", "/hosts", "/search?query=look"):
            assert BANK_WORD not in (await client.get(path)).text, path
            tries += 1
        for digest in fleet.blobs["bank"]:
            assert (await client.get("/blob", params={"digest": digest})).status_code != 200
            tries += 1
    session_id, serial = fleet.sessions["bank"], fleet.serials["bank"]
    async with (
        serving_mcp(fleet.at("first"), boss, directory) as (url, server),
        mcp(url, token) as ana,
    ):
        listed = await ana.call("resources/list")
        assert fleet.sessions["lab"] in listed
        assert session_id not in listed
        for name in {tool.name for tool in server.tools()}:
            given = {"session": session_id, "session_id": session_id, "phone": serial}
            said = await ana.call("tools/call", name=name, arguments=given)
            assert BANK_WORD not in said, name
            tries += 1
    assert tries >= 40


async def _each_drives_their_own_from_the_other_host(fleet: Fleet) -> None:
    """Who signed in travels along, and is judged again where it is done."""
    host_of = {tag: host for host, tag in TAGS.items()}
    for tag, name in NAMES.items():
        client = await fleet.come(host_of[OTHER[tag]], name)
        answer = protocol.UserInputAnswer(
            question_id=fleet.questions[tag].question_id, answer="Ben Okafor"
        )
        assert (await client.request(answer)).session_id == fleet.sessions[tag]
        events = await client.history(fleet.sessions[tag])
        acted = [one.msg for one in events if type(one.msg).__name__ == "OperatorActed"]
        assert acted and {one.operator for one in acted} == {name}
        async with client.frames(
            fleet.serials[tag], width_px=90, height_px=200, max_hz=5
        ) as frames:
            async with asyncio.timeout(PATIENCE_S):
                assert (await anext(frames)).serial == fleet.serials[tag]


async def _nothing_of_it_is_written_down(fleet: Fleet) -> None:
    dsn = fleet.shop.environment["SWITCHBOARD_STORE_DSN"]
    secrets = [*fleet.tokens.values(), dsn, dsn.removeprefix("postgresql:///").partition("?")[0]]
    link = Link(dsn, "test", is_written=False)
    try:
        events = [str(row[0]) for row in await link.rows("SELECT body FROM event")]
        asked = [str(row[0]) for row in await link.rows("SELECT body || reply FROM op")]
        records = [str(row[0]) for row in await link.rows("SELECT record FROM operator")]
    finally:
        await link.close()
    assert len(events) > 20
    for text in (*events, *asked, *records, *await asyncio.to_thread(_written, fleet)):
        for secret in secrets:
            assert secret not in text


def _written(fleet: Fleet) -> list[str]:
    """Read every file of the hosts, and the command line of every process."""
    found = []
    for host in HOSTS:
        for one in fleet.rack.directory(host).rglob("*"):
            if one.is_file() and not one.is_symlink():
                found.append(one.read_bytes().decode("utf-8", "replace"))
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            said = line.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if not said.startswith("postgres: "):
            # The server's own processes name role and database, whoever is connected.
            found.append(said)
    return found


async def test_what_is_revoked_is_gone_at_both_hosts_and_from_what_is_under_way(
    fleet: Fleet,
) -> None:
    clients = {host: await fleet.come(host, "ana") for host in HOSTS}
    following = {host: asyncio.create_task(_follow(one)) for host, one in clients.items()}
    # At the second host, as if the first had let it pass: for the other's session, of an operator
    # who is not there, and later of one who was revoked.
    stop = protocol.Interrupt(session_id=fleet.sessions["bank"])
    own = protocol.Interrupt(session_id=fleet.sessions["lab"])
    for name in ("ana", "eve", "boss"):
        said = await _forwarded(fleet, "second", name, stop)
        assert ("problem" in said) is (name != "boss"), said
    await fleet.operators("revoke", "ana", "drive", "answer", "approve", "administer")
    for host, client in clients.items():

        async def is_refused(client: Client = client) -> bool:
            try:
                await client.request(own)
            except NotAllowedError:
                return True
            return False

        await until(is_refused, f"ana may only watch at {host}")
    assert "problem" in await _forwarded(fleet, "first", "ana", own)
    await fleet.operators("revoke", "ana", "--credential", "all")
    for host, task in following.items():
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(SwitchboardError):
                await task
        with pytest.raises(NotAllowedError):
            await fleet.come(host, "ana")


async def test_two_people_approve_at_two_hosts(
    workshop: Workshop, server: PostgresServer, tmp_path: Path
) -> None:
    settings = tmp_path / "settings.toml"
    await asyncio.to_thread(settings.write_text, '[safety]\ntwo_people = ["send"]\n')
    workshop.environment["SWITCHBOARD_CONFIG"] = str(settings)
    with rack_of_two(workshop, server) as rack:
        async with AsyncExitStack() as stack:
            fleet = Fleet(rack=rack, shop=workshop, stack=stack, tokens={})
            for name in ("ana", "ben", "cleo"):
                await fleet.add(name, "--may", "drive", "--may", "answer", "--may", "approve")
            ana, ben = await fleet.come("first", "ana"), await fleet.come("second", "ben")
            serial = await asyncio.to_thread(rack.phone, "second")
            goal = 'tell Ben "I will be ten minutes late"'
            session_id = (
                await ana.request(protocol.SessionCreate(goal=goal, serial=serial, model="pilot"))
            ).session_id

            async def question(client: Client, *yes_by: str, approval: bool = True) -> str:
                found: list[str] = []

                async def asked() -> bool:
                    found[:] = [
                        one.question_id
                        for one in (await client.overview()).questions
                        if (one.kind is QuestionKind.APPROVAL) is approval and one.yes_by == yes_by
                    ]
                    return bool(found)

                await until(asked, f"a question with yes by {yes_by}")
                return found[0]

            which = await question(ana, approval=False)
            await ana.request(protocol.UserInputAnswer(question_id=which, answer="Ben Okafor"))
            approval = await question(ana)
            yes = protocol.UserInputAnswer(question_id=approval, answer="yes")
            await ana.request(yes)
            for client in (ana, ben):
                assert await question(client, "ana") == approval
            with pytest.raises(SwitchboardError):
                await ana.request(yes)
            await fleet.operators("revoke", "ana", "approve")
            # A yes of who may approve no more counts no more.
            await ben.request(yes)
            assert await question(ben, "ben") == approval
            await (await fleet.come("first", "cleo")).request(yes)

            async def done() -> bool:
                return (await ben.session(session_id)).state is SessionState.COMPLETED

            await until(done, "the session's end")


async def _follow(client: Client) -> None:
    async with client.events(after=0) as events:
        async for _ in events:
            pass
    raise SwitchboardError("hung up")


async def _forwarded(fleet: Fleet, host: str, name: str, op: protocol.Op) -> str:
    """Ask a host by the database, as another host does for an operator; returns its answer."""
    body: dict[str, Any] = {"client_id": "c-test@desk", "name": "test", "operator": name}
    body["op"] = msgspec.to_builtins(op)
    link = Link(fleet.shop.environment["SWITCHBOARD_STORE_DSN"], "test")
    try:
        table = OpTable(link)
        op_id = await table.put(host, "desk", msgspec.json.encode(body).decode())
        answers: list[str] = []

        async def answered() -> bool:
            answers[:] = [one.reply for one in await table.answers((op_id,)) if one.reply]
            return bool(answers)

        await until(answered, f"the answer of {host}")
        return answers[0]
    finally:
        await link.close()
