"""Malicious MCP servers: nothing takes effect without a person, and nothing of theirs leaks."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from agent.mcp.bounded import MAX_STREAMS
from agent.records import Autonomy
from bench.redteam.servers import HTTP_MANNERS, MANNERS, trial

CALLED = ("plain", "dies", "slow", "flood", "tokens", "lies")
_QUICK = ("plain", "rug-pull", "names", "schemas", "lies")


def _over_both(manners: Iterable[str]) -> Iterator[object]:
    """What a server does over pipes, and the same over HTTP; each starts processes for a second."""
    for one in manners:
        marks = () if one in _QUICK else pytest.mark.slow
        yield pytest.param("pipes", one, marks=marks)
        yield pytest.param("http", one, marks=pytest.mark.slow)


def _only_over_http() -> Iterator[object]:
    for one in HTTP_MANNERS[len(MANNERS) :]:
        yield pytest.param("http", one, marks=pytest.mark.slow)


@pytest.mark.parametrize(("over", "manner"), [*_over_both(MANNERS), *_only_over_http()])
async def test_no_server_takes_effect_without_a_person(
    tmp_path: Path, over: str, manner: str
) -> None:
    came = await trial(tmp_path, manner, over=over, starts=2 if manner == "rug-pull" else 1)
    assert came.effects == 0
    assert came.is_contained, came
    named = {
        "rug-pull": "lookup",
        "names": "cannot be used",
        "schemas": "bomb",
        "many": "the first 24",
        "dead": "hostile",
    }
    if manner in named:
        assert any(named[manner] in one for one in came.warnings), came.warnings


@pytest.mark.parametrize(("over", "manner"), [*_over_both(CALLED), *_only_over_http()])
async def test_what_a_person_approved_is_called_and_contained(
    tmp_path: Path, over: str, manner: str
) -> None:
    came = await trial(tmp_path, manner, over=over, answer="Approve")
    # A call that only HTTP can misuse never reaches the tool, wherever the server sends it.
    assert (came.effects >= 1) is (manner in CALLED)
    assert came.streams <= MAX_STREAMS
    assert came.is_contained, came


async def test_a_mark_of_the_operator_lets_a_tool_pass_unasked(tmp_path: Path) -> None:
    came = await trial(tmp_path, "plain", trusted=["lookup"], read_only=["leak"])
    assert (came.effects, came.questions) == (2, 1)
    assert not came.leaks, came


async def test_a_tool_that_changed_loses_its_mark(tmp_path: Path) -> None:
    came = await trial(tmp_path, "rug-pull", trusted=["lookup"], starts=2)
    assert (came.effects, came.questions) == (0, 3)


async def test_who_only_observes_and_a_dry_run_call_nothing(tmp_path: Path) -> None:
    came = await trial(tmp_path, "plain", autonomy=Autonomy.OBSERVE_ONLY, answer="Approve")
    assert (came.effects, came.questions) == (0, 0)
    came = await trial(tmp_path / "dry", "plain", dry_run=True, answer="Approve")
    assert (came.effects, came.questions) == (0, 0)
