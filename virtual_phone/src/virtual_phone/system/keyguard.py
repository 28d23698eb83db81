"""The lock screen: a clock, notifications, and a swipe up to unlock.

Where there is a secret, the swipe asks for it (`bouncer`). Invariant: nothing of an app is shown
while the phone is locked.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from virtual_phone.app import Host
from virtual_phone.system.bars import clock_text
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import column, edges, icon, space, text


def keyguard(host: Host, dismiss: Callable[[], None]) -> View:
    """Draw the lock screen; a swipe up dismisses it."""
    from virtual_phone.system.shade import notice_card

    local = datetime.fromtimestamp(host.now(), UTC)

    def swiped(direction: str) -> bool:
        if direction == "up":
            dismiss()
        return direction == "up"

    show = host.settings.flag("secure", "lock_screen_show_notifications")
    return column(
        space(96),
        text(
            clock_text(host),
            TextStyle(92, 300, "on_wallpaper"),
            halign=Align.CENTER,
            id="lockscreen_clock_view",
        ),
        text(
            f"{local:%a}, {local:%b} {local.day}",
            TextStyle(19, 400, "on_wallpaper"),
            halign=Align.CENTER,
            id="keyguard_date",
        ),
        space(36),
        *(
            (notice_card(host, n, opens=False) for n in host.notifications.all()[:3])
            if show
            else ()
        ),
        space(weight=1),
        icon("lock", 26, "on_wallpaper", halign=Align.CENTER, id="lock_icon", desc="Locked"),
        text(
            "Swipe up to open",
            TextStyle(14, 400, "on_wallpaper"),
            halign=Align.CENTER,
            id="keyguard_indication_text",
            margin=(0, 14, 0, 48),
        ),
        width=MATCH,
        height=MATCH,
        pad=edges(14, 0),
        gap=6,
        on_swipe=swiped,
        clickable=False,
        id="com.android.systemui:id/keyguard_root_view",
    )
