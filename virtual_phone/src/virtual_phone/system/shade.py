"""The notification shade and quick settings.

Tiles change the same settings rows as the Settings app. Invariant: a tile shows what is set.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from virtual_phone.app import Host
from virtual_phone.state.records import Notice
from virtual_phone.system.bars import clock_text
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.views import MATCH, Align, TextStyle, View


def shade(host: Host, *, expanded: bool) -> View:
    """Draw the shade; `expanded` shows all quick settings and the brightness."""
    local = datetime.fromtimestamp(host.now(), UTC)
    notices = host.notifications.all()

    def swiped(direction: str) -> bool:
        if direction == "up":
            if expanded:
                host.shade.open(expanded=False)
            else:
                host.shade.close()
        elif direction == "down" and not expanded:
            host.shade.open(expanded=True)
        return direction in ("up", "down")

    tiles = _tiles(host)
    brightness = host.settings.number("system", "screen_brightness", 128) / 255

    def bright(value: float) -> None:
        host.settings.put("system", "screen_brightness", str(round(value * 255)))

    def clear() -> None:
        for notice in host.notifications.all():
            if not notice.ongoing:
                host.notifications.dismiss(notice.id)

    return ui.column(
        ui.row(
            ui.text(clock_text(host), TextStyle(30, 400), id="clock"),
            ui.text(f"{local:%a}, {local:%b} {local.day}", TextStyle(16, 400, "text2"), id="date"),
            width=MATCH,
            gap=14,
            pad=(12, 44, 12, 8),
            main=Align.START,
        ),
        ui.row(
            ui.icon("brightness", 20, "text2"),
            ui.slider(brightness, bright, weight=1, id="slider", desc="Display brightness"),
            width=MATCH,
            gap=14,
            pad=ui.edges(12, 6),
            id="brightness_slider",
        )
        if expanded
        else None,
        ui.grid(2, *(tiles if expanded else tiles[:4]), gap=8, id="quick_settings_panel"),
        ui.row(
            ui.space(weight=1),
            ui.icon_button(
                "edit", "Edit tiles", lambda: host.toasts.show("Tiles cannot be edited here")
            ),
            ui.icon_button("settings", "Open settings", lambda: _open_settings(host)),
            ui.icon_button(
                "power", "Power menu", lambda: host.toasts.show("Hold the power button instead")
            ),
            width=MATCH,
            gap=4,
        )
        if expanded
        else None,
        ui.scroll(
            "notices",
            *(notice_card(host, n) for n in notices),
            ui.text(
                "No notifications",
                TextStyle(15, 400, "text2"),
                halign=Align.CENTER,
                margin=(0, 30, 0, 0),
                id="no_notifications",
            )
            if not notices
            else None,
            ui.row(
                ui.space(weight=1),
                ui.stack(
                    ui.text("Clear all", TextStyle(14, 500, "accent")),
                    on_click=clear,
                    id="dismiss_text",
                    cls="android.widget.Button",
                    desc="Clear all notifications",
                    fill="surface",
                    radius=20,
                    pad=ui.edges(20, 12),
                ),
                width=MATCH,
            )
            if notices
            else None,
            gap=3,
            id="notification_stack_scroller",
            margin=(0, 14, 0, 0),
        ),
        fill="shade",
        width=MATCH,
        height=MATCH,
        pad=(14, 0, 14, 28),
        on_swipe=swiped,
        clickable=False,
        id="notification_panel",
        cls="android.widget.FrameLayout",
    )


def _open_settings(host: Host) -> None:
    from virtual_phone.state.records import PageState

    host.shade.close()
    host.activities.open(PageState(""), "com.android.settings", "com.android.settings.Settings", {})


def _tiles(host: Host) -> list[View]:
    s = host.settings

    def flag(label: str, drawing: str, key: str, said: str = "On") -> View:
        on = s.flag("global", key)
        return tile(
            label, drawing, on, lambda: s.set_flag("global", key, not s.flag("global", key)), said
        )

    def tile(label: str, drawing: str, on: bool, act: Callable[[], None], said: str = "On") -> View:
        return _tile(label, drawing, said if on else "Off", on, act)

    dark = s.dark
    turns = s.flag("system", "accelerometer_rotation")
    located = s.get("secure", "location_mode") != "0"

    def locate() -> None:
        s.put("secure", "location_mode", "0" if located else "3")

    return [
        flag("Internet", "wifi", "wifi_on", "Linewire Home"),
        flag("Bluetooth", "bluetooth", "bluetooth_on"),
        flag("Do Not Disturb", "dnd", "zen_mode"),
        flag("Flashlight", "flashlight", "flashlight_on"),
        flag("Airplane mode", "airplane", "airplane_mode_on"),
        tile("Dark theme", "dark_mode", dark, lambda: s.set_dark(not dark)),
        tile("Auto-rotate", "auto_rotate", turns, lambda: host.rotation.set_free(not turns)),
        flag("Battery Saver", "battery_saver", "low_power"),
        tile("Location", "location", located, locate),
        flag("Mobile data", "data", "mobile_data", "Linewire"),
    ]


def _tile(label: str, drawing: str, state: str, on: bool, act: Callable[[], None]) -> View:
    ink = "on_accent" if on else "text"
    return ui.row(
        ui.icon(drawing, 22, ink, hidden_from_tree=True),
        ui.column(
            ui.text(label, TextStyle(15, 500, ink, max_lines=1), id="tile_label"),
            ui.text(state, TextStyle(13, 400, ink, max_lines=1), id="app_label"),
            weight=1,
            gap=1,
        ),
        on_click=act,
        checkable=True,
        checked=on,
        cls="android.widget.Switch",
        desc=f"{label}, {state}",
        width=MATCH,
        height=72,
        radius=26,
        pad=ui.edges(18, 0),
        gap=14,
        fill="accent" if on else "tile_off",
        key=f"tile {label}",
    )


def notice_card(host: Host, notice: Notice, *, opens: bool = True) -> View:
    """Draw a notification; a swipe to the side dismisses it."""
    from virtual_phone.apps import icon_of
    from virtual_phone.system.launcher import icon_art
    from virtual_phone.ui.vocabulary import art

    info = host.packages.get(notice.package)
    label = info.label if info is not None else notice.package

    def swiped(direction: str) -> bool:
        if direction in ("left", "right") and not notice.ongoing:
            host.notifications.dismiss(notice.id)
            return True
        return False

    minutes = max(0, int((host.now() - notice.when) // 60))
    age = "now" if minutes < 1 else f"{minutes}m" if minutes < 60 else f"{minutes // 60}h"
    return ui.row(
        art(icon_art(icon_of(notice.package)), 38, 38, hidden_from_tree=True),
        ui.column(
            ui.row(
                ui.text(label, ui.CAPTION, id="android:id/app_name_text"),
                ui.text(f"• {age}", ui.CAPTION, id="android:id/time"),
                gap=6,
            ),
            ui.text(notice.title, TextStyle(15.5, 500, max_lines=1), id="android:id/title"),
            ui.text(
                notice.text,
                ui.styled(TextStyle(14.5, 400, "text2"), max_lines=2),
                id="android:id/big_text",
            ),
            weight=1,
            gap=2,
        ),
        on_click=(lambda: host.activities.open_notice(notice)) if opens else None,
        on_swipe=swiped if opens else None,
        width=MATCH,
        pad=ui.edges(16, 14),
        gap=14,
        radius=24,
        fill="surface",
        cls="android.widget.FrameLayout",
        id="com.android.systemui:id/expandableNotificationRow",
        cross=Align.START,
        key=f"notice {notice.id}",
    )
