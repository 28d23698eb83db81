"""What of an effect is offered to be taken back, on which screen, and why nothing else is."""

import pytest

from agent import protocol
from agent.loop.undo.offers import UndoFinder, is_back, returned_item
from agent.records import (
    ActionOutcome,
    Ledger,
    Observation,
    SeenEffect,
    SeenEffectKind,
    UiNode,
    UndoHow,
    UndoOffer,
)
from tests.loop.effects.played import APP, Played, seen
from tests.loop.paper_phone import button, field, node

RADIO = "android.widget.RadioButton"


def page(*nodes: UiNode, title: str = "Page") -> Observation:
    return seen((node(title, (0.1, 0.05, 0.6, 0.1)), *nodes))


def switch(name: str, on: bool, **more: object) -> UiNode:
    return button(name, 0.3, checkable=True, checked=on, **more)


def bar(text: str, act: str, act_id: str = "snackbar_action", y: float = 0.9) -> tuple[UiNode, ...]:
    return (
        node(text, (0.1, y, 0.6, y + 0.05), resource_id=f"{APP}:id/snackbar_text"),
        node(
            act,
            (0.7, y, 0.9, y + 0.05),
            resource_id=f"{APP}:id/{act_id}",
            class_name="android.widget.Button",
            clickable=True,
        ),
    )


def finder(played: Played) -> UndoFinder:
    made = UndoFinder()
    for msg in played.events:
        made.fold(msg)
    return made


def offered(played: Played, screen: Observation) -> list[tuple[UndoHow, str, str]]:
    return [(one.how, one.element.label, one.text) for one in finder(played).offers(screen)]


def why_not(played: Played, screen: Observation) -> str:
    made = finder(played)
    answers = [made.offer(one, screen) for one in made.of_step(1)]
    assert answers and all(isinstance(one, str) for one in answers), answers
    return "; ".join(map(str, answers))


def switched() -> Played:
    played = Played()
    played.see(page(switch("Wi-Fi", False)))
    played.press("Wi-Fi")
    played.see(page(switch("Wi-Fi", True)))
    return played


def typed(before: str, after: str, **more: object) -> Played:
    played = Played()
    played.see(page(field("Name", 0.3, before, **more), button("Save", 0.9)))
    played.act("type_text", "Name", text=after)
    played.see(page(field("Name", 0.3, after, **more), button("Save", 0.9)))
    return played


def archived(act_id: str = "snackbar_action") -> Played:
    played = Played()
    rows = [
        button(name, y, resource_id=f"{APP}:id/row") for name, y in (("Tea", 0.3), ("Milk", 0.4))
    ]
    played.see(page(*rows, button("Archive", 0.2)))
    played.press("Archive")
    played.see(page(rows[0], button("Archive", 0.2), *bar("Archived", "Undo", act_id)))
    return played


def test_a_switch_is_offered_where_it_stands_as_it_was_left() -> None:
    played = switched()
    assert offered(played, page(switch("Wi-Fi", True))) == [(UndoHow.PRESS, "Wi-Fi", "")]
    assert "on the screen" in why_not(played, page(button("Other", 0.3)))
    assert "off again already" in why_not(played, page(switch("Wi-Fi", False)))
    assert "not in front" in why_not(played, page(switch("Wi-Fi", True), title="Other"))
    assert "cannot be pressed" in why_not(played, page(switch("Wi-Fi", True, enabled=False)))
    twins = page(switch("Wi-Fi", True), button("Wi-Fi", 0.5, checkable=True, checked=True))
    assert "several" in why_not(played, twins)


def test_nothing_is_offered_twice_and_a_new_finder_knows_the_same() -> None:
    played = switched()
    screen = page(switch("Wi-Fi", True))
    [offer] = finder(played).offers(screen)
    done = protocol.UndoFinished(
        serial="phone-1", step=1, effect=offer.effect, said="s", outcome=ActionOutcome.UNKNOWN
    )
    played.events.append(done)
    assert finder(played).newest is None
    assert "taken back already" in why_not(played, screen)


