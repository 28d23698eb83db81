"""What intents reach, what comes over the screen, and how apps begin: splash, loading, power."""

import asyncio
from pathlib import Path

import pytest

from support.connected import Connected
from support.hand import NOON, Hand, new_phone
from virtual_phone.input import keycodes
from virtual_phone.phone import Phone
from virtual_phone.state.records import Notice, NotIdleError


@pytest.fixture
async def hand(tmp_path: Path) -> Hand:
    return Hand(new_phone(tmp_path))


@pytest.mark.parametrize(
    ("words", "activity"),
    [
        (
            "-a android.intent.action.VIEW -d https://harbourtimes.example",
            "com.android.browser/.BrowserActivity",
        ),
        ("-a android.intent.action.VIEW -d tel:5550101", "com.android.dialer/.DialtactsActivity"),
        ("-a android.intent.action.DIAL -d tel:5550101", "com.android.dialer/.DialtactsActivity"),
        (
            "-a android.intent.action.SENDTO -d sms:5550101",
            "com.android.messaging/.ui.conversation.ConversationActivity",
        ),
        (
            "-a android.intent.action.SEND -t text/plain --es android.intent.extra.TEXT hi",
            "com.android.notes/.NoteEditActivity",
        ),
        (
            "-a android.intent.action.INSERT -t vnd.android.cursor.dir/contact -e name Zoe",
            "com.android.contacts/.activities.EditActivity",
        ),
        (
            "-a android.settings.AIRPLANE_MODE_SETTINGS",
            "com.android.settings/.Settings$NetworkDashboardActivity",
        ),
    ],
)
async def test_an_intent_starts_the_app_that_takes_it(
    connected: Connected, words: str, activity: str
) -> None:
    said = await connected.shell(f"am start -W {words}")
    assert (said.status, f"Activity: {activity}" in said.text) == (0, True), said.text


async def test_a_text_that_is_sent_is_a_note(connected: Connected) -> None:
    await connected.shell(
        "am start -W -a android.intent.action.SEND -t text/plain "
        "--es android.intent.extra.SUBJECT List "
        "--es android.intent.extra.TEXT 'milk and eggs'"
    )
    connected.phone.compositor.scene()
    notes = connected.phone.state()["notes"]
    assert isinstance(notes, list)
    assert (notes[-1]["title"], notes[-1]["body"]) == ("List", "milk and eggs")


async def test_a_message_address_brings_its_number_and_its_words(connected: Connected) -> None:
    await connected.shell(
        "am start -W -a android.intent.action.SENDTO -d 'sms:+1%20555%200101?body=On%20my%20way'"
    )
    hand = Hand(connected.phone)
    assert hand.view("conversation_title").text == "Ana Silva"
    assert hand.view("compose").text == "On my way"


async def test_the_shell_may_not_send_the_system_s_broadcasts(connected: Connected) -> None:
    said = await connected.shell(
        "am broadcast -a android.intent.action.AIRPLANE_MODE --ez state true"
    )
    assert said.status == 255 and b"SecurityException: Permission Denial" in said.err
    assert connected.phone.state()["airplane_mode"] is False


async def test_a_cold_start_shows_a_splash_and_a_warm_one_does_not(hand: Hand) -> None:
    phone = hand.phone
    phone.activities.launch("com.android.notes")
    titles = [window.title for window in phone.windows.all()]
    assert "Splash Screen com.android.notes" in titles
    assert phone.windows.focused is not None
    assert phone.windows.focused.activity.endswith("NotesListActivity")
    with pytest.raises(NotIdleError):
        phone.windows.dump()
    async with asyncio.timeout(30):
        while phone.activities.splash:
            await phone.compositor.wait_newer(phone.compositor.version)
    await phone.animations.wait_idle()
    assert "Splash" not in phone.windows.dump()
    phone.keys.press(keycodes.HOME)
    phone.activities.launch("com.android.notes")
    assert phone.activities.splash == ""
    phone.close()


async def test_a_page_loads_before_its_words_are_there(hand: Hand) -> None:
    phone = hand.phone
    phone.activities.start(action="android.intent.action.VIEW", data="https://harbourtimes.example")
    assert hand.see("progress") is not None and hand.see("Read the full timetable") is None
    await phone.animations.wait_idle()
    async with asyncio.timeout(30):
        while hand.see("progress") is not None:
            await phone.compositor.wait_newer(phone.compositor.version)
    assert hand.see("Read the full timetable") is not None
    phone.close()


