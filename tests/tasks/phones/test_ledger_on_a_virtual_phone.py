"""Effects at real work: a scripted model on a virtual phone, and what was seen to have changed."""

from pathlib import Path

import pytest

from agent.devices.protocols import Button, Device
from agent.models.model import ModelReply
from agent.records import EffectOf, SeenEffect, SeenEffectKind
from agent.state.effect_text import effect_line
from agent.state.transcript import ledger_of
from agent.tasks.regular import RegularTask
from tests.tasks.context import MemoryContext
from tests.tasks.phones.test_effects_on_a_virtual_phone import presses
from tests.tasks.phones.test_pilot_on_a_virtual_phone import virtual_phone
from tests.tasks.scripted import ScriptedModel, Turn, says

BACK = says("press_button", button="BACK")
END = (says("finish", success=False, summary="I did as I was told."),) * 3


def launch(app: str) -> ModelReply:
    return says("launch_app", app=app)


def types(label: str, text: str) -> Turn:
    return presses(label, "type_text", text=text)


CASES: dict[str, tuple[tuple[Turn, ...], list[str]]] = {
    "a switch that is turned back": (
        (
            launch("Settings"),
            presses("Network & internet"),
            presses("Airplane mode"),
            presses("Airplane mode"),
        ),
        [
            'approved and done: "Airplane mode"',
            '"Airplane mode": off → on (undone by 4)',
            '"Internet": Linewire Home → Airplane mode is on (undone by 5)',
            '"Airplane mode": on → off, back as before',
            '"Internet": Airplane mode is on → Linewire Home, back as before',
        ],
    ),
    "a row whose dialog has another answer now": (
        (launch("Settings"), presses("Display"), presses("Font size"), presses("Largest")),
        [
            'dialog opened: "Font size"',
            'dialog "Font size": answered "Largest"',
            '"Font size": Default → Largest',
        ],
    ),
    "a star": (
        (launch("Contacts"), presses("Ben Carter"), presses("Add to favorites")),
        ['"Ben Carter": Add to favorites → Remove from favorites'],
    ),
    "a note that is saved, then deleted": (
        (
            launch("Notes"),
            presses("New note"),
            types("Title", "Tent pegs"),
            presses("Save"),
            presses("Tent pegs"),
            presses("Delete"),
            presses("Delete"),
        ),
        [
            'field "Title": "Tent pegs"',
            'item added: "Tent pegs" (undone by 8)',
            'field "Title": "Tent pegs" saved',
            'approved and done: "Delete"',
            'dialog opened: "Delete note?"',
            'toast: "Note deleted"',
            'dialog "Delete note?": answered "Delete"',
            'item removed: "Tent pegs", back as before',
        ],
    ),
    "a form that is left": (
        (launch("Contacts"), presses("Create contact"), types("Name", "Nadia Okoye"), BACK, BACK),
        [
            'field "Name": "Nadia Okoye" typed, not saved yet (undone by 2)',
            'field "Name": left without saving "Nadia Okoye"',
        ],
    ),
    "a form whose new item is out of sight": (
        (
            launch("Contacts"),
            presses("Create contact"),
            types("Name", "Zoe Zimmer"),
            presses("Save"),
        ),
        [
            'field "Name": "Zoe Zimmer"',
            'toast: "Contact saved"',
            'field "Name": "Zoe Zimmer" submitted, not seen since',
        ],
    ),
    "a message that is sent": (
        (
            launch("Messages"),
            presses("Ben Carter"),
            types("Text message", "I am late"),
            presses("Send SMS"),
        ),
        [
            'field "Text message": "I am late"',
            'approved and done: "Send SMS"',
            'sent to "Ben Carter": "I am late"',
        ],
    ),
    "a message that is not sent": (
        (launch("Messages"), presses("Ben Carter"), types("Text message", "Not yet")),
        ['field "Text message": "Not yet" typed, not saved yet'],
    ),
    "a cart whose tab counts": (
        (launch("Larkspur"), presses("Desk lamp"), presses("Add to cart"), BACK),
        ['toast: "Desk lamp added to cart"', '"Cart": Cart → Cart (1)'],
    ),
    "the phone itself": (
        (
            says("rotate", to="auto"),
            says("rotate", to="landscape"),
            says("clipboard", do="copy", text="42 pegs"),
            says("press_button", button="VOLUME_UP"),
            says("press_button", button="VOLUME_UP"),
        ),
        [
            '"Auto-rotate": off → on (undone by 3)',
            '"rotation": portrait → landscape',
            '"Auto-rotate": on → off, back as before',
            '"clipboard": 42 pegs',
            '"media volume": 9 of 15',
            '"media volume": 9 of 15 → 10 of 15',
        ],
    ),
    "navigation alone": (
        (
            launch("Contacts"),
            says("scroll", direction="down"),
            says("scroll", direction="up"),
            presses("Ben Carter"),
            BACK,
            launch("Settings"),
            says("scroll", direction="down"),
            presses("System"),
            BACK,
            says("scroll", direction="up"),
            launch("Clock"),
            presses("Stopwatch"),
            presses("Timer"),
            launch("Larkspur"),
            presses("Desk lamp"),
            BACK,
        ),
        [],
    ),
}


async def play(device: Device, *turns: Turn) -> MemoryContext:
    await device.press(Button.HOME)
    model = ScriptedModel([*turns, *END])
    context = MemoryContext(model, device, goal="do as told", answer=lambda _: "Approve")
    await RegularTask().run(context)
    return context


def line(effect: SeenEffect) -> str:
    """Return an effect's line without the minute that a list shows."""
    said = effect_line(effect)
    if effect.kind in {SeenEffectKind.ITEM_ADDED, SeenEffectKind.ITEM_REMOVED}:
        name, _, rest = said.partition(" | ")
        return name + '"' + rest.rpartition('"')[2] if rest else said
    return said


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_what_was_changed_and_nothing_else_is_in_the_ledger(tmp_path: Path) -> None:
    async with virtual_phone(tmp_path) as device:
        for name, (turns, expected) in CASES.items():
            context = await play(device, *turns)
            ledger = ledger_of(context.events)
            assert [line(effect) for effect in ledger] == expected, name
            assert all(e.by is EffectOf.AGENT and e.call_id for e in ledger)
            await play(device, says("rotate", to="portrait"))
