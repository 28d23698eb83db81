"""A core that ends and another that begins on the same store: each event is counted once."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from opentelemetry.trace import NoOpTracer
from prometheus_client import generate_latest

from agent.core import Core
from agent.protocol import SessionCreate
from agent.records import SessionState
from agent.rpc.remote_core import connect_or_none
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import serve
from console.monitoring.exporting import exporting
from console.monitoring.following import Follower
from console.monitoring.metrics import Metrics
from console.monitoring.traces import Traces
from support.patience import until
from tests.fakes import FakeFleet
from tests.stage import Stage


@pytest.mark.parametrize("away", [0, 1], ids=["followed", "while nobody followed"])
async def test_events_are_counted_once_over_a_restart_of_the_core(
    tmp_path: Path, away: int
) -> None:
    stage = Stage(tmp_path, FakeFleet("phone"))
    told: list[str] = []

    async def connect() -> Core | None:
        return await connect_or_none(stage.settings, name="monitor")

    def serving() -> AbstractAsyncContextManager[object]:
        return serve(stage.core, socket_path(tmp_path), data_dir=tmp_path, role="test")

    async def finish_one() -> None:
        made = await stage.do(SessionCreate(goal="open Settings"))
        await stage.reach(made.session_id, SessionState.COMPLETED)

    with exporting(version="1", instance="here") as export:
        metrics = Metrics(export.meter, lambda: 0.0)

        def shown() -> str:
            return generate_latest(export.registry).decode()

        def ended() -> str:
            lines = [
                line
                for line in shown().splitlines()
                if 'sessions_ended_total{state="COMPLETED"' in line
            ]
            return "".join(line.rpartition(" ")[2] for line in lines)

        follower = Follower(connect, metrics, Traces(NoOpTracer()), say=told.append, retry_s=0.01)
        following = asyncio.create_task(follower.run())
        try:
            await until(lambda: bool(told))
            assert "\nswitchboard_core_up 0.0\n" in shown()
            async with stage.play(), serving():
                await until(lambda: metrics.is_up)
                await finish_one()
                await until(lambda: ended() == "1.0")
            await until(lambda: not metrics.is_up)
            async with stage.play():
                if away:
                    await finish_one()
                async with serving():
                    await until(lambda: metrics.is_up)
                    await finish_one()
                    await until(lambda: ended() == f"{2 + away}.0")
        finally:
            following.cancel()
            await asyncio.wait({following})
    assert told[0] == "No core runs here; waiting for one."
    assert "Following the core." in told
