"""What many mixed sessions take on phones and on this computer, and give back."""

import os
import sys
from pathlib import Path

import pytest

from agent.devices.frames.shared_segment import PREFIX, create, new_name
from tests.sessions import resource_count
from tests.sessions.resource_count import play, segments

SESSIONS = 24  # The long form is `python -m tests.sessions.resource_count --sessions 500`.


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_after_mixed_sessions_as_much_is_out_as_before_them(tmp_path: Path) -> None:
    left, most_out = await play(tmp_path, SESSIONS)
    assert most_out > 0, "nothing was taken, so nothing was counted"
    assert left == {}


def test_a_segment_of_another_process_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource_count, "SHM", tmp_path)
    for pid in (os.getpid(), os.getppid()):
        (tmp_path / f"{PREFIX}{pid}-abc123").touch()
    assert segments() == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists shared memory")
def test_a_segment_of_this_process_is_counted() -> None:
    before = segments()
    segment = create(new_name(), 64)
    try:
        assert segments() == before + 1
    finally:
        segment.unlink()
        segment.close()
    assert segments() == before
