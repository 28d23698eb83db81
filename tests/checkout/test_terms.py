"""No identifier of the code stands on a screen: every value of the records has a word."""

import re
from collections.abc import Iterator
from enum import StrEnum

import pytest
from msgspec.structs import replace

from agent import protocol, records
from agent.safety.capabilities import Capability
from agent.state.event_text import sentence
from agent.state.reducer import ActionView, SessionView, State, attention
from agent.state.terms import CAPABILITIES, term, without_codes
from agent.tools.planning import NAMES as PLANNING
from agent.tools.registry import TOOLS
from console.runs.narration import narrate
from tests.console.fakes import job as job_record
from widgets.base import formatting, status
from widgets.lists.job_rows import job_detail, job_rows
from widgets.lists.session_list import Look, session_rows
from widgets.lists.session_rows import session_title
from widgets.transcript.session_pane import session_head


def enums() -> Iterator[StrEnum]:
    """List the values of every enum of records and protocol."""
    for module in (records, protocol):
        for found in vars(module).values():
            if isinstance(found, type) and issubclass(found, StrEnum):
                yield from found


VALUES = list(enums())
INTERNAL = {
    *(one.value for one in VALUES if "_" in one.value or "." in one.value),
    *(one.value for one in VALUES if one.value.isupper()),
    *TOOLS,
    *PLANNING,
    "background.action_denied",
    "background.confirmation_timeout",
} - {"wait", "scroll", "clipboard", "drag", "finish", "remember", "OK", "NONE"}
_WORD = re.compile(r"[A-Za-z][A-Za-z_.]*[A-Za-z]")


def identifiers(text: str) -> set[str]:
    return {word for word in _WORD.findall(text) if word in INTERNAL or "_" in word}


def test_every_value_has_a_word_that_is_no_identifier() -> None:
    for value in VALUES:
        word = term(value)
        assert word and not identifiers(word), value
        assert not re.search(r"[A-Z]{3,}|_|\w\.\w", word), value


EVENTS: list[protocol.EventMsg] = [
    *(protocol.SessionStateChanged(state=state) for state in records.SessionState),
    *(protocol.SessionDeferred(state=state) for state in records.SessionState),
    *(protocol.TurnAborted(turn_id="t", reason=reason) for reason in protocol.AbortReason),
    *(
        protocol.TargetObserved(presentation=records.TargetPresentation.ATTACHED, runtime=one)
        for one in records.TargetRuntime
    ),
    *(protocol.BudgetExtended(kind=kind, amount=1) for kind in records.BudgetKind),
    *(protocol.WheelActed(serial="d", said="Tap", outcome=one) for one in records.ActionOutcome),
    *(
        protocol.ToolCallRequested(step=1, call_id="c", tool=name, arguments="{}")
        for name in (*TOOLS, *PLANNING, "some_other_tool")
    ),
]


@pytest.mark.parametrize("msg", EVENTS, ids=lambda msg: type(msg).__name__)
def test_no_event_is_told_by_an_identifier(msg: protocol.EventMsg) -> None:
    event = protocol.Event(event_id=1, session_id="s", seq=1, ts_ms=1, msg=msg)
    said = [narrate(event)]
    if not isinstance(msg, protocol.ToolCallRequested):
        said += sentence(msg)[1:]  # type: ignore[arg-type]
    for text in said:
        assert not identifiers(str(text)), text


def test_no_tool_is_called_by_its_name_in_the_transcript() -> None:
    for name in (*TOOLS, *PLANNING, "some_other_tool"):
        action = ActionView(call_id="c", tool=name, arguments="{}")
        assert not identifiers(formatting.action_verb(action)), name


def text_of(parts: object) -> str:
    if isinstance(parts, str):
        return parts
    if isinstance(parts, tuple | list):
        return " ".join(text_of(one) for one in parts)
    return ""


@pytest.mark.parametrize("kind", list(records.JobType))
@pytest.mark.parametrize("state", list(records.JobStatus))
def test_no_job_is_shown_by_an_identifier(state: records.JobStatus, kind: records.JobType) -> None:
    job: records.Job = job_record(
        1, status=state, type=kind, last_result="background.action_denied: no"
    )
    runs = [
        records.RunRecord(
            run_id=str(at),
            job_id=1,
            due_at=1,
            started_at=1,
            ended_at=2,
            status=records.RunStatus.ENDED,
            outcome=outcome,
            result="background.confirmation_timeout: tap",
        )
        for at, outcome in enumerate(records.RunOutcome)
    ]
    shown = text_of(job_detail(job, 10, runs)) + text_of(job_rows([job], now_ms=10, width=140))
    assert not identifiers(shown), identifiers(shown)


@pytest.mark.parametrize("runtime", list(records.TargetRuntime))
@pytest.mark.parametrize("state", list(records.SessionState))
def test_no_session_is_shown_by_an_identifier(
    state: records.SessionState, runtime: records.TargetRuntime
) -> None:
    session = records.Session(
        session_id="s1",
        goal="turn on Bluetooth",
        created_ms=1,
        state=state,
        target_runtime=runtime,
        deferred=state,
        stopped=True,
    )
    view = SessionView(session=session)
    shown = text_of(session_head(view, {}, 10, asks=False))
    shown += text_of(session_rows(State(sessions={"s1": view}), Look(), now_ms=10, asking=set()))
    assert not identifiers(shown), identifiers(shown)


