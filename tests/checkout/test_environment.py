"""What the tests take from the environment that they are started in."""

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from agent.state.terms import CAPABILITIES

SAID = {
    "SWITCHBOARD_NEEDS_ALL": "1",
    "SWITCHBOARD_DATA_DIR": "/nowhere",
    "OPENAI_API_KEY": "of the person at the desk",
    "https_proxy": "http://127.0.0.1:9",
    "NO_COLOR": "1",
}


def test_nothing_of_the_machine_is_kept_but_what_the_gate_says() -> None:
    kept = subprocess.run(
        [sys.executable, "-c", "import os, tests.conftest; print(*os.environ)"],
        env={**os.environ, **SAID},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout.split()
    assert set(SAID).intersection(kept) == {"SWITCHBOARD_NEEDS_ALL"}


def test_what_is_drawn_hangs_on_no_source_of_ours() -> None:
    @settings(max_examples=300, database=None, derandomize=True)
    @given(st.text())
    def draw(text: str) -> None:
        pass

    assert CAPABILITIES, "a module with strings that could be drawn"
    draw()
    assert not providers._local_constants.strings