async def test_a_shop_loads_its_list_and_each_product_once(hand: Hand) -> None:
    phone = hand.phone
    phone.activities.launch("com.example.larkspur")
    assert hand.see("progress") is not None and hand.see("Desk lamp") is None
    await phone.animations.wait_idle()
    await hand.loaded()
    tile = hand.view("Desk lamp")
    await phone.gestures.tap(tile.clip.left, tile.clip.top)
    assert hand.see("progress") is not None and hand.see("Add to cart") is None
    await phone.animations.wait_idle()
    await hand.loaded()
    assert hand.see("Add to cart") is not None
    phone.keys.press(keycodes.BACK)
    assert hand.see("Desk lamp") is not None and hand.see("progress") is None
    phone.close()


async def test_a_page_that_nobody_looks_at_loads_all_the_same(hand: Hand) -> None:
    phone = hand.phone
    phone.activities.launch("com.example.larkspur")
    top = phone.tasks.top()
    assert top is not None
    async with asyncio.timeout(30):
        while not top[1].local.get("fetched") or phone.activities.is_loading(top[1]):
            await phone.compositor.wait_newer(phone.compositor.version)
    assert hand.see("Desk lamp") is not None
    phone.close()


async def test_a_notification_comes_over_the_screen_and_a_swipe_sends_it_away(hand: Hand) -> None:
    phone = hand.phone
    phone.notifications.post(Notice(7, "com.android.email", "Ferry", "Your ticket", NOON))
    card = hand.view("notice 7").clip
    assert card.top > 0 and card.bottom < phone.displays.height / 4
    await phone.gestures.swipe(card.left + 200, card.top + 40, card.right - 40, card.top + 40, 60)
    assert phone.notifications.heads_up is None and 7 not in [
        n.id for n in phone.notifications.all()
    ]
    phone.settings.put("global", "zen_mode", "1")
    phone.notifications.post(Notice(8, "com.android.email", "Quiet", "Nothing pops up", NOON))
    assert phone.notifications.heads_up is None
    phone.close()


async def test_a_posted_notification_is_replaced_by_its_tag_and_listed_alike(
    connected: Connected,
) -> None:
    for words in ("first", "second"):
        await connected.shell(f"cmd notification post -t Title ferry {words}")
    listed = (await connected.shell("cmd notification list")).text
    keys = [line for line in listed.splitlines() if "com.android.shell" in line]
    assert len(keys) == 1 and keys[0].endswith("|ferry|2000")
    dumped = (await connected.shell("dumpsys notification --noredact")).text
    assert keys[0] in dumped and "second" in dumped and "first" not in dumped
    record = next(line for line in dumped.splitlines() if "pkg=com.android.shell" in line)
    assert "tag=ferry" in record and "tag=null" not in record


async def test_a_service_does_what_a_call_says_or_says_that_it_does_not(
    connected: Connected,
) -> None:
    await connected.shell("service call statusbar 1")
    assert connected.phone.shade.shown == "notifications"
    await connected.shell("service call statusbar 2")
    assert connected.phone.shade.shown == ""
    assert "Parcel(Error:" in (await connected.shell("service call clipboard 2")).text


async def test_a_held_power_button_offers_a_restart(connected: Connected) -> None:
    phone = connected.phone
    boot = (await connected.shell("cat /proc/sys/kernel/random/boot_id")).text
    await connected.shell("input keyevent --longpress KEYCODE_POWER")
    assert phone.power.screen_on and phone.windows.focused is not None
    assert phone.windows.focused.title == "GlobalActions"
    hand = Hand(phone)
    phone.keys.press(keycodes.BACK)
    assert hand.see("power restart") is None
    await connected.shell("input keyevent --longpress 26")
    await hand.tap("power restart")
    await connected.served.rebooted()
    assert connected.userland.boot.boot_id != boot.strip()


def test_a_phone_served_as_a_tablet_is_one(tmp_path: Path) -> None:
    phone = Phone(tmp_path, name="t", profile="tablet")
    assert phone.properties["ro.build.characteristics"] == "tablet"
