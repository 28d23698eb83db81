"""Warrants in a core: drafted, corrected, signed, used, revoked, void where they were changed."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.audit.audit_writer import AuditWriter
from agent.errors import UsageError, WrongStateError
from agent.loop.task_context import TaskContext
from agent.loop.warranting import Warranting
from agent.models.model import Model, ModelReply, ToolCall
from agent.protocol import (
    ListWarrants,
    SessionCreate,
    SessionStart,
    WarrantChanged,
    WarrantCorrect,
    WarrantDraft,
    WarrantRevoke,
    WarrantSign,
    WarrantUsed,
)
from agent.records import (
    Clause,
    Correction,
    Effect,
    EffectVerb,
    ReviewVerdict,
    Session,
    SessionState,
    Speaker,
    Stated,
    WarrantView,
)
from agent.safety.warrants.reach import Scene
from agent.store.embedded.sqlite_store import DATABASE_NAME
from agent.store.store import EventDraft
from tests.fakes import FakeFleet
from tests.safety.warrants.test_words import ANA, NOW_MS, SHOP, WORDS
from tests.stage import Stage
from tests.tasks.scripted import scripted

PAID = replace(SHOP, items=())
PAY_WORDS = "today up to 40 EUR in com.example.shop"
DAY_MS = 24 * 60 * 60 * 1000


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    made = Stage(tmp_path / "data", FakeFleet("phone", "other"))
    made.now_ms = NOW_MS
    async with made.play():
        yield made


async def draft(
    stage: Stage, words: str = PAY_WORDS, *clauses: Clause, **more: object
) -> WarrantView:
    op = WarrantDraft(words=words, clauses=clauses or (PAID,), **more)  # type: ignore[arg-type]
    found = (await stage.do(op)).warrant
    assert found is not None
    return found


async def sign(stage: Stage, view: WarrantView) -> WarrantView:
    one = view.warrant
    op = WarrantSign(warrant_id=one.warrant_id, clauses=one.clauses, expires_ms=one.expires_ms)
    found = (await stage.do(op)).warrant
    assert found is not None
    return found


async def signed(stage: Stage, words: str = PAY_WORDS, *clauses: Clause) -> WarrantView:
    return await sign(stage, await draft(stage, words, *clauses))


async def listed(stage: Stage) -> WarrantView:
    return (await stage.core.look_up(ListWarrants()))[0]


def payment(hundredths: int) -> Effect:
    amount = f"{hundredths / 100:.2f} EUR"
    return Effect(
        verb=EffectVerb.SPEND, app="com.example.shop", amount=Stated(text=amount), currency="EUR"
    )


async def pay(stage: Stage, view: WarrantView, hundredths: int, session: str = "s-1") -> bool:
    warrants = stage.core._parts.door.warrants
    found = await warrants.use(
        view.warrant.warrant_id,
        payment(hundredths),
        Scene(now_ms=stage.clock()),
        session=session,
        call_id="c-1",
    )
    return found is not None


async def test_a_draft_allows_nothing_and_shows_ten_cases(stage: Stage) -> None:
    found = await draft(stage, WORDS, SHOP, ANA)
    assert found.trouble == "it is not signed" and found.gaps == ()
    assert len(found.cases) == 10 and len(found.lines) == 2
    assert not await pay(stage, found, 100)


async def test_a_signed_warrant_allows_its_total_and_not_a_cent_more(stage: Stage) -> None:
    found = await signed(stage)
    assert found.trouble == "" and found.warrant.signed_by == "operator"
    assert not await pay(stage, found, 4001)
    assert await pay(stage, found, 3999)
    assert not await pay(stage, found, 2)
    assert await pay(stage, found, 1)
    assert not await pay(stage, found, 1)
    assert [use.amount for use in (await listed(stage)).uses] == [3999, 1]


async def test_two_sessions_at_once_never_use_the_same_rest(stage: Stage) -> None:
    found = await signed(stage)
    told = await asyncio.gather(*(pay(stage, found, 1500, f"s-{at}") for at in range(6)))
    assert sum(told) == 2
    assert sum(use.amount for use in (await listed(stage)).uses) == 3000


async def test_another_core_with_the_lease_keeps_a_use_back(stage: Stage) -> None:
    found = await signed(stage)
    key = f"warrant/{found.warrant.warrant_id}"
    lease = await stage.store.acquire_lease(key, "another core", DAY_MS)
    assert lease is not None
    assert not await pay(stage, found, 100)
    await stage.store.release_lease(lease)
    assert await pay(stage, found, 100)


async def test_it_ends_by_the_clock_and_not_a_moment_later(stage: Stage) -> None:
    found = await signed(stage)
    stage.now_ms = found.warrant.expires_ms - 1
    assert await pay(stage, found, 100)
    stage.now_ms = found.warrant.expires_ms
    assert not await pay(stage, found, 100)
    assert (await listed(stage)).trouble == "it is over"


async def test_a_correction_before_signing_holds_and_none_after(stage: Stage) -> None:
    view = await draft(stage)
    exact = next(case.number for case in view.cases if "exactly" in case.says)
    correction = (Correction(case=exact, allows=False),)
    op = WarrantCorrect(warrant_id=view.warrant.warrant_id, corrections=correction)
    now = (await stage.do(op)).warrant
    assert now is not None and now.cases[exact - 1].verdict is not ReviewVerdict.ASK
    with pytest.raises(WrongStateError, match="not as you saw it"):
        await sign(stage, view)
    found = await sign(stage, now)
    assert not await pay(stage, found, 4000) and await pay(stage, found, 3999)
    with pytest.raises(WrongStateError, match="signed"):
        await stage.do(op)


async def test_gaps_and_scope_and_time_keep_a_draft_from_being_signed(stage: Stage) -> None:
    open_words = await draft(stage, "today in com.example.shop", PAID)
    assert open_words.gaps
    with pytest.raises(UsageError, match="cannot be signed"):
        await sign(stage, open_words)
    for more in (
        {"expires_ms": NOW_MS - 1},
        {"expires_ms": NOW_MS + 3 * DAY_MS},  # The words say today.
        {"session_id": "nobody"},
    ):
        with pytest.raises(UsageError):
            await draft(stage, PAY_WORDS, PAID, **more)
    far = "until 2026-12-20 up to 40 EUR in com.example.shop"
    with pytest.raises(UsageError, match="7 days"):
        await draft(stage, far, PAID)
    with pytest.raises(UsageError, match="delete"):
        await draft(stage, PAY_WORDS, Clause(verb=EffectVerb.DELETE))


async def test_a_revoked_warrant_and_one_that_is_brought_back_allow_nothing(stage: Stage) -> None:
    found = await signed(stage)
    await stage.do(WarrantRevoke(warrant_id=found.warrant.warrant_id))
    assert not await pay(stage, found, 100)
    await stage.store.append(EventDraft("", WarrantChanged(warrant=found.warrant)))
    assert (await listed(stage)).trouble == "it was revoked"
    assert not await pay(stage, found, 100)


CHANGES = {
    "a higher limit": ("warrant_changed", '"limit":4000', '"limit":9000'),
    "other words": ("warrant_changed", "up to 40 EUR", "up to 90 EUR"),
    "a later end": ("warrant_changed", '"expires_ms":1', '"expires_ms":2'),
    "a smaller use": ("warrant_used", '"amount":3000', '"amount":1000'),
    "a use of another warrant": ("warrant_used", '"warrant_id":"w-', '"warrant_id":"x-'),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_changed_row_makes_a_warrant_void(tmp_path: Path, change: str) -> None:
    kind, old, new = CHANGES[change]
    stage = Stage(tmp_path / "data", FakeFleet("phone"))
    stage.now_ms = NOW_MS
    async with stage.play():
        view = await signed(stage)
        assert await pay(stage, view, 3000)
        assert await pay(stage, view, 500)
    with sqlite3.connect(stage.directory / DATABASE_NAME) as rows:
        sql = "UPDATE event SET body = replace(body, ?, ?) WHERE type = ?"
        assert rows.execute(sql, (old, new, kind)).rowcount
    async with stage.play():
        found = await listed(stage)
        assert found.trouble, found
        assert not await pay(stage, view, 1)


@pytest.mark.parametrize("kept", [0, 1])
async def test_uses_that_are_gone_from_the_store_make_it_void(tmp_path: Path, kept: int) -> None:
    stage = Stage(tmp_path / "data", FakeFleet("phone"))
    stage.now_ms = NOW_MS
    async with stage.play():
        view = await signed(stage)
        assert await pay(stage, view, 3000) and await pay(stage, view, 500)
    with sqlite3.connect(stage.directory / DATABASE_NAME) as rows:
        mine = "SELECT id FROM event WHERE type = 'warrant_used' ORDER BY id LIMIT 9 OFFSET ?"
        assert rows.execute(f"DELETE FROM event WHERE id IN ({mine})", (kept,)).rowcount
    async with stage.play():
        assert "missing" in (await listed(stage)).trouble
        assert not await pay(stage, view, 1)


async def test_a_revocation_outlives_its_row(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "data", FakeFleet("phone"))
    stage.now_ms = NOW_MS
    async with stage.play():
        view = await signed(stage)
        await stage.do(WarrantRevoke(warrant_id=view.warrant.warrant_id))
    with sqlite3.connect(stage.directory / DATABASE_NAME) as rows:
        assert rows.execute("DELETE FROM event WHERE body LIKE '%\"revoked\"%'").rowcount
    async with stage.play():
        assert (await listed(stage)).trouble == "it was revoked"
        assert not await pay(stage, view, 1)


async def test_another_key_makes_every_warrant_void(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "data", FakeFleet("phone"))
    stage.now_ms = NOW_MS
    async with stage.play():
        view = await signed(stage)
    key = stage.directory / "warrant.key"
    assert key.stat().st_mode & 0o777 == 0o600 and len(key.read_bytes()) == 32
    key.write_bytes(b"x" * 32)
    async with stage.play():
        assert "not what was signed" in (await listed(stage)).trouble
        assert not await pay(stage, view, 1)
        key.chmod(0o644)
        assert "Others may read" in (await listed(stage)).trouble


async def test_uses_outlive_their_core(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "data", FakeFleet("phone"))
    stage.now_ms = NOW_MS
    async with stage.play():
        view = await signed(stage)
        assert await pay(stage, view, 3000)
    async with stage.play():
        assert not await pay(stage, view, 1001)
        assert await pay(stage, view, 1000)


async def test_a_warrant_of_one_session_holds_for_no_other(stage: Stage) -> None:
    held: list[int] = []

    async def counts(context: TaskContext) -> str:
        held.append(len(context.warranting.standing_for(context.session)))
        return "done"

    stage.parts.update({"shop": counts, "other": counts})
    own = (await stage.do(SessionCreate(goal="shop", start=False))).session_id
    view = await draft(stage, PAY_WORDS, PAID, session_id=own)
    await sign(stage, view)
    await stage.do(SessionStart(session_id=own))
    await stage.reach(own, SessionState.COMPLETED)
    other = (await stage.do(SessionCreate(goal="other"))).session_id
    await stage.reach(other, SessionState.COMPLETED)
    assert held == [1, 0]


async def test_a_session_of_a_program_is_covered_only_by_name(stage: Stage) -> None:
    view = await signed(stage)
    warranting = Warranting(stage.core._parts.door.warrants)
    mine = Session(session_id="s-1", goal="shop", created_ms=1, goal_speaker=Speaker.OPERATOR)
    assert [one.warrant for one in warranting.standing_for(mine)] == [view.warrant]
    others = ({"goal_speaker": Speaker.MODEL}, {"parent_id": "s-0"}, {"for_job": 7})
    for more in others:
        assert warranting.standing_for(replace(mine, **more)) == ()


async def test_a_use_counts_though_its_core_cannot_finish_it(stage: Stage) -> None:
    view = await signed(stage)
    marks = stage.directory / "warrant-marks.json"
    marks.mkdir()  # As a disk that fails after the use was stored: nothing passes, it is counted.
    assert not await pay(stage, view, 1500)
    marks.rmdir()
    assert [use.amount for use in (await listed(stage)).uses] == [1500]
    assert not await pay(stage, view, 2501) and await pay(stage, view, 2500)


async def test_a_model_reads_the_words_and_structure_holds_it_to_them(stage: Stage) -> None:
    said = (
        '{"clauses":[{"verb":"spend","app":"com.example.shop","total":"400","currency":"EUR"},'
        '{"verb":"send","recipients":["Mallory"]}]}'
    )
    call = ToolCall(call_id="", name="propose_clauses", arguments=said)

    def model(_session: object) -> Model:
        return scripted(ModelReply(text="", tool_calls=(call,)))

    stage.make_model = model
    found = (await stage.do(WarrantDraft(words=PAY_WORDS))).warrant
    assert found is not None and found.warrant.proposed_by == "scripted"
    assert any("400.00" in gap for gap in found.gaps) and any("Mallory" in g for g in found.gaps)
    with pytest.raises(UsageError, match="cannot be signed"):
        await sign(stage, found)


async def test_the_audit_names_what_was_signed_and_used(stage: Stage) -> None:
    view = await signed(stage)
    await pay(stage, view, 100)
    lines = [AuditWriter().fact(one) for one in await stage.store.events(after=0, limit=100)]
    told = [line for line in lines if line is not None and "warrant" in line]
    assert [line["event_type"] for line in told] == [
        "warrant_drafted",
        "warrant_signed",
        "warrant_used",
    ]
    assert told[-1]["clause"] == 1 and told[-1]["warrant"] == view.warrant.warrant_id
    uses = [one.msg for one in await stage.store.facts(["warrant_used"], limit=5)]
    assert isinstance(uses[0], WarrantUsed)
