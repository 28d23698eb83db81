"""What key presses do: text into the focused field, navigation, volume, power, focus moves.

Works on the phone's parts; the codes are in `keycodes`. Invariant: a key that means nothing here
changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from virtual_phone import lock
from virtual_phone.display.scene import Surface
from virtual_phone.input import editing
from virtual_phone.input import keycodes as k
from virtual_phone.state.records import FieldState
from virtual_phone.ui.bind import field_state, find, walk
from virtual_phone.ui.views import Kind, View

if TYPE_CHECKING:
    from virtual_phone.input.gestures import Gestures as Phone

_APPS = {
    k.EXPLORER: "com.android.browser",
    k.ENVELOPE: "com.android.email",
    k.SETTINGS: "com.android.settings",
    k.CONTACTS: "com.android.contacts",
    k.CALENDAR: "com.android.calendar",
    k.CAMERA: "com.android.camera2",
    k.CALL: "com.android.dialer",
    k.CALCULATOR: "com.android.calculator2",
}
VOLUME_STEPS = 15


def focused_field(phone: Phone) -> tuple[Surface, View] | None:
    """Return the text field that has the focus, and its window."""
    surface = phone.scene().focused()
    if surface is None or not surface.page.focus:
        return None
    view = find(surface.root, surface.page.focus)
    if view is None or view.kind is not Kind.FIELD or not view.enabled:
        return None
    return surface, view


def press(phone: Phone, code: int, *, long_press: bool = False, meta: int = 0) -> bool:
    """Press and release a key; return whether it did anything."""
    if not phone.screen_on:
        if code in (k.POWER, k.WAKEUP):
            phone.wake()
            return True
        return False
    if code in (k.POWER, k.SLEEP, k.WAKEUP):
        if code == k.POWER and long_press:
            phone.prompts.show_power_menu()
        elif code != k.WAKEUP:
            phone.sleep()
        return True
    if code in (k.VOLUME_UP, k.VOLUME_DOWN, k.VOLUME_MUTE):
        _volume(phone, code)
        return True
    if lock.asks(phone):
        return lock.press(phone, code, shift=bool(meta & k.META_SHIFT))
    if phone.locked:
        if code in (k.MENU, k.SPACE, k.ENTER):
            lock.dismiss(phone)
            return True
        return False
    if code == k.HOME:
        return phone.system_gesture("home")
    if code in (k.BACK, k.ESCAPE):
        return phone.system_gesture("back")
    if code == k.APP_SWITCH:
        return phone.system_gesture("recents")
    if code == k.NOTIFICATION:
        return phone.system_gesture("shade")
    if code in (k.ALL_APPS, k.ASSIST):
        return phone.system_gesture("drawer")
    if code in (k.BRIGHTNESS_UP, k.BRIGHTNESS_DOWN):
        step = 26 if code == k.BRIGHTNESS_UP else -26
        level = phone.settings.number("system", "screen_brightness", 128) + step
        phone.settings.put("system", "screen_brightness", str(int(min(max(level, 1), 255))))
        return True
    if code in _APPS:
        return phone.launch_if_there(_APPS[code])
    found = focused_field(phone)
    if found is not None and _edit(phone, *found, code, meta):
        return True
    return _navigate(phone, code)


def _volume(phone: Phone, code: int) -> None:
    level = phone.settings.number("system", "volume_music", 8)
    step = {k.VOLUME_UP: 1.0, k.VOLUME_DOWN: -1.0}.get(code, -VOLUME_STEPS)
    phone.settings.put("system", "volume_music", str(int(min(max(level + step, 0), VOLUME_STEPS))))


def type_text(phone: Phone, text: str) -> bool:
    """Type text into the focused field; return whether there was one."""
    if lock.asks(phone):
        lock.type_text(phone, text)
        return True
    found = focused_field(phone)
    if found is None:
        return False
    surface, view = found
    state = field_state(surface.page, view)
    if not view.multiline and "\n" in text:
        first, _, rest = text.partition("\n")
        _insert(phone, surface, view, state, first)
        submit(phone, surface, view)
        return type_text(phone, rest) if rest else True
    _insert(phone, surface, view, state, text)
    return True


def _insert(phone: Phone, surface: Surface, view: View, state: FieldState, text: str) -> None:
    before = state.text
    editing.insert(state, text, multiline=view.multiline)
    _changed(phone, surface, view, state, before)


def _changed(phone: Phone, surface: Surface, view: View, state: FieldState, before: str) -> None:
    if state.text != before and view.on_text is not None:
        told = view.on_text
        phone.run(lambda: told(state.text), surface)
    phone.invalidate()


def replace_text(phone: Phone, surface: Surface, view: View, text: str) -> None:
    """Put text in place of all that a field holds, as an accessibility service does."""
    state = field_state(surface.page, view)
    before = state.text
    editing.select_all(state)
    editing.insert(state, text, multiline=view.multiline)
    _changed(phone, surface, view, state, before)


def submit(phone: Phone, surface: Surface, view: View) -> None:
    """Do what the keyboard's action key does in a one-line field."""
    state = field_state(surface.page, view)
    if view.on_submit is not None:
        act = view.on_submit
        phone.run(lambda: act(state.text), surface)
        return
    fields = [v for v in walk(surface.root) if v.kind is Kind.FIELD and v.enabled]
    later = fields[fields.index(view) + 1 :] if view in fields else []
    if later:
        phone.focus_view(surface, later[0], keyboard=True)
    else:
        phone.hide_keyboard()


