"""Flows through the apps: what an operator would do, and the true state that must follow."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from support.hand import Hand, new_phone
from virtual_phone.apps import messages_data as messages_app
from virtual_phone.input import keycodes


@pytest.fixture
async def hand(tmp_path: Path) -> AsyncIterator[Hand]:
    phone = new_phone(tmp_path)
    phone.settings.put("global", "transition_animation_scale", "0")
    yield Hand(phone)
    phone.close()


def apps(hand: Hand) -> dict[str, Any]:
    return cast(dict[str, Any], hand.phone.state()["apps"])


async def test_the_bluetooth_switch_and_the_settings_table_are_one_truth(hand: Hand) -> None:
    await hand.open("com.android.settings")
    await hand.tap("Connected devices")
    await hand.tap("Bluetooth")
    await hand.tap("Use Bluetooth")
    assert hand.phone.settings.get("global", "bluetooth_on") == "1"
    hand.phone.settings.put("global", "bluetooth_on", "0")
    assert hand.phone.state()["bluetooth"] is False
    assert not hand.view("android:id/switch_widget").checked


async def test_airplane_mode_takes_wifi_away_and_gives_it_back(hand: Hand) -> None:
    await hand.open("com.android.settings")
    await hand.tap("Network & internet")
    await hand.tap("Airplane mode")
    assert hand.phone.state()["wifi"] is False
    await hand.tap("Airplane mode")
    assert hand.phone.state()["wifi"] is True


async def test_settings_search_leads_to_the_page_of_a_row(hand: Hand) -> None:
    await hand.open("com.android.settings")
    await hand.tap("Search settings")
    hand.phone.keys.type_text("night")
    await hand.tap("Night Light")
    assert "Display" in hand.words()
    assert hand.phone.windows.focused_app == "com.android.settings/.SubSettings"


async def test_dark_theme_changes_the_color_of_the_page(hand: Hand) -> None:
    await hand.open("com.android.settings")
    light = hand.phone.compositor.screenshot().getpixel((540, 2300))
    hand.phone.settings.put("secure", "ui_night_mode", "2")
    dark = hand.phone.compositor.screenshot().getpixel((540, 2300))
    assert isinstance(light, tuple) and isinstance(dark, tuple)
    assert sum(light[:3]) > 600 > 200 > sum(dark[:3])


async def test_a_note_is_kept_as_it_is_typed(hand: Hand) -> None:
    await hand.open("com.android.notes")
    await hand.tap("New note")
    await hand.tap("Title")
    hand.phone.keys.type_text("Shopping")
    await hand.tap("Note")
    hand.phone.keys.type_text("milk and eggs")
    assert apps(hand)["com.android.notes"]["notes"][-1]["body"] == "milk and eggs"
    hand.phone.keys.press(keycodes.BACK)
    hand.phone.keys.press(keycodes.BACK)
    assert "milk and eggs" in hand.words()


async def test_deleting_a_note_asks_first_and_cancel_keeps_it(hand: Hand) -> None:
    await hand.open("com.android.notes")
    before = len(apps(hand)["com.android.notes"]["notes"])
    await hand.hold("Packing list")
    await hand.tap("Cancel")
    assert len(apps(hand)["com.android.notes"]["notes"]) == before
    await hand.hold("Packing list")
    assert 'text="Delete note?"' in hand.phone.windows.dump()
    await hand.tap("Delete")
    assert len(apps(hand)["com.android.notes"]["notes"]) == before - 1
    assert hand.see("Packing list") is None


async def test_a_message_is_sent_and_answered(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages_app, "REPLY_S", 0.01)
    await hand.open("com.android.messaging")
    await hand.tap("Ana Silva")
    await hand.tap("Text message")
    hand.phone.keys.type_text("On my way 🚆")
    await hand.tap("Send SMS")
    async with asyncio.timeout(30):
        while not hand.phone.state() or len(thread(hand, "Ana Silva")) < 5:
            await hand.phone.compositor.wait_newer(hand.phone.compositor.version)
    sent, reply = thread(hand, "Ana Silva")[-2:]
    assert (sent["body"], sent["mine"], reply["mine"]) == ("On my way 🚆", True, False)


def thread(hand: Hand, name: str) -> list[dict[str, Any]]:
    threads = apps(hand)["com.android.messaging"]["threads"]
    return next(t["messages"] for t in threads if t["name"] == name)


async def test_a_message_to_a_new_number_makes_a_thread(hand: Hand) -> None:
    await hand.open("com.android.messaging")
    await hand.tap("Start new conversation")
    await hand.tap("Type a name, phone number, or email")
    hand.phone.keys.type_text("+1 555 7777")
    await hand.tap("Send to +1 555 7777")
    await hand.tap("Text message")
    hand.phone.keys.type_text("hello")
    await hand.tap("Send SMS")
    assert thread(hand, "+1 555 7777")[0]["body"] == "hello"


async def test_an_sms_intent_opens_a_conversation_with_its_number(hand: Hand) -> None:
    hand.phone.activities.start(action="android.intent.action.SENDTO", data="sms:+15550102")
    assert "Ben Carter" in hand.words()


async def test_every_page_of_settings_draws_and_dumps(hand: Hand) -> None:
    from virtual_phone.apps.settings.app import SUB_PAGES

    for name, sub in SUB_PAGES.items():
        hand.phone.activities.start(
            component="com.android.settings/.SubSettings", extras={"page": name}
        )
        assert sub.title in hand.words()
        assert hand.phone.windows.dump().count("<node") > 5


async def test_checkout_places_an_order_after_one_more_question(hand: Hand) -> None:
    await hand.open("com.example.larkspur")
    await hand.tap("Desk lamp")
    await hand.tap("Add to cart")
    hand.phone.keys.press(keycodes.BACK)
    await hand.tap("Cart (1)")
    await hand.tap("Check out")
    await hand.tap("place_order")
    assert len(apps(hand)["com.example.larkspur"]["orders"]) == 2
    await hand.tap("android:id/button1")
    placed = apps(hand)["com.example.larkspur"]["orders"][0]
    assert (placed["total"], placed["status"]) == (34.5, "processing")
    assert apps(hand)["com.example.larkspur"]["cart"] == {}


def test_support_returns_only_what_was_delivered() -> None:
    from virtual_phone.apps.shop.app import Line, Order, Shop
    from virtual_phone.apps.shop.support import answer

    line = [Line("mug", 1, 12.0)]
    state = Shop(
        orders=[
            Order(1001, line, 12.0, 0, "shipped", "here"),
            Order(1002, line, 12.0, 0, "delivered", "here"),
        ]
    )
    assert "cannot be returned yet" in answer(state, "I want a refund for 1001")
    assert "refunded $12.00" in answer(state, "the mug of order 1002 is broken")
    assert [o.status for o in state.orders] == ["shipped", "returned"]
    assert "number" in answer(state, "where is order 9999?")


async def test_money_moves_only_with_the_right_pin_on_a_secure_page(hand: Hand) -> None:
    await hand.open("com.example.wallet")
    await hand.tap("Send")
    await hand.tap("0.00")
    hand.phone.keys.type_text("12.50")
    hand.phone.keys.press(keycodes.BACK)
    await hand.tap("Ben Carter")
    await hand.tap("Continue")
    assert hand.phone.compositor.screenshot().convert("L").crop(
        (0, 200, 1080, 2300)
    ).getextrema() == (0, 0)
    assert "Enter your PIN" in hand.phone.windows.dump()
    for digit in "0000":
        await hand.tap(f"pin {digit}")
    assert apps(hand)["com.example.wallet"]["balance"] == 1284.5
    for digit in "2580":
        await hand.tap(f"pin {digit}")
    assert apps(hand)["com.example.wallet"]["balance"] == 1272.0
    assert "$12.50 sent" in "".join(hand.words()).replace("−", "")


async def test_an_alarm_that_is_set_shows_in_the_status_bar(hand: Hand) -> None:
    await hand.open("com.android.deskclock")
    await hand.tap("Add alarm")
    await hand.tap("OK")
    assert hand.phone.settings.get("system", "next_alarm_formatted") == "08:00"


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("7+3×4", 19),
        ("(7+3)×4", 40),
        ("2÷0", None),
        ("50%×8", 4),
        ("−3+5", 2),
        ("1+", None),
        ("__import__", None),
        ("", None),
    ],
)
def test_the_calculator_knows_the_order_of_operations(formula: str, value: float | None) -> None:
    from virtual_phone.apps.calculator import work_out

    assert work_out(formula) == value


async def test_the_camera_asks_before_its_first_picture(hand: Hand) -> None:
    await hand.open("com.android.camera2")
    before = len(hand.phone.storage.pictures())
    await hand.tap("Shutter")
    await hand.tap("While using the app")
    await hand.tap("Shutter")
    assert len(hand.phone.storage.pictures()) == before + 1


async def test_the_browser_goes_back_through_its_pages_and_says_when_offline(hand: Hand) -> None:
    hand.phone.activities.start(
        action="android.intent.action.VIEW", data="https://harbourtimes.example"
    )
    await hand.tap("Read the full timetable")
    assert "Ferry timetable" in hand.words()
    hand.phone.keys.press(keycodes.BACK)
    assert "More about the library" in hand.words()
    await hand.tap("url_bar")
    hand.phone.keys.press(29, meta=keycodes.META_CTRL)
    hand.phone.keys.type_text("nowhere.example")
    hand.phone.keys.press(keycodes.ENTER)
    assert "You're offline" in hand.words()


async def test_a_reply_goes_to_the_sender_and_lands_in_sent(hand: Hand) -> None:
    await hand.open("com.android.email")
    await hand.tap("Notes from Thursday")
    await hand.tap("Reply")
    await hand.tap("Compose email")
    hand.phone.keys.type_text("4,200 is right.")
    await hand.tap("Send")
    sent = [m for m in apps(hand)["com.android.email"]["mails"] if m["folder"] == "Sent"]
    assert [(m["to"], m["subject"], m["body"]) for m in sent] == [
        ("grace@example.org", "Re: Notes from Thursday", "4,200 is right.")
    ]


async def test_a_message_that_comes_while_one_looks_elsewhere_is_notified(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages_app, "REPLY_S", 0.01)
    await hand.open("com.android.messaging")
    await hand.tap("Chloe Dubois")
    await hand.tap("Text message")
    hand.phone.keys.type_text("Yes please")
    await hand.tap("Send SMS")
    hand.phone.keys.press(keycodes.HOME)
    async with asyncio.timeout(30):
        while not (
            fresh := [n for n in hand.phone.notifications.all() if n.title == "Chloe Dubois"]
        ):
            await hand.phone.compositor.wait_newer(hand.phone.compositor.version)
    hand.phone.navigation.go("shade")
    await hand.tap(fresh[0].text)
    assert "conversation_title" in [hand.view("Chloe Dubois").id]
    assert not [n for n in hand.phone.notifications.all() if n.title == "Chloe Dubois"]


async def test_a_field_under_the_keyboard_scrolls_into_view(hand: Hand) -> None:
    hand.phone.activities.start(component="com.android.calendar/.event.EditEventActivity")
    await hand.tap("place")
    keyboard = next(w for w in hand.phone.windows.all() if w.title == "InputMethod")
    assert hand.view("place").clip.bottom <= keyboard.frame[1]
    assert hand.view("place").clip == hand.view("place").rect


async def test_a_page_that_cannot_be_shown_crashes_its_app_and_not_the_phone(hand: Hand) -> None:
    hand.phone.activities.start(
        component="com.example.wallet/.PinActivity", extras={"amount": "nonsense"}
    )
    assert "Wallet keeps stopping" in hand.words()
    await hand.tap("Close app")
    assert hand.phone.windows.focused_app.startswith("com.android.launcher3/")


async def test_a_long_press_on_text_offers_copy_and_paste(hand: Hand) -> None:
    await hand.open("com.android.notes")
    await hand.tap("New note")
    await hand.tap("Title")
    hand.phone.keys.type_text("milk")
    await hand.hold("title")
    await hand.tap("Copy")
    assert hand.phone.clipboard.text == "milk"
    await hand.tap("Note")
    await hand.hold("body")
    await hand.tap("Paste")
    assert hand.view("body").text == "milk"
    assert hand.see("Paste") is None


async def test_each_row_of_the_apps_in_settings_opens_the_info_of_its_app(hand: Hand) -> None:
    await hand.open("com.android.settings")
    await hand.tap("Apps")
    await hand.tap("app com.android.calculator2")
    assert (
        hand.phone.windows.focused_app == "com.android.settings/.applications.InstalledAppDetails"
    )
    assert {"App info", "Force stop", "Uninstall"} & set(hand.words())
    assert "Calculator" in hand.words()
