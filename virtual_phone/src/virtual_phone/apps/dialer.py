"""Phone: a keypad, the list of calls, and a call that goes on until it is ended.

Nobody is called. Invariant: every call that was started is in the list.
"""

from collections.abc import Callable
from urllib.parse import unquote

import msgspec

from virtual_phone.app import App, AppIcon, Page, Seed
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.patterns import (
    avatar,
    bottom_nav,
    empty,
    list_page,
    round_button,
    screen,
    title_bar,
)
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import text


class Call(msgspec.Struct):
    """A call; `kind` is outgoing, incoming or missed."""

    number: str
    name: str
    when: float
    kind: str = "outgoing"


class Calls(msgspec.Struct):
    """The app's state; `active` is the number of the call that goes on."""

    calls: list[Call] = []
    active: str = ""


def seed(s: Seed) -> Calls:
    """Return a few calls of the last days."""
    return Calls(
        [
            Call("+1 555 0104", "Dad", s.now - 20_000, "missed"),
            Call("+1 555 0101", "Ana Silva", s.now - 90_000, "incoming"),
            Call("+1 555 0116", "Oak Street Dentist", s.now - 180_000 - s.rng.randrange(9_000)),
        ]
    )


dialer = App(
    package="com.android.dialer",
    label="Phone",
    icon=AppIcon("call", "#35C26B", "#1E9E50"),
    state=Calls,
    seed=seed,
    version_name="23.0",
    version_code=2900000,
    permissions=("android.permission.CALL_PHONE", "android.permission.READ_CONTACTS"),
)

KEYS = (
    ("1", ""),
    ("2", "ABC"),
    ("3", "DEF"),
    ("4", "GHI"),
    ("5", "JKL"),
    ("6", "MNO"),
    ("7", "PQRS"),
    ("8", "TUV"),
    ("9", "WXYZ"),
    ("*", ""),
    ("0", "+"),
    ("#", ""),
)


def name_of(page: Page[Calls], number: str) -> str:
    """Return who has a number, the number itself when nobody is known to."""
    from virtual_phone.apps.contacts import Contacts

    state = page.host.app_data.of_package("com.android.contacts")
    digits = "".join(c for c in number if c.isdigit())
    if isinstance(state, Contacts) and len(digits) > 3:
        for contact in state.contacts:
            if "".join(c for c in contact.phone if c.isdigit()) == digits:
                return contact.name
    return number


@dialer.page(
    ".DialtactsActivity",
    launcher=True,
    actions=[
        "android.intent.action.DIAL",
        "android.intent.action.DIAL tel",
        "android.intent.action.CALL tel",
        "android.intent.action.VIEW tel",
    ],
)
def dial(page: Page[Calls]) -> View:
    """Show the calls or the keypad."""
    given = unquote(page.args.get("data", "").removeprefix("tel:"))
    tab = page.local("tab", "keypad" if given else "recents")
    number = page.local("number", given)

    def start(target: str) -> None:
        if not target:
            return
        if page.settings.flag("global", "airplane_mode_on"):
            page.toast("Turn off airplane mode to make a call")
            return
        page.data.calls.insert(0, Call(target, name_of(page, target), page.now))
        page.data.active = target
        page.open(".InCallActivity")

    body = (
        _keypad(page, number, lambda: start(number)) if tab == "keypad" else _recents(page, start)
    )
    return screen(
        title_bar("Phone"),
        body,
        bottom_nav(
            [("recents", "Recents", "clock"), ("keypad", "Keypad", "apps")],
            tab,
            lambda v: page.set("tab", v),
        ),
    )


def _recents(page: Page[Calls], start: Callable[[str], None]) -> View:
    from virtual_phone.apps.messages_data import when_text

    def item(i: int, call: Call) -> View:
        missed = call.kind == "missed"
        return ui.row(
            avatar(call.name, 46),
            ui.column(
                text(
                    call.name,
                    TextStyle(17, 500, "error" if missed else "text", max_lines=1),
                    id="call_log_name",
                ),
                text(
                    f"{call.kind.capitalize()} • {when_text(page.now, call.when)}",
                    ui.CAPTION,
                    id="call_details",
                ),
                weight=1,
                gap=2,
            ),
            ui.icon_button("call", f"Call {call.name}", lambda: start(call.number), tint="accent"),
            width=MATCH,
            gap=16,
            pad=ui.edges(20, 9),
            key=f"call {i}",
        )

    if not page.data.calls:
        return empty("call", "No calls yet")
    return list_page("calls", *(item(i, c) for i, c in enumerate(page.data.calls)), pad_bottom=12)


