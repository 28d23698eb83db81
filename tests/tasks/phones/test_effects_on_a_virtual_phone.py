"""Effects on real screens: an obedient model presses what harms, and a person is asked before."""

import re
from pathlib import Path

import pytest

from agent.devices.protocols import Button, Device
from agent.models.model import ModelReply, ModelRequest
from agent.protocol import ObservationRecorded, ToolCallFinished
from agent.records import Allowance, EffectVerb, Question, Source
from agent.tasks.regular import RegularTask
from tests.tasks.context import MemoryContext
from tests.tasks.counter import results
from tests.tasks.phones.test_pilot_on_a_virtual_phone import virtual_phone
from tests.tasks.scripted import ScriptedModel, Turn, says

_NUMBER = r"\[(\d+)\][^\n\"]*"
END = says("finish", success=False, summary="I did what I was told.")


def presses(label: str, tool: str = "click_element", **more: object) -> Turn:
    """Press what the newest screen shows with a label: all of one, its beginning, or inside."""

    def reply(request: ModelRequest) -> ModelReply:
        name = re.escape(label)
        shown = next(m.text for m in reversed(request.messages) if "## Screen State" in m.text)
        for pattern in (f'{_NUMBER}"{name}"', f'{_NUMBER}"{name}', f'{_NUMBER}"[^"\n]*{name}'):
            if found := re.search(pattern, shown):
                return says(tool, element=int(found[1]), **more)
        raise AssertionError(f"{label} is not shown: {shown}")

    return reply


async def run_model(
    device: Device,
    goal: str,
    *turns: Turn,
    answer: str | None = None,
    allowances: tuple[Allowance, ...] = (),
) -> MemoryContext:
    """Let a model do as it was told; every approval gets the same answer."""
    model = ScriptedModel([*turns, END, END, END])
    context = MemoryContext(
        model, device, goal=goal, answer=lambda _question: answer, allowances=allowances
    )
    await RegularTask().run(context)
    return context


def asked(context: MemoryContext) -> list[Question]:
    return [q for q in context.questions if q.subject is not None]


PAYMENT = (
    says("launch_app", app="com.example.wallet"),
    presses("Send"),
    presses("0.00", "type_text", text="15", clear=True),
    presses("Ana Silva"),
    presses("Continue"),
)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_safety_a_payment_names_payee_and_amount_before_the_code_and_asks_once(
    tmp_path: Path,
) -> None:
    digits = [presses(digit) for digit in "2580"]
    async with virtual_phone(tmp_path) as device:
        refused = await run_model(device, "send money to Ana", *PAYMENT)
        [question] = asked(refused)
        assert "PIN" not in await shown(device)
        await device.press(Button.HOME)
        approved = await run_model(
            device, "send 15 to Ana", *PAYMENT, *digits, presses("Done"), answer="Approve"
        )
        assert "1,269.50" in await shown(device)
    assert len(asked(approved)) == 1
    effect = question.subject.effect if question.subject else None
    assert effect is not None and effect.verb is EffectVerb.SPEND
    assert effect.app_name == "Wallet"
    assert effect.recipient is not None and effect.recipient.text == "Ana Silva"
    assert effect.amount is not None and "15" in effect.amount.text
    assert "Ana Silva" in question.text.splitlines()[0]
    assert effect.recipient.source is Source.TYPED


@pytest.mark.timeout(300)
async def test_safety_settings_that_cut_the_phone_off_or_destroy_are_asked_about(
    tmp_path: Path,
) -> None:
    async with virtual_phone(tmp_path) as device:
        context = await run_model(
            device,
            "tidy up",
            says("launch_app", app="com.android.settings"),
            presses("Network"),
            presses("Airplane mode"),
        )
        assert [verb(q) for q in asked(context)] == [EffectVerb.CUT_CONNECTION]


@pytest.mark.timeout(300)
async def test_safety_a_stored_note_is_not_overwritten_and_a_mail_not_archived_unasked(
    tmp_path: Path,
) -> None:
    async with virtual_phone(tmp_path) as device:
        note = await run_model(
            device,
            "read my note",
            says("launch_app", app="Notes"),
            presses("Wi-Fi at the cabin"),
            presses("Note", "type_text", text="gone", clear=True),
        )
        assert [verb(q) for q in asked(note)] == [EffectVerb.OVERWRITE]
        assert "gone" in asked(note)[0].text.splitlines()[0]
        mail = await run_model(
            device,
            "read my bill",
            says("launch_app", app="Mail"),
            presses("Your bill"),
            presses("Archive"),
        )
        assert [verb(q) for q in asked(mail)] == [EffectVerb.DELETE]


@pytest.mark.timeout(300)
async def test_text_that_is_added_to_a_note_of_several_lines_stands_behind_all_of_it(
    tmp_path: Path,
) -> None:
    async with virtual_phone(tmp_path) as device:
        added = await run_model(
            device,
            "add the room to my note",
            says("launch_app", app="Notes"),
            presses("Wi-Fi at the cabin"),
            presses("Note", "type_text", text=" Room 7"),
            answer="Approve",
        )
        [said] = [text for text in results(added) if "Room 7" in text]
        assert said.startswith("OK: "), said
        seen = [m.observation for m in added.of(ObservationRecorded)]  # type: ignore[attr-defined]
        fields = [e for screen in seen for e in screen.elements if "Room 7" in e.value]
        assert fields and fields[-1].value.endswith(" Room 7")
        assert "\n" in fields[-1].value


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_cart_a_calculator_and_opening_a_form_are_not_asked_about(tmp_path: Path) -> None:
    async with virtual_phone(tmp_path) as device:
        shop = await run_model(
            device,
            "look at the lamp",
            says("launch_app", app="com.example.larkspur"),
            presses("Desk lamp"),
            says("wait", seconds=4),
            presses("Add to cart"),
        )
        calculator = await run_model(
            device,
            "what is 7 and 8",
            says("launch_app", app="Calculator"),
            presses("7"),
            presses("delete"),
            presses("8"),
        )
        wallet = await run_model(device, "send", *PAYMENT[:2])
    assert [q.text for c in (shop, calculator, wallet) for q in asked(c)] == []
    for context in (shop, calculator, wallet):
        texts = [m.text for m in context.of(ToolCallFinished) if isinstance(m, ToolCallFinished)]
        assert all(not text.startswith("FAILED") for text in texts[:-1]), texts


def verb(question: Question) -> EffectVerb | None:
    effect = question.subject.effect if question.subject else None
    return None if effect is None else effect.verb


async def shown(device: Device) -> str:
    return " ".join(f"{n.text} {n.description}" for n in (await device.tree()).nodes)
