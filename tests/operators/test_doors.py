"""Two operators with different rights try each other's doors: none opens."""

import typing
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from agent import protocol, records
from agent.errors import NotAllowedError, SwitchboardError, UsageError
from agent.operators.scope import LISTS, NAMING_FIELDS
from agent.rpc.connection import BEFORE_SIGN_IN, METHODS
from agent.rpc.remote_core import Client
from agent.rpc.rpc_messages import Nothing, OpParams
from agent.store.store import EventDraft
from tests.operators.house import BANK_WORD, LAB_WORD, Furniture, House

OPS: tuple[type[Any], ...] = typing.get_args(protocol.Op)
FILLED: dict[str, Any] = {
    "action": records.TargetAction.CLOSE,
    "answer": "yes",
    "clauses": (),
    "commitment_id": 1,
    "corrections": (),
    "expires_ms": 1,
    "gesture": protocol.WheelButton(button="HOME"),
    "goal": "x",
    "host": "rack-2",
    "message_id": "m",
    "name": "x",
    "path": "/etc/passwd",
    "status": records.CommitmentStatus.COMPLETED,
    "text": "x",
    "title": "x",
    "token": "t",
    "words": "messages to Ana",
    "warrant_id": "w-1",
    "watcher_type": records.WatcherType.SCREEN_TEXT,
}


def aimed(kind: type[Any], house: Furniture, tag: str) -> protocol.Op:
    fields = {one.name: one for one in msgspec.structs.fields(kind)}
    aims: dict[str, Any] = {
        "serial": house.serials[tag],
        "session_id": house.sessions[tag],
        "question_id": house.questions[tag].question_id,
        "job_id": house.jobs[tag],
        "watcher_id": house.watchers[tag],
    }
    values = {name: aims[name] for name in fields if name in aims}
    for name, field in fields.items():
        if name not in values and field.required:
            values[name] = FILLED[name]
    if kind is protocol.UserInputAnswer:
        values["answer"] = "yes"
    made: protocol.Op = kind(**values)
    return made


def shut(house: Furniture, tag: str) -> Iterator[tuple[str, protocol.Op]]:
    """List the ops that would act on, or tell of, the phone of a tag."""
    for kind in OPS:
        if kind not in LISTS:
            yield kind.__name__, aimed(kind, house, tag)
    serial, session_id = house.serials[tag], house.sessions[tag]
    other = house.serials["lab" if tag == "bank" else "bank"]
    yield "any phone", protocol.SessionCreate(goal="x")
    yield (
        "a tree",
        protocol.SessionCreate(goal="x", targets=(protocol.Target(objective="y", serial=serial),)),
    )
    yield "a job of any phone", protocol.JobCreate(title="x", prompt="y")
    yield "a job by tag", protocol.JobCreate(title="x", prompt="y", tags=(tag,))
    yield (
        "a job by payload",
        protocol.JobCreate(title="x", prompt="y", serial=other, payload={"serial": serial}),
    )
    for what, campaign in (
        ("a campaign", records.Campaign(phones=(serial,))),
        ("a campaign on both", records.Campaign(phones=(other, serial))),
        ("a campaign by tag", records.Campaign(needs=f"tag:{tag}")),
        ("a campaign by both", records.Campaign(phones=(other,), needs=f"tag:{tag}")),
    ):
        kind_of = records.JobType.CAMPAIGN
        yield what, protocol.JobCreate(title="x", prompt="y", job_type=kind_of, campaign=campaign)
    yield (
        "a campaign by payload",
        protocol.JobCreate(
            title="x",
            prompt="y",
            job_type=records.JobType.CAMPAIGN,
            campaign=records.Campaign(phones=(other,)),
            payload={"serial": serial},
        ),
    )
    yield "by needs", protocol.SessionCreate(goal="x", phone_needs=f"tag:{tag}")
    yield "a job by needs", protocol.JobCreate(title="x", prompt="y", phone_needs=f"tag:{tag}")
    yield (
        "a job in a session",
        protocol.JobCreate(
            title="x", prompt="y", serial=other, session_target=f"session:{session_id}"
        ),
    )
    yield (
        "a watcher of all",
        protocol.WatcherCreate(watcher_type=records.WatcherType.NOTIFICATION, texts=("x",)),
    )
    yield "all watchers", protocol.WatcherStop(all=True)
    yield "watchers by words", protocol.WatcherStop(query="look")
    yield "hither", protocol.SessionMove(session_id=session_id, serial=other)
    yield (
        "thither",
        protocol.SessionMove(
            session_id=house.sessions["lab" if tag == "bank" else "bank"], serial=serial
        ),
    )
    yield "tags", protocol.DeviceTag(serial=other, tags=(tag,))
    yield "wheel by session", protocol.WheelTake(session_id=session_id)
    yield (
        "act by session",
        protocol.WheelAct(gesture=protocol.WheelButton(button="HOME"), session_id=session_id),
    )
    yield "prefix", protocol.SessionAttach(session_id=session_id[:8], drive=False)
    yield "target", protocol.TargetControl(session_id=session_id, action=records.TargetAction.SHOW)
    yield "direct", protocol.DirectCall(session_id=session_id, tool="tap")
    yield "promise", protocol.CommitmentCreate(title="x")
    yield (
        "kept",
        protocol.CommitmentUpdate(commitment_id=1, status=records.CommitmentStatus.COMPLETED),
    )


