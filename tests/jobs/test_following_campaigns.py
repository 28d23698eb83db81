"""`run --each` over a core: what it says on the way, its sum, its exit code, and a signal."""

import asyncio
from pathlib import Path

import click
import pytest

from agent.protocol import JobCreate
from agent.records import Campaign, JobStatus, JobType
from console.cli_support.exits import ExitCode
from console.commands.session_options import AT_ONCE, EACH, PACE
from console.runs.campaign import campaign_table, pursue_campaign
from console.terminal.signals import StopRequest
from tests.fakes import FakeFleet
from tests.stage import Cue, Stage, waiting_at


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "data", FakeFleet("phone-1", "phone-2"))


def campaign(goal: str, **given: object) -> JobCreate:
    return JobCreate(
        title=goal,
        prompt=goal,
        job_type=JobType.CAMPAIGN,
        campaign=Campaign(**given),  # type: ignore[arg-type]
    )


async def test_it_tells_how_far_it_is_and_prints_the_sum(
    stage: Stage, capfd: pytest.CaptureFixture[str]
) -> None:
    async with stage.play():
        code = await pursue_campaign(stage.core, campaign("quick", at_once=1), StopRequest())
    out, told = capfd.readouterr()
    assert code is ExitCode.DONE
    assert out.splitlines()[-1] == "2 of 2 done"
    assert [line.split()[0] for line in out.splitlines()[1:-1]] == ["phone-1", "phone-2"]
    assert "1 of 2 done" in told


async def test_a_signal_pauses_it_and_says_how_to_go_on(
    stage: Stage, capfd: pytest.CaptureFixture[str]
) -> None:
    cue = Cue()
    stage.parts["slow"] = waiting_at(cue)
    stop = StopRequest()
    async with stage.play():
        following = asyncio.create_task(
            pursue_campaign(stage.core, campaign("slow", at_once=1), stop)
        )
        await cue.there()
        stop.asked.set()
        code = await following
        [job] = await stage.store.jobs()
        assert job.status is JobStatus.PAUSED
        assert len(await stage.core.sessions()) == 1
    assert code is stop.code
    assert f"switchboard jobs resume {job.id}" in capfd.readouterr().err


def test_failures_come_first_and_what_was_not_started_last() -> None:
    lines = campaign_table(["b", "a"], []).splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [
        ["b", "not", "started"],
        ["a", "not", "started"],
    ]


@click.command()
@EACH
@PACE
@AT_ONCE
def shown(each: str | None, pace: float, at_once: int) -> None:
    click.echo(f"{each!r} {pace:g} {at_once}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--each", "all"], "'' 0 0"),
        (["--each", "tag:wall", "--pace", "10/min"], "'tag:wall' 10 0"),
        (["--pace", "30/h", "--at-once", "5"], "None 0.5 5"),
        (["--pace", "2"], "None 2 0"),
    ],
)
def test_the_options_are_read(words: list[str], said: str) -> None:
    from click.testing import CliRunner

    assert CliRunner().invoke(shown, words).output.strip() == said


@pytest.mark.parametrize(
    "words", [["--pace", "fast"], ["--pace", "0/min"], ["--each", "colour:red"]]
)
def test_what_cannot_be_is_refused(words: list[str]) -> None:
    from click.testing import CliRunner

    assert CliRunner().invoke(shown, words).exit_code == 2
