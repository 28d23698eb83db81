"""What a line of a shell costs beside the phone: what it loads, and how often it looks."""

import subprocess
import sys
from pathlib import Path

from agent.config import load_settings
from agent.protocol import ObservationRecorded, ToolCallRequested
from agent.records import ActionOutcome, SessionState
from bench.exercises.house import house
from console.runs.single_action import taking


async def test_a_line_looks_before_and_after_its_act_and_is_over(tmp_path: Path) -> None:
    settings = load_settings(
        overrides={"data_dir": str(tmp_path / "data"), "model.vision": False}, environ={}
    )
    async with house(tmp_path, settings, phones=1) as at:
        async with taking(at.core, at.serials[0], "press HOME", wait_s=30) as act:
            await act.ready()
            came = await act.do("press_button", {"button": "HOME"})
        # HOME at home changes nothing that a screen shows: the claim is not sent back for it.
        assert came.outcome is ActionOutcome.DONE
        session = await at.core.session(act.session_id)
        past = [event.msg for event in await at.core.history(act.session_id)]
    assert session.state is SessionState.COMPLETED
    called = [msg.tool for msg in past if isinstance(msg, ToolCallRequested)]
    assert called == ["press_button", "finish"]
    assert sum(isinstance(msg, ObservationRecorded) for msg in past) == 2


def test_a_line_that_finds_a_core_loads_neither_store_nor_runtime() -> None:
    probe = (
        "import sys, console.cli, console.commands.devices.devices_acts, console.core.host\n"
        "import console.core.device_setup, console.runs.single_action, agent.rpc.remote_core\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "agent.rpc.remote_core" in loaded
    heavy = ("textual", "rich", "sqlite3", "aiosqlite", "agent.store.store", "mcp", "agent.loop")
    assert loaded.isdisjoint(heavy)
