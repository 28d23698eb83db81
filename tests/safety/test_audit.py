"""The audit: a chain that shows every change, and follows the store through a crash."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from agent.audit.audit_writer import DIRECTORY, audited
from agent.audit.hash_chain import CUT_BYTES, Chain, Flaw, files_of, read_lines, verify
from agent.audit.store_comparison import Compared, compare
from agent.protocol import (
    Event,
    HostForgotten,
    QuestionAnswered,
    RequestUserInput,
    SessionConfigured,
    TaskStarted,
    ToolCallFinished,
    ToolCallRequested,
)
from agent.records import ActionOutcome, Question, QuestionKind, Session
from agent.store.changes.event_ledger import EventDraft
from agent.store.embedded.sqlite_store import SqliteStore


def chain(directory: Path, *facts: str) -> Chain:
    made = Chain(directory)
    made.open()
    for fact in facts:
        made.append([{"event_type": fact}])
    return made


def rewrite(directory: Path, change: Callable[[list[str]], list[str]]) -> None:
    path = files_of(directory)[-1]
    path.write_text("".join(change(path.read_text().splitlines(keepends=True))))


def edit(lines: list[str]) -> list[str]:
    line = json.loads(lines[1])
    return [lines[0], json.dumps({**line, "event_type": "harmless"}) + "\n", *lines[2:]]


def rehash(lines: list[str]) -> list[str]:
    """Edit a line and hash it anew, as somebody would who knows the format."""
    from agent.audit.hash_chain import line_hash

    line = {**json.loads(lines[1]), "event_type": "harmless"}
    line["hash"] = line_hash(line)
    return [lines[0], json.dumps(line) + "\n", *lines[2:]]


@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        (edit, Flaw.HASH_MISMATCH),
        (rehash, Flaw.PREV_HASH_MISMATCH),
        (lambda lines: [lines[0], *lines[2:]], Flaw.SEQ_GAP),
        (lambda lines: [lines[1], lines[0], *lines[2:]], Flaw.SEQ_GAP),
        (lambda lines: lines[:-1], Flaw.TRUNCATED),
        (lambda lines: [], Flaw.TRUNCATED),
        (lambda lines: [*lines[:2], "not json\n", *lines[2:]], Flaw.MALFORMED),
        (lambda lines: [lines[0], lines[0], *lines[1:]], Flaw.SEQ_GAP),
    ],
)
def test_a_change_of_the_chain_is_found(
    tmp_path: Path, change: Callable[[list[str]], list[str]], flaw: Flaw
) -> None:
    chain(tmp_path, "a", "b", "c", "d")
    assert verify(tmp_path).findings == []
    rewrite(tmp_path, change)
    assert flaw in {finding.flaw for finding in verify(tmp_path).findings}


def test_a_chain_that_was_made_anew_is_found_by_the_head_that_was_written_down(
    tmp_path: Path,
) -> None:
    chain(tmp_path, "a", "b", "c")
    report = verify(tmp_path)
    known = (report.seq, report.hash)
    assert verify(tmp_path, known).findings == []
    for path in tmp_path.iterdir():
        path.unlink()
    chain(tmp_path, "a", "x", "c", "d")
    assert verify(tmp_path).findings == []
    assert [f.flaw for f in verify(tmp_path, known).findings] == [Flaw.TRUNCATED]


def test_a_missing_head_is_said(tmp_path: Path) -> None:
    chain(tmp_path, "a")
    (tmp_path / "head.json").unlink()
    assert [f.flaw for f in verify(tmp_path).findings] == [Flaw.HEAD_MISSING]


def test_a_chain_goes_on_after_a_restart_and_after_a_torn_line(tmp_path: Path) -> None:
    chain(tmp_path, "a", "b")
    path = files_of(tmp_path)[-1]
    path.write_text(path.read_text() + '{"seq": 3, "event_ty')
    chain(tmp_path, "c")
    assert verify(tmp_path).findings == []
    assert [line["event_type"] for line in read_lines(tmp_path)] == ["a", "b", "c"]


def test_a_chain_whose_tail_was_cut_goes_on_with_a_gap_that_stays(tmp_path: Path) -> None:
    chain(tmp_path, "a", "b", "c")
    rewrite(tmp_path, lambda lines: lines[:1])
    chain(tmp_path, "d")
    assert Flaw.SEQ_GAP in {finding.flaw for finding in verify(tmp_path).findings}


def test_a_long_chain_is_cut_into_files_and_stays_one_chain(tmp_path: Path) -> None:
    made = chain(tmp_path)
    for _ in range(6):
        made.append([{"event_type": "x", "detail": "y" * 1000}] * 60)
    files = files_of(tmp_path)
    assert len(files) > 1
    assert all(path.stat().st_size < CUT_BYTES + 100_000 for path in files)
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files)
    assert verify(tmp_path).findings == []
    files[0].unlink()
    assert verify(tmp_path).findings != []


# --- over a store ----------

APPROVAL = Question(
    question_id="q", session_id="s", text="May I?", asked_ms=1, kind=QuestionKind.APPROVAL
)
CALL = ToolCallRequested(
    step=1,
    call_id="c",
    tool="click_element",
    arguments="{}",
    capability="payments.make",
    risk="financial",
    decision="ask",
)


async def tell(store: SqliteStore, *msgs: object) -> None:
    for msg in msgs:
        await store.append(EventDraft("s", msg))  # type: ignore[arg-type]


def types(directory: Path) -> list[str]:
    return [line["event_type"] for line in read_lines(directory / DIRECTORY)]


async def test_what_is_stored_is_audited_and_what_was_missed_is_caught_up_with(
    tmp_path: Path,
) -> None:
    async with SqliteStore.open(tmp_path) as store:
        async with audited(store, tmp_path):
            await tell(
                store,
                SessionConfigured(session=Session(session_id="s", goal="pay it", created_ms=1)),
                TaskStarted(turn_id="t"),
                CALL,
                RequestUserInput(question=APPROVAL),
            )
        # Nobody writes here, as after a crash.
        await tell(store, QuestionAnswered(question_id="q", answer="Approve"))
        async with audited(store, tmp_path):
            done = ToolCallFinished(
                step=1, call_id="c", outcome=ActionOutcome.DONE, text="OK: Clicked."
            )
            await tell(store, done)
    assert types(tmp_path) == [
        "audit_started",
        "session_created",
        "task_started",
        "capability_evaluated",
        "confirmation_requested",
        "action_confirmed",
        "action_executed",
    ]
    assert verify(tmp_path / DIRECTORY).findings == []
    evaluated = next(
        line
        for line in read_lines(tmp_path / DIRECTORY)
        if line["event_type"] == "capability_evaluated"
    )
    assert (evaluated["capability"], evaluated["decision"]) == ("payments.make", "ask")


async def test_what_was_stored_before_there_was_an_audit_is_not_made_up(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store:
        await tell(
            store, SessionConfigured(session=Session(session_id="s", goal="old", created_ms=1))
        )
        async with audited(store, tmp_path):
            await tell(store, TaskStarted(turn_id="t"))
    assert types(tmp_path) == ["audit_started", "task_started"]


async def history_of(store: SqliteStore, session_id: str, *, after_seq: int) -> tuple[Event, ...]:
    return await store.session_events(session_id, after_seq=after_seq)


async def compared(store: SqliteStore, directory: Path) -> Compared:
    return await compare(list(read_lines(directory / DIRECTORY)), partial(history_of, store))


async def begin(store: SqliteStore, session_id: str) -> None:
    session = Session(session_id=session_id, goal="do it", created_ms=1)
    await store.append(EventDraft(session_id, SessionConfigured(session=session)))
    await store.append(EventDraft(session_id, TaskStarted(turn_id=f"t-{session_id}")))


async def test_a_deletion_is_a_link_of_the_chain_and_what_went_with_it_is_in_order(
    tmp_path: Path,
) -> None:
    async with SqliteStore.open(tmp_path) as store:
        async with audited(store, tmp_path):
            await begin(store, "kept")
            await begin(store, "dropped")
            await store.delete_sessions("dropped")
        found = await compared(store, tmp_path)
    assert types(tmp_path)[-1] == "sessions_deleted"
    assert list(read_lines(tmp_path / DIRECTORY))[-1]["sessions"] == ["dropped"]
    assert verify(tmp_path / DIRECTORY).findings == []
    assert (found.edited, found.missing, found.deleted) == ([], [], 2)


async def test_events_that_went_without_a_word_are_found(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store:
        async with audited(store, tmp_path):
            await begin(store, "s")
        # Behind the audit's back, and with nothing in the chain that says so.
        await store.delete_sessions("s")
        found = await compared(store, tmp_path)
    assert [session_id for session_id, _ in found.missing] == ["s", "s"]
    assert found.deleted == 0


async def test_a_deletion_excuses_nothing_that_came_after_it(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store:
        async with audited(store, tmp_path):
            await begin(store, "s")
            await store.delete_sessions("s")
            # Its rollout was imported again under the same name.
            await begin(store, "s")
        await store.delete_sessions("s")
        found = await compared(store, tmp_path)
    assert (len(found.missing), found.deleted) == (2, 2)


async def test_a_host_that_was_forgotten_is_audited_with_who_did_it(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store, audited(store, tmp_path):
        done = HostForgotten(host="rack-2", by="ana: console", jobs_to="rack-1")
        await store.append(EventDraft("", done))
    lines = read_lines(tmp_path / DIRECTORY)
    [line] = [one for one in lines if one["event_type"] == "host_forgotten"]
    assert (line["caller"], line["detail"]) == ("ana: console", "rack-2; its jobs to rack-1")


async def test_sessions_that_number_their_calls_alike_are_told_apart(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store, audited(store, tmp_path):
        for session_id in ("a", "b"):
            await begin(store, session_id)
            await store.append(EventDraft(session_id, CALL))
        for session_id in ("b", "a"):
            done = ToolCallFinished(step=1, call_id="c", outcome=ActionOutcome.DONE, text="OK")
            await store.append(EventDraft(session_id, done))
    lines = read_lines(tmp_path / DIRECTORY)
    done_in = [line["session_id"] for line in lines if line["event_type"] == "action_executed"]
    assert done_in == ["b", "a"]


async def test_an_audit_goes_on_with_a_new_store_and_says_that_it_is_another(
    tmp_path: Path,
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    async with SqliteStore.open(old) as store, audited(store, tmp_path):
        for name in ("a", "b", "c"):
            await begin(store, name)
    async with SqliteStore.open(new) as store:
        async with audited(store, tmp_path):
            await begin(store, "d")
        async with audited(store, tmp_path):
            await begin(store, "e")
        found = await compared(store, tmp_path)
    told = types(tmp_path)
    assert told.count("store_replaced") == 1
    assert told[told.index("store_replaced") + 1 :] == ["session_created", "task_started"] * 2
    assert (found.missing, found.deleted) == ([], 6)
