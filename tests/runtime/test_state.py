"""The picture is a fold: what events do to it, what they leave alone, and that order is all."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agent import protocol
from agent.core import Overview
from agent.records import ActionOutcome, DeviceState, SessionState
from agent.state.reducer import (
    AttentionKind,
    MessageItem,
    NoticeItem,
    QuestionItem,
    State,
    StepItem,
    Tone,
    attention,
    from_overview,
    reduce,
    tree,
    with_history,
    without_old_transcripts,
)
from agent.state.session_fold import fold_all
from tests.console.fakes import FakeCore, job, phone
from tests.console.script import ask, configure, evening, run, step


def folded(core: FakeCore) -> State:
    state = State()
    for event in core.stored:
        state = reduce(state, event)
    return state


def test_a_step_becomes_one_item_with_thought_action_and_time() -> None:
    core = FakeCore()
    configure(core, "s1", "a goal")
    step(core, "s1", 1, "I see it.")
    [item] = folded(core).sessions["s1"].transcript.items
    assert isinstance(item, StepItem)
    assert (item.number, item.thought, item.done) == (1, "I see it.", True)
    assert item.package == "com.android.settings"
    assert item.actions[0].outcome is ActionOutcome.DONE
    assert item.time.model_ms == 1_900


def test_an_event_that_was_folded_changes_nothing() -> None:
    core = FakeCore()
    evening(core)
    state = folded(core)
    for event in core.stored:
        assert reduce(state, event) is state


def test_what_an_event_does_not_touch_is_shared() -> None:
    core = FakeCore()
    evening(core)
    before = folded(core)
    core.tell(protocol.StepStarted(step=9), "s1")
    after = reduce(before, core.stored[-1])
    assert after.sessions["s2"] is before.sessions["s2"]
    assert after.devices is before.devices
    assert after.questions is before.questions
    assert after.sessions["s1"].transcript.items[0] is before.sessions["s1"].transcript.items[0]


@settings(max_examples=25, deadline=None)
@given(cut=st.integers(min_value=0, max_value=60), data=st.data())
def test_an_overview_with_history_is_the_same_as_having_listened(
    cut: int, data: st.DataObject
) -> None:
    core = FakeCore()
    evening(core)
    early = State()
    for event in core.stored[:cut]:
        early = reduce(early, event)
    overview = Overview(
        event_id=early.event_id,
        sessions=tuple(view.session for view in early.sessions.values()),
        questions=tuple(early.questions.values()),
        devices=tuple(early.devices.values()),
        jobs=tuple(early.jobs.values()),
    )
    late = from_overview(overview)
    # History may be read at any moment while events go on arriving.
    moment = data.draw(st.integers(min_value=cut, max_value=len(core.stored)))
    for number, event in enumerate(core.stored[cut:], cut):
        if number == moment:
            for session_id in late.sessions:
                known = [e for e in core.stored[:number] if e.session_id == session_id]
                late = with_history(late, session_id, known)
        late = reduce(late, event)
    for session_id in late.sessions:
        after = late.sessions[session_id].transcript.seq
        rest = [e for e in core.stored if e.session_id == session_id and e.seq > after]
        late = with_history(late, session_id, rest)
    assert late == folded(core)


def test_a_view_that_missed_events_says_so_until_history_is_read() -> None:
    core = FakeCore()
    configure(core, "s1", "a goal")
    state = from_overview(
        Overview(event_id=core.state.event_id, sessions=(core.state.sessions["s1"].session,))
    )
    assert state.sessions["s1"].is_behind
    state = with_history(state, "s1", core.stored)
    assert not state.sessions["s1"].is_behind


def test_old_settled_sessions_forget_what_they_did_until_it_is_read_again() -> None:
    core = FakeCore()
    for number in range(1, 5):
        core.now_ms += 1_000
        configure(core, f"s{number}", "a goal")
        step(core, f"s{number}", 1, "I see it.")
        if number < 4:
            core.tell(protocol.SessionStateChanged(state=SessionState.COMPLETED), f"s{number}")
    whole = folded(core)
    state = without_old_transcripts(whole, keep={"s1"}, most=1)
    assert [key for key, view in state.sessions.items() if view.is_behind] == ["s2"]
    state = with_history(state, "s2", [e for e in core.stored if e.session_id == "s2"])
    assert state == whole


def test_a_question_is_open_until_it_is_answered_or_closed() -> None:
    core = FakeCore()
    configure(core, "s1", "a goal")
    ask(core, "s1", "q1", "Which one?", "A", "B")
    assert list(folded(core).questions) == ["q1"]
    core.tell(protocol.QuestionClosed(question_id="q1", reason="superseded"), "s1")
    state = folded(core)
    assert state.questions == {}
    [item] = state.sessions["s1"].transcript.items
    assert isinstance(item, QuestionItem)
    assert item.closed == "superseded"


def test_a_hint_waits_until_a_step_applies_it() -> None:
    core = FakeCore()
    configure(core, "s1", "a goal")
    core.tell(protocol.UserMessage(text="left, not right", message_id="m1", steer=True), "s1")
    [item] = folded(core).sessions["s1"].transcript.items
    assert isinstance(item, MessageItem)
    assert item.applied_step == 0
    core.tell(protocol.SteerApplied(message_id="m1", step=4), "s1")
    [item] = folded(core).sessions["s1"].transcript.items
    assert isinstance(item, MessageItem)
    assert item.applied_step == 4


def test_a_failure_is_told_once() -> None:
    core = FakeCore()
    configure(core, "s1", "a goal")
    core.tell(protocol.ErrorEvent(message="No such thread."), "s1")
    core.tell(
        protocol.SessionStateChanged(state=SessionState.FAILED, reason="No such thread."), "s1"
    )
    items = folded(core).sessions["s1"].transcript.items
    assert [item.tone for item in items if isinstance(item, NoticeItem)] == [Tone.ERROR]


def test_turns_that_end_early_say_why() -> None:
    core = FakeCore()
    configure(core, "s1", "a goal")
    for reason in protocol.AbortReason:
        core.tell(protocol.TurnAborted(turn_id="t", reason=reason), "s1")
    core.tell(protocol.SessionContinued(generation=1, after_step=3), "s1")
    items = folded(core).sessions["s1"].transcript.items
    assert len({item.text for item in items if isinstance(item, NoticeItem)}) == len(items)
    assert len(items) == len(protocol.AbortReason) + 1


def test_attention_puts_questions_first_and_news_last() -> None:
    core = FakeCore()
    configure(core, "s1", "one")
    configure(core, "s2", "two", serial="phone-1")
    ask(core, "s1", "q1", "Which?")
    core.tell(protocol.SessionFlagsChanged(lost=True, reason="The phone is away."), "s2")
    core.tell(
        protocol.DeviceChanged(
            device=phone("phone-9", state=DeviceState.UNAUTHORIZED, note="Allow debugging on it.")
        )
    )
    kinds = [one.kind for one in attention(folded(core))]
    assert kinds == [AttentionKind.QUESTION, AttentionKind.LOST, AttentionKind.DEVICE]


def test_a_failure_that_was_seen_waits_no_longer() -> None:
    core = FakeCore()
    configure(core, "s1", "one")
    core.tell(protocol.SessionStateChanged(state=SessionState.FAILED), "s1")
    [one] = attention(folded(core))
    assert one.kind is AttentionKind.FAILED
    assert attention(folded(core), frozenset({one.key})) == ()


def test_what_is_cleared_away_after_the_end_makes_a_session_neither_longer_nor_younger() -> None:
    core = FakeCore()
    configure(core, "s1", "one")
    core.tell(protocol.SessionStateChanged(state=SessionState.COMPLETED), "s1")
    ended = folded(core).sessions["s1"].session
    core.now_ms += 3_600_000
    core.tell(protocol.SessionPruned(), "s1")
    assert core.stored[-1].ts_ms > ended.updated_ms
    assert folded(core).sessions["s1"].session.updated_ms == ended.updated_ms
    of_it = [event for event in core.stored if event.session_id == "s1"]
    assert fold_all(None, of_it) == folded(core).sessions["s1"].session
    core.tell(protocol.SessionStateChanged(state=SessionState.QUEUED), "s1")
    assert folded(core).sessions["s1"].session.updated_ms == core.stored[-1].ts_ms


def test_the_tree_puts_children_under_their_parent_and_live_roots_first() -> None:
    core = FakeCore()
    configure(core, "old", "done long ago")
    core.tell(protocol.SessionStateChanged(state=SessionState.COMPLETED), "old")
    configure(core, "parent", "delegates")
    configure(core, "a", "first part", parent_id="parent")
    configure(core, "b", "second part", parent_id="parent")
    configure(core, "orphan", "its parent is not in the picture", parent_id="elsewhere")
    listed = [(depth, view.session.session_id) for depth, view in tree(folded(core))]
    assert listed == [(0, "orphan"), (0, "parent"), (1, "a"), (1, "b"), (0, "old")]


def test_devices_jobs_and_the_end_are_in_the_picture() -> None:
    core = FakeCore()
    core.tell(protocol.DeviceChanged(device=phone("phone-1")))
    core.tell(protocol.DeviceChanged(device=phone("phone-1", state=DeviceState.GONE)))
    core.tell(protocol.AdbServerChanged(address="there:5037", why="It went away. Start it."))
    core.tell(protocol.AdbServerChanged(address="here:5037", why="It went away. Start it."))
    core.tell(protocol.AdbServerChanged(address="there:5037"))
    core.tell(protocol.JobChanged(job=job(3)))
    core.tell(protocol.ShutdownComplete())
    state = folded(core)
    assert state.servers_away == {"here:5037": "It went away. Start it."}
    assert state.devices["phone-1"].state is DeviceState.GONE
    assert state.jobs[3].title == "Job 3"
    assert state.closed


def test_a_host_that_is_forgotten_takes_its_phones_with_it() -> None:
    core = FakeCore()
    for serial in ("rack-1/a", "rack-2/a", "rack-2/b"):
        core.tell(protocol.DeviceChanged(device=phone(serial)))
    core.tell(protocol.HostForgotten(host="rack-2", by="ana"))
    assert set(folded(core).devices) == {"rack-1/a"}


def test_an_event_of_an_unknown_session_is_counted_and_does_nothing_else() -> None:
    core = FakeCore()
    core.tell(protocol.StepStarted(step=1), "nobody")
    state = folded(core)
    assert state.event_id == 1
    assert not state.sessions


def test_a_running_session_keeps_the_observation_and_the_last_touch() -> None:
    core = FakeCore()
    configure(core, "s1", "a goal")
    run(core, "s1")
    step(core, "s1", 1)
    seen = folded(core).sessions["s1"].transcript
    assert seen.observation is not None
    assert seen.touch == seen.observation.elements[1].bounds.center
