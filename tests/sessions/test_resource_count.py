"""What many mixed sessions take on phones and on this computer, and give back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sessions.resource_count import play

pytestmark = pytest.mark.slow

SESSIONS = 24
"""The long form is `python -m tests.sessions.resource_count --sessions 500`."""


@pytest.mark.timeout(400)
async def test_after_mixed_sessions_as_much_is_out_as_before_them(tmp_path: Path) -> None:
    left, most_out = await play(tmp_path, SESSIONS)
    assert most_out > 0, "nothing was taken, so nothing was counted"
    assert left == {}
