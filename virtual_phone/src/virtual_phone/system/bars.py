"""The status bar and the navigation bar.

Drawn from the phone's settings and clock; never part of a UI dump. Invariant: heights are the same
for layout, drawing and gesture zones.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from virtual_phone.app import Host
from virtual_phone.ui.canvas import Canvas
from virtual_phone.ui.views import MATCH, Align, Rect, TextStyle, View
from virtual_phone.ui.vocabulary import art, edges, icon, icon_button, row, space, stack, text

STATUS_DP = 34
NAV_GESTURE_DP = 24
NAV_BUTTONS_DP = 48


def clock_text(host: Host) -> str:
    """Return the time as the status bar shows it."""
    local = datetime.fromtimestamp(host.now(), UTC)
    if host.settings.get("system", "time_12_24") == "12":
        return f"{(local.hour - 1) % 12 + 1}:{local.minute:02d}"
    return f"{local.hour:02d}:{local.minute:02d}"


def battery_art(level: int, charging: bool, role: str) -> Callable[[Canvas, Rect], None]:
    """Return a painter of the battery symbol."""

    def paint(canvas: Canvas, rect: Rect) -> None:
        color = canvas.color(role)
        w, h = rect.width, rect.height
        cap = max(2, w // 8)
        body = Rect(rect.left, rect.top, rect.right - cap, rect.bottom)
        faint = (color[0], color[1], color[2], 90)
        radius = h * 0.3
        canvas.fill(body, faint, (radius,) * 4)
        filled = Rect(body.left, body.top, body.left + round(body.width * level / 100), body.bottom)
        low = level <= 15 and not charging
        canvas.fill(
            filled,
            canvas.color("error") if low else color,
            (radius, radius if level > 90 else 3, radius if level > 90 else 3, radius),
        )
        middle = (rect.top + rect.bottom) // 2
        canvas.fill(
            Rect(rect.right - cap + 2, middle - h // 5, rect.right, middle + h // 5),
            color,
            (0, 3, 3, 0),
        )

    return paint


def status_bar(host: Host, role: str, notices: list[str], level: int, charging: bool) -> View:
    """Draw the clock, notification icons, radios and the battery in one color role."""
    s = host.settings
    airplane = s.flag("global", "airplane_mode_on")
    style = TextStyle(14.5, 500, role)
    right: list[View | None] = [
        icon("dnd", 15, role) if s.flag("global", "zen_mode") else None,
        icon("bluetooth", 15, role) if s.flag("global", "bluetooth_on") else None,
        icon("alarm", 15, role) if s.get("system", "next_alarm_formatted") else None,
        icon("airplane", 16, role) if airplane else None,
        icon("wifi_full", 17, role) if s.flag("global", "wifi_on") else None,
        icon("signal", 16, role) if not airplane else None,
        text(f"{level}%", TextStyle(13, 500, role))
        if s.flag("system", "status_bar_show_battery_percent")
        else None,
        art(battery_art(level, charging, role), 23, 12.5),
    ]
    return row(
        text(clock_text(host), style),
        space(3),
        *(icon(name, 16, role) for name in notices[:4]),
        space(weight=1),
        *right,
        width=MATCH,
        height=STATUS_DP,
        gap=5,
        pad=(24, 4, 22, 0),
        hidden_from_tree=True,
    )


def navigation_bar(
    mode: str, role: str, act: Callable[[str], Callable[[], object]], *, keyboard: bool
) -> View:
    """Draw the gesture pill, or three buttons in mode 0."""
    if mode != "0":
        return stack(
            row(
                width=118,
                height=4.5,
                radius=2.25,
                fill=role,
                halign=Align.CENTER,
                valign=Align.CENTER,
            ),
            width=MATCH,
            height=NAV_GESTURE_DP,
        )
    return row(
        icon_button("keyboard_hide" if keyboard else "arrow_back", "Back", act("back"), tint=role),
        icon_button("radio_off", "Home", act("home"), tint=role),
        icon_button("check_box_blank", "Overview", act("recents"), tint=role, size=20),
        width=MATCH,
        height=NAV_BUTTONS_DP,
        main=Align.BETWEEN,
        pad=edges(56, 0),
    )