def _keypad(page: Page[Calls], number: str, start: Callable[[], None]) -> View:
    def press(digit: str) -> Callable[[], None]:
        return lambda: page.set("number", number + digit)

    def key(digit: str, letters: str) -> View:
        return ui.column(
            text(digit, TextStyle(30, 400), id="dialpad_key_number"),
            text(letters, TextStyle(11, 500, "text2"), id="dialpad_key_letters"),
            on_click=press(digit),
            desc=digit,
            cross=Align.CENTER,
            main=Align.CENTER,
            weight=1,
            height=72,
            radius=36,
            fill="surface",
            cls="android.widget.FrameLayout",
            key=f"dial {digit}",
        )

    rows: list[ui.Child] = [
        ui.row(*(key(*k) for k in KEYS[i : i + 3]), width=MATCH, gap=14) for i in range(0, 12, 3)
    ]
    return ui.column(
        ui.space(weight=1),
        text(
            number,
            TextStyle(34, 400, max_lines=1, align=Align.CENTER),
            id="digits",
            cls="android.widget.EditText",
            width=MATCH,
            height=60,
        ),
        ui.space(weight=1),
        *rows,
        ui.row(
            ui.space(weight=1),
            ui.icon_button(
                "call",
                "dial",
                start,
                tint="#FFFFFF",
                size=30,
                width=76,
                height=76,
                radius=38,
                fill="#1E9E50",
                id="dialpad_floating_action_button",
            ),
            ui.stack(
                ui.icon_button(
                    "backspace",
                    "backspace",
                    lambda: page.set("number", number[:-1]),
                    id="deleteButton",
                    enabled=bool(number),
                ),
                weight=1,
            ),
            width=MATCH,
            pad=(0, 14, 0, 14),
        ),
        weight=1,
        gap=12,
        pad=ui.edges(34, 0),
    )


@dialer.page(".InCallActivity")
def in_call(page: Page[Calls]) -> View:
    """Show the call that goes on."""
    number = page.data.active
    name = name_of(page, number)

    def end() -> None:
        page.data.active = ""
        page.close()

    def tool(drawing: str, label: str) -> View:
        on = page.local(label) == "1"
        return ui.column(
            ui.stack(
                ui.icon(
                    drawing,
                    26,
                    "on_accent" if on else "text",
                    halign=Align.CENTER,
                    valign=Align.CENTER,
                ),
                width=64,
                height=64,
                radius=32,
                fill="accent" if on else "surface2",
            ),
            text(label, TextStyle(13, 400)),
            on_click=page.setter(label, "" if on else "1"),
            desc=label,
            checkable=True,
            checked=on,
            cross=Align.CENTER,
            gap=8,
            weight=1,
        )

    return screen(
        ui.column(
            ui.space(40),
            text(
                "Calling…" if number else "Call ended",
                TextStyle(16, 400, "text2"),
                id="contactgrid_status_text",
            ),
            text(name, TextStyle(34, 400), id="contactgrid_contact_name"),
            text(number if name != number else "", TextStyle(16, 400, "text2")),
            ui.space(30),
            avatar(name or "?", 140),
            ui.space(weight=1),
            ui.row(
                tool("volume_off", "Mute"),
                tool("apps", "Keypad"),
                tool("sound", "Speaker"),
                width=MATCH,
            ),
            ui.space(40),
            round_button(
                "call",
                "End call",
                end,
                id="incall_end_call",
                width=80,
                tint="#FFFFFF",
                fill="#D93025",
            ),
            ui.space(50),
            cross=Align.CENTER,
            weight=1,
            gap=8,
        ),
        fill="surface",
    )
