"""What key presses do: text into the focused field, navigation, volume, power, focus moves.

The codes are in `keycodes`. Invariant: a key that means nothing here
changes nothing.
"""

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
    from virtual_phone.phone import Phone

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
_PLACES = {
    k.HOME: "home",
    k.BACK: "back",
    k.ESCAPE: "back",
    k.APP_SWITCH: "recents",
    k.NOTIFICATION: "shade",
    k.ALL_APPS: "drawer",
    k.ASSIST: "drawer",
}
VOLUME_STEPS = 15
_VOLUME = {k.VOLUME_UP: 1, k.VOLUME_DOWN: -1, k.VOLUME_MUTE: -VOLUME_STEPS}


_MOVES: dict[int, Callable[[FieldState], None]] = {
    k.DEL: editing.backspace,
    k.FORWARD_DEL: editing.delete_forward,
    k.DPAD_LEFT: lambda s: editing.move(s, -1),
    k.DPAD_RIGHT: lambda s: editing.move(s, 1),
    k.MOVE_HOME: lambda s: editing.move_to_line_end(s, start=True),
    k.MOVE_END: lambda s: editing.move_to_line_end(s, start=False),
}


class Keys:
    """The keys of one phone: its buttons, a keyboard that is attached, and the soft keyboard."""

    def __init__(self, phone: "Phone") -> None:
        self._phone = phone

    def focused_field(self) -> tuple[Surface, View] | None:
        """Return the text field that has the focus, and its window."""
        surface = self._phone.compositor.scene().focused()
        if surface is None or not surface.page.focus:
            return None
        view = find(surface.root, surface.page.focus)
        if view is None or view.kind is not Kind.FIELD or not view.enabled:
            return None
        return surface, view

    def press(self, code: int, *, long_press: bool = False, meta: int = 0) -> bool:
        """Press and release a key; `meta` as in KeyEvent. Return whether it did anything."""
        self._phone.focus.text_tools = None
        return self.press_soft(code, long_press=long_press, meta=meta)

    def press_soft(self, code: int, *, long_press: bool = False, meta: int = 0) -> bool:
        """Do what `press` does, but leave the bar over selected text."""
        self._phone.power.note_use()
        if not self._phone.power.screen_on:
            if code in (k.POWER, k.WAKEUP):
                self._phone.power.wake()
                return True
            return False
        if code in (k.POWER, k.SLEEP, k.WAKEUP):
            if code == k.POWER and long_press:
                self._phone.prompts.show_power_menu()
            elif code != k.WAKEUP:
                self._phone.power.sleep()
            return True
        if code in _VOLUME:
            self._shift_setting("volume_music", 8, _VOLUME[code], 0, VOLUME_STEPS)
            return True
        if lock.asks(self._phone):
            return lock.press(self._phone, code, shift=bool(meta & k.META_SHIFT))
        if self._phone.power.locked:
            if code in (k.MENU, k.SPACE, k.ENTER):
                lock.dismiss(self._phone)
                return True
            return False
        if code in _PLACES:
            return self._phone.navigation.go(_PLACES[code])
        if code in (k.BRIGHTNESS_UP, k.BRIGHTNESS_DOWN):
            step = 26 if code == k.BRIGHTNESS_UP else -26
            self._shift_setting("screen_brightness", 128, step, 1, 255)
            return True
        if code in _APPS:
            return self._phone.activities.launch_if_there(_APPS[code])
        found = self.focused_field()
        if found is not None and self._edit(*found, code, meta):
            return True
        return self._navigate(code)

    def _shift_setting(self, key: str, default: int, step: int, low: int, high: int) -> None:
        level = self._phone.settings.number("system", key, default) + step
        self._phone.settings.put("system", key, str(int(min(max(level, low), high))))

    def type_text(self, text: str) -> bool:
        """Type text into the focused field; return whether there was one."""
        if lock.asks(self._phone):
            lock.type_text(self._phone, text)
            return True
        found = self.focused_field()
        if found is None:
            return False
        surface, view = found
        state = field_state(surface.page, view)
        if not view.multiline and "\n" in text:
            first, _, rest = text.partition("\n")
            self._insert(surface, view, state, first)
            self.submit(surface, view)
            return self.type_text(rest) if rest else True
        self._insert(surface, view, state, text)
        return True

    def _insert(self, surface: Surface, view: View, state: FieldState, text: str) -> None:
        before = state.text
        editing.insert(state, text, multiline=view.multiline)
        self._changed(surface, view, state, before)

    def _changed(self, surface: Surface, view: View, state: FieldState, before: str) -> None:
        if state.text != before and view.on_text is not None:
            told = view.on_text
            self._phone.run(lambda: told(state.text), surface)
        self._phone.invalidate()

    def replace_text(self, surface: Surface, view: View, text: str) -> None:
        """Put text in place of all that a field holds, as an accessibility service does."""
        state = field_state(surface.page, view)
        before = state.text
        editing.select_all(state)
        editing.insert(state, text, multiline=view.multiline)
        self._changed(surface, view, state, before)

    def submit(self, surface: Surface, view: View) -> None:
        """Do what the keyboard's action key does in a one-line field."""
        state = field_state(surface.page, view)
        if view.on_submit is not None:
            act = view.on_submit
            self._phone.run(lambda: act(state.text), surface)
            return
        fields = [v for v in walk(surface.root) if v.kind is Kind.FIELD and v.enabled]
        later = fields[fields.index(view) + 1 :] if view in fields else []
        if later:
            self._phone.focus.view(surface, later[0], keyboard=True)
        else:
            self._phone.focus.hide_keyboard()

    def _edit(self, surface: Surface, view: View, code: int, meta: int) -> bool:
        state = field_state(surface.page, view)
        before = state.text
        if meta & k.META_CTRL:
            name = k.CHARACTERS.get(code, ("", ""))[0]
            code = {"c": k.COPY, "x": k.CUT, "v": k.PASTE}.get(name, code)
            if name == "a":
                editing.select_all(state)
                self._phone.invalidate()
                return True
        if code in (k.ENTER, k.NUMPAD_ENTER):
            if not view.multiline:
                self.submit(surface, view)
                return True
            editing.insert(state, "\n", multiline=True)
        elif code in (k.CUT, k.COPY):
            self._phone.clipboard.set(state.text[state.start : state.end])
            if code == k.CUT and state.start != state.end:
                editing.backspace(state)
        elif code == k.PASTE:
            editing.insert(state, self._phone.clipboard.text, multiline=view.multiline)
        elif meta & k.META_CTRL and code in (k.MOVE_HOME, k.MOVE_END):
            # AOSP BaseMovementMethod: with Ctrl to the ends of the text, not of the line.
            editing.move_to(state, 0 if code == k.MOVE_HOME else len(state.text))
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
        self._changed(surface, view, state, before)
        return True

    def _navigate(self, code: int) -> bool:
        """Move the focus among what can be tapped, click it, or page a list."""
        surface = self._phone.compositor.scene().focused()
        if surface is None:
            return False
        if code in (k.PAGE_UP, k.PAGE_DOWN):
            return self._page(surface, -1 if code == k.PAGE_UP else 1)
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
                self._phone.focus.view(surface, view, keyboard=True)
            elif view.on_click is not None:
                self._phone.run(view.on_click, surface)
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
            return self._page(surface, step)
        self._phone.focus.view(surface, stops[following], keyboard=False)
        return True

    def _page(self, surface: Surface, step: int) -> bool:
        for view in walk(surface.root):
            if view.scrolls and view.scroll_range > 0:
                before = surface.page.scroll.get(view.key, view.scroll_y)
                distance = round(view.rect.height * 0.8) * (-step if view.reverse else step)
                after = min(max(before + distance, 0), view.scroll_range)
                if after == before:
                    return False
                surface.page.scroll[view.key] = after
                self._phone.invalidate()
                return True
        return False
