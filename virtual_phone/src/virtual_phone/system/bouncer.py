"""The page that asks for the lock screen's secret: what was typed as dots, and the keys of a PIN.

A password has no keys here: it comes from `input text`, a keyboard or scrcpy. Ids are those of
Android's SystemUI. Invariant: nothing that was typed is in the tree but its length.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from virtual_phone import lock
from virtual_phone.state.records import LockKind
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import column, edges, icon, row, space, stack, text

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

_ID = "com.android.systemui:id/"


def bouncer(phone: "Phone") -> View:
    """Draw the page."""
    state = phone.state_record.lock
    is_pin = state.kind is LockKind.PIN
    name = "PIN" if is_pin else "password"
    shown = "•" * len(state.typed)
    return column(
        space(weight=1),
        icon("lock", 26, "on_wallpaper", halign=Align.CENTER, id="lock_icon", desc="Locked"),
        text(
            state.says or f"Enter {name}",
            TextStyle(16, 400, "on_wallpaper"),
            halign=Align.CENTER,
            id=_ID + "bouncer_primary_message_area",
        ),
        text(
            shown or " ",
            TextStyle(32, 400, "on_wallpaper"),
            halign=Align.CENTER,
            id=_ID + ("pinEntry" if is_pin else "passwordEntry"),
            desc=f"{name[0].upper()}{name[1:]} area",
        ),
        space(24),
        *(_keys(phone) if is_pin else ()),
        space(weight=1),
        width=MATCH,
        height=MATCH,
        pad=edges(36, 48),
        gap=14,
        clickable=False,
        id=_ID + ("keyguard_pin_view" if is_pin else "keyguard_password_view"),
    )


def _keys(phone: "Phone") -> list[View]:
    def typed(digit: str) -> Callable[[], None]:
        return lambda: lock.type_text(phone, digit)

    def digit_key(digit: str) -> View:
        return _key(
            text(
                digit,
                TextStyle(28, 400, "on_wallpaper"),
                halign=Align.CENTER,
                valign=Align.CENTER,
                id=_ID + "digit_text",
            ),
            f"key{digit}",
            digit,
            typed(digit),
        )

    rows = [row(*map(digit_key, line), width=MATCH, gap=16) for line in ("123", "456", "789")]
    delete = icon("backspace", 26, "on_wallpaper", halign=Align.CENTER, valign=Align.CENTER)
    enter = icon("check", 26, "on_wallpaper", halign=Align.CENTER, valign=Align.CENTER)
    last = row(
        _key(delete, "delete_button", "Delete", lambda: lock.erase(phone)),
        digit_key("0"),
        _key(enter, "key_enter", "Enter", lambda: lock.submit(phone)),
        width=MATCH,
        gap=16,
    )
    return [*rows, last]


def _key(face: View, name: str, desc: str, act: Callable[[], None]) -> View:
    return stack(
        face,
        on_click=act,
        desc=desc,
        id=_ID + name,
        key=f"bouncer {name}",
        weight=1,
        height=76,
        radius=38,
        fill="scrim",
    )