async def looks(client: Client, house: Furniture, tag: str) -> list[tuple[str, object]]:
    """Look everywhere for what is of the phone of a tag; returns all that came back."""
    found: list[tuple[str, object]] = []
    session_id, serial = house.sessions[tag], house.serials[tag]

    async def tried(name: str, look: Any) -> None:
        try:
            found.append((name, await look))
        except (NotAllowedError, UsageError) as error:
            found.append((name, str(error)))

    await tried("session", client.session(session_id))
    await tried("prefix", client.session(session_id[:6]))
    await tried("sessions", client.sessions(limit=1000))
    await tried("sessions before", client.sessions(limit=1000, before=session_id))
    await tried("history", client.history(session_id))
    await tried("history back", client.history(session_id, before_seq=1000))
    await tried("overview", client.overview())
    await tried("status", client.status())
    await tried("search", client.look_up(protocol.SearchEvents(query="look")))
    await tried("warrants", client.look_up(protocol.ListWarrants()))
    await tried("phones in use", client.look_up(protocol.ListPhonesInUse()))
    await tried("hosts", client.look_up(protocol.ListHosts()))
    await tried("spending", client.look_up(protocol.SumSpending(since_ms=0)))
    await tried("jobs", client.request(protocol.JobList()))
    await tried("watchers", client.request(protocol.WatcherList()))
    await tried("bridge list", client._caller.call("androidSession/list", Nothing(), Any))
    for call in ("read", "attach", "cancel", "letThrough", "attachTarget"):
        params: Any = {"sessionId": session_id}
        await tried(f"bridge {call}", client._caller.call(f"androidSession/{call}", params, Any))
    for digest in house.blobs.get(tag, ()):
        await tried("blob", client.blob(digest))

    async def first_frame() -> object:
        async with client.frames(serial, width_px=8, height_px=8, max_hz=1) as frames:
            return await anext(frames)

    await tried("frames", first_frame())
    return found


@pytest.mark.parametrize(("tag", "name"), [("bank", "ana"), ("lab", "ben")])
async def test_no_door_of_the_other_opens(house: House, tag: str, name: str) -> None:
    await house.add("ana", *records.Right, tags=("lab",))
    await house.add("ben", *records.Right, tags=("bank",))
    client = await house.come(name)
    word, serial = (BANK_WORD, "bank-1") if tag == "bank" else (LAB_WORD, "lab-1")
    before = await house.stage.store.session_events(house.sessions[tag])
    tries = 0
    for what, op in shut(house, tag):
        with pytest.raises((NotAllowedError, UsageError)) as refusal:
            await client.request(op)
        assert word not in str(refusal.value), what
        with pytest.raises((NotAllowedError, UsageError)):
            await client.submit(op)
        tries += 2
    for what, came in await looks(client, house, tag):
        text = repr(came)
        assert word not in text, what
        assert house.sessions[tag] not in text or isinstance(came, str), what
        assert serial not in text or isinstance(came, str), what
        tries += 1
    assert tries >= 2 * 40
    assert await house.stage.store.session_events(house.sessions[tag]) == before
    assert (await house.stage.store.open_questions())[0].question_id


