"""What a session may send and spend unasked in a whole turn, and what stays asked about."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.devices.protocols import Button
from agent.protocol import AllowanceUsed
from agent.records import Autonomy, UiNode
from agent.safety.allowances.parsing import parse_allowance
from agent.safety.app_rules import AppDecision, AppRule
from agent.state.session_fold import fold_all
from tests.loop.paper_phone import APP, PaperPhone, button, field, node
from tests.tasks.context import MemoryContext
from tests.tasks.phones.test_effects_on_a_virtual_phone import (
    PAYMENT,
    asked,
    presses,
    run_model,
    shown,
)
from tests.tasks.phones.test_pilot_on_a_virtual_phone import virtual_phone
from tests.tasks.scripted import DONE, scripted, task


class Chat:
    """A conversation with one person: what was sent, a field and a button."""

    def __init__(self, name: str = "Ana Silva") -> None:
        self.name = name
        self.sent: list[str] = []
        self.typed = ""
        self.phone = PaperPhone(self.screen, self.on)

    def screen(self) -> Sequence[UiNode]:
        return (
            node(self.name, (0.1, 0.02, 0.9, 0.08)),
            *(
                node(text, (0.1, 0.1 + n / 20, 0.9, 0.14 + n / 20))
                for n, text in enumerate(self.sent)
            ),
            field("Message", 0.8, self.typed, focused=True),
            button("Send", 0.9),
        )

    def on(self, what: str) -> None:
        if what.startswith("type "):
            self.typed += what.removeprefix("type ")
        elif what == "tap Send" and self.typed:
            self.sent.append(self.typed)
            self.typed = ""


async def write(
    chat: Chat, *texts: str, allow: str = "send:2:Ana Silva", **more: object
) -> MemoryContext:
    turns = [
        turn
        for text in texts
        for turn in (presses("Message", "type_text", text=text), presses("Send"))
    ]
    context = MemoryContext(
        scripted(*turns, DONE),
        chat.phone,
        answer=lambda question: "Deny",
        allowances=(parse_allowance(allow),),
        **more,  # type: ignore[arg-type]
    )
    await task().run(context)
    return context


async def test_messages_within_the_allowance_are_sent_and_the_next_is_asked_about() -> None:
    chat = Chat()
    context = await write(chat, "one", "two", "three")
    assert chat.sent == ["one", "two"]
    [question] = context.questions
    assert "0 of 2 messages left, only to Ana Silva" in question.text
    assert [msg.amount for msg in context.of(AllowanceUsed)] == [1, 1]  # type: ignore[attr-defined]


async def test_a_restart_gives_nothing_back() -> None:
    chat = Chat()
    first = await write(chat, "one", "two")
    assert chat.sent == ["one", "two"] and not first.questions
    folded = fold_all(None, first.events)
    assert folded is not None and folded.allowances[0].left == 0
    later = await write(chat, "three", past=tuple(first.events))
    assert chat.sent == ["one", "two"] and len(later.questions) == 1


@pytest.mark.parametrize(
    "more",
    [
        {"allow": "send:2:Ben Carter"},
        {"allow": "spend:20 EUR:Ana Silva"},
        {"autonomy": Autonomy.ASK_BEFORE_ACTION},
        {"app_rules": (AppRule(package=APP, decision=AppDecision.CONFIRM),)},
    ],
)
async def test_another_recipient_kind_autonomy_or_rule_is_asked_about(
    more: dict[str, object],
) -> None:
    chat = Chat()
    context = await write(chat, "one", **more)  # type: ignore[arg-type]
    assert chat.sent == [] and context.questions
    assert not context.of(AllowanceUsed)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_payment_within_the_allowance_is_made_unasked_and_one_beyond_it_is_not(
    tmp_path: Path,
) -> None:
    digits = [presses(digit) for digit in "2580"]
    async with virtual_phone(tmp_path) as device:
        allowed = (parse_allowance("spend:20 USD:Ana Silva"),)
        paid = await run_model(
            device, "send 15 to Ana", *PAYMENT, *digits, presses("Done"), allowances=allowed
        )
        assert "1,269.50" in await shown(device)
        assert asked(paid) == []
        assert paid.session.allowances[0].used == 1500
        await device.press(Button.HOME)
        again = await run_model(
            device, "send 15 to Ana", *PAYMENT, allowances=paid.session.allowances
        )
        [question] = asked(again)
        assert "5.00 of 20.00 USD left to spend, only to Ana Silva" in question.text