def _edit(phone: Phone, surface: Surface, view: View, code: int, meta: int) -> bool:
    state = field_state(surface.page, view)
    before = state.text
    if meta & k.META_CTRL:
        name = k.CHARACTERS.get(code, ("", ""))[0]
        code = {"c": k.COPY, "x": k.CUT, "v": k.PASTE}.get(name, code)
        if name == "a":
            editing.select_all(state)
            phone.invalidate()
            return True
    if code in (k.ENTER, k.NUMPAD_ENTER):
        if not view.multiline:
            submit(phone, surface, view)
            return True
        editing.insert(state, "\n", multiline=True)
    elif code in (k.CUT, k.COPY):
        phone.set_clipboard(state.text[state.start : state.end])
        if code == k.CUT and state.start != state.end:
            editing.backspace(state)
    elif code == k.PASTE:
        editing.insert(state, phone.clipboard, multiline=view.multiline)
    elif code in _MOVES:
        _MOVES[code](state)
    elif code in (k.DPAD_UP, k.DPAD_DOWN):
        if not editing.move_line(state, -1 if code == k.DPAD_UP else 1):
            return False
    elif code in k.CHARACTERS:
        shift = bool(meta & k.META_SHIFT)
        editing.insert(state, k.CHARACTERS[code][shift], multiline=view.multiline)
    else:
        return False
    _changed(phone, surface, view, state, before)
    return True


_MOVES: dict[int, Callable[[FieldState], None]] = {
    k.DEL: editing.backspace,
    k.FORWARD_DEL: editing.delete_forward,
    k.DPAD_LEFT: lambda s: editing.move(s, -1),
    k.DPAD_RIGHT: lambda s: editing.move(s, 1),
    k.MOVE_HOME: lambda s: editing.move_to_line_end(s, start=True),
    k.MOVE_END: lambda s: editing.move_to_line_end(s, start=False),
}


def _navigate(phone: Phone, code: int) -> bool:
    """Move the focus among what can be tapped, click it, or page a list."""
    surface = phone.scene().focused()
    if surface is None:
        return False
    if code in (k.PAGE_UP, k.PAGE_DOWN):
        return _page(phone, surface, -1 if code == k.PAGE_UP else 1)
    stops = [
        v
        for v in walk(surface.root)
        if v.acts and v.enabled and not v.clip.empty and not v.hidden_from_tree
    ]
    at = next((i for i, v in enumerate(stops) if v.focused), None)
    if code in (k.ENTER, k.NUMPAD_ENTER, k.DPAD_CENTER, k.SPACE):
        if at is None:
            return False
        view = stops[at]
        if view.kind is Kind.FIELD:
            phone.focus_view(surface, view, keyboard=True)
        elif view.on_click is not None:
            phone.run(view.on_click, surface)
        return True
    if code in (k.TAB, k.DPAD_DOWN, k.DPAD_RIGHT):
        step = 1
    elif code in (k.DPAD_UP, k.DPAD_LEFT):
        step = -1
    else:
        return False
    if not stops:
        return False
    following = (0 if step > 0 else len(stops) - 1) if at is None else at + step
    if not 0 <= following < len(stops):
        return _page(phone, surface, step)
    phone.focus_view(surface, stops[following], keyboard=False)
    return True


def _page(phone: Phone, surface: Surface, step: int) -> bool:
    for view in walk(surface.root):
        if view.scrolls and view.scroll_range > 0:
            before = surface.page.scroll.get(view.key, view.scroll_y)
            distance = round(view.rect.height * 0.8) * (-step if view.reverse else step)
            after = min(max(before + distance, 0), view.scroll_range)
            if after == before:
                return False
            surface.page.scroll[view.key] = after
            phone.invalidate()
            return True
    return False
