"""Notices by token: the vectors of the Android agent's presentation, and what else must hold."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import UsageError, WrongStateError
from agent.notices.shade import Ack, Post, Shade, Withdraw
from agent.protocol import WithdrawReason
from agent.records import NoticeKind, Question, QuestionOption, Session, SessionKind, SessionState

WAITING, COMPLETED = SessionState.WAITING_FOR_USER, SessionState.COMPLETED
A, B = "n-a", "n-b"


def session(
    state: SessionState = WAITING, *, kind: SessionKind = SessionKind.HOME, **more: str
) -> Session:
    return Session(session_id="s", goal="tidy up", created_ms=1, kind=kind, state=state, **more)


def asked(text: str = "Which?", **more: object) -> Question:
    return Question(question_id="q-1", session_id="s", text=text, asked_ms=1, **more)  # type: ignore[arg-type]


def test_vector_tokens_post_a_post_b_cancel_a_leaves_b() -> None:
    shade = Shade()
    shade.update(session(), A)
    acts = shade.update(session(), B)
    assert [type(act) for act in acts] == [Withdraw, Post, Ack]
    assert acts[0].reason is WithdrawReason.REPLACED  # type: ignore[union-attr]
    assert shade.cancel("s", A) == ()
    assert [notice.token for notice in shade.shown] == [B]


def test_vector_tokens_replay_of_a_retired_token_is_ignored() -> None:
    shade = Shade()
    shade.update(session(), A)
    shade.update(session(), B)
    assert shade.update(session(), A) == ()
    assert [notice.token for notice in shade.shown] == [B]


@pytest.mark.parametrize("token", ["", " ", "\t\n"])
def test_vector_tokens_a_blank_token_is_an_error(token: str) -> None:
    with pytest.raises(UsageError):
        Shade().update(session(), token)


def test_vector_tokens_a_reply_suppresses_before_the_answer() -> None:
    shade = Shade()
    shade.update(session(), A, question=asked())
    withdrawn = shade.suppress("s", A)
    assert withdrawn.reason is WithdrawReason.SUPPRESSED
    assert withdrawn.notice.question_id == "q-1" and shade.shown == ()
    # A second reply, and a replay of the token, find nothing.
    with pytest.raises(WrongStateError):
        shade.suppress("s", A)
    assert shade.update(session(), A) == ()


def test_the_same_token_again_is_acknowledged_and_changes_nothing() -> None:
    shade = Shade()
    shade.update(session(), A)
    assert shade.update(session(), A) == (Ack("s", A),)


@pytest.mark.parametrize("state", [SessionState.CREATED, SessionState.QUEUED, SessionState.RUNNING])
def test_what_is_at_work_is_acknowledged_and_takes_the_earlier_notice_away(
    state: SessionState,
) -> None:
    shade = Shade()
    shade.update(session(), A)
    acts = shade.update(session(state), B)
    assert [type(act) for act in acts] == [Withdraw, Ack] and shade.shown == ()
    assert shade.update(session(), B) == ()


def test_a_child_under_an_agent_parent_is_acknowledged_and_not_rendered() -> None:
    parent = session(kind=SessionKind.AGENT)
    child = session(COMPLETED, kind=SessionKind.GENIE, parent_id="p")
    assert Shade().update(child, A, parent=parent) == (Ack("s", A),)
    assert any(isinstance(act, Post) for act in Shade().update(child, A))


@pytest.mark.parametrize(
    ("state", "kind", "title"),
    [
        (WAITING, NoticeKind.WAITING, "Input needed for tidy up"),
        (COMPLETED, NoticeKind.COMPLETED, "Finished tidy up"),
        (SessionState.FAILED, NoticeKind.FAILED, "Hit an issue in tidy up"),
        (SessionState.CANCELLED, NoticeKind.CANCELLED, "Cancelled tidy up"),
    ],
)
def test_what_waits_or_has_ended_is_shown(
    state: SessionState, kind: NoticeKind, title: str
) -> None:
    shade = Shade()
    shade.update(session(state), A)
    [notice] = shade.shown
    assert (notice.kind, notice.title) == (kind, title)
    assert notice.may_reply is (state is WAITING)


def test_a_preview_is_clean_and_has_at_most_400_characters() -> None:
    shade = Shade()
    shade.update(session(), A, question=asked("\x1b[31m" + "long\n" * 200))
    [notice] = shade.shown
    assert len(notice.text) <= 400 and "\x1b" not in notice.text and "\n" not in notice.text


def test_what_passes_between_programs_is_never_shown() -> None:
    shade = Shade()
    shade.update(session(), A, question=asked("__codex_bridge__ {}"))
    assert shade.shown[0].text == "Codex needs input."


def test_a_secret_is_not_answered_from_a_notice() -> None:
    shade = Shade()
    option = (QuestionOption(label="Yes"),)
    shade.update(session(), A, question=asked(secret=True, options=option))
    assert not shade.shown[0].may_reply and shade.shown[0].options == ("Yes",)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["update", "cancel", "suppress", "remove"]),
        st.sampled_from([A, B, "n-c"]),
        st.sampled_from(list(SessionState)),
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=80)
@given(STEPS)
def test_whatever_happens_a_token_that_was_taken_away_never_shows_again(
    steps: list[tuple[str, str, SessionState]],
) -> None:
    shade, gone = Shade(), set[str]()
    for name, token, state in steps:
        acts: tuple[object, ...] = ()
        if name == "update":
            acts = shade.update(session(state), token)
        elif name == "cancel":
            acts = shade.cancel("s", token)
            gone.add(token)
        elif name == "remove":
            acts = shade.remove("s")
        elif shade.find("s") is not None and shade.find("s").token == token:  # type: ignore[union-attr]
            acts = (shade.suppress("s", token),)
        gone |= {act.notice.token for act in acts if isinstance(act, Withdraw)}
        assert len(shade.shown) <= 1
        assert not gone & {notice.token for notice in shade.shown}
