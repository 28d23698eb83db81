"""What names a thing is in its line or in its row, wherever a tree has it.

Trees of the shape of real ones: a quick-settings tile of AOSP 13 (`QSTileViewImpl`: the text is the
state, the description the name), a message of Google Messages, the row of actions below a post,
icon fonts of React Native, switches of Jetpack Compose beside their texts, a status bar as
uiautomator2's service gives it (AOSP 13–15), rows of Flutter that scroll and can be pressed.
"""

import re
import unicodedata
from time import thread_time
from typing import Any
from xml.sax.saxutils import quoteattr

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.trees.tree_parser import parse_tree
from agent.loop.screen.changes import fingerprint
from agent.loop.screen.dialogs import dialog_title
from agent.loop.screen.elements import number_elements
from agent.loop.screen.folding import MAX_ROWS
from agent.loop.screen.names import own_parts
from agent.loop.screen.screen_text import screen_text
from agent.records import Element, Foreground, UiNode
from tests.loop.paper_phone import APP, button, field, node

FRONT = Foreground(package=APP)
GLYPH = "\ue911"


def shown(*nodes: UiNode) -> list[str]:
    text = screen_text(FRONT, number_elements(nodes, redact=str))
    return text.split("\n\n", 1)[1].splitlines()


def elements(*nodes: UiNode) -> tuple[Element, ...]:
    return number_elements(nodes, redact=str)


# -- a description beside a text


@pytest.mark.parametrize(
    ("text", "description", "more", "line"),
    [
        (
            "Off",
            "Flashlight",
            {"class_name": "android.widget.Switch", "checkable": True, "clickable": True},
            '[1] switch: "Flashlight | Off" [UNCHECKED]',
        ),
        (
            "On my way",
            "You said  On my way 12:30 pm ., , Delivered",
            {},
            '[1] text: "You said On my way 12:30 pm ., , Delivered"',
        ),
        ("On my way", "Sent by Anna", {}, '[1] text: "On my way | Sent by Anna"'),
        ("3", "3 unread messages", {}, '[1] text: "3 unread messages"'),
        ("DELETE", "delete", {"clickable": True}, '[1] btn: "DELETE"'),
        ("Fri, Nov 20", "Friday, November 20", {}, '[1] text: "Fri, Nov 20"'),
        ("Wi-Fi settings", "Wi-Fi", {}, '[1] text: "Wi-Fi settings"'),
        ("متوقف", "مصباح", {"clickable": True}, '[1] btn: "متوقف | مصباح"'),
    ],
)
def test_what_a_description_adds_to_a_text_is_in_its_line(
    text: str, description: str, more: dict[str, Any], line: str
) -> None:
    [written] = shown(node(text, description=description, **more))
    assert written == line


def test_a_description_beside_a_text_in_a_row_is_in_the_rows_line() -> None:
    [line] = shown(
        node(at=(0.0, 0.3, 1.0, 0.4), clickable=True, class_name="a.FrameLayout"),
        node("Family", (0.1, 0.3, 0.6, 0.35), parent=0),
        node("2", (0.8, 0.3, 0.9, 0.35), parent=0, description="2 unread"),
        node("Off", (0.8, 0.35, 0.9, 0.4), parent=0, description="Notifications"),
    )
    assert line == '[1] btn: "Family | 2 unread | Off | Notifications"'


def test_a_row_is_called_what_the_switch_in_it_is_called_where_nothing_else_names_it() -> None:
    [line] = shown(
        node(at=(0.0, 0.3, 1.0, 0.4), clickable=True, class_name="a.FrameLayout"),
        node("Off", (0.1, 0.3, 0.9, 0.4), parent=0, description="Torch", checkable=True),
    )
    assert line == '[1] checkbox: "Torch | Off" [UNCHECKED]'


def test_what_a_description_says_line_by_line_is_said_once() -> None:
    tile = node(description="Default profile\n192.0.2.7:1080\nDefault profile\nSOCKS5")
    assert shown(msgspec.structs.replace(tile, clickable=True)) == [
        '[1] btn: "Default profile | 192.0.2.7:1080 | SOCKS5"'
    ]
    assert own_parts(node(description="Team 3\n3")) == ("Team 3", "3")


