"""Events as metrics, as Prometheus reads them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from agent import protocol, records
from agent.core import Overview
from agent.errors import ErrorKind
from console.monitoring.exporting import exporting
from console.monitoring.labels import OTHER, LabelValues
from console.monitoring.metrics import MOST_TOOLS, Metrics
from tests.monitoring.facts import BEGAN_MS, PRIVATE, Facts, a_session


@dataclass
class Scraped:
    """Metrics, and the page that Prometheus gets."""

    metrics: Metrics
    registry: CollectorRegistry

    def take(self, *events: protocol.Event) -> None:
        for event in events:
            self.metrics.take(event, is_live=True)

    def page(self) -> str:
        return generate_latest(self.registry).decode()

    def value(self, name: str, **labels: str) -> float | None:
        """Return the value of one series; None where there is no such series."""
        found = [
            sample.value
            for family in text_string_to_metric_families(self.page())
            for sample in family.samples
            if sample.name == f"switchboard_{name}" and labels.items() <= sample.labels.items()
        ]
        assert len(found) <= 1, found
        return found[0] if found else None


@pytest.fixture
def scraped() -> Iterator[Scraped]:
    with exporting(version="1", instance="here") as export:
        metrics = Metrics(export.meter, lambda: (BEGAN_MS + 2000) / 1000)
        yield Scraped(metrics, export.registry)


def test_a_session_is_counted_timed_and_gone_from_the_gauges(scraped: Scraped) -> None:
    *events, end = a_session().events
    scraped.take(*events)
    assert scraped.value("sessions", state="RUNNING") == 1
    assert scraped.value("questions_open", kind="approval") == 0
    scraped.take(end)
    assert scraped.value("sessions", state="RUNNING") == 0
    assert scraped.value("sessions_ended_total", state="COMPLETED") == 1
    assert scraped.value("steps_total") == 1
    assert scraped.value("step_duration_seconds_sum", part="act") == 0.3
    assert scraped.value("tool_calls_total", tool="tap", outcome="done") == 1
    assert scraped.value("policy_decisions_total", decision="ask") == 1
    assert scraped.value("model_tokens_total", model="a-model", kind="input") == 1000
    assert scraped.value("model_cost_USD_total", model="a-model") == 0.25
    assert scraped.value("verifications_total", verdict="met", verified_by="verifier") == 1
    assert scraped.value("question_wait_seconds_sum", kind="approval", end="answered") == (
        pytest.approx(0.1)
    )
    assert scraped.value("event_delay_seconds_count") == len(events) + 1


def test_no_text_of_a_session_is_shown(scraped: Scraped) -> None:
    scraped.take(*a_session().events)
    page = scraped.page()
    assert "switchboard_steps_total" in page
    assert not [text for text in (*PRIVATE, "PRIVATE") if text in page]


def test_what_there_was_before_is_held_and_not_counted(scraped: Scraped) -> None:
    running = records.Session(
        session_id="a", goal="g", created_ms=1, state=records.SessionState.RUNNING
    )
    ended = records.Session(
        session_id="b", goal="g", created_ms=1, state=records.SessionState.FAILED
    )
    phones = [
        records.DeviceInfo(serial="p1", state=records.DeviceState.ONLINE, driver="a"),
        records.DeviceInfo(serial="p2", state=records.DeviceState.OFFLINE),
    ]
    scraped.metrics.begin(Overview(event_id=9, sessions=(running, ended), devices=tuple(phones)))
    assert scraped.value("sessions", state="RUNNING") == 1
    assert scraped.value("sessions_ended_total", state="FAILED") == 0
    assert scraped.value("phones", state="device") == 1
    assert scraped.value("phones", state="gone") == 0
    assert scraped.value("phones_driven") == 1
    scraped.take(*Facts(session_id="").add(protocol.SessionsDeleted(session_ids=("a",))).events)
    assert scraped.value("sessions", state="RUNNING") == 0


def test_the_dashboard_asks_for_nothing_that_is_not_measured(scraped: Scraped) -> None:
    """Its queries name series that exist once everything has happened."""
    trouble = Facts(session_id="s1").add(
        protocol.TurnAborted(turn_id="t", reason=protocol.AbortReason.FAILED),
        protocol.ErrorEvent(message="no", kind=ErrorKind.INTERNAL),
        protocol.StreamError(message="no", attempt=1, delay_ms=1),
        protocol.RunChanged(
            run=records.RunRecord(
                run_id="r",
                job_id=1,
                due_at=1,
                started_at=1,
                status=records.RunStatus.ENDED,
                outcome=records.RunOutcome.FINISHED,
            )
        ),
    )
    scraped.take(*a_session().events, *trouble.events)
    there = {
        sample.name
        for family in text_string_to_metric_families(scraped.page())
        for sample in family.samples
    }
    dashboard = json.loads(files("console.monitoring").joinpath("dashboard.json").read_text())
    queries = [query["expr"] for panel in dashboard["panels"] for query in panel["targets"]]
    asked = {name for query in queries for name in re.findall(r"switchboard_\w+", query)}
    assert asked and asked <= there, asked - there
    states = {state for query in queries for state in re.findall(r'state="(\w+)"', query)}
    assert states and states <= {*records.SessionState, *records.DeviceState}


def test_names_that_a_model_makes_up_do_not_grow_the_series(scraped: Scraped) -> None:
    facts = Facts()
    for at in range(3 * MOST_TOOLS):
        facts.add(
            protocol.ToolCallRequested(step=1, call_id=f"c{at}", tool=f"tool_{at}", arguments="{}"),
            protocol.ToolCallFinished(
                step=1, call_id=f"c{at}", outcome=records.ActionOutcome.FAILED, text=""
            ),
        )
    scraped.take(*facts.events)
    series = re.findall(r'switchboard_tool_calls_total\{.*tool="', scraped.page())
    assert len(series) == (MOST_TOOLS + 1) * len(records.ActionOutcome)
    assert scraped.value("tool_calls_total", tool=OTHER, outcome="failed") == 2 * MOST_TOOLS


@given(st.lists(st.text(max_size=120), max_size=30))
def test_a_label_is_short_printable_and_one_of_few(names: list[str]) -> None:
    values = LabelValues(5)
    found = [values.of(name) for name in names]
    assert len({*found} - {OTHER}) <= 5
    assert all(one.isascii() and one.isprintable() and len(one) <= 80 for one in found)
    assert all(one in (name, OTHER) for one, name in zip(found, names, strict=True))
