"""Every task of the built-in suite as an episode: none is paid for nothing."""

from pathlib import Path

import pytest

from agent.episodes.blocking import BlockingPhones
from console.evaluation.suites import BUILT_IN, read_tasks

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_no_task_is_done_before_anything_is(tmp_path: Path) -> None:
    tasks = read_tasks(BUILT_IN)
    done = []
    with (
        BlockingPhones(1, tasks, folder=tmp_path / "phones") as phones,
        phones.episode(looks="tree", wait_s=60) as episode,
    ):
        for task in tasks:
            seen = episode.reset(task=task.name)
            assert episode.inner.task is task and not seen.done
            seen = episode.step("press_button", {"button": "VOLUME_UP"})
            assert seen.error == ""
            if seen.done or seen.reward:
                done.append(task.name)
    assert done == []