def test_a_head_names_other_sessions_by_their_titles() -> None:
    other = SessionView(
        session=records.Session(session_id="s0ff", goal="tidy the downloads", created_ms=1)
    )
    phone = records.DeviceInfo(serial="p1", state=records.DeviceState.ONLINE, driver="s0ff")
    waiting = records.Session(
        session_id="s1",
        goal="look",
        created_ms=1,
        serial="p1",
        state=records.SessionState.QUEUED,
        forked_from="s0ff",
    )

    def head(others: dict[str, SessionView]) -> str:
        view = SessionView(session=waiting)
        return text_of(session_head(view, {"p1": phone}, 10, asks=False, others=others))

    said = head({"s0ff": other})
    assert "waits for “tidy the downloads”" in said
    assert "branch of “tidy the downloads”" in said
    assert "s0ff" not in said
    assert "waits for s0ff" in head({}), "an id where there is no more to say"


def test_a_head_names_the_program_that_drives_and_the_servers_that_were_given() -> None:
    driven = records.Session(
        session_id="s1", goal="look", created_ms=1, model=f"{records.DIRECT}opencode"
    )
    given = records.Session(
        session_id="s2", goal="look", created_ms=1, tool_servers=("files", "tracker")
    )
    heads = [
        text_of(session_head(SessionView(session=one), {}, 10, asks=False))
        for one in (driven, given)
    ]
    assert "by opencode" in heads[0]
    assert "tools of files, tracker" in heads[1]


@pytest.mark.parametrize("state", list(records.DeviceState))
def test_no_device_waits_under_an_identifier(state: records.DeviceState) -> None:
    device = records.DeviceInfo(serial="d", state=state, note="Unlock it.")
    for one in attention(State(devices={"d": device})):
        assert not identifiers(one.text), one.text


def test_each_capability_has_words_for_who_is_asked() -> None:
    assert CAPABILITIES.keys() == {one.value for one in Capability}
    assert not identifiers(" ".join(CAPABILITIES.values()))


def test_a_code_in_a_stored_result_is_left_out() -> None:
    assert without_codes("background.action_denied: the operator refused it") == (
        "the operator refused it"
    )
    assert without_codes("task.finished") == ""
    assert without_codes("See example.com.") == "See example.com."


def test_a_session_that_has_planned_and_has_no_phone_yet_is_queued_and_not_running() -> None:
    planned = records.Session(
        session_id="s1",
        goal="open Contacts",
        created_ms=1,
        state=records.SessionState.RUNNING,
        last_step=1,
    )
    assert status.of_session(planned).word == status.state_word(planned) == "queued"
    for running in (
        replace(planned, turn_id="t1"),
        replace(planned, serial="127.0.0.1:5555"),
        replace(planned, part_ids=("s2",)),
        replace(planned, last_step=0),
    ):
        assert status.of_session(running).word == "running"


def test_where_one_line_stands_over_a_transcript_it_has_the_state_in_words() -> None:
    session = records.Session(session_id="s1", goal="turn on Bluetooth", created_ms=1, lost=True)
    head = session_head(SessionView(session=session), {}, 10, asks=True, is_one_line=True)
    assert "".join(text for text, _ in head) == " ! device away  turn on Bluetooth"


def test_a_stopped_session_says_stopped_and_a_branch_where_it_begins() -> None:
    session = records.Session(session_id="s1", goal="turn on Bluetooth", created_ms=1)
    idle = replace(session, state=records.SessionState.WAITING_FOR_USER)
    assert status.of_session(idle).word == "idle"
    assert status.of_session(replace(idle, stopped=True)).word == "stopped"
    done = replace(idle, state=records.SessionState.COMPLETED)
    assert status.of_session(done).word == "unverified"
    met = replace(done, verified_by=records.VerifiedBy.RULES, verdict=records.GoalVerdict.MET)
    assert status.of_session(met).word == "done"
    assert status.of_session(replace(met, one_act=True)).word == "act done"
    branch = replace(idle, forked_from="s0", forked_step=6)
    assert session_title(branch) == "Branch from step 6: turn on Bluetooth"
    assert session_title(replace(branch, forked_step=0)) == "Branch: turn on Bluetooth"


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("the goal cannot be met", "The goal cannot be met."),
        ("imported; it can be resumed", "Imported; it can be resumed."),
        ("The phone is away.", "The phone is away."),
        ("emulator-5554 is away", "emulator-5554 is away."),
    ],
)
def test_a_reason_in_a_transcript_is_a_sentence(reason: str, said: str) -> None:
    assert (
        sentence(protocol.SessionStateChanged(state=records.SessionState.FAILED, reason=reason))[1]
        == said
    )
    assert sentence(protocol.SessionFlagsChanged(paused=True, reason=reason))[1] == said
    assert sentence(protocol.SessionFlagsChanged(paused=True))[1] == "", (
        "what says nothing is not shown"
    )
