"""Spaces: what an agent may do is carried out, what it sees is within what was promised."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.extras import is_installed

if not is_installed("gym"):
    pytest.skip("the extra is not installed", allow_module_level=True)

from agent.episodes.actions import checked
from agent.episodes.observation import EpisodeObservation
from agent.errors import UsageError
from agent.records import Bounds, UiNode
from console.gymnasium.spaces import TOOL_NAMES, action_space, called, observation_space, observed

ACTIONS = action_space()
SIZE = (4, 6)


@given(st.integers(0, 2**31 - 1))
def test_every_sample_is_an_action_that_a_phone_is_told(seed: int) -> None:
    ACTIONS.seed(seed)
    tool, parameters = called(ACTIONS.sample(), ACTIONS)
    assert set(checked(tool, parameters)) == set(parameters)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tool", len(TOOL_NAMES)),
        ("point", np.array([0.5, 1.5], np.float32)),
        ("point", "middle"),
        ("end", np.array([0.5], np.float32)),
        ("duration", np.array([2.0], np.float32)),
        ("text", "x" * 10_001),
        ("text", b"bytes"),
        ("button", -1),
    ],
)
def test_what_is_wrong_in_an_action_is_named(field: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"`{field}`"):
        called({**ACTIONS.sample(), field: value}, ACTIONS)


@pytest.mark.parametrize("action", [None, 3, {}, {"tool": 0}])
def test_what_is_no_action_is_refused(action: Any) -> None:
    with pytest.raises(UsageError, match="other fields"):
        called(action, ACTIONS)


SHARES = st.floats(-5, 5)
NODES = st.builds(
    UiNode,
    text=st.text(max_size=30) | st.just("x" * 5_000),
    description=st.text(max_size=5),
    bounds=st.builds(Bounds, left=SHARES, top=SHARES, right=SHARES, bottom=SHARES),
    enabled=st.booleans(),
)


@given(
    nodes=st.lists(NODES, max_size=4),
    rgb=st.sampled_from([b"", bytes(SIZE[0] * SIZE[1] * 3)]),
    package=st.text(),
    orientation=st.sampled_from([0, 90, 180, 270]),
    looks=st.sampled_from(["pixels", "tree", "both"]),
)
def test_whatever_a_phone_says_is_within_the_space(
    nodes: list[UiNode], rgb: bytes, package: str, orientation: int, looks: str
) -> None:
    seen = EpisodeObservation(nodes=tuple(nodes), rgb=rgb, package=package, orientation=orientation)
    space = observation_space(looks, SIZE)
    assert space.contains(observed(seen, "目标 🎯", looks, SIZE))
