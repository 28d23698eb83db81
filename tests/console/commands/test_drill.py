"""What a drill counts as lost, and a drill of the real thing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent import protocol
from agent.records import ActionOutcome, Foreground, Observation
from console.runs.drill_ledger import DrillResult, events_lost, steps_repeated, tells_of_trouble


def events(*msgs: protocol.EventMsg) -> list[protocol.Event]:
    return [
        protocol.Event(event_id=number, session_id="s", seq=number, ts_ms=number, msg=msg)
        for number, msg in enumerate(msgs, 1)
    ]


def asked(call_id: str, arguments: str = "{}") -> protocol.ToolCallRequested:
    return protocol.ToolCallRequested(step=1, call_id=call_id, tool="tap", arguments=arguments)


def ended(call_id: str, outcome: ActionOutcome) -> protocol.ToolCallFinished:
    return protocol.ToolCallFinished(step=1, call_id=call_id, outcome=outcome, text="")


LOOK = protocol.ObservationRecorded(
    step=1, observation=Observation(started_ms=1, ended_ms=2, foreground=Foreground(package="a"))
)
WORDS = [protocol.WarningEvent(message=str(number)) for number in range(4)]


def test_nothing_is_lost_when_all_that_was_published_is_stored() -> None:
    assert events_lost(events(*WORDS), events(*WORDS)) == 0


@pytest.mark.parametrize(
    ("published", "stored", "lost"),
    [
        (events(*WORDS), events(*WORDS[:3]), 1),
        (events(*WORDS[:3]), events(*WORDS), 1),
        ([*events(*WORDS), events(*WORDS)[-1]], events(*WORDS), 1),
        (events(*WORDS), events(*WORDS[:3], protocol.WarningEvent(message="other")), 1),
        (events(), events(), 0),
    ],
)
def test_what_is_published_and_stored_must_agree(
    published: list[protocol.Event], stored: list[protocol.Event], lost: int
) -> None:
    assert events_lost(published, stored) == lost


def test_a_gap_in_the_order_is_a_loss() -> None:
    holed = [event for event in events(*WORDS) if event.event_id != 2]
    assert events_lost(holed, holed) > 0


def test_an_action_is_repeated_when_nobody_looked_between() -> None:
    unknown = ended("1", ActionOutcome.UNKNOWN)
    assert steps_repeated(events(asked("1"), unknown, asked("2"))) == 1
    assert steps_repeated(events(asked("1"), unknown, LOOK, asked("2"))) == 0
    assert steps_repeated(events(asked("1"), unknown, asked("2", '{"x":1}'))) == 0


def test_an_action_that_is_known_to_have_failed_may_be_sent_again() -> None:
    assert steps_repeated(events(asked("1"), ended("1", ActionOutcome.FAILED), asked("2"))) == 0


def test_an_action_that_did_what_it_should_tells_of_no_trouble() -> None:
    done, unknown = events(ended("1", ActionOutcome.DONE), ended("1", ActionOutcome.UNKNOWN))
    assert not tells_of_trouble(done)
    assert tells_of_trouble(unknown)


def switchboard(data: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("switchboard")), "--data-dir", str(data), *words],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


@pytest.mark.slow
def test_a_session_loses_nothing_when_its_adb_server_is_killed(tmp_path: Path) -> None:
    said = switchboard(tmp_path, "drill", "--faults", "adb-server-restart", "--json")
    assert said.returncode == 0, said.stderr
    (line,) = said.stdout.splitlines()
    result = json.loads(line)
    assert result["recovered"] is True
    assert result["events_lost"] == result["steps_repeated"] == 0
    assert result["events_stored"] == result["events_published"] > 10
    assert result["noticed_ms"] is not None
    assert not list(tmp_path.iterdir()), "a drill has a data directory of its own"


def test_an_unknown_fault_is_a_usage_error(tmp_path: Path) -> None:
    said = switchboard(tmp_path, "drill", "--faults", "gremlins")
    assert said.returncode == 2 and "adb-server-restart" in said.stderr


def test_a_goal_that_was_not_reached_is_a_loss() -> None:
    result = DrillResult(
        fault="disconnect",
        outcome="failed",
        recovered=False,
        events_published=5,
        events_stored=5,
        events_lost=0,
        steps=1,
        steps_repeated=0,
        noticed_ms=3,
        took_ms=10,
    )
    assert result.lost_something


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["flip", "car", "tv", "samsung", "keyless", "small"])
def test_a_session_on_any_kind_of_phone_survives_a_lost_connection(
    tmp_path: Path, profile: str
) -> None:
    words = ("--faults", "disconnect", "--for", "1", "--json")
    said = switchboard(tmp_path, "drill", "--profile", profile, *words)
    result = json.loads(said.stdout)
    assert (result["recovered"], result["events_lost"]) == (True, 0), said.stderr


def test_a_drill_on_a_kind_that_is_none_names_the_kinds(tmp_path: Path) -> None:
    said = switchboard(tmp_path, "drill", "--profile", "brick", "--faults", "disconnect")
    assert said.returncode == 1
    assert "There is no kind of phone 'brick'" in said.stderr
