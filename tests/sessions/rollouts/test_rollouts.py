"""Rollouts: what is written is read back, by the same store or another, whatever the file holds."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent import protocol
from agent.errors import UsageError
from agent.records import Question, QuestionKind, Session, SessionState
from agent.sessions.rollout.rollout_lines import EventLine, SessionMeta, line_of, payload_of
from agent.sessions.rollout.rollout_read import read_blobs, read_rollout
from agent.sessions.rollout.rollout_write import Blobs, export_rollout
from agent.sessions.rules.rollback import visible
from agent.store.store import EventDraft
from tests.stage import Stage, of_type

COMPLETED = SessionState.COMPLETED


async def storied(stage: Stage) -> str:
    """Make an ended session with an approval, a blob and a turn that was rolled back."""
    session_id = await stage.create("look around")
    await stage.reach(session_id, COMPLETED)
    digest = await stage.store.blobs.put(b'{"kept": 1}', "application/json")
    question = Question(
        question_id=f"q-{session_id}",
        session_id=session_id,
        text="Really pay?",
        asked_ms=1,
        kind=QuestionKind.APPROVAL,
    )
    msgs = (
        protocol.AgentMessage(step=1, text="Zahle jetzt — 支付"),
        protocol.ToolCallRequested(
            step=1, call_id="c", tool="tap", arguments="{}", prompt_digest=digest
        ),
        protocol.RequestUserInput(question=question),
        protocol.QuestionAnswered(question_id=question.question_id, answer="yes"),
    )
    await stage.store.append(*(EventDraft(session_id, msg) for msg in msgs))
    await stage.do(protocol.SessionRollback(session_id=session_id))
    return session_id


def comparable(events: tuple[protocol.Event, ...]) -> list[tuple[int, object]]:
    """Leave out what a copy has of its own: ids, and what it says of its state at the end."""
    kept: list[tuple[int, object]] = []
    for event in events:
        msg: object = event.msg
        if isinstance(msg, protocol.SessionConfigured):
            msg = msg.session.goal
        elif isinstance(msg, protocol.RequestUserInput):
            msg = (msg.question.text, msg.question.kind)
        elif isinstance(msg, protocol.QuestionAnswered):
            msg = msg.answer
        kept.append((event.ts_ms, msg))
    return kept


@pytest.mark.parametrize("blobs", [Blobs.INLINE, Blobs.BESIDE])
async def test_a_session_survives_export_and_import_with_approvals_rollbacks_and_blobs(
    stage: Stage, tmp_path: Path, blobs: Blobs
) -> None:
    async with stage.play():
        session_id = await storied(stage)
        before = await stage.store.session_events(session_id)
        done = await export_rollout(stage.core, session_id, tmp_path, blobs=blobs)
        assert (done.events, done.blobs, done.missing_blobs) == (len(before), 1, 0)
        assert done.path.stat().st_mode & 0o777 == 0o600
        with pytest.raises(UsageError, match="already"):
            await stage.do(protocol.SessionImport(path=str(done.path)))
        await stage.do(protocol.SessionDelete(session_id=session_id))
        reply = await stage.do(protocol.SessionImport(path=str(done.path)))
        assert (reply.session_id, reply.skipped_lines) == (session_id, 0)
        after = await stage.store.session_events(session_id)
        assert comparable(after) == comparable(before)
        assert [e.seq for e in visible(after)] == [e.seq for e in visible(before)]
        [call] = of_type([e.msg for e in after], protocol.ToolCallRequested)
        assert await stage.store.blobs.read(call.prompt_digest) == b'{"kept": 1}'
        assert (await stage.store.session(session_id)).state is COMPLETED


async def test_an_import_as_new_stands_beside_the_original_and_can_go_on(
    stage: Stage, tmp_path: Path
) -> None:
    async with stage.play():
        session_id = await stage.create("look around", start=False)
        await stage.store.append(
            EventDraft(
                session_id, protocol.SessionStateChanged(state=SessionState.WAITING_FOR_USER)
            )
        )
        done = await export_rollout(stage.core, session_id, tmp_path / "one.jsonl")
        own = (await stage.do(protocol.SessionImport(path=str(done.path), as_new=True))).session_id
        assert own != session_id
        await stage.do(protocol.UserInput(session_id=own, text="go on"))
        await stage.reach(own, COMPLETED)


def test_every_line_is_a_timestamp_a_type_and_a_payload() -> None:
    line = json.loads(line_of(SessionMeta(id="s1"), 1_700_000_000_123))
    assert line["timestamp"] == "2023-11-14T22:13:20.123Z"
    assert line["type"] == "session_meta"
    assert line["payload"]["id"] == "s1" and line["payload"]["format"] == 1


# --- hostile files ----------


def meta(session_id: str = "s1", **fields: object) -> bytes:
    session = Session(session_id=session_id, goal="g", created_ms=5)
    return line_of(SessionMeta(id=session_id, session=session, **fields), 5)  # type: ignore[arg-type]


def message_line(seq: int, text: str = "hello") -> bytes:
    return line_of(EventLine(seq=seq, ts_ms=seq, msg=protocol.AgentMessage(step=1, text=text)), seq)


def test_broken_lines_are_skipped_and_counted_and_the_first_meta_wins(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    junk = (b"{", b"\xff\xfe", b'{"type": "unheard_of", "payload": {}}', b"[" * 5000, b"null")
    lines = [
        meta("first"),
        message_line(2),
        *(one + b"\n" for one in junk),
        message_line(2, "again"),
        message_line(1),
    ]
    path.write_bytes(b"".join([*lines, b"\n\n", meta("second"), message_line(3)[:-20]]))
    rollout = read_rollout(path)
    assert rollout.session_id == "first"
    assert rollout.skipped_lines == len(junk) + 2
    assert [e.seq for e in rollout.events] == [0, 1, 2]
    assert rollout.events[2].msg == protocol.AgentMessage(step=1, text="hello")


def test_an_empty_file_and_one_without_meta_are_refused(tmp_path: Path) -> None:
    for data in (b"", message_line(1)):
        (tmp_path / "r").write_bytes(data)
        with pytest.raises(UsageError, match="no session_meta"):
            read_rollout(tmp_path / "r")


@pytest.mark.parametrize("name", ["../../etc", "", "a" * 200, "a\nb", "-x", "s 1"])
def test_an_id_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "r").write_bytes(meta(name))
    with pytest.raises(UsageError, match="not an id"):
        read_rollout(tmp_path / "r")


def test_a_newer_format_asks_for_an_upgrade(tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes(meta(format=99))
    with pytest.raises(UsageError, match="Upgrade"):
        read_rollout(tmp_path / "r")


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "absent", Path("/dev/zero"), Path("\0")):
        with pytest.raises(UsageError):
            read_rollout(path)


def test_escape_sequences_in_a_rollout_do_not_reach_the_store(tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes(meta() + message_line(2, "a\x1b]0;owned\x07b\u202ec"))
    assert read_rollout(tmp_path / "r").events[1].msg == protocol.AgentMessage(step=1, text="abc")


def test_blobs_are_taken_only_when_they_are_what_they_say_and_are_named(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"root")
    digest = "ab" * 32
    call = protocol.ToolCallRequested(
        step=1, call_id="c", tool="t", arguments="{}", prompt_digest=digest, reply_digest="../x"
    )
    path = tmp_path / "r"
    lines = [meta(), line_of(EventLine(seq=2, ts_ms=2, msg=call), 2)]
    for named in (digest, "../secret", "cd" * 32):
        blob = {"digest": named, "media_type": "text/html", "data": ""}
        line = {"timestamp": "", "type": "blob", "payload": blob}
        lines.append(json.dumps(line).encode() + b"\n")
    path.write_bytes(b"".join(lines))
    beside = tmp_path / "r.blobs"
    beside.mkdir()
    (beside / digest).symlink_to(secret)
    assert list(read_blobs(path, read_rollout(path))) == []


def test_times_that_are_none_are_bounded(tmp_path: Path) -> None:
    lines = [
        line_of(EventLine(seq=2, ts_ms=at, msg=protocol.AgentMessage(step=1, text="x")), 0)
        for at in (-5,)
    ]
    (tmp_path / "r").write_bytes(meta() + b"".join(lines))
    assert read_rollout(tmp_path / "r").events[1].ts_ms == 1


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_no_line_breaks_the_reader(line: bytes) -> None:
    payload_of(line)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_damaged_rollout_gives_a_part_of_it_or_an_error_that_says_so(
    tmp_path: Path, data: st.DataObject
) -> None:
    rolled = protocol.SessionRolledBack(turns=1, from_seq=3)
    whole = b"".join(
        [
            meta(),
            *(message_line(n) for n in range(2, 6)),
            line_of(EventLine(seq=6, ts_ms=6, msg=rolled), 6),
        ]
    )
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(0, 6))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at] = data.draw(st.integers(0, 255))
    path = tmp_path / "damaged"
    path.write_bytes(bytes(damaged[: data.draw(st.integers(0, len(damaged)))]))
    try:
        rollout = read_rollout(path)
    except UsageError:
        return
    assert isinstance(rollout.events[0].msg, protocol.SessionConfigured)
    seqs = [event.seq for event in rollout.events]
    assert seqs == sorted(set(seqs))