def test_a_chosen_radio_is_left_by_the_choice_before_alone() -> None:
    played = Played()

    def choices(large: bool) -> Observation:
        return page(
            button("Small", 0.3, checkable=True, checked=not large, class_name=RADIO),
            button("Large", 0.4, checkable=True, checked=large, class_name=RADIO),
        )

    played.see(choices(large=False))
    played.press("Large")
    played.see(choices(large=True))
    assert offered(played, choices(large=True)) == [(UndoHow.PRESS, "Small", "")]


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [("", "Tea", ""), ("Tea", "Coffee", "Tea"), ("a | b", "c", "a | b")],
)
def test_a_field_gets_its_old_text_while_it_holds_the_new_one(
    before: str, after: str, text: str
) -> None:
    played = typed(before, after)
    now = page(field("Name", 0.3, after), button("Save", 0.9))
    assert offered(played, now) == [(UndoHow.TYPE, "Name", text)]
    [offer] = finder(played).offers(now)
    then = page(field("Name", 0.3, before), button("Save", 0.9))
    assert is_back(offer, Ledger(), then) and not is_back(offer, Ledger(), now)
    assert "something else" in why_not(played, page(field("Name", 0.3, "Other")))
    assert "not on the screen" in why_not(played, page(button("Save", 0.9)))


@pytest.mark.parametrize("old", ["[PHONE ***]", "pin [PIN REDACTED]", "x" * 2000])
def test_an_old_text_that_was_not_kept_whole_is_not_made_up(old: str) -> None:
    played = typed(old, "new")
    assert "old text" in why_not(played, page(field("Name", 0.3, "new")))


@pytest.mark.parametrize("act_id", ["snackbar_action", "any_other"])
def test_the_apps_own_button_is_offered_by_its_label_while_it_is_shown(act_id: str) -> None:
    played = archived(act_id)
    shown = played.screen
    assert shown is not None
    found = finder(played).offers(shown)
    if act_id == "any_other":
        # A button that only stands near the words may do anything.
        assert not found
        return
    [offer] = found
    assert (offer.how, offer.element.label) == (UndoHow.APP_OFFER, "Undo")
    assert 'which the app offers beside "Archived"' in offer.says
    assert offer.until_ms == shown.ended_ms + 10_000
    assert "no button beside" in str(finder(played).offer(_toast(played), page()))


def _toast(played: Played) -> SeenEffect:
    return played.ledger.of_kind(SeenEffectKind.TOAST)[0]


def test_an_item_that_was_gone_and_is_there_again_is_back() -> None:
    played = archived()
    gone = next((one for one in played.ledger if one.kind == "item_removed"), None)
    assert gone is not None and gone.object == "Milk"
    with_it, without = page(button("Milk", 0.4)), page(button("Tea", 0.4))
    assert returned_item(gone, without, with_it)
    assert not returned_item(gone, with_it, without)


def test_what_followed_from_something_else_is_not_pressed() -> None:
    played = Played()
    played.see(page(button("Mode | Quiet", 0.3), button("Apply", 0.6)))
    played.press("Apply")
    played.see(page(button("Mode | Loud", 0.3), button("Apply", 0.6)))
    [effect] = played.ledger
    assert (effect.before, effect.after) == ("Quiet", "Loud")
    assert "followed from something else" in why_not(
        played, page(button("Mode | Loud", 0.3), button("Apply", 0.6))
    )


def test_an_offer_names_the_effect_and_the_act() -> None:
    [offer] = finder(switched()).offers(page(switch("Wi-Fi", True)))
    assert isinstance(offer, UndoOffer)
    assert offer.what == '"Wi-Fi": off → on'
    assert offer.says == 'Press "Wi-Fi", which turns it off again.'
