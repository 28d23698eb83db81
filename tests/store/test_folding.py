"""Drafts folded together are numbered and recorded as if each had come by itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import UsageError, WrongStateError
from agent.protocol import AgentMessage, SessionPruned, ToolCallRequested, WarningEvent
from agent.store.changes.event_ledger import EventDraft, EventLedger, SessionHead, body_of
from agent.store.changes.overlay import Layers
from tests.store.conftest import session_draft, step_draft


def ledger(**heads: SessionHead) -> EventLedger:
    return EventLedger(
        last_event_id=7,
        last_job_id=0,
        sessions=Layers({}, heads),
        questions=Layers({}, {}),
        jobs=Layers({}, {}),
        leases=Layers({}, {}),
    )


def call(session_id: str, digest: str) -> EventDraft:
    msg = ToolCallRequested(step=1, call_id="c", tool="tap", arguments="{}", prompt_digest=digest)
    return EventDraft(session_id, msg)


FACTS = st.one_of(
    st.builds(step_draft, st.sampled_from("ab"), st.integers(1, 9)),
    st.builds(call, st.sampled_from("ab"), st.sampled_from(["d1", "d2"])),
    st.builds(
        lambda session_id, text, dated: EventDraft(
            session_id, AgentMessage(step=1, text=text), "s", dated
        ),
        st.sampled_from("ab"),
        st.text(max_size=3),
        st.integers(0, 5),
    ),
    st.builds(lambda session_id: EventDraft(session_id, SessionPruned()), st.sampled_from("ab")),
    st.just(EventDraft("", WarningEvent(message="of no session"))),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(FACTS, max_size=12))
def test_drafts_folded_together_are_what_each_folded_by_itself_gives(
    facts: list[EventDraft],
) -> None:
    drafts = [session_draft("a"), session_draft("b"), *facts]
    together, apart = ledger(), ledger()
    events = together.fold_all(drafts, [body_of(draft.msg) for draft in drafts], 100)
    assert events == tuple(apart.fold(draft, body_of(draft.msg), 100) for draft in drafts)
    assert together.events == apart.events
    assert together.sessions.maps[0] == apart.sessions.maps[0]
    assert (together.uses, together.pruned) == (apart.uses, apart.pruned)
    assert together.last_event_id == apart.last_event_id == 7 + len(drafts)


@pytest.mark.parametrize(
    ("drafts", "error"),
    [
        ([step_draft("a", 1), session_draft("a")], UsageError),
        ([session_draft("a"), session_draft("a")], WrongStateError),
        ([EventDraft("", session_draft("a").msg)], UsageError),
        ([EventDraft("b", session_draft("a").msg)], UsageError),
    ],
)
def test_what_does_not_fit_is_refused_and_a_trial_of_it_leaves_no_trace(
    drafts: list[EventDraft], error: type[Exception]
) -> None:
    below = ledger()
    below.adopt(below.branch())
    trial = below.branch()
    with pytest.raises(error):
        trial.fold_all(drafts, [body_of(draft.msg) for draft in drafts], 100)
    assert (below.events, below.sessions.maps[0], below.last_event_id) == ([], {}, 7)


def test_the_uppermost_layer_that_knows_a_key_answers() -> None:
    below, above = {"a": 1, "b": 2}, {"a": 3}
    layers = Layers(above, below)
    assert (layers.get("a"), layers.get("b"), layers.get("c"), layers.get("c", 4)) == (
        3,
        2,
        None,
        4,
    )
    trial = layers.new_child()
    trial["b"] = 5
    assert (trial.get("b"), layers.get("b")) == (5, 2)
