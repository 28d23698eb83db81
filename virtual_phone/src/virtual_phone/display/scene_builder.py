"""Build the scene of a display from the phone's state.

Decides which windows there are, in which order and with which theme; the trees come from apps, the
system's own windows from `overlays`. Invariant: the same state and time give the same scene.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from virtual_phone import lock
from virtual_phone.app import App, Page
from virtual_phone.apps import app_of
from virtual_phone.display import overlays
from virtual_phone.display.scene import Scene, Surface
from virtual_phone.state.records import PageState
from virtual_phone.system import bars, bouncer, keyboard, keyguard
from virtual_phone.ui.bind import bind, find
from virtual_phone.ui.layout import Metrics, lay_out
from virtual_phone.ui.theme import DARK, LIGHT
from virtual_phone.ui.views import MATCH, Rect, View
from virtual_phone.ui.vocabulary import column, stack

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

log = logging.getLogger(__name__)


def build_scene(phone: Phone, display: int) -> Scene:
    width, height, density = phone.displays.size(display)
    font_scale = min(max(phone.settings.number("system", "font_scale", 1.0), 0.5), 2.0)
    scale = max(density, 72) / 160
    theme = DARK if phone.settings.dark else LIGHT
    scene = Scene(display, width, height, Metrics(scale, font_scale), theme)
    if not phone.power.screen_on and display == 0:
        scene.off = True
        return scene
    main = display == 0
    if main and phone.power.locked:
        scene.wallpaper = True
        name = "bouncer" if lock.asks(phone) else "keyguard"
        page = (
            bouncer.bouncer(phone)
            if lock.asks(phone)
            else keyguard.keyguard(phone, lambda: lock.dismiss(phone))
        )
        overlays.add(phone, scene, page, "NotificationShade", name, theme=DARK)
    else:
        _application(phone, scene)
        if main and phone.focus.keyboard_shown and _focus_is_gone(scene):
            # A window that takes the focus away from a field, or goes with it, ends its input.
            phone.focus.hide_keyboard()
            return build_scene(phone, display)
        if main:
            overlays.add_splash(phone, scene)
            overlays.add_prompt(phone, scene)
    if main:
        if phone.shade.shown:
            overlays.add_shade(phone, scene)
        elif phone.notifications.heads_up is not None and not phone.power.locked:
            overlays.add_heads_up(phone, scene, phone.notifications.heads_up)
        if phone.focus.keyboard_shown and not phone.power.locked and not phone.shade.shown:
            overlays.add_keyboard(phone, scene)
            overlays.add_text_tools(phone, scene)
        overlays.add_toast(phone, scene)
        overlays.add_bars(phone, scene)
    return scene


def _focus_is_gone(scene: Scene) -> bool:
    surface = scene.focused()
    focus = "" if surface is None else surface.page.focus
    return bool(focus) and surface is not None and find(surface.root, focus) is None


def _application(phone: Phone, scene: Scene) -> None:
    top = phone.tasks.top(scene.display)
    if top is None:
        return
    task, page_state = top
    app = app_of(task.package)
    try:
        view, page = app_view(phone, app, page_state)
    except Exception:
        log.exception("The page %s of the phone %s failed", page_state.activity, phone.name)
        page_state.local.clear()
        phone.prompts.crash(task.package)
        if task.package != "com.android.launcher3":
            _application(phone, scene)
        return
    home = task.package == "com.android.launcher3"
    scene.wallpaper = home
    main = scene.display == 0
    shown_keyboard = main and phone.focus.keyboard_shown and not phone.shade.shown
    bottom = keyboard.HEIGHT_DP if shown_keyboard else 0.0
    if main:
        bottom += overlays.nav_dp(phone)
    top_dp = float(bars.STATUS_DP) if main else 0.0
    fill = view.fill or ("" if home else "background")
    content = stack(
        view, id="android:id/content", width=MATCH, height=MATCH, pad=(0, top_dp, 0, bottom)
    )
    view.height = MATCH if view.height != MATCH else view.height
    root = stack(column(content, height=MATCH), width=MATCH, height=MATCH, fill=fill)
    title = f"{task.package}/{page_state.activity}"
    surface = Surface(
        title,
        task.package,
        root,
        Rect(0, 0, scene.width, scene.height),
        page_state,
        activity=page_state.activity,
        token=page_state.token,
        task_id=task.id,
        secure=page.secure,
        on_back=page.on_back,
        keeps_wallpaper=home,
    )
    bind(root, page_state, phone.pressed.on(page_state))
    lay_out(root, surface.frame, scene.metrics)
    scene.surfaces.append(surface)
    if page.dialog is not None:
        _dialog(phone, scene, surface, page.dialog, page, bottom)


def app_view(
    phone: Phone, app: App[msgspec.Struct] | None, state: PageState
) -> tuple[View, Page[msgspec.Struct]]:
    """Run a page's function; an app that has no pages of its own shows its name."""
    if app is None or state.activity not in app.pages:
        return _nameless(phone, state)
    page = Page(phone, app, state, phone.app_data.of(app))
    return app.pages[state.activity](page), page


def _nameless(phone: Phone, state: PageState) -> tuple[View, Page[msgspec.Struct]]:
    from virtual_phone.apps.plain import plain, plain_page

    page = Page[msgspec.Struct](phone, plain, state, msgspec.Struct())
    task = phone.tasks.task_of(state)
    return plain_page(page, task.package if task else ""), page


def _dialog(
    phone: Phone,
    scene: Scene,
    below: Surface,
    view: View,
    page: Page[msgspec.Struct],
    bottom_dp: float,
) -> None:
    state = page.state
    bind(view, state, phone.pressed.on(state), prefix="dialog")
    m = scene.metrics
    frame = overlays.dialog_frame(view, scene, bottom_dp)
    lay_out(view, frame, m)
    scene.surfaces.append(
        Surface(
            below.title,
            below.package,
            view,
            frame,
            state,
            type="APPLICATION",
            activity=below.activity,
            token=below.token ^ 0x5A5A5,
            task_id=below.task_id,
            modal=True,
            dims=True,
            secure=page.secure,
            on_dismiss=page.on_dismiss,
            on_back=_dismisser(page),
        )
    )


def _dismisser(page: Page[msgspec.Struct]) -> Callable[[], bool]:
    dismiss = page.on_dismiss

    def act() -> bool:
        if dismiss is not None:
            dismiss()
        return True

    return act