async def test_what_is_theirs_opens(house: House) -> None:
    await house.add("ana", records.Right.ANSWER, records.Right.DRIVE, tags=("lab",))
    client = await house.come("ana")
    session_id = house.sessions["lab"]
    picture = await client.overview()
    assert [one.serial for one in picture.devices] == ["lab-1"]
    assert [one.session_id for one in picture.sessions] == [session_id]
    assert [one.question_id for one in picture.questions] == [house.questions["lab"].question_id]
    assert [one.id for one in picture.jobs] == [house.jobs["lab"]]
    assert [one.id for one in picture.watchers] == [house.watchers["lab"]]
    assert await client.history(session_id)
    assert (await client.session(session_id[:8])).session_id == session_id
    assert await client.look_up(protocol.SearchEvents(query="look"))
    answered = await client.request(
        protocol.UserInputAnswer(question_id=house.questions["lab"].question_id, answer="go on")
    )
    assert answered.session_id == session_id
    begun = await client.request(protocol.SessionCreate(goal="more", serial="lab-1"))
    assert (await client.session(begun.session_id)).serial == "lab-1"


@pytest.mark.parametrize("right", list(records.Right))
async def test_each_right_opens_its_ops_and_no_others(house: House, right: records.Right) -> None:
    await house.add("ana", right, tags=("bank",))
    client = await house.come("ana")
    held = set(records.Right) if right is records.Right.ADMINISTER else {right, records.Right.WATCH}
    whole = (protocol.SessionCreate, protocol.UserInputAnswer, protocol.NoticeReply, *LISTS)
    for kind in OPS:
        op = aimed(kind, house, "bank")
        if kind in whole or held & set(op.needs):
            continue
        with pytest.raises(NotAllowedError):
            await client.request(op)
    asked = house.questions["bank"]
    answer = protocol.UserInputAnswer(question_id=asked.question_id, answer="yes")
    if records.Right.APPROVE in held:
        assert (await client.request(answer)).session_id == house.sessions["bank"]
    else:
        with pytest.raises(NotAllowedError, match="approve"):
            await client.request(answer)


async def test_who_drives_gives_no_allowance(house: House) -> None:
    await house.add("ana", records.Right.DRIVE)
    client = await house.come("ana")
    allowance = records.Allowance(verb=records.EffectVerb.SEND, limit=3, recipients=("Bo",))
    free = protocol.SessionCreate(goal="pay", serial="lab-1", allowances=(allowance,))
    with pytest.raises(NotAllowedError, match="approve"):
        await client.request(free)


async def test_stopping_all_stops_ones_own(house: House) -> None:
    await house.add("ana", records.Right.ANSWER, tags=("lab",))
    client = await house.come("ana")
    await client.request(protocol.Interrupt())
    assert not (await house.stage.store.session(house.sessions["lab"])).turn_id
    assert (await house.stage.store.session(house.sessions["bank"])).turn_id


async def test_events_of_another_phone_do_not_come(house: House) -> None:
    await house.add("ana", records.Right.WATCH, tags=("lab",))
    await house.add("eve", records.Right.WATCH)
    ana, eve = await house.come("ana"), await house.come("eve")
    last = (await eve.overview()).event_id
    seen: dict[str, list[str]] = {"ana": [], "eve": []}
    for name, client in (("ana", ana), ("eve", eve)):
        async with client.events(after=0) as events:
            await house.stage.do(protocol.SessionCreate(goal="the end", serial="lab-1"))
            ended = 0
            async for event in events:
                seen[name].append(repr(event))
                if event.event_id > last and "the end" in repr(event):
                    ended += 1
                    break
    assert any(BANK_WORD in one for one in seen["eve"])
    assert any(LAB_WORD in one for one in seen["ana"])
    assert not any(BANK_WORD in one or "bank-1" in one for one in seen["ana"])


