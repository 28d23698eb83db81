"""Which act an effect is attributed to, and what is no effect: late, by hand, by itself, unread."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from agent import protocol
from agent.records import (
    ActionOutcome,
    EffectOf,
    FieldFate,
    Frame,
    Question,
    QuestionKind,
    SeenEffectKind,
    Speaker,
    UiNode,
)
from tests.loop.effects.played import APP, Played, seen
from tests.loop.paper_phone import button, field, node

KIND = SeenEffectKind


def switch(name: str, y: float, on: bool) -> UiNode:
    return button(name, y, checkable=True, checked=on)


def page(*nodes: UiNode, title: str = "Page") -> tuple[UiNode, ...]:
    return (node(title, (0.1, 0.05, 0.6, 0.1)), *nodes)


def rows(*names: str) -> Sequence[UiNode]:
    listed = (
        button(name, 0.2 + at * 0.06, resource_id=f"{APP}:id/row") for at, name in enumerate(names)
    )
    return page(*listed, button("Add", 0.9))


# --- whose act ----------


def test_what_shows_late_goes_to_the_act_before_the_wait() -> None:
    played = Played()
    played.see(seen(page(switch("Wi-Fi", 0.3, False))))
    call = played.press("Wi-Fi")
    assert played.see(seen(page(switch("Wi-Fi", 0.3, False)))) == ()
    [effect] = played.see(seen(page(switch("Wi-Fi", 0.3, True))))
    assert (effect.call_id, effect.step, effect.seen_step) == (call, 1, 3)


def test_what_changed_between_two_turns_is_nobodys() -> None:
    played = Played()
    played.see(seen(page(switch("Wi-Fi", 0.3, False))))
    played.press("Wi-Fi")
    played.see(seen(page(switch("Wi-Fi", 0.3, True))))
    played.finder.fold(protocol.TaskComplete(turn_id="t-1"))
    [effect] = played.see(seen(page(switch("Wi-Fi", 0.3, False))))
    assert (effect.by, effect.call_id) == (EffectOf.NOBODY, "")
    assert [one.undone_by for one in played.ledger] == [2, 0]


@pytest.mark.parametrize("running", [True, False])
def test_what_the_operator_did_at_the_wheel_is_the_operators(running: bool) -> None:
    played = Played()
    played.see(seen(page(switch("Wi-Fi", 0.3, False), switch("NFC", 0.4, False))))
    played.press("NFC")
    played.see(seen(page(switch("Wi-Fi", 0.3, False), switch("NFC", 0.4, True))))
    if running:
        told = "While the operator had the wheel: tapped 0.5, 0.3"
        hint = protocol.UserMessage(
            text=told, message_id="wheel-1", steer=True, speaker=Speaker.PRODUCT
        )
        played.finder.fold(hint)
    else:
        acted = protocol.WheelActed(serial="phone-1", said="tap", outcome=ActionOutcome.DONE)
        played.finder.fold(acted)
    [effect] = played.see(seen(page(switch("Wi-Fi", 0.3, True), switch("NFC", 0.4, True))))
    assert (effect.object, effect.by, effect.call_id) == ("Wi-Fi", EffectOf.OPERATOR, "")


def test_an_act_that_failed_has_none_of_the_effects() -> None:
    played = Played()
    played.see(seen(page(switch("Wi-Fi", 0.3, False))))
    call = played.press("Wi-Fi")
    played.see(seen(page(switch("Wi-Fi", 0.3, False))))
    played.act("click_element", "Wi-Fi", outcome=ActionOutcome.FAILED)
    [effect] = played.see(seen(page(switch("Wi-Fi", 0.3, True))))
    assert effect.call_id == call


def test_an_act_whose_outcome_is_unknown_is_proved_by_its_effect() -> None:
    played = Played()
    played.see(seen(page(switch("Wi-Fi", 0.3, False))))
    call = played.act("click_element", "Wi-Fi", outcome=ActionOutcome.UNKNOWN)
    [effect] = played.see(seen(page(switch("Wi-Fi", 0.3, True))))
    assert effect.call_id == call


def test_a_finder_that_folds_the_stored_past_knows_what_the_live_one_knew() -> None:
    played = Played()
    played.see(seen(rows("Milk", "Eggs")))
    played.press("Add")
    played.see(seen(page(field("Name", 0.3), button("Save", 0.9), title="New"), activity=".New"))
    played.act("type_text", "Name", text="Bread")
    shown = page(field("Name", 0.3, "Bread"), button("Save", 0.9), title="New")
    played.see(seen(shown, activity=".New"))
    played.press("Save")
    again = Played(step=played.step)
    for msg in played.events:
        again.finder.fold(msg)
    screen = seen(rows("Bread", "Milk", "Eggs"))
    assert again.finder.find(9, screen) == played.finder.find(9, screen) != ()


# --- approvals, toasts, dialogs, the phone ----------


def asked(call_id: str) -> protocol.RequestUserInput:
    question = Question(
        question_id="q",
        session_id="s",
        kind=QuestionKind.APPROVAL,
        text='Send "Hello" to Anna?',
        call_id=call_id,
        asked_ms=0,
    )
    return protocol.RequestUserInput(question=question)


@pytest.mark.parametrize(("answer", "expected"), [("Approve", ["approved"]), ("Deny", [])])
def test_an_approval_counts_once_its_act_is_done(answer: str, expected: list[str]) -> None:
    played = Played()
    played.see(seen(page(button("Send", 0.3))))
    played.finder.fold(asked("c1"))
    played.finder.fold(
        protocol.QuestionAnswered(question_id="q", answer=answer, answered_by="operator")
    )
    outcome = ActionOutcome.DONE if expected else ActionOutcome.FAILED
    played.act("click_element", "Send", outcome=outcome)
    found = played.see(seen(page(button("Send", 0.3))))
    assert [one.kind.value for one in found] == expected
    assert all(one.after == 'Send "Hello" to Anna?' and one.call_id == "c1" for one in found)


def test_a_toast_that_stays_is_one_effect_of_the_act() -> None:
    played = Played()
    played.see(seen(page(button("Save", 0.3))))
    played.press("Save")
    [effect] = played.see(seen(page(button("Save", 0.3)), toast="Saved"))
    assert (effect.kind, effect.object) == (KIND.TOAST, "Saved")
    assert played.see(seen(page(button("Save", 0.3)), toast="Saved")) == ()


def dialog(*buttons: str) -> tuple[UiNode, ...]:
    title = node("Delete?", (0.2, 0.3, 0.8, 0.35), resource_id="android:id/alertTitle")
    ids = ("button2", "button1")
    return (
        title,
        *(
            button(name, 0.5 + at * 0.06, resource_id=f"android:id/{one}")
            for at, (name, one) in enumerate(zip(buttons, ids, strict=False))
        ),
    )


@pytest.mark.parametrize("answer", ["Nein", "Ja", ""])
def test_a_dialog_is_closed_by_its_button_or_by_none(answer: str) -> None:
    played = Played()
    played.see(seen(rows("Milk", "Eggs")))
    played.press("Milk")
    [opened] = played.see(seen(dialog("Nein", "Ja")))
    assert (opened.kind, opened.object) == (KIND.DIALOG_OPENED, "Delete?")
    played.press(answer) if answer else played.back()
    left = ("Eggs",) if answer == "Ja" else ("Milk", "Eggs")
    found = played.see(seen(rows(*left)))
    expected = [(KIND.DIALOG_CLOSED, "Delete?", answer)]
    if answer == "Ja":
        expected.append((KIND.ITEM_REMOVED, "Milk", ""))
    assert [(one.kind, one.object, one.after) for one in found] == expected


def choices(chosen: str, *buttons: str) -> tuple[UiNode, ...]:
    first, *others = dialog(*buttons)
    radios = (
        button(name, 0.36 + at * 0.06, checkable=True, checked=name == chosen)
        for at, name in enumerate(("Kat", "Hund"))
    )
    return (first, *radios, *others)


@pytest.mark.parametrize("buttons", [("Nein", "Ja"), ("やめる", "OK"), ("", "Ja")])
@pytest.mark.parametrize("leaves", ["by the first button", "by the second", "by the key"])
def test_a_choice_counts_once_its_dialog_is_not_refused(
    buttons: tuple[str, str], leaves: str
) -> None:
    offered = tuple(filter(None, buttons))
    if leaves == "by the first button" and len(offered) < 2:
        return
    played = Played()
    played.see(seen(rows("Milk", "Eggs")))
    played.press("Milk")
    played.see(seen(choices("Kat", *offered)))
    played.press("Hund")
    chosen = played.see(seen(choices("Hund", *offered)))
    assert {(one.object, one.after) for one in chosen} == {("Kat", "off"), ("Hund", "on")}
    played.back() if leaves == "by the key" else played.press(
        offered[0] if leaves == "by the first button" else offered[-1]
    )
    played.see(seen(rows("Milk", "Eggs")))
    stands = {one.object for one in played.ledger.not_undone() if one.kind is KIND.STATE}
    stands -= {one.object for one in played.ledger if one.undoes}
    holds = leaves == "by the second" or len(offered) < 2
    assert stands == ({"Kat", "Hund"} if holds else set())


@pytest.mark.parametrize(("pressed", "fate"), [("Cancel", "abandoned"), ("Save", "submitted")])
def test_a_text_in_a_form_that_was_refused_is_abandoned(pressed: str, fate: str) -> None:
    played = Played()
    played.see(seen(rows("Milk", "Eggs")))
    played.press("Add")
    form = (button("Cancel", 0.8), button("Save", 0.9))
    played.see(seen(page(field("Name", 0.3), *form, title="New"), activity=".New"))
    played.act("type_text", "Name", text="Bread")
    played.see(seen(page(field("Name", 0.3, "Bread"), *form, title="New"), activity=".New"))
    played.press(pressed)
    [left] = played.see(seen(rows("Milk", "Eggs")))
    assert left.saved is FieldFate(fate)


def test_an_icon_that_is_chosen_by_its_press_has_changed_and_a_tab_leads_elsewhere() -> None:
    def icons(*chosen: str) -> tuple[UiNode, ...]:
        shape = "android.widget.ImageButton"
        return page(
            *(
                node(
                    "",
                    (0.1 + at * 0.2, 0.9, 0.2 + at * 0.2, 0.95),
                    description=name,
                    class_name=shape,
                    clickable=True,
                    selected=name in chosen,
                )
                for at, name in enumerate(("Herz", "Teilen", "Mehr"))
            )
        )

    for first, then, found in (
        ((), ("Herz",), [("Herz", "off", "on")]),
        (("Herz",), (), [("Herz", "on", "off")]),
        (("Teilen",), ("Herz",), []),
        ((), ("Teilen",), []),
    ):
        played = Played()
        played.see(seen(icons(*first)))
        played.press("Herz")
        effects = played.see(seen(icons(*then)))
        assert [(one.object, one.before, one.after) for one in effects] == found


def test_a_slider_that_no_tree_places_stands_where_it_was_dragged() -> None:
    bar = "android.widget.SeekBar"
    nodes = page(node("Brightness", (0.1, 0.3, 0.9, 0.35), class_name=bar, clickable=True))
    for share, differs, said in (("80%", 0.3, "80% of its width"), ("80%", 0.0, "")):
        played = Played()
        played.see(seen(nodes))
        played.act("drag", "Brightness", end=share, said=f"OK: Dragged it to {share} of its width.")
        found = played.see(replace(seen(nodes), picture_change=differs))
        assert [one.after for one in found] == ([said] if said else [])


def frame(width: int, height: int) -> Frame:
    return Frame(digest="f", width_px=width, height_px=height, captured_ms=0)


def test_a_turned_screen_is_an_effect_of_rotate_and_not_of_an_app() -> None:
    nodes = page(button("Play", 0.3))
    wide, tall = frame(2400, 1080), frame(1080, 2400)
    for tool, expected in (("rotate", ["rotation"]), ("click_element", [])):
        played = Played()
        played.see(seen(nodes, frame=tall))
        played.act(tool, "Play" if tool == "click_element" else None, to="landscape")
        found = played.see(seen(nodes, frame=wide))
        assert [one.object for one in found] == expected
        assert all((one.before, one.after) == ("portrait", "landscape") for one in found)


def test_a_screen_that_goes_dark_is_an_effect_of_the_key() -> None:
    played = Played()
    played.see(seen(page(button("Play", 0.3))))
    played.act("press_button", button="POWER")
    found = played.see(seen((), note="There is no UI tree: the screen is off."))
    assert [(one.object, one.before, one.after) for one in found] == [("screen", "on", "off")]


def test_volume_and_clipboard_are_what_was_read_back() -> None:
    played = Played()
    shown = seen(page(button("Play", 0.3)))
    played.see(shown)
    for level in (8, 9):
        said = f"WARNING: Pressed VOLUME_UP. The media volume is {level} of 15."
        played.act("press_button", button="VOLUME_UP", said=said)
        played.see(shown)
    played.act("clipboard", do="copy", text="42", said='OK: Copied "42". It holds "42".')
    played.see(shown)
    played.act("clipboard", do="read", said='OK: Read the clipboard. It holds "43".')
    played.see(shown)
    assert [(one.object, one.before, one.after) for one in played.ledger] == [
        ("media volume", "", "8 of 15"),
        ("media volume", "8 of 15", "9 of 15"),
        ("clipboard", "", "42"),
    ]


def test_a_row_that_is_pressed_may_change_the_icon_in_it() -> None:
    def starred(said: str) -> Sequence[UiNode]:
        row = node("Milk", (0.0, 0.3, 1.0, 0.38), clickable=True, resource_id=f"{APP}:id/row")
        star = node(
            "",
            (0.85, 0.32, 0.95, 0.36),
            class_name="android.widget.ImageView",
            description=said,
            resource_id=f"{APP}:id/star",
        )
        return page(row, star)

    played = Played()
    played.see(seen(starred("Star")))
    played.press("Milk")
    [effect] = played.see(seen(starred("Unstar")))
    assert (effect.object, effect.before, effect.after) == ("Milk", "Star", "Unstar")


# --- what is no effect ----------


def test_a_clock_that_runs_is_none_and_the_stepper_that_was_pressed_is_one() -> None:
    def stepper(time: str, count: str) -> tuple[UiNode, ...]:
        minus = node(
            "−", (0.5, 0.3, 0.55, 0.35), class_name="android.widget.Button", clickable=True
        )
        plus = node("+", (0.7, 0.3, 0.75, 0.35), class_name="android.widget.Button", clickable=True)
        name = node("Mugs", (0.1, 0.3, 0.4, 0.35), resource_id="name")
        number = node(count, (0.6, 0.3, 0.65, 0.35), resource_id="count")
        clock = node(time, (0.1, 0.8, 0.4, 0.85), resource_id="clock")
        return page(name, minus, number, plus, clock)

    played = Played()
    played.see(seen(stepper("10:01:07", "1")))
    played.press("+")
    [effect] = played.see(seen(stepper("10:01:09", "2")))
    assert (effect.object, effect.before, effect.after) == ("Mugs", "1", "2")


def test_what_a_filter_hides_is_not_removed() -> None:
    def filtered(text: str, *names: str) -> Sequence[UiNode]:
        return (*rows(*names), field("Search", 0.12, text))

    played = Played()
    played.see(seen(filtered("", "Milk", "Eggs", "Bread")))
    played.act("type_text", "Search", text="Eg")
    found = played.see(seen(filtered("Eg", "Eggs")))
    assert [(one.kind, one.saved) for one in found] == [(KIND.FIELD, FieldFate.TYPED)]
    played.press("Eggs")
    assert played.see(seen(page(node("Eggs"), title="Eggs"), activity=".Item")) == ()


def test_what_a_switch_shows_and_hides_is_no_item() -> None:
    played = Played()
    off = page(switch("Hotspot", 0.2, False), button("Help", 0.3))
    on = page(
        switch("Hotspot", 0.2, True), button("Help", 0.3), button("Name", 0.4), button("Band", 0.5)
    )
    played.see(seen(off))
    played.press("Hotspot")
    found = played.see(seen(on))
    played.press("Hotspot")
    found += played.see(seen(off))
    assert [one.object for one in found] == ["Hotspot", "Hotspot"]


def test_another_tab_of_the_same_list_removes_nothing() -> None:
    def tabs(chosen: str, *names: str) -> Sequence[UiNode]:
        shown = (
            node(
                name,
                (0.1 + at * 0.4, 0.94, 0.4 + at * 0.4, 0.98),
                clickable=True,
                selected=name == chosen,
            )
            for at, name in enumerate(("Open", "Done"))
        )
        return (*rows(*names), *shown)

    played = Played()
    played.see(seen(tabs("Open", "Milk", "Eggs")))
    played.press("Done")
    assert played.see(seen(tabs("Done", "Bread"))) == ()
    played.press("Open")
    assert played.see(seen(tabs("Open", "Milk", "Eggs"))) == ()


def test_a_form_that_is_opened_anew_was_not_changed() -> None:
    def form(text: str, on: bool) -> Sequence[UiNode]:
        return page(field("Name", 0.3, text), switch("Repeat", 0.4, on), title="Edit")

    played = Played()
    played.see(seen(rows("Milk", "Eggs")))
    for name, on in (("Milk", True), ("Eggs", False), ("Milk", True)):
        played.press(name)
        assert played.see(seen(form(name, on), activity=".Edit")) == ()
        played.back()
        assert played.see(seen(rows("Milk", "Eggs"))) == ()


def test_a_screen_that_still_loads_has_lost_nothing() -> None:
    played = Played()
    played.see(seen(rows("Milk", "Eggs")))
    played.press("Add")
    assert played.see(seen(rows(), loading=True)) == ()
    [effect] = played.see(seen(rows("Bread", "Milk", "Eggs")))
    assert (effect.kind, effect.object) == (KIND.ITEM_ADDED, "Bread")


def test_a_password_is_told_by_its_length_alone() -> None:
    played = Played()
    played.see(seen(page(field("Password", 0.3, "", password=True))))
    played.act("type_text", "Password", text="[secret]")
    [effect] = played.see(seen(page(field("Password", 0.3, "•••••", password=True))))
    assert effect.saved is FieldFate.TYPED
    assert "•" not in effect.after and effect.after
