"""What `bench fleet --real` measures is a fleet that works: all sessions done, the log exact."""

import os

import pytest

from bench.fleets import _real
from bench.fleets._starts import Shape
from tests.store.postgres_server import binaries, running_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.xdist_group("chaos")]


async def test_two_real_hosts_with_a_phone_each_start_and_end_all_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if binaries() is None and "SWITCHBOARD_NEEDS_ALL" not in os.environ:
        pytest.skip("PostgreSQL is not installed")
    monkeypatch.setattr(_real, "_IDLE_S", 2.0)
    shape = Shape(
        hosts=2,
        phones=1,
        consoles=1,
        steps=1,
        pause_ms=0,
        dispatcher="local",
        rate=0.5,
        warm_up_s=0.0,
        seconds=12.0,
    )
    with running_server(is_durable=True) as server:
        rested, found = await _real.measure(server, shape)
    assert {"hosts", "phones", "adb", "consoles"} <= set(rested.parts)
    assert all(part.all_mb > 0 for part in rested.parts.values())
    assert rested.connections > 0
    assert found is not None
    assert found.asked == found.started == found.ended > 0
    assert found.log.startswith("exact: "), found.log
    assert ", 0 failed, 0 wait" in found.log
    # The console was told of steps as they came.
    assert len(found.started_ms) == found.asked
    assert found.seen_ms