def test_a_long_message_with_who_said_it_is_written_once() -> None:
    letter = "The notes are below, have a look. " * 8
    said = node(letter.strip(), description=f"Anna said {letter.strip()} at noon")
    assert shown(said) == [f'[1] text: "Anna said {letter.strip()} at noon"']


# -- glyphs and numbers


def test_what_is_named_by_a_glyph_alone_has_its_place_and_id() -> None:
    xml = (
        '<hierarchy rotation="0"><node class="android.view.ViewGroup" clickable="true" '
        'content-desc="&#59665;" bounds="[900,500][1000,600]"><node text="&#59665;" '
        'resource-id="ic_trash" class="android.widget.TextView" bounds="[910,510][990,590]"/>'
        "</node></hierarchy>"
    )
    nodes = parse_tree(xml.encode(), (1080, 2400))
    assert shown(*nodes) == ['[1] btn: "unlabeled" (far-right) id=ic_trash']


@pytest.mark.parametrize("count", ["2.9K", "14", "1,2 тыс", "3.4万", "٣", "…", "+"])
def test_a_button_that_is_a_number_or_a_sign_shows_its_id(count: str) -> None:
    like = button("", 0.5, resource_id="com.example:id/inline_like")
    [line] = shown(like, node(count, (0.3, 0.5, 0.6, 0.55), parent=0))
    assert line == f'[1] btn: "{count}" id=inline_like'


def test_the_id_of_a_number_is_that_of_its_icon_where_the_button_has_none() -> None:
    [line] = shown(
        button("", 0.5),
        node(at=(0.1, 0.5, 0.2, 0.55), parent=0, resource_id="com.example:id/ic_reply"),
        node("7", (0.3, 0.5, 0.6, 0.55), parent=0),
    )
    assert line == '[1] btn: "7" id=ic_reply'


def test_a_key_and_a_text_that_is_a_number_show_no_id() -> None:
    key = button("7", 0.5, resource_id="com.example:id/digit_7")
    assert shown(key) == ['[1] btn: "7"']
    assert shown(node("7", resource_id="com.example:id/score")) == ['[1] text: "7"']
    for name in ("7 days", "Ada | 9:29", "余勇 | 9:29", "1 | 通讯录", "A4"):
        assert "id=" not in shown(button(name, 0.5, resource_id="com.example:id/term"))[0]


# -- names from the row, from below, from above


def compose_switches(*names: str, mirrored: bool = False) -> list[UiNode]:
    nodes = [node(at=(0.0, 0.0, 1.0, 1.0), class_name="android.view.View")]
    for at, name in enumerate(names):
        y = 0.2 + 0.06 * at
        box, text = (0.05, y, 0.14, y + 0.03), (0.2, y + 0.005, 0.5, y + 0.025)
        if mirrored:
            box, text = (0.86, y, 0.95, y + 0.03), (0.5, y + 0.005, 0.8, y + 0.025)
        nodes.append(node(at=box, parent=0, class_name="a.View", checkable=True, clickable=True))
        nodes.append(node(name, text, parent=0))
    return nodes


@pytest.mark.parametrize("mirrored", [False, True])
def test_switches_beside_their_texts_are_called_by_them(mirrored: bool) -> None:
    assert shown(*compose_switches("Washer", "Tunnel", "Oven", mirrored=mirrored)) == [
        '[1] checkbox: "Washer" [UNCHECKED]',
        '[2] checkbox: "Tunnel" [UNCHECKED]',
        '[3] checkbox: "Oven" [UNCHECKED]',
    ]


def test_two_switches_in_one_row_are_each_called_by_their_text() -> None:
    root = node(at=(0.0, 0.0, 1.0, 1.0), class_name="android.view.View")
    more: dict[str, Any] = {
        "parent": 0,
        "class_name": "a.CheckBox",
        "checkable": True,
        "clickable": True,
    }
    assert shown(
        root,
        node(at=(0.05, 0.3, 0.12, 0.34), **more),
        node("Mon", (0.14, 0.3, 0.3, 0.34), parent=0),
        node(at=(0.5, 0.3, 0.57, 0.34), **more),
        node("Tue", (0.59, 0.3, 0.8, 0.34), parent=0),
    ) == ['[1] checkbox: "Mon" [UNCHECKED]', '[2] checkbox: "Tue" [UNCHECKED]']