@pytest.mark.parametrize(
    "moved",
    [
        protocol.SessionHosted(host="desk", serial="bank-1"),
        protocol.SessionAssigned(serial="bank-1"),
    ],
    ids=["to another host", "to another phone"],
)
async def test_a_session_that_moved_to_another_phone_is_followed_no_more(
    house: House, moved: protocol.SessionHosted | protocol.SessionAssigned
) -> None:
    await house.add("ana", records.Right.WATCH, tags=("lab",))
    ana, session_id = await house.come("ana"), house.sessions["lab"]
    seen: list[str] = []
    async with ana.events(after=0) as events:
        async for event in events:
            if event.session_id == session_id:
                break
        before = (await house.stage.core.overview()).event_id
        await house.stage.store.append(
            EventDraft(session_id, moved),
            EventDraft(session_id, protocol.AgentMessage(step=1, text=f"it says {BANK_WORD}")),
        )
        await house.stage.do(protocol.SessionCreate(goal="the end", serial="lab-1"))
        async for event in events:
            if event.event_id > before:
                seen.append(repr(event))
            if "the end" in repr(event):
                break
    assert not any(BANK_WORD in one or "bank-1" in one for one in seen)


async def test_a_campaign_is_seen_and_stopped_by_those_who_may_on_all_its_phones(
    house: House,
) -> None:
    """However its phones were found: tags may have changed, and needs stand beside names."""
    await house.add("ana", *records.Right, tags=("lab",))
    await house.add("bo", *records.Right, tags=("lab", "bank"))
    ana, bo = await house.come("ana"), await house.come("bo")
    made: dict[str, int] = {}
    for name, phones in (("own", ("lab-1",)), ("both", ("lab-1", "bank-1"))):
        campaign = records.Campaign(phones=phones, needs="tag:lab")
        op = protocol.JobCreate(
            title=name, prompt=name, job_type=records.JobType.CAMPAIGN, campaign=campaign
        )
        job = (await house.stage.do(op)).job
        assert job is not None
        made[name] = job.id
    listed = {one.id for one in (await ana.overview()).jobs}
    assert made["own"] in listed
    assert made["both"] not in listed
    assert made["both"] in {one.id for one in (await bo.overview()).jobs}
    for op in (protocol.JobHistory(job_id=made["both"]), protocol.JobStop(job_id=made["both"])):
        with pytest.raises(UsageError, match="There is no job"):
            await ana.request(op)
    await ana.request(protocol.JobStop(job_id=made["own"]))
    await bo.request(protocol.JobStop(job_id=made["both"]))


def test_every_op_and_look_up_says_what_it_needs() -> None:
    for kind in OPS:
        assert kind.__dict__.get("needs"), f"{kind.__name__} does not say which right it needs"
    for name, query in protocol.LOOK_UPS.items():
        assert query.needs, name


def test_every_field_that_names_something_is_known() -> None:
    """A new way to name a session, phone or job is said in `scope`, or its op is of all phones."""
    ends = ("_id", "serial", "_ids", "serials")
    known = NAMING_FIELDS | {"message_id", "request_id", "commitment_id", "warrant_id"}
    for kind in OPS:
        for name in kind.__struct_fields__:
            assert not name.endswith(ends) or name in known, f"{kind.__name__}.{name}"


async def test_every_method_asks_for_a_sign_in(house: House) -> None:
    client = await house.come()
    await house.add("ana", records.Right.WATCH)
    for method, params in METHODS.items():
        if method in BEFORE_SIGN_IN:
            continue
        given: Any = OpParams(op=protocol.JobList()) if params is OpParams else {}
        with pytest.raises(NotAllowedError, match="sign in"):
            await client._caller.call(method, given, Any)
    with pytest.raises(NotAllowedError, match="sign in"):
        await client._caller.call("androidSession/list", Nothing(), Any)
    with pytest.raises(SwitchboardError):
        await house.come()
