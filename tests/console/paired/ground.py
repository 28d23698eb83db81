"""A real core that asks for an approval, its socket and gates, and the page of paired phones."""

import base64
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from agent.consent.gate import Gates
from agent.consent.judge import Consent
from agent.consent.paired_phones import PairedPhones
from agent.consent.phone_door import PAIRING_S, PhoneDoor
from agent.loop.task_context import TaskContext
from agent.protocol import QuestionAnswered
from agent.records import Autonomy, Effect, EffectVerb, Frame, Question, Source, Stated, Subject
from agent.rpc.remote_core import Client
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import serve
from agent.safety.approval import OPTIONS
from agent.safety.effects.statement import replace_digest
from agent.safety.effects.wording import facts
from tests.fakes import FakeFleet
from tests.safety.consent.phone import Phone, as_text
from tests.stage import Stage

GOAL = "Pay Tom for lunch"
EFFECT = replace_digest(
    Effect(
        verb=EffectVerb.SPEND,
        control="Pay $15.00",
        recipient=Stated(text="Tom Becker", source=Source.SCREEN),
        amount=Stated(text="$15.00", source=Source.SCREEN),
        currency="USD",
        app="com.example.wallet",
        app_name="Wallet",
        screen="Confirm payment",
        phone="lab-1",
        undo="Not possible: a payment is not taken back.",
        shown=("Pay Tom Becker", "$15.00 from Checking"),
    )
)


def asked_text() -> str:
    return "Pay $15.00 to Tom Becker in Wallet?\nPress “Pay $15.00”.\n" + "\n".join(facts(EFFECT))


@dataclass
class Ground:
    """The core, a connection to it, and its end of paired phones."""

    stage: Stage
    client: Client
    door: PhoneDoor
    session_id: str = ""

    async def question(self) -> Question:
        async def found() -> Question | None:
            return next(iter(await self.stage.store.open_questions()), None)

        return await self.stage.until(found, "an approval to be asked")

    def pair(self, name: str) -> Phone:
        phone, code = Phone(), self.offer(name)
        phone.phone_id = self.door.accept(code, phone.public, phone.sign("pair", code)).phone_id
        return phone

    def offer(self, name: str) -> str:
        return self.door.offer(name, "", PAIRING_S).code

    async def answers(self) -> list[tuple[str, str]]:
        events = await self.stage.core.history(self.session_id)
        return [
            (one.msg.answer, one.msg.answered_by)
            for one in events
            if isinstance(one.msg, QuestionAnswered)
        ]


@asynccontextmanager
async def opened_ground(folder: Path) -> AsyncIterator[Ground]:
    """Open it with one session that asks again and again."""
    stage = Stage(folder / "data", FakeFleet("lab-1"))
    frame: list[Frame] = []

    async def asks(context: TaskContext) -> str:
        for step in itertools.count(1):
            await context.ask(
                asked_text(),
                call_id=f"c{step}",
                step=step,
                approval=True,
                options=OPTIONS,
                subject=Subject(action="tap", effect=EFFECT, frame=frame[0]),
            )
        raise AssertionError("it asks for ever")

    stage.parts = {GOAL: asks}
    async with stage.play():
        picture = BytesIO()
        Image.new("RGB", (1080, 2400), (32, 96, 160)).save(picture, "PNG")
        digest = await stage.store.blobs.put(picture.getvalue(), "image/png")
        frame.append(Frame(digest=digest, width_px=1080, height_px=2400, captured_ms=1))
        gates = Gates(Consent(stage.directory), Autonomy.ASK_BEFORE_ACTION)
        path = socket_path(stage.directory)
        async with serve(stage.core, path, gates=gates):
            client = await Client.connect(path, name="pair")
            try:
                ground = Ground(stage, client, gates.own().phones)
                ground.session_id = await stage.create(GOAL, serial="lab-1")
                await ground.question()
                yield ground
            finally:
                await client.close()


def phones_of(ground: Ground) -> PairedPhones:
    return PairedPhones(ground.stage.directory)


def sent(phone: Phone, said: dict[str, Any], **changes: Any) -> bytes:
    text = as_text(said)
    body = {
        "type": "signed",
        "phone_id": phone.phone_id,
        "statement": text,
        "signature": base64.b64encode(phone.sign(text)).decode(),
    }
    return json.dumps({**body, **changes}).encode()