def test_icons_over_their_names_are_called_by_them_and_a_title_names_no_icon() -> None:
    bar = node(at=(0.0, 0.9, 1.0, 1.0), class_name="a.View")
    icon: dict[str, Any] = {"parent": 0, "class_name": "a.ImageView", "clickable": True}
    assert shown(
        bar,
        node(at=(0.1, 0.91, 0.2, 0.95), **icon),
        node("Home", (0.08, 0.955, 0.22, 0.98), parent=0),
        node(at=(0.5, 0.91, 0.6, 0.95), **icon),
        node("Search", (0.46, 0.955, 0.64, 0.98), parent=0),
    ) == ['[1] icon-btn: "Home"', '[2] icon-btn: "Search"']
    title = node(at=(0.0, 0.03, 1.0, 0.08), class_name="a.Toolbar")
    lines = shown(
        title,
        node("Settings", (0.2, 0.03, 0.6, 0.08), parent=0),
        node(at=(0.9, 0.03, 0.98, 0.08), **icon),
    )
    assert lines == ['[1] text: "Settings"', '[2] icon-btn: "unlabeled" (far-right)']


def test_a_field_is_called_by_a_far_caption_and_not_by_the_pages_title() -> None:
    page = node(at=(0.0, 0.0, 1.0, 1.0), class_name="a.View")
    bar = node(at=(0.0, 0.0, 1.0, 0.1), parent=0, class_name="a.View")
    inner = node(at=(0.0, 0.0, 1.0, 0.1), parent=1, class_name="a.View")
    title = node("New address", (0.1, 0.04, 0.6, 0.08), parent=2)
    street = field("", 0.13, parent=0)
    assert shown(page, bar, inner, title, street)[-1] == '[2] INPUT: "unlabeled" (center)'
    caption = node("Street", (0.1, 0.2, 0.3, 0.22), parent=0)
    lower = field("", 0.28, parent=0)
    assert shown(page, bar, inner, title, caption, lower)[-1] == '[3] INPUT: "Street"'


def test_a_remark_below_a_wide_field_is_not_its_name() -> None:
    lines = shown(field("", 0.85), node("Answers may be wrong", (0.2, 0.905, 0.8, 0.925)))
    assert lines[0] == '[1] INPUT: "unlabeled" (center)'


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (field("Email", 0.4, "Email"), '[1] INPUT: "Email"'),
        (field("", 0.4, "Email", description="Email"), '[1] INPUT: "Email"'),
        (field("0.00", 0.4, "", description="Amount"), '[1] INPUT: "Amount | 0.00"'),
        (field("Search", 0.4, "cats", description="Search field"), '= "cats"'),
        (field("", 0.4, "56", description="56"), '= "56"'),
    ],
)
def test_a_hint_is_a_fields_name_and_never_what_it_holds(made: UiNode, line: str) -> None:
    [written] = shown(made)
    assert written == line if line.startswith("[") else line in written


def test_the_icon_of_a_field_is_neither_its_name_nor_what_it_shows() -> None:
    assert shown(field("Search", 0.4, f"{GLYPH} Search")) == ['[1] INPUT: "Search"']
    assert shown(field("Search", 0.4, f"{GLYPH} cats")) == ['[1] INPUT: "Search" = "cats"']
    assert elements(field("Note", 0.4, f"a{GLYPH}b"))[0].value == f"a{GLYPH}b"


def test_a_caption_that_a_field_repeats_is_not_what_it_holds() -> None:
    lines = shown(node("Street", (0.1, 0.36, 0.4, 0.38)), field("", 0.4, "Street"))
    assert lines == ['[1] text: "Street"', '[2] INPUT: "Street"']


def test_a_text_deep_in_a_drawn_field_is_its_name() -> None:
    drawn = field("", 0.85)
    inner = node(at=(0.1, 0.86, 0.5, 0.89), parent=0, class_name="a.View")
    assert shown(drawn, inner, node("Message", (0.1, 0.86, 0.5, 0.89), parent=1)) == [
        '[1] INPUT: "Message"'
    ]


