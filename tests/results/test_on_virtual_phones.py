"""Results as data from virtual phones: of a session, of a tree on two phones and of a job.

The model is played over the wire: it reports the first label of the newest screen that it is sent.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from agent import protocol
from agent.devices.adb.server import AdbServer
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.loop.verification.request import VERDICT_TOOL
from agent.models.openai import OpenAIModel
from agent.models.verifier_choice import verifying_for
from agent.records import DeviceState, RunStatus, Session, SessionState
from agent.runtime.runtime import Runtime
from agent.settings import Settings
from agent.store.embedded.sqlite_store import SqliteStore
from agent.tasks.regular import RegularTask
from tests.openai_server import Reply, openai_server, tool

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"app": {"type": "string"}, "seen": {"type": "integer"}},
        "required": ["app"],
        "additionalProperties": False,
    }
)
BOUND_S = 90.0
GOAL = "What does the field to search apps say?"
_LABEL = re.compile(r'^\s*(?:>>> )?\[\d+\] [\w-]+: "([^"]+)"', re.MULTILINE)


def reader(request: dict[str, Any]) -> Reply:
    """Play a model that reports what it is shown; `slip` makes it err once, `stubborn` always."""
    said = [str(message["content"]) for message in request["messages"]]
    label = next(found[-1] for text in reversed(said) if (found := _LABEL.findall(text)))
    if any(one["function"]["name"] == VERDICT_TOOL for one in request["tools"]):
        return Reply(tools=(tool(VERDICT_TOOL, verdict="met", evidence=[label], reason=""),))
    corrected = any("result.app" in text for text in said)
    wrong = "stubborn" in said[1] or ("slip" in said[1] and not corrected)
    result = {"app": 7 if wrong else label}
    return Reply(tools=(tool("finish", success=True, summary=f"It is {label}.", result=result),))


@asynccontextmanager
async def core_on(folder: Path, phones: int) -> AsyncIterator[tuple[Runtime, list[str]]]:
    async with AsyncExitStack() as stack:
        endpoint = await stack.enter_async_context(openai_server(reader))
        server = AdbServer(folder / "adb")
        stack.push_async_callback(server.stop)
        virtual = VirtualPhones(folder / "phones", server, count=phones)
        stack.push_async_callback(virtual.stop)
        await virtual.start()
        store = await stack.enter_async_context(SqliteStore.open(folder / "data"))
        fleet = AdbFleet([server.address])
        settings = Settings(data_dir=folder / "data", config_file=folder / "config.toml")
        core = await Runtime.spawn(
            settings,
            store=store,
            fleet=fleet,
            models=lambda _: OpenAIModel("m", base_url=endpoint.base_url, api_key="none"),
            verifiers=lambda model, session: verifying_for(model, settings, session),
            task=RegularTask,
        )
        stack.push_async_callback(core.close)
        online: set[str] = set()
        async with asyncio.timeout(BOUND_S), core.events(after=0) as events:
            async for event in events:
                msg = event.msg
                if (
                    isinstance(msg, protocol.DeviceChanged)
                    and msg.device.state is DeviceState.ONLINE
                ):
                    online.add(msg.device.serial)
                if len(online) == phones:
                    break
        yield core, sorted(online)


async def ended(core: Runtime, session_id: str) -> Session:
    async with asyncio.timeout(BOUND_S), core.events(after=0) as events:
        async for event in events:
            msg = event.msg
            moved = isinstance(msg, protocol.SessionStateChanged) and msg.state.is_terminal
            if event.session_id == session_id and moved:
                break
    return await core.session(session_id)


def result_of(events: tuple[protocol.Event, ...]) -> protocol.ResultPublished:
    return next(e.msg for e in reversed(events) if isinstance(e.msg, protocol.ResultPublished))


async def source_shows(core: Runtime, session_id: str, published: protocol.ResultPublished) -> None:
    """Check that the one value stands on the stored tree that its source names."""
    [source] = published.sources
    assert source.path == "$.app" and source.step > 0
    tree = await core.blob(source.digest)
    label = json.loads(published.result)["app"]
    assert label.split(" | ")[0].encode() in tree


async def test_a_slip_is_named_by_its_field_and_mended_once(tmp_path: Path) -> None:
    async with core_on(tmp_path, 1) as (core, [serial]):
        op = protocol.SessionCreate(goal=f"{GOAL} (slip)", serial=serial, output_schema=SCHEMA)
        session = await ended(core, (await core.request(op)).session_id)
        history = await core.history(session.session_id)
        assert session.state is SessionState.COMPLETED
        assert session.is_verified, session.latest_result
        told = [e.msg.text for e in history if isinstance(e.msg, protocol.ToolCallFinished)]
        assert any("result.app: 7 is not of type 'string'" in text for text in told)
        published = result_of(history)
        assert published.result == session.result_json
        await source_shows(core, session.session_id, published)


async def test_a_result_that_never_fits_fails_with_the_field(tmp_path: Path) -> None:
    async with core_on(tmp_path, 1) as (core, [serial]):
        op = protocol.SessionCreate(goal=f"{GOAL} (stubborn)", serial=serial, output_schema=SCHEMA)
        session = await ended(core, (await core.request(op)).session_id)
    assert session.state is SessionState.FAILED and not session.result_json
    assert "does not fit the output schema: result.app: 7" in session.latest_error


async def test_a_tree_has_a_result_of_each_child_and_where_it_was_read(tmp_path: Path) -> None:
    async with core_on(tmp_path, 2) as (core, serials):
        targets = tuple(protocol.Target(objective=GOAL, serial=serial) for serial in serials)
        op = protocol.SessionCreate(goal=GOAL, targets=targets, output_schema=SCHEMA)
        reply = await core.request(op)
        parent = await ended(core, reply.session_id)
        assert parent.state is SessionState.COMPLETED and parent.is_verified
        children = [await core.session(child) for child in reply.child_ids]
        read = [json.loads(child.result_json) for child in children]
        assert json.loads(parent.result_json) == read and len(read) == 2
        published = result_of(await core.history(parent.session_id))
        assert [source.path for source in published.sources] == ["$[0].app", "$[1].app"]
        assert [source.session_id for source in published.sources] == list(reply.child_ids)
        for child, source in zip(children, published.sources, strict=True):
            own = result_of(await core.history(child.session_id))
            await source_shows(core, child.session_id, own)
            assert (source.step, source.digest) == (own.sources[0].step, own.sources[0].digest)


async def test_a_jobs_run_keeps_its_result_and_where_it_was_read(tmp_path: Path) -> None:
    async with core_on(tmp_path, 1) as (core, [serial]):
        op = protocol.JobCreate(
            title="Look", prompt=GOAL, serial=serial, next_run_at=1, output_schema=SCHEMA
        )
        job = (await core.request(op)).job
        assert job is not None
        # What is due at once is due in 15 s.
        await core.request(protocol.JobRun(job_id=job.id))
        async with asyncio.timeout(BOUND_S), core.events(after=0) as events:
            async for event in events:
                if (
                    isinstance(event.msg, protocol.RunChanged)
                    and event.msg.run.status is RunStatus.ENDED
                ):
                    break
        [run] = (await core.request(protocol.JobHistory(job_id=job.id))).runs
        published = result_of(await core.history(run.session_id))
        assert run.result_json == published.result
        assert run.sources == published.sources
        await source_shows(core, run.session_id, published)
