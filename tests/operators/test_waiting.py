"""Sessions that wait for a phone of an operator's: theirs to see and to stop, and telling nothing
of the phones and sessions of others."""

import pytest
from msgspec.structs import replace

from agent import protocol
from agent.errors import NotAllowedError, UsageError
from agent.operators.visibility import bare_event
from agent.records import Right, Session, SessionState
from tests.operators.house import HOUR_MS, House

WAITS = "waiting for a phone"


async def waiting(house: House, session_id: str) -> Session:
    """Wait until a session says who has the phone that it waits for."""
    holder = house.sessions["lab"]

    async def told() -> Session | None:
        session = await house.stage.store.session(session_id)
        return session if holder in session.waits_for else None

    return await house.stage.until(told, "why it waits")


async def test_a_session_that_waits_is_seen_and_stopped_by_who_may_on_its_phone(
    house: House,
) -> None:
    await house.add("ana", Right.DRIVE, tags=("lab",))
    await house.add("ben", Right.DRIVE, tags=("bank",))
    await house.add("eve", Right.WATCH)
    ana, ben, eve = [await house.come(name) for name in ("ana", "ben", "eve")]
    made = await ana.request(protocol.SessionCreate(goal="more", phone_needs="tag:lab"))
    whole = await waiting(house, made.session_id)
    assert not whole.serial
    theirs = await ana.session(made.session_id)
    assert theirs == replace(whole, waits_for=WAITS)
    assert theirs in (await ana.overview()).sessions
    assert theirs in await ana.sessions()
    past = await ana.history(made.session_id)
    assert WAITS in [
        one.msg.reason
        for one in past
        if isinstance(one.msg, protocol.SessionStateChanged | protocol.SessionWaits)
    ]
    assert house.sessions["lab"] not in repr(past)
    async with ana.events(after=0) as events:
        async for event in events:
            if event.session_id == made.session_id:
                assert house.sessions["lab"] not in repr(event)
                if WAITS in repr(event):
                    break
    assert not [
        one
        for one in await ana.look_up(protocol.SearchEvents(query="waiting"))
        if one.session_id == made.session_id
    ]
    # Who watches all is told all.
    assert (await eve.session(made.session_id)).waits_for == whole.waits_for
    # Who may on other phones alone does not know of it.
    for asked in (
        ben.session(made.session_id),
        ben.history(made.session_id),
        ben.request(protocol.SessionCancel(session_id=made.session_id)),
    ):
        with pytest.raises(UsageError):
            await asked
    assert made.session_id not in {one.session_id for one in (await ben.overview()).sessions}
    assert made.session_id not in {one.session_id for one in await ben.sessions()}
    with pytest.raises(NotAllowedError):
        await eve.request(protocol.SessionCancel(session_id=made.session_id))
    await ana.request(protocol.SessionCancel(session_id=made.session_id))
    ended = await house.stage.reach(made.session_id, SessionState.CANCELLED)
    assert (await ana.session(made.session_id)).session_id == ended.session_id


async def test_stopping_all_stops_what_waits_too(house: House) -> None:
    await house.add("ana", Right.DRIVE, tags=("lab",))
    ana = await house.come("ana")
    made = await ana.request(protocol.SessionCreate(goal="more", phone_needs="tag:lab"))
    await waiting(house, made.session_id)
    await ana.request(protocol.Interrupt())
    for session_id in (made.session_id, house.sessions["lab"]):
        stopped = await house.stage.store.session(session_id)
        assert (stopped.state, stopped.stopped) == (SessionState.WAITING_FOR_USER, True)


async def test_a_copy_is_seen_by_its_phone_alone(house: House) -> None:
    """It tells of the phone of the first, whatever its own is to be."""
    await house.add("ben", Right.DRIVE, tags=("bank",))
    ben = await house.come("ben")
    copy = await house.stage.do(
        protocol.SessionFork(session_id=house.sessions["lab"], before_message=0)
    )
    with pytest.raises(UsageError):
        await ben.session(copy.session_id)


def test_only_why_it_waits_is_taken_out_of_an_event() -> None:
    queued = protocol.SessionStateChanged(
        state=SessionState.QUEUED, reason="waiting, which s-1 has"
    )
    failed = protocol.SessionStateChanged(state=SessionState.FAILED, reason="the screen froze")
    for msg, said in (
        (queued, WAITS),
        (failed, "the screen froze"),
        (protocol.SessionWaits(reason="waiting: none of 40 has it"), WAITS),
        (protocol.SessionWaits(reason=""), ""),
        (protocol.SessionStateChanged(state=SessionState.QUEUED), ""),
    ):
        event = protocol.Event(event_id=1, session_id="s", seq=1, ts_ms=1, msg=msg)
        told = bare_event(event).msg
        assert isinstance(told, protocol.SessionWaits | protocol.SessionStateChanged)
        assert told.reason == said


async def test_the_sessions_of_an_operators_job_are_counted_to_them(house: House) -> None:
    await house.add("ana", Right.DRIVE, tags=("lab",))
    ana = await house.come("ana")
    later = house.stage.clock() + HOUR_MS
    for asked in ("", "ben"):
        op = protocol.JobCreate(
            title="more",
            prompt="more",
            serial="lab-1",
            next_run_at=later,
            account=asked,
            payload={"account": "ben"},
        )
        made = (await ana.request(op)).job
        assert made is not None
        assert made.payload_json["account"] == "ana"