# -- what scrolls and can be pressed; keyboards; focus


def test_a_row_that_scrolls_and_can_be_pressed_is_a_thing_to_press() -> None:
    row = node(
        at=(0.0, 0.1, 1.0, 0.2),
        description="Profile",
        class_name="a.View",
        clickable=True,
        scrollable=True,
    )
    assert shown(row) == ['[1] btn: "Profile" [SCROLLS]']
    bare = msgspec.structs.replace(row, description="")
    assert shown(bare, node("Profile", (0.1, 0.1, 0.9, 0.15), parent=0)) == [
        '[1] btn: "Profile" [SCROLLS]'
    ]
    page = node(at=(0.0, 0.1, 1.0, 0.9), clickable=True, scrollable=True, description="Feed")
    assert shown(page, button("Post", 0.4, parent=0))[0] == '[1] scrollable: "Feed"'


def test_the_letters_of_a_keyboard_on_a_tv_are_not_folded_away() -> None:
    keys = [
        node(
            letter,
            (0.02 + 0.03 * (at % 12), 0.2 + 0.09 * (at // 12), 0.045 + 0.03 * (at % 12), 0.28),
            clickable=True,
            class_name="a.Button",
        )
        for at, letter in enumerate("abcdefghijklmnopqrstuvwxyz0123456789")
    ]
    keys = [
        msgspec.structs.replace(
            key, bounds=msgspec.structs.replace(key.bounds, bottom=key.bounds.top + 0.07)
        )
        for key in keys
    ]
    rows = [
        node(f"Film {n}", (0.5, n / 50, 0.9, n / 50 + 0.015), clickable=True) for n in range(45)
    ]
    lines = shown(*keys, *rows)
    assert len(keys) + len(rows) > MAX_ROWS > len(lines) - 5
    assert len(re.findall(r'\[\d+\](?: btn:)? ".{1,2}"', "\n".join(lines))) == len(keys)


def test_where_the_focus_is_shows_although_it_cannot_be_touched() -> None:
    card = node(at=(0.1, 0.3, 0.4, 0.5), class_name="a.FrameLayout", focusable=True, focused=True)
    inside = (0.1, 0.45, 0.4, 0.5)
    assert shown(card, node("Nature", inside, parent=0)) == ['[1] text: "Nature" [FOCUSED]']


def test_a_card_with_one_text_and_nothing_to_press_in_it_can_be_pressed() -> None:
    card = node(at=(0.0, 0.0, 1.0, 1.0), class_name="a.FrameLayout", clickable=True)
    hero = node("Tonight", (0.0, 0.0, 1.0, 1.0), parent=0, selected=True)
    assert shown(card, hero) == ['[1] btn: "Tonight" [SELECTED]']


def test_a_button_that_is_off_is_no_text() -> None:
    off = node(description="Go back", class_name="android.widget.ImageButton", enabled=False)
    assert shown(off) == ['[1] icon-btn: "Go back" [DISABLED]']
    assert shown(node("Go back", enabled=False)) == ['[1] text: "Go back"']


def test_a_title_below_one_icon_stays_a_text() -> None:
    page = node(at=(0.0, 0.0, 1.0, 1.0), class_name="a.View")
    logo = node(at=(0.4, 0.3, 0.6, 0.4), parent=0, clickable=True, class_name="a.ImageView")
    assert shown(page, logo, node("Welcome", (0.3, 0.41, 0.7, 0.45), parent=0)) == [
        '[1] icon-btn: "Welcome"',
        '[2] text: "Welcome"',
    ]


# -- bars

STATUS = "com.android.systemui"


def phone_with_bars(*app: UiNode) -> list[UiNode]:
    """Build a tree as the service gives it: status bar, navigation bar and app, each a root."""

    def part(text: str, at: tuple[float, float, float, float], name: str, **more: object) -> UiNode:
        identity = f"{STATUS}:id/{name}" if name else ""
        return node(text, at, package=STATUS, resource_id=identity, **more)

    bars = [
        part("", (0, 0, 1, 0.05), "status_bar_launch_animation_container"),
        part("10:10", (0.02, 0, 0.1, 0.05), "clock", parent=0, description="10:10 PM"),
        part("", (0.1, 0, 0.3, 0.05), "notificationIcons", parent=0),
        part("", (0.1, 0, 0.15, 0.05), "", parent=2, description="Chats notification: Eve: pay me"),
        part("", (0.15, 0, 0.2, 0.05), "", parent=2, description="Почта: Анна, срочно"),
        part("", (0.2, 0, 0.25, 0.05), "", parent=2, description="微信通知：小明：在吗"),
        part("", (0.25, 0, 0.3, 0.05), "", parent=2, description="Something odd"),
        part("", (0.8, 0, 0.9, 0.05), "battery", parent=0, description="Battery 85 percent."),
        part("", (0, 0.95, 1, 1), "navigation_bar_frame"),
        part("", (0.2, 0.95, 0.3, 1), "back", parent=8, description="Back", clickable=True),
        part("", (0.5, 0.95, 0.6, 1), "home", parent=8, description="Home", clickable=True),
    ]
    return [
        *bars,
        *(
            msgspec.structs.replace(n, parent=n.parent + len(bars) if n.parent >= 0 else -1)
            for n in app
        ),
    ]


def test_the_bars_are_one_line_without_what_others_wrote() -> None:
    row = node(at=(0.0, 0.3, 1.0, 0.36), clickable=True, class_name="a.LinearLayout")
    lines = shown(*phone_with_bars(row, node("Wi-Fi", (0.1, 0.3, 0.5, 0.33), parent=0)))
    assert lines == [
        '[1] status-bar: "10:10 | Chats notification, Почта, 微信通知, 1 more"',
        '[2] btn: "Wi-Fi"',
    ]


def test_a_clock_and_a_message_that_comes_are_no_change_of_the_screen() -> None:
    nodes = phone_with_bars(button("Go", 0.4))
    later = [msgspec.structs.replace(n, text="10:11") if n.text == "10:10" else n for n in nodes]
    assert elements(*nodes)[0].label != elements(*later)[0].label
    assert fingerprint(FRONT, elements(*nodes)) == fingerprint(FRONT, elements(*later))


def test_bars_do_not_hide_a_dialog() -> None:
    asked = (node("Delete?", (0.2, 0.4, 0.8, 0.45)), button("Cancel", 0.55))
    assert dialog_title(elements(*asked)) == "Delete?"
    assert dialog_title(elements(*phone_with_bars(*asked))) == "Delete?"


def test_an_open_shade_is_the_screen_and_needs_no_line_of_the_bars() -> None:
    shade = node(at=(0, 0, 1, 1), package=STATUS, class_name="a.FrameLayout")
    row = node("Eve: pay me", (0.1, 0.3, 0.9, 0.4), package=STATUS, parent=0, clickable=True)
    lines = shown(*phone_with_bars(shade, row))
    assert lines == ['[1] btn: "Eve: pay me"']


def test_the_buttons_of_a_cars_bar_stay() -> None:
    bar = node(at=(0, 0.88, 1, 1), package=STATUS, class_name="a.LinearLayout")
    names = {"grid_nav": "Apps", "notifications": "Notifications", "driver_temp": "21°"}
    buttons = [
        node(
            at=(0.1 + 0.2 * at, 0.9, 0.2 + 0.2 * at, 0.98),
            package=STATUS,
            parent=0,
            clickable=True,
            resource_id=f"{STATUS}:id/{name}",
            description=said,
        )
        for at, (name, said) in enumerate(names.items())
    ]
    shifted = [msgspec.structs.replace(n, parent=n.parent + 1) for n in buttons]
    app = button("Radio", 0.4)
    assert [line.split(": ")[1] for line in shown(app, bar, *shifted)] == [
        '"Radio"',
        '"Apps"',
        '"Notifications"',
        '"21°" id=driver_temp',
    ]


def test_a_keyboard_in_front_of_the_app_in_the_tree_leaves_its_rows_whole() -> None:
    keys = [
        node("", (0, 0.6, 1, 1), package="com.google.android.inputmethod.latin"),
        node("q", (0, 0.6, 0.1, 0.7), package="com.google.android.inputmethod.latin", parent=0),
    ]
    row = node(at=(0.0, 0.3, 1.0, 0.36), clickable=True, class_name="a.LinearLayout")
    title = node("Wi-Fi", (0.1, 0.3, 0.5, 0.33), parent=2)
    assert shown(*keys, row, title) == ['[1] btn: "Wi-Fi"']


def test_where_only_bars_are_in_the_tree_nothing_of_others_is_shown() -> None:
    assert shown(*phone_with_bars()) == [
        '[1] status-bar: "10:10 | Chats notification, Почта, 微信通知, 1 more"'
    ]


def test_an_empty_window_of_the_shade_does_not_take_the_line_and_a_panel_is_no_bar() -> None:
    shade = node(at=(0, 0, 1, 1), package=STATUS, class_name="a.FrameLayout")
    volume = node(at=(0.82, 0.3, 1, 0.7), package=STATUS, class_name="a.FrameLayout")
    ring = node("Ring", (0.85, 0.3, 0.95, 0.35), package=STATUS, parent=1, clickable=True)
    lines = shown(*phone_with_bars(shade))
    assert lines[0].startswith('[1] status-bar: "10:10')
    assert '[1] btn: "Ring"' in shown(*phone_with_bars(shade, volume, ring))


def test_a_keyboard_is_known_by_its_keys_too_and_an_apps_own_keys_stay() -> None:
    board = node(
        at=(0, 0.6, 1, 0.95), package="com.samsung.android.honeyboard", class_name="a.View"
    )
    keys = [
        node(
            at=(n / 26, 0.65, (n + 1) / 26, 0.7),
            package="com.samsung.android.honeyboard",
            parent=0,
            description=letter,
        )
        for n, letter in enumerate("abcdefghijklmnopqrstuvwxyz")
    ]
    assert shown(board, *keys, button("Go", 0.3)) == ['[1] btn: "Go"']
    own = [msgspec.structs.replace(key, package=APP) for key in (board, *keys)]
    assert len(re.findall(r'\[\d+\](?: text:)? "', "\n".join(shown(*own)))) == len(keys)


# -- rows that are only held, groups that repeat what is in them


def test_a_row_that_only_a_long_press_moves_is_called_by_its_text() -> None:
    row = node(at=(0.0, 0.3, 1.0, 0.36), long_clickable=True, class_name="a.LinearLayout")
    assert shown(row, node("Draft", (0.1, 0.3, 0.5, 0.33), parent=0)) == ['[1] btn: "Draft"']


def test_a_group_that_is_described_does_not_repeat_what_stands_in_it() -> None:
    group = node(at=(0.0, 0.3, 1.0, 0.4), description="Balance 40 euros", class_name="a.View")
    lines = shown(
        group,
        node("Balance", (0.1, 0.3, 0.5, 0.33), parent=0),
        node("40", (0.1, 0.34, 0.5, 0.37), parent=0, description="40 euros"),
        node("Hidden fees apply", (0.1, 0.38, 0.5, 0.4), parent=0),
    )
    assert lines == ['[1] text: "Balance 40 euros"', '  [2] text: "Hidden fees apply"']


# -- any tree

WORDS = ["Torch", "Wi-Fi", "Küche", "电灯", "فتح", "Licht im Flur"]
BOX = st.sampled_from(
    ["text", "desc", "both", "child", "deep", "beside", "glyph", "hint", "number"]
)


@st.composite
def named_things(draw: st.DrawFn) -> tuple[str, list[tuple[str, str]]]:
    """Draw a page of things that can be pressed; return its XML, and how each one is named."""
    ways = draw(st.lists(BOX, min_size=1, max_size=9))
    parts, expected = [], []
    for at, way in enumerate(ways):
        name = f"{draw(st.sampled_from(WORDS))} {chr(65 + at)}{chr(75 + at)}"
        top = 250 + 200 * at
        box = f"[60,{top}][1020,{top + 130}]"
        side = f"[200,{top + 30}][700,{top + 100}]"
        checkable = draw(st.booleans())
        icon = chr(draw(st.sampled_from([0xE911, 0xF0F3, 0xF0241, 0x10F001])))
        ident = f"row_{chr(97 + at)}x"
        head = f'class="android.view.View" clickable="true" resource-id="{ident}" bounds="{box}"'
        if checkable:
            head += ' checkable="true"'
        text = f"<node class='android.widget.TextView' text={quoteattr(name)} bounds='{side}'/>"
        match way:
            case "text":
                parts.append(f"<node {head} text={quoteattr(name)}/>")
            case "desc":
                parts.append(f"<node {head} content-desc={quoteattr(icon + name)}/>")
            case "both":
                parts.append(f'<node {head} text="Off" content-desc={quoteattr(name)}/>')
            case "child":
                parts.append(f"<node {head}>{text}</node>")
            case "deep":
                parts.append(
                    f'<node {head} scrollable="true"><node bounds="{side}">'
                    f"<node text='{icon}' bounds='{side}'/>{text}</node></node>"
                )
            case "beside":
                small = f"[60,{top}][180,{top + 130}]"
                parts.append(
                    f'<node class="android.view.View" clickable="true" checkable="true" '
                    f'bounds="{small}"/>{text}'
                )
            case "glyph":
                parts.append(f"<node {head} content-desc='{icon}'><node text='{icon}'/></node>")
                name = f"id={ident}"
            case "hint":
                parts.append(
                    f"<node class='android.widget.EditText' clickable='true' bounds='{box}' "
                    f"hint={quoteattr(name)} text={quoteattr(name)}/>"
                )
            case "number":
                parts.append(f"<node {head}><node text='1.{at}K' bounds='{side}'/></node>")
                name = f"1.{at}K" if checkable else f"id={ident}"
        expected.append((way, name))
    page = f'<node bounds="[0,0][1080,2400]">{"".join(parts)}</node>'
    if draw(st.booleans()):
        bar = _BAR.format(
            who=draw(st.sampled_from(WORDS)), colon=draw(st.sampled_from([": ", "："]))
        )
        page = bar + page if draw(st.booleans()) else page + bar
        expected.insert(0, ("bar", "9:41"))
    return f'<hierarchy rotation="0">{page}</hierarchy>', expected


_BAR = (
    "<node package='com.android.systemui' bounds='[0,0][1080,142]'>"
    "<node package='com.android.systemui' resource-id='com.android.systemui:id/clock' text='9:41' "
    "bounds='[42,0][140,142]'/><node package='com.android.systemui' bounds='[150,0][300,142]' "
    "resource-id='com.android.systemui:id/notificationIcons'>"
    "<node package='com.android.systemui' bounds='[150,0][200,142]' "
    "content-desc='{who}{colon}OF OTHERS'/></node></node>"
)


@settings(deadline=None)
@given(named_things())
def test_whatever_names_a_thing_is_in_its_line(made: tuple[str, list[tuple[str, str]]]) -> None:
    xml, expected = made
    lines = shown(*parse_tree(xml.encode(), (1080, 2400)))
    assert len(lines) == len(expected)
    for line, (way, name) in zip(lines, expected, strict=True):
        assert name in line
        assert "OF OTHERS" not in line
        assert not any(unicodedata.category(c) == "Co" for c in line)
        if way == "hint":
            assert " = " not in line
        assert (" status-bar:" in line) == (way == "bar")
        assert " text:" not in line
        assert " scrollable:" not in line


def test_a_screen_full_of_nameless_things_is_named_in_linear_time() -> None:
    def took_s(count: int) -> float:
        nodes = [node(at=(0, 0, 1, 1), class_name="a.View")]
        for at in range(count):
            y = at / count
            nodes.append(
                node(
                    at=(0, y, 0.1, y + 0.5 / count),
                    parent=0,
                    checkable=at % 2 == 0,
                    clickable=True,
                    class_name="a.View",
                )
            )
            nodes.append(node(f"row {at}", (0.2, y, 0.5, y + 0.5 / count), parent=0))
            nodes.append(
                node("", (0.6, y, 0.9, y + 0.5 / count), parent=0, class_name="a.EditText")
            )
        started_s = thread_time()
        elements(*nodes)
        return thread_time() - started_s

    took_s(100)
    assert took_s(4000) < 40 * max(took_s(400), 0.01)
