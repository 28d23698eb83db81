"""Inspect reads a run's logs: its samples, scores, messages and figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.extras import is_installed
from console.evaluation.run_folder import begin, read_run
from console.evaluation.running import Limits, carry_out
from tests.evaluation.test_runs import exercises, plan_of, settings_of

if not is_installed("eval"):
    pytest.skip("the extra is not installed; the slow tests install it", allow_module_level=True)


async def test_a_run_is_read_by_inspect(tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log

    from agent.store.embedded.sqlite_store import SqliteStore
    from console.core.stored_core import StoredRecords
    from console.evaluation.inspect_log import SCORER, write_logs

    names = ("bluetooth-on", "payment-refused")
    run = begin(tmp_path / "run", plan_of(*names, models=("pilot",)))
    chosen = exercises(*names)
    await carry_out(run, chosen, settings_of(tmp_path / "data"), Limits(phones=2), lambda *_: None)
    done = read_run(tmp_path / "run")
    async with SqliteStore.open(done.data_dir, may_only_read=True) as store:
        [path] = await write_logs(done, StoredRecords(store), tmp_path / "logs")
    log = read_eval_log(str(path))
    assert (log.status, log.eval.task, log.eval.model) == (
        "success",
        "everyday",
        "switchboard/pilot",
    )
    assert log.results is not None and log.samples is not None
    passed = sum(outcome.ok for outcome in done.outcomes)
    assert log.results.scores[0].metrics["accuracy"].value == passed / 2
    by_id = {sample.id: sample for sample in log.samples}
    first = by_id["bluetooth-on"]
    assert first.scores is not None and first.scores[SCORER].value == "C"
    assert first.messages[0].text == "Turn on Bluetooth"
    calls = [call for m in first.messages for call in getattr(m, "tool_calls", None) or ()]
    assert calls and calls[-1].function == "finish"
