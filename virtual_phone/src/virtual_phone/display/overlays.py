"""The system's windows over an app: dialogs, shade, splash, keyboard, toasts and bars.

Each function puts one window into a scene; which of them there are is the stage's to say.
Invariant: what cannot be touched or have the focus says so in its surface.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from virtual_phone.app import Host
from virtual_phone.apps import icon_of
from virtual_phone.display.scene import Scene, Surface
from virtual_phone.state.records import Notice, PageState
from virtual_phone.system import bars, dialogs, keyboard, shade
from virtual_phone.system.text_tools import text_tools
from virtual_phone.ui.bind import bind, field_state, find, walk
from virtual_phone.ui.layout import lay_out
from virtual_phone.ui.theme import Theme
from virtual_phone.ui.views import MATCH, Align, Kind, Rect, TextStyle, View
from virtual_phone.ui.vocabulary import row, stack, text

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

SYSTEM_UI = "com.android.systemui"
IME = "com.android.inputmethod.latin"
DIALOG_WIDTH_DP = 348


def nav_dp(phone: Host) -> float:
    """Return the height of the navigation bar in dp."""
    buttons = phone.settings.get("secure", "navigation_mode") == "0"
    return bars.NAV_BUTTONS_DP if buttons else bars.NAV_GESTURE_DP


def dialog_frame(view: View, scene: Scene, bottom_dp: float) -> Rect:
    """Return where a dialog stands: in the middle of what the bars and the keyboard leave."""
    m = scene.metrics
    width = min(m.px(DIALOG_WIDTH_DP), scene.width - m.px(32))
    if view.width > 0:
        width = m.px(view.width)
    top = m.px(bars.STATUS_DP)
    room = scene.height - top - m.px(bottom_dp)
    lay_out(view, Rect(0, 0, width, room - m.px(24)), m)
    height = min(view.measured[1], room - m.px(24))
    left = (scene.width - width) // 2
    if view.valign is Align.END:
        return Rect(
            left,
            scene.height - m.px(bottom_dp) - height,
            left + width,
            scene.height - m.px(bottom_dp),
        )
    y = top + (room - height) // 2
    return Rect(left, y, left + width, y + height)


def add_prompt(phone: Phone, scene: Scene) -> None:
    """Put what the system asks over everything, if it asks something."""
    prompt = phone.state_record.system.get("prompt")
    if prompt is None:
        return
    view, package, dismiss = dialogs.prompt(phone, prompt)
    bind(view, prompt, phone.pressed.on(prompt))
    frame = dialog_frame(view, scene, nav_dp(phone))
    lay_out(view, frame, scene.metrics)
    scene.surfaces.append(
        Surface(
            dialogs.title_of(prompt),
            package,
            view,
            frame,
            prompt,
            type="APPLICATION",
            token=0x77A1C,
            activity=dialogs.activity_of(prompt),
            modal=True,
            dims=True,
            on_back=dismiss,
            on_dismiss=(lambda: phone.prompts.answer("nothing"))
            if prompt.local.get("kind") == "power"
            else None,
        )
    )


def _system_page(phone: Phone, name: str) -> PageState:
    return phone.state_record.system.setdefault(name, PageState(name))


def add(
    phone: Phone,
    scene: Scene,
    view: View,
    title: str,
    page_name: str,
    *,
    theme: Theme | None = None,
    focusable: bool = True,
    type: str = "NOTIFICATION_SHADE",
) -> Surface:
    """Lay a page of the system over the whole screen, and give its surface."""
    state = _system_page(phone, page_name)
    frame = Rect(0, 0, scene.width, scene.height)
    bind(view, state, phone.pressed.on(state))
    lay_out(view, frame, scene.metrics)
    surface = Surface(
        title,
        SYSTEM_UI,
        view,
        frame,
        state,
        type=type,
        token=0x3C0FFE,
        theme=theme,
        modal=True,
        focusable=focusable,
    )
    scene.surfaces.append(surface)
    return surface


def add_shade(phone: Phone, scene: Scene) -> None:
    """Pull the shade over the screen, with or without the quick settings."""
    view = shade.shade(phone, expanded=phone.shade.shown == "quick_settings")
    surface = add(phone, scene, view, "NotificationShade", "shade")
    surface.on_back = phone.shade.close
    surface.dims = True


def add_splash(phone: Phone, scene: Scene) -> None:
    """Cover an app that starts cold with its icon; it takes no touches and no focus."""
    from virtual_phone.system.launcher import icon_art
    from virtual_phone.ui.vocabulary import art

    package = phone.activities.splash
    if not package or not scene.surfaces or scene.surfaces[0].package != package:
        return
    shown = art(icon_art(icon_of(package)), 108, 108, id="splashscreen_icon_view")
    shown.halign = shown.valign = Align.CENTER
    view = stack(shown, width=MATCH, height=MATCH, fill="background")
    frame = Rect(0, 0, scene.width, scene.height)
    lay_out(view, frame, scene.metrics)
    scene.surfaces.append(
        Surface(
            f"Splash Screen {package}",
            package,
            view,
            frame,
            PageState("splash"),
            type="APPLICATION_STARTING",
            token=0x5B1A54,
            focusable=False,
            touchable=False,
        )
    )


def add_heads_up(phone: Phone, scene: Scene, notice: Notice) -> None:
    """Show a notification that has just come over the top of what is there."""
    m = scene.metrics
    view = shade.notice_card(phone, notice)
    view.elevation = 8
    state = _system_page(phone, "heads_up")
    bind(view, state, phone.pressed.on(state))
    width = min(scene.width - m.px(24), m.px(DIALOG_WIDTH_DP + 60))
    lay_out(view, Rect(0, 0, width, m.px(200)), m)
    left, top = (scene.width - width) // 2, m.px(bars.STATUS_DP + 4)
    frame = Rect(left, top, left + width, top + view.measured[1])
    lay_out(view, frame, m)
    scene.surfaces.append(
        Surface(
            "NotificationShade",
            SYSTEM_UI,
            view,
            frame,
            state,
            type="NOTIFICATION_SHADE",
            token=0x3C0FFE,
            focusable=False,
        )
    )


def add_keyboard(phone: Phone, scene: Scene) -> None:
    """Put the keyboard at the bottom; its last key breaks lines where the focused field can."""
    state = _system_page(phone, "keyboard")
    multiline = False
    for surface in scene.surfaces:
        for view in walk(surface.root):
            if view.kind is Kind.FIELD and view.focused:
                multiline = view.multiline
    view = keyboard.keyboard(state, phone.keys, nav_dp(phone), "enter" if multiline else "check")
    m = scene.metrics
    top = scene.height - m.px(keyboard.HEIGHT_DP + nav_dp(phone))
    frame = Rect(0, top, scene.width, scene.height)
    bind(view, state, phone.pressed.on(state))
    lay_out(view, frame, m)
    scene.surfaces.append(
        Surface(
            "InputMethod",
            IME,
            view,
            frame,
            state,
            type="INPUT_METHOD",
            token=0x1ADE8F,
            focusable=False,
        )
    )


def add_text_tools(phone: Phone, scene: Scene) -> None:
    """Stand the bar with cut, copy and paste above the field it is for."""
    page = phone.focus.text_tools
    surface = scene.surface_of(page) if page is not None else None
    field = find(surface.root, page.focus) if surface is not None and page is not None else None
    if page is None or field is None or field.kind is not Kind.FIELD:
        return
    view = text_tools(field_state(page, field), phone.clipboard.text, phone.focus.use_text_tool)
    if not view.children:
        return
    m = scene.metrics
    state = _system_page(phone, "text_tools")
    bind(view, state, phone.pressed.on(state))
    lay_out(view, Rect(0, 0, scene.width, m.px(60)), m)
    width, height = view.measured
    top = max(m.px(bars.STATUS_DP), field.clip.top - height - m.px(10))
    left = min(max(field.clip.left, m.px(12)), max(0, scene.width - width - m.px(12)))
    frame = Rect(left, top, left + width, top + height)
    lay_out(view, frame, m)
    scene.surfaces.append(
        Surface(
            "PopupWindow:7d0f1a2",
            scene.surfaces[0].package,
            view,
            frame,
            state,
            type="APPLICATION_SUB_PANEL",
            token=0x7D0F1A2,
            focusable=False,
        )
    )


def add_toast(phone: Phone, scene: Scene) -> None:
    """Show the message that an app has just given, above the keyboard."""
    message = phone.toasts.shown
    if not message:
        return
    view = row(
        text(message, TextStyle(14.5, 400, "on_toast", max_lines=2), id="android:id/message"),
        fill="toast",
        radius=24,
        elevation=4,
        pad=(20, 14, 20, 14),
        height=-2,
    )
    state = PageState("toast")
    m = scene.metrics
    lay_out(view, Rect(0, 0, scene.width - m.px(64), m.px(120)), m)
    w, h = view.measured
    bottom = scene.height - m.px(72)
    if phone.focus.keyboard_shown:
        bottom -= m.px(keyboard.HEIGHT_DP)
    left = (scene.width - w) // 2
    frame = Rect(left, bottom - h, left + w, bottom)
    lay_out(view, frame, m)
    scene.surfaces.append(
        Surface(
            "Toast",
            SYSTEM_UI,
            view,
            frame,
            state,
            type="TOAST",
            token=0x70A57,
            focusable=False,
            touchable=False,
        )
    )


def add_bars(phone: Phone, scene: Scene) -> None:
    """Draw the bars of the system, light or dark as what lies behind them asks."""
    m = scene.metrics
    light = _dark_behind(phone, scene)
    role = "on_wallpaper" if light else "on_light"
    if any(s.dims for s in scene.surfaces) and not phone.shade.shown:
        role = "on_wallpaper"
    drawings = [icon_of(n.package).drawing for n in phone.state_record.notices]
    status = bars.status_bar(
        phone,
        role,
        list(dict.fromkeys(drawings)),
        phone.state_record.battery_level,
        phone.state_record.battery_charging,
    )
    page = _system_page(phone, "bars")
    frame = Rect(0, 0, scene.width, m.px(bars.STATUS_DP))
    lay_out(status, frame, m)
    scene.surfaces.append(
        Surface(
            "StatusBar",
            SYSTEM_UI,
            status,
            frame,
            page,
            type="STATUS_BAR",
            token=0x57A7B,
            focusable=False,
            touchable=False,
        )
    )
    mode = phone.settings.get("secure", "navigation_mode") or "2"
    nav_role = "on_wallpaper" if light else "on_light"
    if phone.focus.keyboard_shown and not phone.shade.shown:
        nav_role = "text"
    nav = bars.navigation_bar(
        mode,
        nav_role,
        lambda name: lambda: phone.navigation.go(name),
        keyboard=phone.focus.keyboard_shown,
    )
    bottom = Rect(0, scene.height - m.px(nav_dp(phone)), scene.width, scene.height)
    bind(nav, page, phone.pressed.on(page))
    lay_out(nav, bottom, m)
    scene.surfaces.append(
        Surface(
            "NavigationBar0",
            SYSTEM_UI,
            nav,
            bottom,
            page,
            type="NAVIGATION_BAR",
            token=0x9AB00,
            focusable=False,
            touchable=mode == "0",
        )
    )


def _dark_behind(phone: Phone, scene: Scene) -> bool:
    """Return whether what stands behind the bars is dark, so that they are drawn light."""
    if phone.power.locked:
        return True
    if phone.shade.shown:
        return scene.theme.dark
    app = next((s for s in scene.surfaces if s.type == "BASE_APPLICATION"), None)
    if app is None or app.secure or (app.keeps_wallpaper and not app.root.fill):
        return True
    red, green, blue, _ = scene.theme.color(app.root.fill or "background")
    return red * 299 + green * 587 + blue * 114 < 128_000
