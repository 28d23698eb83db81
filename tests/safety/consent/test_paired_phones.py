"""What a paired phone signed counts once, in time, for what it showed; all else is refused."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent.consent.paired_phones import FRESH_MS, PairedPhones
from agent.consent.phone_door import PAIRING_S, PhoneDoor
from agent.errors import NotAllowedError, SwitchboardError, UsageError, WrongStateError
from agent.loop.task_context import TaskContext
from agent.protocol import QuestionAnswered
from agent.records import Effect, EffectVerb, Question, SessionState, Stated, Subject
from agent.safety.approval import FOR_SESSION, OPTIONS
from tests.fakes import FakeFleet
from tests.safety.consent.phone import Phone, answering, as_text, statement
from tests.stage import Stage

NOW_MS = 1_800_000_000_000
GOAL = "send Ana a message"


async def _asks(context: TaskContext) -> str:
    effect = Effect(
        verb=EffectVerb.SEND,
        control="Send",
        recipient=Stated(text="Ana Silva"),
        content=Stated(text="Hello"),
    )
    answers = []
    for step in itertools.count(1):
        said = await context.ask(
            "May I send it?",
            call_id=f"c{step}",
            step=step,
            approval=True,
            options=OPTIONS,
            subject=Subject(action="tap", effect=effect),
        )
        answers.append(said)
    raise AssertionError("it asks for ever")


@dataclass
class Place:
    """A core, its end of paired phones, and one phone that is paired."""

    stage: Stage
    door: PhoneDoor
    phone: Phone
    session_id: str = ""

    @property
    def now_ms(self) -> int:
        return self.stage.clock()

    async def question(self) -> Question:
        async def found() -> Question | None:
            open_now = await self.stage.store.open_questions()
            return next(iter(open_now), None)

        return await self.stage.until(found, "an approval to be asked")

    async def yes(self, answer: str = "Approve") -> dict[str, Any]:
        return answering(await self.question(), 0, self.now_ms, answer)

    async def act(
        self,
        said: dict[str, Any] | str,
        *,
        phone: Phone | None = None,
        phone_id: str | None = None,
        signature: bytes | None = None,
        operator: str = "",
    ) -> str:
        """Have a phone say something; returns what it was refused with."""
        by = phone or self.phone
        text = said if isinstance(said, str) else as_text(said)
        try:
            await self.door.act(
                self.stage.core,
                by.phone_id if phone_id is None else phone_id,
                text,
                by.sign(text) if signature is None else signature,
                operator=operator,
            )
        except SwitchboardError as error:
            assert isinstance(error, NotAllowedError | UsageError | WrongStateError), error
            assert error.remedy or isinstance(error, UsageError), error
            return error.message
        return ""

    def pair(self, name: str, operator: str = "") -> Phone:
        phone = Phone()
        code = self.door.offer(name, operator, PAIRING_S).code
        paired = self.door.accept(code, phone.public, phone.sign("pair", code))
        phone.phone_id = paired.phone_id
        return phone

    async def answered_by(self) -> list[str]:
        events = await self.stage.core.history(self.session_id)
        return [one.msg.answered_by for one in events if isinstance(one.msg, QuestionAnswered)]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    stage = Stage(tmp_path / "data", FakeFleet("lab-1"))
    stage.now_ms = NOW_MS
    stage.parts = {GOAL: _asks}
    async with stage.play():
        door = PhoneDoor(PairedPhones(stage.directory), stage.clock)
        found = Place(stage, door, Phone())
        found.phone = found.pair("Pixel")
        found.session_id = await stage.create(GOAL, serial="lab-1")
        await found.question()
        yield found


def forgeries(said: dict[str, Any], place: Place, other: Phone) -> dict[str, dict[str, Any]]:
    """List what is sent in place of a yes that the paired phone signed, by what is wrong."""
    text, phone = as_text(said), place.phone
    good = phone.sign(text)
    stranger = Phone(phone.phone_id)
    changed: dict[str, dict[str, Any]] = {
        f"with another {name} than was signed": {
            "said": as_text({**said, name: value}),
            "signature": good,
        }
        for name, value in {
            "answer": "Deny",
            "question_id": "another",
            "generation": 1,
            "digest": "0" * 64,
            "at_ms": said["at_ms"] + 1,
            "id": "another-statement",
            "do": "steer",
        }.items()
    }
    unbound: dict[str, dict[str, Any]] = {
        f"signed with {name} {value!r}": {
            "said": {**said, "id": f"statement of its own {number}", name: value}
        }
        for number, (name, value) in enumerate(
            [
                ("question_id", "another"),
                ("question_id", ""),
                ("question_id", said["question_id"][:8]),
                ("question_id", f" {said['question_id']}"),
                ("generation", 1),
                ("generation", -1),
                ("digest", ""),
                ("digest", "0" * 64),
                ("digest", said["digest"].upper()),
                ("digest", said["digest"][:-1]),
                ("at_ms", 0),
                ("at_ms", -1),
                ("at_ms", said["at_ms"] - FRESH_MS),
                ("at_ms", said["at_ms"] + 3_600_000),
                ("at_ms", said["at_ms"] - 1),
                ("at_ms", str(said["at_ms"])),
                ("at_ms", None),
                ("id", ""),
                ("id", "short"),
                ("id", "x" * 65),
                ("do", "approve"),
                ("do", "session_create"),
                ("do", ""),
                ("answer", FOR_SESSION),
                ("answer", "approve with: Hello, and 100 EUR"),
                ("answer", "Approve, and the next ones too"),
                ("answer", "yes yes"),
                ("answer", "maybe"),
                ("answer", "x" * 4001),
                ("answer", ["Approve"]),
                ("answer", True),
            ]
        )
    }
    more: dict[str, dict[str, Any]] = {
        f"signed with {name} besides": {
            "said": {**said, "id": f"statement with {name}", name: value}
        }
        for name, value in {
            "let_through": True,
            "speaker": "operator",
            "answers": {"a": ["Approve"]},
            "autonomy": "trusted_actions",
            "expired": True,
        }.items()
    }
    elsewhere: dict[str, dict[str, Any]] = {
        "wheel_take": {"serial": "lab-1"},
        "session_create": {"goal": "x", "autonomy": "trusted_actions"},
        "session_let_through": {"session_id": place.session_id},
        "edit_requirements": {"session_id": place.session_id, "withdraw": [1]},
        "job_create": {"title": "x", "prompt": "y"},
        "pairing_offer": {"name": "x", "life_s": 60},
        "look": {},
        "picture": {"question_id": said["question_id"]},
        "push": {"endpoint": "https://push.example/x"},
    }
    others: dict[str, dict[str, Any]] = {
        f"that would {do}": {"said": statement(do, said["at_ms"], **fields)}
        for do, fields in elsewhere.items()
    }
    return {
        "without a signature": {"said": text, "signature": b""},
        "with zeros": {"said": text, "signature": bytes(64)},
        "with a signature cut short": {"said": text, "signature": good[:-1]},
        "with a signature and more": {"said": text, "signature": good + b"\0"},
        "with r and s exchanged": {"said": text, "signature": good[32:] + good[:32]},
        "by another key": {"said": text, "signature": stranger.sign(text)},
        "by the key of another paired phone": {"said": text, "signature": other.sign(text)},
        "as another paired phone": {"said": text, "signature": good, "phone_id": other.phone_id},
        "as nobody": {"said": text, "signature": good, "phone_id": ""},
        "as a phone that is not paired": {"said": text, "phone": Phone("0" * 16)},
        "signed for another purpose": {"said": text, "signature": phone.sign(text, "pair")},
        "by another operator's connection": {"said": text, "operator": "ben"},
        "that is no JSON": {"said": "yes"},
        "that is empty": {"said": ""},
        "that is nested": {"said": "[" * 5000},
        "that is two": {"said": text + text},
        "that is too long": {"said": text + " " * 20_000},
        **changed,
        **unbound,
        **more,
        **others,
    }


async def test_nothing_but_what_the_paired_phone_signed_now_for_what_it_showed_approves(
    place: Place,
) -> None:
    other, asked = place.pair("Old phone"), await place.question()
    said = await place.yes()
    found = forgeries(said, place, other)
    assert len(found) >= 60
    passed = [name for name, given in found.items() if not await place.act(**given)]
    assert passed == []
    assert (await place.question()).question_id == asked.question_id, "and it is open still"
    assert await place.act(said) == ""
    assert await place.answered_by() == ["paired phone Pixel"]


async def test_the_same_statement_again_gets_the_same_reply_and_does_nothing_new(
    place: Place,
) -> None:
    said = await place.yes()
    assert await asyncio.gather(*(place.act(said) for _ in range(5))) == [""] * 5
    await place.question()
    assert await place.act(said) == ""
    assert len(await place.answered_by()) == 1
    # Another statement under its id, and a new one for what is answered.
    assert "id" in await place.act({**said, "answer": "Deny"})
    assert "no longer open" in await place.act({**said, "id": "another-statement"})
    hint = statement("steer", place.now_ms, session_id=place.session_id, text="be brief")
    for _ in range(3):
        assert await place.act(hint) == ""
    hints = [
        one
        for one in await place.stage.core.history(place.session_id)
        if "be brief" in str(one.msg)
    ]
    assert len(hints) == 1


async def test_what_was_signed_in_time_and_comes_late_is_refused_also_by_the_next_core(
    place: Place,
) -> None:
    said = await place.yes()
    place.stage.now_ms = NOW_MS + FRESH_MS
    assert "too late" in await place.act(said)
    fresh = await place.yes()
    place.stage.now_ms += 1
    place.door = PhoneDoor(PairedPhones(place.stage.directory), place.stage.clock)
    assert "restarted" in await place.act(fresh)
    assert await place.answered_by() == []
    assert await place.act(await place.yes("Deny: not now")) == ""


async def test_a_phone_that_is_revoked_says_nothing_more(place: Place) -> None:
    other, said = place.pair("Old phone"), await place.yes()
    with pytest.raises(UsageError):
        PairedPhones(place.stage.directory).revoke("nobody")
    PairedPhones(place.stage.directory).revoke("Pixel")
    assert "revoked" in await place.act(said)
    assert await place.act(said, phone=other) == ""
    assert await place.answered_by() == ["paired phone Old phone"]


async def test_it_stops_one_session_or_all_and_a_reason_reaches_the_agent(place: Place) -> None:
    assert await place.act(await place.yes("Deny: the wrong Ana")) == ""
    stop = statement("stop", place.now_ms, session_id=place.session_id)
    assert await place.act(stop) == ""
    await place.stage.idle(place.session_id)
    second = await place.stage.create(GOAL, serial="lab-1")
    await place.stage.reach(second, SessionState.WAITING_FOR_USER)
    assert await place.act(statement("stop_all", place.now_ms)) == ""
    await place.stage.idle(second)
    assert "length >= 1" in await place.act(statement("stop", place.now_ms, session_id=""))


Accept = Callable[[PhoneDoor, str, Phone], tuple[str, bytes, bytes]]
ACCEPTS: dict[str, Accept] = {
    "a wrong code": lambda _, code, phone: ("x" + code, phone.public, phone.sign("pair", code)),
    "no code": lambda _, code, phone: ("", phone.public, phone.sign("pair", "")),
    "no key": lambda _, code, phone: (code, b"", phone.sign("pair", code)),
    "a point off the curve": lambda _, code, phone: (
        code,
        b"\x04" + bytes(64),
        phone.sign("pair", code),
    ),
    "a compressed key": lambda _, code, phone: (code, phone.public[:33], phone.sign("pair", code)),
    "a key of another phone": lambda _, code, phone: (
        code,
        Phone().public,
        phone.sign("pair", code),
    ),
    "a signature of something else": lambda _, code, phone: (
        code,
        phone.public,
        phone.sign("other", code),
    ),
    "no signature": lambda _, code, phone: (code, phone.public, b""),
}


async def test_a_code_pairs_one_phone_once_and_in_time(tmp_path: Path) -> None:
    now = [NOW_MS]
    phones = PairedPhones(tmp_path)
    for name, accept in ACCEPTS.items():
        door = PhoneDoor(phones, lambda: now[0])
        code = door.offer("Pixel", "", 60).code
        with pytest.raises(NotAllowedError):
            door.accept(*accept(door, code, Phone()))
        assert phones.all() == (), name
    door = PhoneDoor(phones, lambda: now[0])
    phone, code = Phone(), door.offer("Pixel", "", 60).code
    late = door.offer("Other", "", 60).code
    first = door.accept(code, phone.public, phone.sign("pair", code))
    again = door.accept(code, phone.public, phone.sign("pair", code))
    assert first == again and len(phones.all()) == 1, "a reply that was lost is given again"
    thief = Phone()
    with pytest.raises(NotAllowedError, match="another phone"):
        door.accept(code, thief.public, thief.sign("pair", code))
    now[0] += 60_000
    for gone in (late, code):
        with pytest.raises(NotAllowedError, match="expired"):
            door.accept(gone, thief.public, thief.sign("pair", gone))
    with pytest.raises(UsageError, match="is paired"):
        door.offer("Pixel", "", 60)
    for name, life_s in (("", 60), ("a\nb", 60), (" a", 60), ("x" * 41, 60), ("x", 0), ("x", 901)):
        with pytest.raises(UsageError):
            door.offer(name, "", life_s)


async def test_guessing_ends_every_open_pairing(tmp_path: Path) -> None:
    door = PhoneDoor(PairedPhones(tmp_path), lambda: NOW_MS)
    phone, code = Phone(), door.offer("Pixel", "", 60).code
    for _ in range(5):
        with pytest.raises(NotAllowedError):
            door.accept("guess", phone.public, phone.sign("pair", "guess"))
    with pytest.raises(NotAllowedError):
        door.accept(code, phone.public, phone.sign("pair", code))
